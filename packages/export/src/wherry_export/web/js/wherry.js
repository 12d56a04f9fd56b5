// Models of Wherry in pages: `load` a bundle that `wherry.export.web` wrote, `predict` with typed arrays.
//
//   import { load } from "./wherry.js";
//   const model = await load("./lenet/");
//   const { scores } = await model.predict({ image: pixels });
import { ARRAY_DTYPES, Engine, shapeOf, WherryError } from "./core.js";
import { sha256 } from "./digest.js";

export { WherryError };

const FORMAT = 3; // of manifests; from 3 on the module carries the digest of its program, so older bundles need the wherry.js in them
const PROGRAM = "wherry.program"; // the custom section with it
const NODE_FILES = "node:fs/promises"; // by a variable: bundlers would look for it
const MOST_PAGES = [65536, 32768, 16384, 4096]; // that a module's memory may grow to: some devices promise no more than the last
const SHARED = 3; // where the module imports its memory: it has a maximum and is shared
// A product of relaxed SIMD (engine/product.c) and what it gives where browsers have it, and right.
const PRODUCT = "AGFzbQEAAAABBgFgAX8BfwMCAQAEBQFwAQEBBQMBAAIGCAF/AUGAiAQLBw4CBm1lbW9yeQIAAWYAAAr6AQH3AQIBfwZ7IABBA2wiAUEAIAFBAEobIQEgAEGEhogIbP0RIQIgAEHA/oX4B2z9ESED/QwAAAAAAAAAAAAAAAAAAAAAIgQhBSAEIQYDfwJAIAENACAF/QwDAAAAAwAAAAMAAAADAAAA/bUBIAT9DAcAAAAHAAAABwAAAAcAAAD9tQH9rgEgBv2uASIE/RsBQRFsIAT9GwNqIAT9GwBBH2xqIAT9GwJBDWxqDwv9DH+BBcQBAgME+/r5+GScWoEiByACIAb9kwIhBv0M/wL9BPsG+Qj3CvUM8w7xECADIAX9kwIhBSAHIAMgBP2TAiEEIAFBf2ohAQwACws=";
const RIGHT = -10206753;
const hasWorkers = typeof Worker !== "undefined" && typeof document !== "undefined";

/** Fetches a bundle and prepares it; see wherry.d.ts. */
export async function load(url, { signal, onprogress, worker = hasWorkers, threads, files } = {}) {
  signal?.throwIfAborted();
  const folder = folderOf(url);
  const back = worker ? new Remote(worker) : new Local();
  const stop = () => back.close(signal.reason);
  signal?.addEventListener("abort", stop, { once: true });
  try {
    const facts = await back.load(folder, onprogress, { signal, threads, files });
    signal?.throwIfAborted();
    return new Model(back, facts);
  } catch (error) {
    back.close(error);
    throw signal?.aborted ? signal.reason : error;
  } finally {
    signal?.removeEventListener("abort", stop);
  }
}

/** A loaded model. Made by `load`. */
export class Model {
  #back;
  #busy = Promise.resolve();

  constructor(back, facts) {
    this.#back = back;
    Object.assign(this, facts);
    Object.freeze(this);
  }

  /** One prediction; several that are asked for at once are answered one after the other. Aborting the signal ends it between two kernels. */
  predict(inputs, { signal } = {}) {
    const answer = this.#busy.then(async () => {
      signal?.throwIfAborted();
      const stop = () => this.#back.abort();
      signal?.addEventListener("abort", stop, { once: true });
      try {
        return await this.#back.predict(inputs);
      } catch (error) {
        throw signal?.aborted ? signal.reason : error;
      } finally {
        signal?.removeEventListener("abort", stop);
      }
    });
    this.#busy = answer.catch(() => {});
    return answer;
  }

  /** Trains the model in the page, where the bundle was exported with engine="train"; see wherry.d.ts. */
  async train(inputs, targets, options = {}) {
    const { signal, onprogress, ...told } = options;
    signal?.throwIfAborted();
    const stop = () => this.#back.stop();
    signal?.addEventListener("abort", stop, { once: true });
    try {
      const found = await this.#back.train(inputs, targets, told, onprogress);
      if (found.stopped) throw signal?.reason ?? new WherryError("browser", "The training was stopped.");
      return found;
    } finally {
      signal?.removeEventListener("abort", stop);
    }
  }

  /** The parameters as the content of a `.pdparams` file, or with "pdmodel" the files of the program, by name. */
  async save(form = "pdparams") {
    const files = await this.#back.save(form);
    return form === "pdparams" ? files["model.pdparams"] : files;
  }

  /** Bytes of memory that the engine has taken. */
  memory() {
    return this.#back.memory();
  }

  /** Lets the worker and the memory go. */
  close() {
    this.#back.close(new WherryError("browser", "The model was closed."));
  }
}

