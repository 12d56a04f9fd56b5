// Runs a bundle in Node: node check.js job.json. Prints {outputs: [[name, dtype, shape]], times} and writes the outputs to a file.
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

import { load } from "./wherry.js"; // the files of the bundle, which Node would not take for modules

const job = JSON.parse(readFileSync(process.argv[2], "utf8"));
const folder = pathToFileURL(`${job.folder}/`);
const KINDS = { bool: Uint8Array, uint8: Uint8Array, int8: Int8Array, int16: Int16Array, int32: Int32Array, int64: BigInt64Array, float16: Uint16Array, float32: Float32Array, float64: Float64Array, complex64: Float32Array, complex128: Float64Array };

const inputs = {};
for (const [name, { file, shape, dtype }] of Object.entries(job.inputs)) {
  const bytes = readFileSync(file);
  inputs[name] = { data: new KINDS[dtype](bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength)), shape };
}
try {
  const started = performance.now();
  const model = await load(folder, { worker: false });
  const loaded = performance.now();
  const answer = await model.predict(inputs);
  const first = performance.now();
  const later = [];
  for (let i = 0; i < job.repeat; i++) {
    const before = performance.now();
    await model.predict(inputs);
    later.push(performance.now() - before);
  }
  later.sort((a, b) => a - b);
  writeFileSync(job.out, Buffer.concat(Object.values(answer).map(({ data }) => Buffer.from(data.buffer, data.byteOffset, data.byteLength))));
  console.log(JSON.stringify({
    outputs: Object.entries(answer).map(([name, { dtype, shape }]) => [name, dtype, shape]),
    times: { load: loaded - started, first: first - loaded, later: later[later.length >> 1] ?? 0, memory: await model.memory() },
  }));
} catch (error) {
  console.error(`${error.name}: ${error.message}`);
  process.exitCode = 1;
}
