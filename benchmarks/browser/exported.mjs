// Exported bundles and the same models in onnxruntime-web and TensorFlow.js, in turn, on the page's own thread and its helpers.
const FOLDER = "/peers/onnxruntime-web/dist/";
const tf = window.tf;

// threads: of Wherry and onnxruntime-web; with more than one the page is isolated, and TensorFlow.js is left out.
window.measure = async ({ cases, rounds, milliseconds, threads }) => {
  const { load } = await import("/bundles/wherry.js");
  const ort = await import(`${FOLDER}ort.wasm.min.mjs`);
  ort.env.wasm.wasmPaths = FOLDER;
  ort.env.wasm.numThreads = threads;
  tf.wasm.setWasmPaths("/peers/@tensorflow/tfjs-backend-wasm/dist/");
  await tf.setBackend("wasm");
  await tf.ready();
  const found = [];
  for (const { model, shape } of cases) {
    const data = Float32Array.from({ length: shape.reduce((a, b) => a * b) }, (_, i) => ((i * 7919) % 1000) / 1000);
    const full = model.replace("-int8", "");
    const ours = await load(`/bundles/${model}/`, { threads, worker: false });
    if (ours.threads !== threads) throw new Error(`${ours.threads} threads in place of ${threads}`);
    const runs = { Wherry: async () => Object.values(await ours.predict({ image: { data, shape } }))[0].data };
    let theirs, plain;
    if (full === model) {
      theirs = await ort.InferenceSession.create(`/bundles/${model}.onnx`, { executionProviders: ["wasm"] });
      const tensor = new ort.Tensor("float32", data, shape);
      runs["onnxruntime-web"] = async () => Object.values(await theirs.run({ image: tensor }))[0].data;
    } else {
      plain = await load(`/bundles/${full}/`, { threads, worker: false });
      runs["Wherry, float32"] = async () => Object.values(await plain.predict({ image: { data, shape } }))[0].data;
    }
    if (threads === 1 && full === model) {
      const steps = await stepsOf(full);
      const x = tf.tidy(() => tf.tensor(data, shape).transpose([0, 2, 3, 1]));
      runs["TensorFlow.js"] = async () => tf.tidy(() => through(x, steps).dataSync());
    }
    const answers = [];
    for (const run of Object.values(runs)) answers.push(await run());
    const largest = Math.max(...answers.at(-1).map(Math.abs));
    const apart = Math.max(...answers.map((answer) => Math.max(...answer.map((x, i) => Math.abs(x - answers.at(-1)[i]))))) / largest;
    const repetitions = {}, times = {};
    for (const [name, run] of Object.entries(runs)) {
      for (let i = 0; i < 3; i++) await run();
      const started = performance.now();
      for (let i = 0; i < 3; i++) await run();
      repetitions[name] = Math.max(1, Math.round((3 * milliseconds) / (performance.now() - started)));
      times[name] = [];
    }
    for (let round = 0; round < rounds; round++) {
      for (const [name, run] of Object.entries(runs)) {
        const started = performance.now();
        for (let i = 0; i < repetitions[name]; i++) await run();
        times[name].push((performance.now() - started) / repetitions[name]);
      }
    }
    found.push({ model, batch: shape[0], apart, times });
    ours.close();
    plain?.close();
    await theirs?.release();
  }
  return { found, versions: { "onnxruntime-web": ort.env.versions.web, "TensorFlow.js": tf.version.tfjs } };
};

// What exported.py wrote of a model for TensorFlow.js: steps, and their weights one after the other.
async function stepsOf(model) {
  const steps = await (await fetch(`/bundles/${model}.steps.json`)).json();
  const numbers = new Float32Array(await (await fetch(`/bundles/${model}.steps.bin`)).arrayBuffer());
  let at = 0;
  const tensor = (shape) => tf.tensor(numbers.slice(at, (at += shape.reduce((a, b) => a * b, 1))), shape);
  const filled = (list) => list.map(({ weight, bias, steps: inner, ...step }) => (inner ? { ...step, steps: filled(inner) } : weight ? { ...step, weight: tensor(weight), bias: tensor(bias) } : step));
  return filled(steps);
}

function through(x, steps) {
  for (const { op, weight, bias, stride, pad, activation, steps: inner } of steps) {
    if (op === "conv") x = tf.fused.conv2d({ x, filter: weight, strides: stride, pad, bias, activation });
    else if (op === "depthwise") x = tf.fused.depthwiseConv2d({ x, filter: weight, strides: stride, pad, bias, activation });
    else if (op === "linear") x = tf.fused.matMul({ a: x.reshape([x.shape[0], -1]), b: weight, bias, activation });
    else if (op === "pool") x = tf.maxPool(x, 2, 2, "valid");
    else if (op === "mean") x = tf.mean(x, [1, 2]);
    else x = x.add(through(x, inner)); // residual
  }
  return x;
}