/** In this thread: that of the page, or of worker.js. */
export class Local {
  #engine;
  #pool;
  #folder;
  #part; // what the manifest says of training
  #training = null; // a promise
  #stopped = false;

  async load(folder, onprogress, options) {
    const { engine, pool, facts, training } = await fetched(folder, onprogress, options);
    this.#engine = engine;
    this.#pool = pool;
    this.#folder = folder;
    this.#part = training;
    return facts;
  }

  async predict(inputs) {
    return this.#open().predict(inputs);
  }

  async abort() {
    this.#engine?.abort();
  }

  async memory() {
    return this.#open().memory;
  }

  // After each end of it, abort included, the engine answers with the weights of the last step.
  async train(inputs, targets, options, onprogress) {
    const engine = this.#open();
    this.#stopped = false;
    const values = engine.examples(inputs);
    const training = await this.#trainer(onprogress);
    if (this.#stopped) return { steps: 0, stopped: true, history: [] };
    const found = await training.run(values, targetsOf(targets), options, onprogress);
    const { weights, shards } = training.weights();
    await engine.settled(); // a prediction that has begun ends with the weights that it began with
    engine.replace(weights, (shard, offset, bytes) => shards[shard].subarray(offset, offset + bytes));
    return found;
  }

  async stop() {
    this.#stopped = true;
    (await this.#training)?.stop();
  }

  async save(form) {
    this.#open();
    return (await this.#trainer()).saved(form);
  }

  #trainer(onprogress) {
    if (!this.#part) throw new WherryError("input", 'This bundle predicts, and does not train. Export the model with engine="train".');
    this.#training ??= import("./training.js").then(({ Training }) => Training.start(this.#folder, this.#part, bytesOf, onprogress)).catch((error) => {
      this.#training = null; // a later call tries again
      throw error;
    });
    return this.#training;
  }

  #open() {
    if (!this.#engine) throw new WherryError("browser", "The model was closed.");
    return this.#engine;
  }

  close() {
    this.#engine = null;
    this.#pool?.close();
  }
}

// In a worker.
class Remote {
  #worker;
  #waiting = new Map();
  #next = 0;
  #ended = null;

  // worker: true for worker.js beside this file (bundlers know the words below), or one that runs it.
  constructor(worker) {
    this.#worker = worker === true ? new Worker(new URL("./worker.js", import.meta.url), { type: "module" }) : worker;
    this.#worker.addEventListener("message", ({ data }) => this.#receive(data));
    this.#worker.addEventListener("error", (event) => this.close(new WherryError("browser", `The worker could not run: ${event.message || "its script did not load. Are worker.js and core.js beside wherry.js, and does the page's policy allow worker-src 'self'?"}`)));
  }

  load(folder, onprogress, { threads, files }) {
    return this.#call("load", [folder, { threads, files }], onprogress);
  }

  predict(inputs) {
    return this.#call("predict", [inputs]);
  }

  abort() {
    return this.#call("abort", []);
  }

  memory() {
    return this.#call("memory", []);
  }

  train(inputs, targets, options, onprogress) {
    return this.#call("train", [inputs, targets, options], onprogress);
  }

  stop() {
    return this.#call("stop", []);
  }

  save(form) {
    return this.#call("save", [form]);
  }

  close(reason) {
    this.#ended ??= reason;
    this.#worker.terminate();
    for (const { reject } of this.#waiting.values()) reject(this.#ended);
    this.#waiting.clear();
  }

  #call(name, args, onprogress) {
    if (this.#ended) return Promise.reject(this.#ended);
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject, onprogress });
      try {
        this.#worker.postMessage({ id, name, args });
      } catch (error) {
        this.#waiting.delete(id);
        reject(new WherryError("input", `The inputs cannot be sent to the worker: ${error.message}`, { cause: error }));
      }
    });
  }

  #receive({ id, progress, result, error }) {
    const one = this.#waiting.get(id);
    if (!one) return;
    if (progress) {
      one.onprogress?.(progress);
      return;
    }
    this.#waiting.delete(id);
    if (error) one.reject(new WherryError(error.code, error.message));
    else one.resolve(result);
  }
}

