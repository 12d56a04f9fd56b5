// The page's side of the worker.

export class Engine extends EventTarget {
  #worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
  #waiting = new Map();
  #next = 0;

  constructor() {
    super();
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

  #receive(data) {
    if (data.event) {
      this.dispatchEvent(new CustomEvent(data.event, { detail: data }));
      return;
    }
    const { resolve, reject } = this.#waiting.get(data.id);
    this.#waiting.delete(data.id);
    if (data.error === undefined) resolve(data.result);
    else reject(new Error(data.error));
  }
}

// Starts Python and Wherry; says in `status` how far it is. Resolves to {engine, manifest, times}.
export async function start(status) {
  const manifest = await (await fetch("/manifest.json")).json();
  if (!manifest.pyodide || !manifest.bundle) {
    throw new Error("This server has no Python for the browser. Start it with --pyodide and --wheels (`make wasm` makes both).");
  }
  const engine = new Engine();
  engine.addEventListener("step", ({ detail }) => status(`${detail.text} …`));
  const times = await engine.call("boot", manifest);
  return { engine, manifest, times };
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
  line.dataset.kind = kind;
  line.setAttribute("role", kind === "error" ? "alert" : "status");
}

export function keepForOffline() {
  if ("serviceWorker" in navigator) {
    navigator.serviceWorker.register("/sw.js").catch((error) => console.warn(`No offline copy: ${error.message}`));
  }
}

export function milliseconds(value) {
  return value < 1 ? `${(value * 1e3).toFixed(0)} µs` : `${value.toPrecision(3)} ms`;
}
