// This browser: how long ops and models take here.
import { element, keepForOffline, manifest, milliseconds, say, start } from "./engine.js";

let report = "";

start(say).then(ready).catch((error) => say(error.message, "error"));

async function ready({ engine, times }) {
  const facts = { ...(await engine.call("describe")), Pyodide: (await manifest).pyodide.version, browser: navigator.userAgent,
    cores: navigator.hardwareConcurrency, "start of Python": milliseconds(times.python), "start of Wherry": milliseconds(times.wherry) };
  list(element("facts"), Object.entries(facts));
  element("run").disabled = false;
  element("run").addEventListener("click", () => measure(engine, facts).catch((error) => say(error.message, "error")));
  element("copy").addEventListener("click", copy);
  document.body.dataset.ready = "true";
  await measure(engine, facts);
  keepForOffline();
}

async function measure(engine, facts) {
  element("run").disabled = true;
  say("Measuring …", "busy");
  const rows = await engine.call("timings");
  element("timings").tBodies[0].replaceChildren(...rows.map(({ name, milliseconds: time, gflops }) => {
    const row = document.createElement("tr");
    const head = document.createElement("th");
    head.scope = "row";
    head.textContent = name;
    row.append(head);
    row.insertCell().textContent = milliseconds(time);
    row.insertCell().textContent = gflops ? gflops.toFixed(1) : "";
    return row;
  }));
  report = [...Object.entries(facts).map(([name, value]) => `${name}: ${value}`), "",
    ...rows.map(({ name, milliseconds: time, gflops }) => `${name}: ${milliseconds(time)}${gflops ? ` (${gflops.toFixed(1)} GFLOP/s)` : ""}`)].join("\n");
  element("run").disabled = element("copy").disabled = false;
  document.body.dataset.measured = "true";
  say("Measured: medians of seven runs, on one thread.");
}

async function copy() {
  try {
    await navigator.clipboard.writeText(report);
    say("The report is in the clipboard.");
  } catch {
    say("This browser keeps the clipboard closed. Select the table and copy it.", "error");
  }
}

function list(target, entries) {
  target.replaceChildren(...entries.flatMap(([name, value]) => {
    const term = document.createElement("dt"), text = document.createElement("dd");
    term.textContent = name;
    text.textContent = value;
    return [term, text];
  }));
}
