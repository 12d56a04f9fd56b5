// A thread of an engine (see pool.js): an instance of its module that waits for loops of kernels, and never comes back from that.
const NODE_THREADS = "node:worker_threads"; // by a variable: bundlers would look for it

// Nothing is awaited at the top: bundlers make plain scripts of workers.
if (typeof self === "undefined") import(/* @vite-ignore */ /* webpackIgnore: true */ NODE_THREADS).then(({ parentPort }) => serve(parentPort));
else serve(self);

function serve(port) {
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
}
