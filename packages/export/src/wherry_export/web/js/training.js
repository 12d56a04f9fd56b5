// Training in the page: Pyodide with Wherry, which wherry.js loads when `train` or `save` is called first. Python's side is training.py.
import { WherryError } from "./core.js";

const SLICE = 40; // milliseconds of steps, then messages have their turn
const MODEL = "/wherry-model"; // in Pyodide's files
const OWN = ["signal", "onprogress"]; // options that Python is not told of

export class Training {
  #pyodide;
  #python; // a training.Training
  #running = false;
  #stopped = false;

  // folder: of the bundle; part: what its manifest says of training, which wherry.js has checked; bytesOf(url, options): fetches, and compares
  // with the digest. Training runs what is in the folder, Python included: a bundle that trains is to be trusted as a script is.
  static async start(folder, part, bytesOf, onprogress) {
    const training = new Training();
    const step = (text) => onprogress?.({ stage: text });
    const files = Object.entries(part.files).map(([name, file]) => [name, bytesOf(new URL(file.url, folder), { file })]);
    const ofPyodide = part.pyodide.files.map((file) => bytesOf(new URL(file.url, folder), { file })); // it then finds them in the browser's cache
    for (const content of [...files.map(([, content]) => content), ...ofPyodide]) content.catch(() => {}); // reported below, when it is its turn
    step("Loading Python");
    const address = new URL(part.pyodide.url, folder);
    await Promise.all(ofPyodide);
    const at = part.pyodide.files.findIndex(({ url }) => url.endsWith("/snapshot.bin.packed"));
    const snapshot = ofPyodide[at]?.then(unpacked); // the memory of one that has started, where the folder has it
    let core;
    try {
      core = await import(new URL("pyodide.mjs", address).href);
    } catch (error) {
      throw new WherryError("network", `Python could not be loaded from ${address}: ${error.message}. Was the folder copied as a whole?`, { cause: error });
    }
    const indexURL = address.protocol === "file:" ? decodeURIComponent(address.pathname) : address.href;
    const pyodide = (training.#pyodide = await core.loadPyodide({ indexURL, _loadSnapshot: await snapshot }));
    if (snapshot) pyodide.runPython("import random; random.seed()"); // else everybody would have the seed that is in it
    step("Loading Wherry");
    pyodide.FS.mkdir(MODEL);
    for (const [name, content] of files) {
      if (name.endsWith(".zip")) pyodide.unpackArchive((await content).slice(), "zip");
      else pyodide.FS.writeFile(`${MODEL}/${name}`, await content);
    }
    training.#python = training.#called(() => {
      pyodide.pyimport("wherry").destroy(); // registers the kernels
      const module = pyodide.pyimport("wherry_export.web.training");
      const made = module.Training(MODEL);
      module.destroy();
      return made;
    });
    return training;
  }

  // inputs, targets: {data, shape, dtype}. Resolves to {steps, stopped, history}; `stop` ends it after the present step.
  async run(inputs, targets, options, onprogress) {
    if (this.#running) throw new WherryError("input", "The model is in training already. Await the first `train`, or abort it.");
    this.#running = true;
    this.#stopped = false;
    const given = ({ data, dtype, shape }) => [new Uint8Array(data.buffer, data.byteOffset, data.byteLength), dtype, shape];
    try {
      const told = Object.fromEntries(Object.entries(options).filter(([name]) => !OWN.includes(name)));
      const { steps, examples } = this.#plainly("begin", inputs.map(given), given(targets), told);
      const history = [];
      let done = false, step = 0;
      while (!done && !this.#stopped) {
        const found = this.#plainly("run", SLICE);
        done = found.done;
        step = found.steps.at(-1).step;
        history.push(...found.epochs);
        onprogress?.({ stage: "Training", step, steps, examples, latest: found.steps, epochs: found.epochs });
        await new Promise((resolve) => setTimeout(resolve)); // what came in between
      }
      return { steps: step, stopped: !done, history };
    } finally {
      this.#running = false;
    }
  }

  stop() {
    this.#stopped = true;
  }

  // What the engine needs to answer as the model does now: {weights, shards}.
  weights() {
    const { weights, shards } = this.#plainly("weights");
    return { weights: JSON.parse(weights), shards };
  }

  // Files by name.
  saved(form) {
    return this.#plainly("saved", form);
  }

  // A method of the Python object, with and to what JavaScript has.
  #plainly(name, ...args) {
    const proxies = args.map((x) => (x !== null && typeof x === "object" ? this.#pyodide.toPy(x) : x));
    const method = this.#python[name];
    try {
      return this.#called(() => {
        const result = method(...proxies);
        const plain = result.toJs({ dict_converter: Object.fromEntries });
        result.destroy();
        return plain;
      });
    } finally {
      method.destroy();
      for (const proxy of proxies) proxy?.destroy?.();
    }
  }

  #called(work) {
    try {
      return work();
    } catch (error) {
      throw new WherryError(/^(Value|Type|Key)Error/m.test(String(error?.type ?? "")) ? "input" : "kernel", readable(error), { cause: error });
    }
  }
}

async function unpacked(content) {
  return new Response(new Blob([content]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

// Of a Python traceback the message: "ValueError: ..." without the type.
function readable(error) {
  const lines = String(error?.message ?? error).trim().split("\n");
  const last = lines.findLast((line) => /^[\w.]*(Error|Exception)\b/.test(line)) ?? lines.at(-1);
  return last.replace(/^[\w.]*(Error|Exception): /, "");
}
