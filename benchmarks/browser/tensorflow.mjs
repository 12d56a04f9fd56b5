// TensorFlow.js with its WebAssembly backend. `tf` is a global: its scripts are in page.html.
const tf = window.tf;

export async function start({ weights, images, labels }) {
  tf.wasm.setWasmPaths("/peers/@tensorflow/tfjs-backend-wasm/dist/");
  await tf.setBackend("wasm");
  await tf.ready();
  const all = tf.tensor4d(images, [32, 28, 28, 1]); // one channel: the same numbers in NHWC
  const classes = tf.oneHot(tf.tensor1d(labels, "int32"), 10).toFloat();
  const fixed = parameters(weights);
  const trained = parameters(weights).map((parameter) => tf.variable(parameter));
  const optimizer = tf.train.adam(1e-3);
  const squares = {};

  const runs = {
    matmul(size, count) {
      const [a, b] = (squares[size] ??= [tf.randomUniform([size, size]), tf.randomUniform([size, size])]);
      return timed(count, () => tf.matMul(a, b).dispose());
    },
    infer(size, count) {
      const x = tf.keep(all.slice(0, size));
      const time = timed(count, () => tf.tidy(() => lenet(x, fixed).dataSync()));
      x.dispose();
      return time;
    },
    train(size, count) {
      const [x, y] = [all.slice(0, size), classes.slice(0, size)];
      const loss = () => tf.losses.softmaxCrossEntropy(y, differentiableLenet(x, trained));
      const time = timed(count, () => tf.tidy(() => optimizer.minimize(loss, true, trained).dataSync()));
      tf.dispose([x, y]);
      return time;
    },
  };

  return {
    name: "TensorFlow.js",
    version: `TensorFlow.js ${tf.version.tfjs} (wasm)`,
    notes: [
      `TensorFlow.js: SIMD ${await tf.env().getAsync("WASM_HAS_SIMD_SUPPORT")}, ${tf.wasm.getThreadsCount()} thread. Its wasm backend has no ` +
      "gradient of conv2d for the filter; it trains here by conv3d of depth 1, whose gradients it has.",
    ],
    async run(name, count) {
      const [kind, size] = name.split(" ");
      return runs[kind](Number(size), count);
    },
    predict: async (count) => Array.from(tf.tidy(() => lenet(all.slice(0, count), fixed).dataSync())),
  };
}

function timed(count, action) {
  const started = performance.now();
  for (let i = 0; i < count; i++) action();
  return performance.now() - started;
}

// From [out, in, height, width] to [height, width, in, out], and the rows of the first matrix from CHW to HWC.
function parameters(weights) {
  const shapes = [[6, 1, 3, 3], [6], [16, 6, 5, 5], [16], [400, 120], [120], [120, 84], [84], [84, 10], [10]];
  let at = 0;
  return shapes.map((shape, i) => tf.tidy(() => {
    const size = shape.reduce((a, b) => a * b);
    const values = tf.tensor(weights.slice(at, (at += size)), shape);
    if (shape.length === 4) return values.transpose([2, 3, 1, 0]);
    return i === 4 ? values.reshape([16, 5, 5, 120]).transpose([1, 2, 0, 3]).reshape([400, 120]) : values;
  }));
}

function lenet(x, [c1, b1, c2, b2, ...linear]) {
  x = tf.fused.conv2d({ x, filter: c1, strides: 1, pad: "same", bias: b1, activation: "relu" });
  x = tf.maxPool(x, 2, 2, "valid");
  x = tf.fused.conv2d({ x, filter: c2, strides: 1, pad: "valid", bias: b2, activation: "relu" });
  x = tf.maxPool(x, 2, 2, "valid");
  return linearLayers(x, linear);
}

function linearLayers(x, [w3, b3, w4, b4, w5, b5]) {
  x = x.reshape([x.shape[0], 400]);
  x = tf.fused.matMul({ a: x, b: w3, bias: b3 });
  x = tf.fused.matMul({ a: x, b: w4, bias: b4 });
  return tf.fused.matMul({ a: x, b: w5, bias: b5 });
}

function differentiableLenet(x, [c1, b1, c2, b2, ...linear]) {
  x = tf.maxPool(convolved(x, c1, "same").add(b1).relu(), 2, 2, "valid");
  x = tf.maxPool(convolved(x, c2, "valid").add(b2).relu(), 2, 2, "valid");
  return linearLayers(x, linear);
}

function convolved(x, filter, pad) {
  const [images, height, width, channels] = x.shape;
  const y = tf.conv3d(x.reshape([images, 1, height, width, channels]), filter.expandDims(0), 1, pad);
  return y.reshape([images, ...y.shape.slice(2)]);
}
