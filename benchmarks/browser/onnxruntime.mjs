// onnxruntime-web: WebAssembly, one thread.
const FOLDER = "/peers/onnxruntime-web/dist/";

export async function start({ images }) {
  const ort = await import(`${FOLDER}ort.wasm.min.mjs`);
  ort.env.wasm.wasmPaths = FOLDER;
  ort.env.wasm.numThreads = 1;
  const session = (name) => ort.InferenceSession.create(`/models/${name}.onnx`, { executionProviders: ["wasm"] });
  const [product, lenet] = [await session("product"), await session("lenet")];
  const feeds = {};

  function feedsOf(kind, size) {
    return (feeds[`${kind} ${size}`] ??= kind === "matmul"
      ? { a: square(ort, size), b: square(ort, size) }
      : { x: new ort.Tensor("float32", images.slice(0, size * 784), [size, 1, 28, 28]) });
  }

  return {
    name: "onnxruntime-web",
    version: `onnxruntime-web ${ort.env.versions.web}`,
    notes: [],
    async run(name, count) {
      const [kind, size] = name.split(" ");
      if (kind === "train") throw new Error("onnxruntime-web has no training in this package");
      const [model, inputs] = [kind === "matmul" ? product : lenet, feedsOf(kind, Number(size))];
      const started = performance.now();
      for (let i = 0; i < count; i++) await model.run(inputs);
      return performance.now() - started;
    },
    predict: async (count) => Array.from((await lenet.run(feedsOf("infer", count))).y.data),
  };
}

function square(ort, size) {
  return new ort.Tensor("float32", Float32Array.from({ length: size * size }, () => Math.random()), [size, size]);
}
