// The other end of wherry.js: the engine in a worker.
import { fetched } from "./wherry.js";

let engine;

const calls = {
  async load(folder, options, progress) {
    const found = await fetched(folder, progress, options);
    engine = found.engine;
    return found.facts;
  },
  predict: (inputs) => engine.predict(inputs),
  memory: () => engine.memory,
};

self.addEventListener("message", async ({ data: { id, name, args } }) => {
  try {
    const result = await calls[name](...args, (progress) => self.postMessage({ id, progress }));
    const arrays = name === "predict" ? Object.values(result).map((x) => x.data.buffer) : [];
    self.postMessage({ id, result }, arrays);
  } catch (error) {
    self.postMessage({ id, error: { code: error.code ?? "browser", message: error.message } });
  }
});