// Targets as Python takes them: whole numbers stay whole.
function targetsOf(given) {
  const wrong = (got) => new WherryError("input", `train takes targets as an array, or {data, shape}. Got ${got}, expected numbers.`);
  if (given === null || typeof given !== "object") throw wrong(given === null ? "null" : typeof given);
  let { data, shape } = ArrayBuffer.isView(given) || Array.isArray(given) ? { data: given, shape: null } : given;
  if (Array.isArray(data)) {
    shape ??= shapeOf(data);
    data = data.flat(Infinity);
    if (!data.every((x) => typeof x === "number" || typeof x === "bigint")) throw wrong("an array of other things, or with rows of different lengths");
    data = data.every((x) => Number.isInteger(Number(x))) ? BigInt64Array.from(data, BigInt) : Float32Array.from(data, Number);
  }
  const dtype = ARRAY_DTYPES.get(data?.constructor);
  if (!dtype) throw wrong(data?.constructor?.name ?? typeof data);
  shape ??= [data.length];
  if (shape.reduce((a, b) => a * b, 1) !== data.length) throw wrong(`${data.length} numbers for shape [${shape}]`);
  return { data, shape, dtype };
}

function folderOf(url) {
  const base = typeof document === "undefined" ? import.meta.url : document.baseURI;
  const full = new URL(url, base);
  if (full.pathname.endsWith("/manifest.json")) return new URL("./", full).href;
  if (!full.pathname.endsWith("/")) full.pathname += "/";
  return full.href;
}

/** Everything of a bundle: the engine that answers, and what is told of it. */
async function fetched(folder, onprogress, { signal, threads, files: held } = {}) {
  if (typeof WebAssembly === "undefined") throw new WherryError("browser", "This browser has no WebAssembly. Expected one of the last years.");
  const given = held && new Map(Object.entries(held).map(([name, bytes]) => [new URL(name, folder).href, bytes]));
  const text = new TextDecoder().decode(await bytesOf(new URL("manifest.json", folder), { signal, cache: "no-cache", given }));
  let manifest;
  try {
    manifest = JSON.parse(text);
  } catch (error) {
    throw new WherryError("format", `${folder}manifest.json is not a manifest: ${error.message}. Is this the folder that wherry.export.web wrote?`, { cause: error });
  }
  if (manifest?.format !== FORMAT) throw new WherryError("format", `${folder} was made by another version of Wherry. Got format ${manifest?.format}, expected ${FORMAT}. Export the model again, or use the wherry.js in it.`);
  checked(manifest, folder);
  if (given && manifest.train) throw new WherryError("input", 'A bundle that trains loads Pyodide from its folder. Got its files, expected those of engine="predict", or its address.');
  const kernels = manifest.relaxed && hasProducts() ? manifest.relaxed : manifest.engine; // the answers are the same
  const files = [kernels, manifest.program, ...manifest.weights];
  const total = files.reduce((sum, file) => sum + file.bytes, 0);
  let loaded = 0;
  const stop = new AbortController(); // one that fails stops the others
  const stops = stop.signal;
  signal?.addEventListener("abort", () => stop.abort(signal.reason), { once: true });
  const count = (bytes) => onprogress?.({ loaded: (loaded += bytes), total });
  let memory, pool;
  const one = (file) => bytesOf(new URL(file.url, folder), { signal: stops, count, file, given });
  const fits = async (module, program) => {
    const section = WebAssembly.Module.customSections(module, PROGRAM).map((content) => new TextDecoder().decode(content));
    if (section.length !== 1 || section[0] !== (await sha256(program))) throw new WherryError("format", `${folder} is damaged: its engine belongs to another program. Copy the folder again as a whole, or export the model again.`);
    return JSON.parse(new TextDecoder().decode(program));
  };
  try {
    ({ memory, pool } = await memoryFor(kernels, threads));
    const [module, text, ...shards] = await Promise.all([
      compiled(new URL(kernels.url, folder), { signal: stops, count, file: kernels, changed: pool ? kernels.shared : -1, given }),
      one(manifest.program),
      ...manifest.weights.map(one),
    ]);
    const program = await fits(module, text);
    await pool?.instantiated(module);
    const engine = new Engine(module, program, (shard, offset, bytes) => shards[shard].subarray(offset, offset + bytes), memory, pool?.threads);
    await pool?.begin((bytes) => engine.take(bytes));
    const { title, labels, columns, preprocess, inputs, outputs, precision } = manifest;
    const trains = Boolean(manifest.train);
    return { engine, pool, facts: { title, labels, columns, preprocess, inputs, outputs, precision, trains, bytes: total, threads: engine.threads }, training: manifest.train };
  } catch (error) {
    stop.abort(error);
    pool?.close();
    if (error instanceof WherryError || signal?.aborted) throw error;
    throw new WherryError("format", `${folder} is damaged: ${error?.message ?? error}. Export the model again, or copy the folder as a whole.`, { cause: error });
  }
}

