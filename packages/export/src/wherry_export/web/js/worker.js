// The other end of wherry.js: the engine in a worker.
import { Local } from "./wherry.js";

const model = new Local();

const calls = {
  load: (folder, options, progress) => model.load(folder, progress, options),
  predict: (inputs) => model.predict(inputs),
  abort: () => model.abort(),
  memory: () => model.memory(),
  train: (inputs, targets, options, progress) => model.train(inputs, targets, options, progress),
  stop: () => model.stop(),
  save: (form) => model.save(form),
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
