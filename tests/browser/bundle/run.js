// Does what job.json says with the bundle in site/, and writes what came of it into the page.
const result = {};
try {
  const { load } = await import("./site/wherry.js");
  const { inputs, training } = await (await fetch("job.json")).json();
  const model = await load("./site/");
  result.before = plain(await model.predict(inputs));
  if (training) {
    const losses = [];
    const onprogress = ({ latest = [] }) => losses.push(...latest.map((step) => step.loss));
    const { history } = await model.train(training.inputs, training.targets, { ...training.options, onprogress });
    Object.assign(result, { losses, history, after: plain(await model.predict(inputs)), saved: Array.from(await model.save()) });
    result.refused = await model.train(training.inputs, training.targets.slice(1), training.options).catch((error) => `${error.name} ${error.code}: ${error.message}`);
    const stopping = new AbortController();
    const endless = model.train(training.inputs, training.targets, { ...training.options, epochs: 1e6, signal: stopping.signal, onprogress: ({ step }) => step && stopping.abort() });
    result.aborted = await endless.catch((error) => error.name);
  }
} catch (error) {
  result.error = `${error.name}: ${error.message}`;
}
document.getElementById("result").textContent = JSON.stringify(result);

function plain(outputs) {
  return Object.fromEntries(Object.entries(outputs).map(([name, { data, shape, dtype }]) => [name, { data: Array.from(data, Number), shape, dtype }]));
}
