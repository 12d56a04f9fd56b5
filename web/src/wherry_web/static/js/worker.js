// Runs Python and Wherry away from the page, so that the page never freezes.
//
// In: {id, call, args}. Out: {id, result} or {id, error, fatal}, and {event, ...} in between. After a fatal error nothing runs any more.
import { fetchedNow } from "./packed.js";
import { added, startPython } from "./python.js";
import { classifying } from "./worker-classifier.js";
import { bringing } from "./worker-model.js";
import { playing } from "./worker-play.js";
import { tabular } from "./worker-table.js";
import { training } from "./worker-training.js";

let python; // the module wherry_web.client.page
let pyodide;
let playground; // what the page Playground has beyond the bundle: of files.py
let whole; // resolves when that is here too
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
  ...classifying(objects, { plain, given, pyodide: () => pyodide }),
  ...bringing({ plain, pyodide: () => pyodide, more }),
  ...playing({ plain, given, pyodide: () => pyodide }),
  ...tabular(objects, { plain, given, pyodide: () => pyodide }),
  ...training(objects, { plain, post: (message) => postMessage(message), python: () => python, pyodide: () => pyodide }),
};

addEventListener("message", async ({ data: { id, call, args } }) => {
  try {
    const result = await calls[call](...args);
    postMessage({ id, result });
  } catch (error) {
    postMessage({ id, error: readable(error), fatal: Boolean(error?.pyodide_fatal_error) });
  }
});

async function boot(manifest) {
  const { pyodide: started, times, imported } = await startPython(manifest, manifest.bundle.url, (text) => postMessage({ event: "step", text }));
  pyodide = started;
  playground = manifest.playground;
  const later = pyodide.toPy(manifest.bundle.later);
  pyodide.pyimport("wherry_web.client.on_demand").offer(later, (url) => pyodide.toPy(fetchedNow(url, XMLHttpRequest)));
  later.destroy();
  python = await imported("wherry_web.client.page");
  return { python: times.python, wherry: times.wherry() };
}

// All of Wherry, and NumPy.
function more() {
  whole ??= everything().catch((error) => {
    whole = undefined;
    throw error;
  });
  return whole;
}

async function everything() {
  const numpy = playground?.packages.numpy;
  if (!numpy) throw new Error("This server has no NumPy for the browser, which files of this format take. Bring a .pdmodel or .json, or run wherry inspect.");
  await added(pyodide, [playground.sources, numpy]);
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

// What a call returns that takes values of JavaScript as Python has them.
function given(values, use) {
  const proxy = pyodide.toPy(values);
  try {
    return plain(use(proxy));
  } finally {
    proxy.destroy();
  }
}

// Of a Python traceback only the message: "ValueError: ..." without the type.
function readable(error) {
  const lines = String(error?.message ?? error).trim().split("\n");
  const last = lines.findLast((line) => /^\w*(Error|Exception)\b/.test(line)) ?? lines.at(-1);
  return last.replace(/^\w*(Error|Exception): /, "");
}