// A manifest is data from elsewhere: everything that is read of it below has its kind, and every file lies in the folder and has a digest.
function checked(manifest, folder) {
  const wrong = (what, got, expected) => {
    throw new WherryError("format", `${folder}manifest.json is damaged: ${what}. Got ${String(JSON.stringify(got)).slice(0, 200)}, expected ${expected}. Copy the folder again as a whole.`);
  };
  const list = (what, value) => (Array.isArray(value) ? value : wrong(what, value, "a list"));
  const file = (what, value) => {
    const sound = typeof value?.url === "string" && Number.isSafeInteger(value.bytes) && value.bytes >= 0 && /^[0-9a-f]{64}$/.test(value.sha256) && within(value.url, folder);
    if (!sound) wrong(what, value, "{url, bytes, sha256} of a file in the folder");
  };
  file("engine", manifest.engine);
  if (manifest.relaxed) file("relaxed", manifest.relaxed);
  file("program", manifest.program);
  if (manifest.single) file("single", manifest.single);
  list("weights", manifest.weights).forEach((value) => file("weights", value));
  for (const one of ["inputs", "outputs"]) {
    for (const value of list(one, manifest[one])) {
      const sizes = Array.isArray(value?.shape) && value.shape.every((n) => typeof n === "string" || (Number.isSafeInteger(n) && n >= 0));
      if (!(typeof value?.name === "string" && typeof value.dtype === "string" && sizes)) wrong(one, value, "{name, dtype, shape}");
    }
  }
  if (typeof manifest.title !== "string") wrong("title", manifest.title, "a text");
  if (manifest.labels !== null) list("labels", manifest.labels).forEach((label) => typeof label === "string" || wrong("labels", label, "texts"));
  if (manifest.columns !== undefined) {
    for (const value of list("columns", manifest.columns)) {
      const sound = typeof value?.name === "string" && (value.words === null || (Array.isArray(value.words) && value.words.every((word) => typeof word === "string")));
      if (!sound) wrong("columns", value, "{name, words}");
    }
    const { shape } = manifest.inputs[0] ?? {};
    if (manifest.inputs.length !== 1 || shape.length !== 2 || shape[1] !== manifest.columns.length) wrong("columns", manifest.columns.length, "one for each number of a row of the one input");
  }
  const { train } = manifest;
  if (train === undefined) return;
  if (train === null || typeof train !== "object" || typeof train.files !== "object" || train.files === null) wrong("train", train, "{pyodide, files}");
  Object.values(train.files).forEach((value) => file("train.files", value));
  const { url, files } = train.pyodide ?? {};
  if (!(typeof url === "string" && url.endsWith("/") && within(url, folder))) wrong("train.pyodide", train.pyodide, "{url, files} of a folder in the folder");
  list("train.pyodide.files", files).forEach((value) => {
    file("train.pyodide.files", value);
    if (!new URL(value.url, folder).href.startsWith(new URL(url, folder).href)) wrong("train.pyodide.files", value, `a file in ${url}`);
  });
}

