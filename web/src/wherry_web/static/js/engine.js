// The page's side of the worker.

export class Engine extends EventTarget {
  #worker;
  #waiting = new Map();
  #next = 0;

  // script: of the worker, beside this file.
  constructor(script = "worker.js") {
    super();
    this.#worker = new Worker(new URL(script, import.meta.url), { type: "module" });
    this.#worker.addEventListener("message", ({ data }) => this.#receive(data));
    this.#worker.addEventListener("error", (event) => {
      const text = event.message || "The worker could not start.";
      for (const { reject } of this.#waiting.values()) reject(new Error(text));
      this.#waiting.clear();
    });
  }

  // Resolves to what the call returned; rejects with a message for people.
  call(name, ...args) {
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#worker.postMessage({ id, call: name, args });
    });
  }

  // Ends the worker; calls that wait are rejected.
  close() {
    this.#worker.terminate();
    for (const { reject } of this.#waiting.values()) reject(new Error("The worker was ended."));
    this.#waiting.clear();
  }

  #receive(data) {
    if (data.event) {
      this.dispatchEvent(new CustomEvent(data.event, { detail: data }));
      return;
    }
    const { resolve, reject } = this.#waiting.get(data.id);
    this.#waiting.delete(data.id);
    if (data.error === undefined) resolve(data.result);
    else reject(Object.assign(new Error(data.error), { fatal: Boolean(data.fatal) }));
  }
}

// The site's address: this file is static/<digest>/js/engine.js in it, whatever comes before.
const ROOT = new URL("../../../", import.meta.url);

export function address(name) {
  return new URL(name, ROOT).href;
}

// What the server has: see manifest_content in files.py. Its addresses are made absolute.
export const manifest = fetch(address("manifest.json")).then(async (response) => {
  if (!response.ok) throw new Error(`manifest.json: the server answered ${response.status}`);
  const content = await response.json();
  for (const part of [content.pyodide, content.bundle, content.playground]) if (part) part.url = address(part.url);
  if (content.playground) content.playground.sources = address(content.playground.sources);
  for (const packages of [content.bundle?.later, content.playground?.packages].filter(Boolean)) {
    for (const name of Object.keys(packages)) packages[name] = address(packages[name]);
  }
  for (const model of content.models) {
    model.weights_url = address(model.weights_url);
    if (model.page_url) model.page_url = address(model.page_url);
  }
  for (const part of [content.reader, content.writer].filter(Boolean)) {
    for (const name of Object.keys(part)) if (name !== "measured") part[name] = address(part[name]);
  }
  for (const name of ["digits", "backbone", "exporter"]) if (content[name]) content[name] = address(content[name]);
  return content;
});

// Starts Python and Wherry in a worker; says in `status` how far it is. Resolves to {engine, times}.
export async function start(status, script = "worker.js", ...more) {
  const engine = new Engine(script); // its scripts load while the manifest does
  const { pyodide, bundle, playground } = await manifest;
  if (!pyodide || !bundle) {
    engine.close();
    throw new Error("This server has no Python for the browser. Start it with --pyodide and --wheels (`make wasm` makes both).");
  }
  engine.addEventListener("step", ({ detail }) => status(`${detail.text} …`, "busy"));
  const times = await engine.call("boot", { pyodide, bundle, playground }, ...more);
  return { engine, times };
}

export async function bytes(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: the server answered ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}

export function element(id) {
  return document.getElementById(id);
}

// Shows a message in the page's status line; errors are announced at once.
export function say(text, kind = "") {
  const line = element("status");
  line.textContent = text;
  line.dataset.kind = kind; // "busy", "error" or nothing
  line.setAttribute("role", kind === "error" ? "alert" : "status");
}

export function keepForOffline() {
  if ("serviceWorker" in navigator) {
    navigator.serviceWorker.register(address("sw.js")).catch((error) => console.warn(`No offline copy: ${error.message}`));
  }
}

export function milliseconds(value) {
  if (value >= 1e3) return `${(value / 1e3).toPrecision(3)} s`;
  return value < 1 ? `${(value * 1e3).toPrecision(3)} µs` : `${value.toPrecision(3)} ms`;
}
