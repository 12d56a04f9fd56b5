// Asks each framework for the same case in turn. A framework is {name, version, notes, run(case, times), predict(batch)}:
// `run` resolves to the milliseconds that `times` repetitions took, `predict` to ten numbers per image.
import * as onnxruntime from "./onnxruntime.mjs";
import * as tensorflow from "./tensorflow.mjs";
import * as wherry from "./wherry.mjs";

window.measure = async ({ wheels, cases, rounds, milliseconds }) => {
  const weights = new Float32Array(await (await fetch("/models/lenet.bin")).arrayBuffer());
  const images = Float32Array.from({ length: 32 * 784 }, (_, i) => ((i * 7919) % 1000) / 1000);
  const inputs = { weights, images, labels: Int32Array.from({ length: 32 }, (_, i) => i % 10), wheels };
  const frameworks = [];
  for (const framework of [wherry, onnxruntime, tensorflow]) frameworks.push(await framework.start(inputs));

  const notes = frameworks.flatMap(({ notes }) => notes);
  notes.push(`Largest difference of the logits of 32 images from ours: ${await differences(frameworks)}.`);
  const times = {};
  for (const name of cases) {
    times[name] = {};
    const repetitions = new Map();
    for (const framework of frameworks) {
      const once = await attempt(framework, name, 1);
      if (once === null) continue;
      await framework.run(name, 3); // warm
      const short = (await framework.run(name, 5)) / 5;
      repetitions.set(framework, Math.max(1, Math.round(milliseconds / Math.max(short, 1e-3))));
      times[name][framework.name] = [];
    }
    for (let round = 0; round < rounds; round++) {
      for (const [framework, count] of repetitions) {
        times[name][framework.name].push((await framework.run(name, count)) / count);
      }
    }
    console.log(`${name}: done`);
  }
  return { versions: Object.fromEntries(frameworks.map(({ name, version }) => [name, version])), times, notes };
};

// Null when the framework says that it cannot.
async function attempt(framework, name, count) {
  try {
    return await framework.run(name, count);
  } catch (error) {
    console.log(`${framework.name} cannot run ${name}: ${error.message}`);
    return null;
  }
}

async function differences(frameworks) {
  const [ours, ...others] = await Promise.all(frameworks.map(({ predict }) => predict(32)));
  const named = others.map((values, i) => {
    const largest = Math.max(...values.map((value, j) => Math.abs(value - ours[j])));
    if (!(largest < 1e-3)) throw new Error(`${frameworks[i + 1].name} computes something else: a logit differs by ${largest}`);
    return `${frameworks[i + 1].name} ${largest.toExponential(1)}`;
  });
  return named.join(", ");
}
