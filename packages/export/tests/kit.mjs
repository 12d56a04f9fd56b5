// Runs many small programs in the engine: node kit.mjs job.json. Writes their outputs one after the other, and what went wrong as JSON.
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const job = JSON.parse(readFileSync(process.argv[2], "utf8"));
const { Engine } = await import(pathToFileURL(job.core));
const module = new WebAssembly.Module(readFileSync(job.module));
const memory = () => new WebAssembly.Memory({ initial: job.memory, maximum: 65536 });
const data = readFileSync(job.data);
const KINDS = { bool: Uint8Array, uint8: Uint8Array, int8: Int8Array, int16: Int16Array, int32: Int32Array, int64: BigInt64Array, float16: Uint16Array, bfloat16: Uint16Array, float32: Float32Array, float64: Float64Array, complex64: Float32Array, complex128: Float64Array };

const results = [], chunks = [];
for (const { program, inputs } of job.cases) {
  try {
    const engine = new Engine(module, program, () => null, memory());
    const given = Object.fromEntries(inputs.map(([name, dtype, shape, at, bytes]) => [name, { data: new KINDS[dtype](data.buffer.slice(data.byteOffset + at, data.byteOffset + at + bytes)), shape }]));
    const answer = Object.values(await engine.predict(given));
    for (const { data: values } of answer) chunks.push(Buffer.from(values.buffer, values.byteOffset, values.byteLength));
    results.push(answer.map(({ dtype, shape, data: values }) => [dtype, shape, values.byteLength]));
  } catch (error) {
    results.push(`${error.name}: ${error.message}`);
  }
}
writeFileSync(job.out, Buffer.concat(chunks));
console.log(JSON.stringify(results));
