// Exported bundles and the same models in onnxruntime-web, in turn, on the page's own thread.
const FOLDER = "/peers/onnxruntime-web/dist/";

window.measure = async ({ cases, rounds, milliseconds }) => {
  const { load } = await import("/bundles/wherry.js");
  const ort = await import(`${FOLDER}ort.wasm.min.mjs`);
  ort.env.wasm.wasmPaths = FOLDER;
  ort.env.wasm.numThreads = 1;
  const found = [];
  for (const { model, shape } of cases) {
    const data = Float32Array.from({ length: shape.reduce((a, b) => a * b) }, (_, i) => ((i * 7919) % 1000) / 1000);
    const ours = await load(`/bundles/${model}/`, { worker: false });
    const theirs = await ort.InferenceSession.create(`/bundles/${model.replace("-int8", "")}.onnx`, { executionProviders: ["wasm"] });
    const tensor = new ort.Tensor("float32", data, shape);
    const runs = [() => ours.predict({ image: { data, shape } }), () => theirs.run({ image: tensor })];
    const [a, b] = (await Promise.all(runs.map((run) => run()))).map((answer) => Object.values(answer)[0].data);
    const apart = Math.max(...a.map((x, i) => Math.abs(x - b[i]))) / Math.max(...b.map(Math.abs));
    const repetitions = [];
    for (const run of runs) {
      for (let i = 0; i < 3; i++) await run();
      const started = performance.now();
      for (let i = 0; i < 3; i++) await run();
      repetitions.push(Math.max(1, Math.round((3 * milliseconds) / (performance.now() - started))));
    }
    const times = [[], []];
    for (let round = 0; round < rounds; round++) {
      for (const [k, run] of runs.entries()) {
        const started = performance.now();
        for (let i = 0; i < repetitions[k]; i++) await run();
        times[k].push((performance.now() - started) / repetitions[k]);
      }
    }
    found.push({ model, batch: shape[0], apart, times });
    ours.close();
    await theirs.release();
  }
  return { found, version: ort.env.versions.web };
};
