// Threads of an engine: workers that run its module in the same memory, in pages that are isolated from others, and in Node.
import { WherryError } from "./core.js";

const STACK = 1 << 20; // bytes of each thread
const MOST = 16; // pool.h
const NODE_THREADS = "node:worker_threads"; // by variables: bundlers would look for them
const NODE_THREAD = "./thread.js";

/** How many threads a model gets: `wanted`, or a number that suits the device; 1 where no memory can be shared. */
export function threadsOf(wanted) {
  if (wanted !== undefined && !(Number.isInteger(wanted) && wanted >= 1)) throw new WherryError("input", `threads is a number of threads. Got ${String(wanted)}, expected a whole number from 1 on.`);
  const isolated = globalThis.crossOriginIsolated; // Node has no such word
  if (typeof SharedArrayBuffer === "undefined" || isolated === false) return 1;
  return Math.min(wanted ?? (isolated ? Math.min(4, navigator.hardwareConcurrency) : 1), MOST);
}

export class Pool {
  #threads;

  // Workers, the calling thread not counted. They come up while the rest is on its way.
  constructor(memory, workers) {
    this.memory = memory;
    this.#threads = Array.from({ length: workers }, () => Thread.create());
  }

  get threads() {
    return this.#threads.length + 1;
  }

  // Each worker has the module. What a module writes into its memory when it is instantiated they all write, the same, before one of
  // them runs. Where workers cannot be had there is one thread.
  async instantiated(module) {
    try {
      await Promise.all(this.#threads.map(async (thread) => (await thread).ask({ module, memory: this.memory })));
    } catch (error) {
      console.warn(`No threads: ${error.message}`);
      this.close();
    }
  }

  // They wait for loops from now on. take(bytes): memory for their stacks.
  async begin(take) {
    for (const thread of this.#threads) (await thread).begin(take(STACK) + STACK);
  }

  close() {
    for (const thread of this.#threads) thread.then((one) => one.stop(), () => {});
    this.#threads = [];
  }
}

// A worker of a browser or of Node.
class Thread {
  #worker;
  #settle;

  static async create() {
    // In these very words bundlers find the worker.
    if (typeof Worker !== "undefined") return new Thread(new Worker(new URL("./thread.js", import.meta.url), { type: "module" }), "addEventListener");
    const { Worker: NodeWorker } = await import(/* @vite-ignore */ /* webpackIgnore: true */ NODE_THREADS);
    return new Thread(new NodeWorker(new URL(NODE_THREAD, import.meta.url)), "on");
  }

  constructor(worker, listen) {
    this.#worker = worker;
    worker[listen]("message", () => this.#settle?.resolve());
    worker[listen]("error", (event) => {
      this.failed = new Error(event.message || "thread.js did not load. Is it beside wherry.js, with the headers of the page (Cross-Origin-Embedder-Policy)?");
      this.#settle?.reject(this.failed);
    });
  }

  ask(message) {
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
      if (this.failed) reject(this.failed);
      else this.#worker.postMessage(message);
    });
  }

  begin(stack) {
    this.#worker.postMessage({ stack });
    this.#worker.unref?.(); // Node may end while it waits
  }

  stop() {
    this.#worker.terminate();
  }
}
