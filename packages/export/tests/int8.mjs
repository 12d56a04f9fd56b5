// A bundle's answers for made-up images, for several numbers of threads: node int8.mjs site.
import { pathToFileURL } from "node:url";

const { load } = await import(pathToFileURL(process.env.WHERRY_JS));
const answers = [];
for (const threads of [1, 3]) {
  const model = await load(pathToFileURL(`${process.argv[2]}/`), { threads });
  const shape = model.inputs[0].shape.map((n) => (typeof n === "string" ? 3 : n));
  const data = Float32Array.from({ length: shape.reduce((a, b) => a * b) }, (_, i) => Math.fround(((i * 7919) % 1009) / 500 - 1));
  const answer = Object.values(await model.predict({ data, shape }))[0].data;
  answers.push(Buffer.from(answer.buffer).toString("hex"));
  model.close();
}
console.log(JSON.stringify(answers));
