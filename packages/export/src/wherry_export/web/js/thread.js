// A thread of an engine (see pool.js): an instance of its module that waits for loops of kernels, and never comes back from that.
const port = typeof self === "undefined" ? (await import("node:worker_threads")).parentPort : self;
let exports;

port.onmessage = ({ data: { module, memory, stack } }) => {
  if (module) {
    exports = new WebAssembly.Instance(module, { env: { memory } }).exports;
    port.postMessage("ready");
    return;
  }
  exports.wherry_stack(stack);
  try {
    exports.wherry_work();
  } catch (error) {
    exports.wherry_trapped(); // the calling thread says so
    throw error;
  }
};