// Whether an address is that of something in the folder.
function within(url, folder) {
  try {
    return new URL(url, folder).href.startsWith(folder) && !/[?#]/.test(url);
  } catch {
    return false;
  }
}

// The folder says of each file what it holds.
async function asTold(bytes, url, file) {
  if (file && (await sha256(bytes)) !== file.sha256) throw new WherryError("network", `${url} is not what the manifest says. Got another content, expected that of the export. Copy the folder again as a whole.`);
}

function hasProducts() {
  const module = Uint8Array.from(atob(PRODUCT), (c) => c.charCodeAt(0));
  return WebAssembly.validate(module) && new WebAssembly.Instance(new WebAssembly.Module(module)).exports.f(1) === RIGHT;
}

// The memory of the module, and the threads that share it where there are several.
async function memoryFor({ memory: initial }, wanted) {
  if (initial === undefined) return {};
  if (wanted !== 1 && (wanted !== undefined || globalThis.crossOriginIsolated)) {
    const { Pool, threadsOf } = await import("./pool.js");
    const threads = threadsOf(wanted);
    const memory = threads > 1 ? memoryOf(initial, true) : null;
    if (memory) return { memory, pool: new Pool(memory, threads - 1) };
  }
  const memory = memoryOf(initial, false);
  if (!memory) throw new WherryError("memory", `This device gives no memory for the model. Got none, expected at least ${initial * 65536} bytes. Close other pages.`);
  return { memory };
}

function memoryOf(initial, shared) {
  for (const maximum of MOST_PAGES) {
    try {
      return new WebAssembly.Memory({ initial, maximum, shared });
    } catch {
      // a smaller one, perhaps
    }
  }
  return null;
}

// given: the files that the caller holds, by address; nothing is fetched then.
async function opened(url, { signal, cache, given }) {
  if (given) {
    const bytes = given.get(url.href);
    if (!ArrayBuffer.isView(bytes)) throw new WherryError("format", `${url} is not among the files. Got ${[...given.keys()].join(", ")}, expected every file of the manifest, as a Uint8Array.`);
    return read(bytes, url);
  }
  if (url.protocol === "file:") {
    const { readFile } = await import(/* @vite-ignore */ /* webpackIgnore: true */ NODE_FILES);
    try {
      return read(await readFile(url), url);
    } catch (error) {
      throw new WherryError("network", `${url} cannot be read: ${error.message}`, { cause: error });
    }
  }
  let response;
  try {
    response = await fetch(url, { signal, cache });
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    throw new WherryError("network", `${url} could not be fetched: ${error.message}. Is there a network, and may this page ask that server (CORS)?`, { cause: error });
  }
  if (!response.ok) throw new WherryError("network", `${url}: the server answered ${response.status}. Expected a file of the bundle; was the folder copied as a whole?`);
  return response;
}

function read(bytes, url) {
  return new Response(bytes, { headers: { "Content-Type": url.pathname.endsWith(".wasm") ? "application/wasm" : "application/octet-stream" } });
}

async function bytesOf(url, options) {
  const response = counted(await opened(url, options), options);
  const bytes = new Uint8Array(await response.arrayBuffer());
  const expected = options.file?.bytes;
  if (expected !== undefined && bytes.length !== expected) throw new WherryError("network", `${url} is not what the manifest says. Got ${bytes.length} bytes, expected ${expected}. Copy the folder again as a whole.`);
  await asTold(bytes, url, options.file);
  return bytes;
}

// Compiled while it arrives, where the server says that it is WebAssembly.
async function compiled(url, options) {
  const arrived = await opened(url, options);
  const told = arrived.clone().arrayBuffer().then((bytes) => asTold(new Uint8Array(bytes), url, options.file));
  told.catch(() => {}); // heard below
  const response = counted(arrived, options);
  try {
    const streams = WebAssembly.compileStreaming && response.headers.get("Content-Type")?.startsWith("application/wasm");
    const module = streams ? await WebAssembly.compileStreaming(response) : await WebAssembly.compile(await response.arrayBuffer());
    await told;
    return module;
  } catch (error) {
    if (options.signal?.aborted) throw options.signal.reason;
    if (error instanceof WherryError) throw error;
    throw new WherryError("browser", `The engine cannot be compiled: ${error.message}. Expected a browser with WebAssembly and its 128-bit SIMD (Chrome 91, Firefox 89, Safari 16.4, Node 16).`, { cause: error });
  }
}

// changed: the place of the byte that says whether the module's memory is shared, where it shall be.
function counted(response, { count, file, changed = -1 }) {
  if (!count || !response.body) return response;
  let seen = 0;
  const stream = response.body.pipeThrough(new TransformStream({
    transform(chunk, controller) {
      count(chunk.byteLength);
      if (changed >= seen && changed < seen + chunk.byteLength) {
        chunk = chunk.slice();
        chunk[changed - seen] = SHARED;
      }
      seen += chunk.byteLength;
      if (seen > file.bytes) controller.error(new WherryError("network", `${file.url} is not what the manifest says. Got more than ${file.bytes} bytes. Copy the folder again as a whole.`));
      else controller.enqueue(chunk);
    },
  }));
  return new Response(stream, { headers: { "Content-Type": response.headers.get("Content-Type") ?? "" } });
}
