// Runs Python and Wherry away from the page, so that the page never freezes.
//
// In: {id, call, args}. Out: {id, result} or {id, error}, and {event, ...} in between.
import { training } from "./worker-training.js";

let python; // the module wherry_web.client.page
let pyodide;
const objects = { predictor: null, trainer: null };

const calls = {
  boot,
  async loadModel(architecture, classes, weights) {
    const fresh = python.Predictor(architecture, classes, weights);
    objects.predictor?.destroy();
    objects.predictor = fresh;
  },
  predict: (pixels) => plain(objects.predictor.predict(bytesOf(pixels))),
  describe: () => plain(python.describe()),
  timings: () => plain(python.timings()),
  ...training(objects, { plain, post: (message) => postMessage(message), python: () => python, pyodide: () => pyodide }),
};

addEventListener("message", async ({ data: { id, call, args } }) => {
  try {
    const result = await calls[call](...args);
    postMessage({ id, result });
  } catch (error) {
    postMessage({ id, error: readable(error) });
  }
});

async function boot(manifest) {
  const started = performance.now();
  step("Loading Python");
  const bundle = fetched(manifest.bundle.url);
  const { loadPyodide } = await import(manifest.pyodide.url + "pyodide.mjs");
  pyodide = await loadPyodide({ indexURL: manifest.pyodide.url });
  const loaded = performance.now();
  step("Loading Wherry");
  pyodide.unpackArchive(await bundle, "zip");
  python = pyodide.pyimport("wherry_web.client.page");
  return { python: loaded - started, wherry: performance.now() - loaded };
}

function step(text) {
  postMessage({ event: "step", text });
}

async function fetched(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: the server answered ${response.status}`);
  return response.arrayBuffer();
}

function bytesOf(values) {
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
}

// A Python object as JavaScript has it; the proxy is given back.
function plain(proxy) {
  if (proxy?.toJs === undefined) return proxy;
  const value = proxy.toJs({ dict_converter: Object.fromEntries });
  proxy.destroy();
  return value;
}

// Of a Python traceback only the message: "ValueError: ..." without the type.
function readable(error) {
  const lines = String(error?.message ?? error).trim().split("\n");
  const last = lines.findLast((line) => /^\w*(Error|Exception)\b/.test(line)) ?? lines.at(-1);
  return last.replace(/^\w*(Error|Exception): /, "");
}
