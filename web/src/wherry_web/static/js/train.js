// Train in the tab: live charts, confusion matrix, mistakes; weights can be taken away and brought back.
import { Charts } from "./charts.js";
import { bytes, element, keepForOffline, manifest, say, start } from "./engine.js";
import { paint } from "./digit.js";

const MISTAKES_SHOWN = 24;
const WEIGHTS_LIMIT = 16 << 20; // bytes

let engine, digits;
let running = false;
let evaluating = false;
let resets = 0; // under way
const charts = new Charts("unseen digits");

start(say).then(ready).catch((error) => say(error.message, "error"));

async function ready({ engine: started }) {
  engine = started;
  digits = await bytes((await manifest).digits);
  engine.addEventListener("trained", ({ detail }) => record(detail));
  engine.addEventListener("failed", ({ detail }) => stop(detail.text));
  for (const id of ["run", "reset", "download", "upload"]) element(id).disabled = false;
  await reset();
  document.body.dataset.ready = "true";
  keepForOffline();
}

element("run").addEventListener("click", toggle);
element("reset").addEventListener("click", () => reset().catch((error) => say(error.message, "error")));
element("settings").addEventListener("submit", (event) => event.preventDefault());
element("settings").addEventListener("change", () => reset().catch((error) => say(error.message, "error")));
element("download").addEventListener("click", download);
element("upload").addEventListener("change", upload);

function settings() {
  const form = new FormData(element("settings"));
  return {
    architecture: form.get("architecture"),
    optimizer: form.get("optimizer"),
    learning_rate: Number(form.get("learning_rate")),
    batch_size: Number(form.get("batch_size")),
    seed: 0,
  };
}

async function reset() {
  resets += 1;
  element("run").disabled = true; // until the last of several changes is done
  try {
    await setRunning(false);
    const result = await engine.call("configure", digits, settings());
    charts.clear();
    showEvaluation(result);
    element("progress").textContent = "";
    element("run").textContent = "Train";
    say("Ready: 1437 digits to train on, 360 to test on.");
  } finally {
    resets -= 1;
    element("run").disabled = resets > 0;
  }
}

async function toggle() {
  await setRunning(!running);
  say(running ? "Training …" : "Paused. Resume goes on from here.", running ? "busy" : "");
  if (!running) await evaluate(true);
}

async function setRunning(value) {
  running = value;
  element("run").textContent = running ? "Pause" : charts.length ? "Resume" : "Train";
  element("run").setAttribute("aria-pressed", String(running));
  if (engine) await engine.call(running ? "start" : "pause");
}

function stop(text) {
  running = false;
  element("run").textContent = "Train";
  element("run").setAttribute("aria-pressed", "false");
  say(text, "error");
}

function record(slice) {
  const { steps, epochs, seconds, losses } = slice;
  charts.record(slice);
  element("progress").textContent =
    `Step ${steps}, epoch ${epochs.toFixed(1)}, ${(seconds ? steps / seconds : 0).toFixed(0)} steps a second, loss ${losses.at(-1).toFixed(4)}`;
  if (running && !evaluating) evaluate();
}

// Between slices of training, at most one at a time.
async function evaluate(now = false) {
  if ((evaluating && !now) || !engine) return;
  evaluating = true;
  try {
    showEvaluation(await engine.call("evaluate"));
  } finally {
    setTimeout(() => (evaluating = false), 500);
  }
}

function showEvaluation({ steps, accuracy, confusion, mistakes }) {
  element("accuracy").textContent = `${(accuracy * 100).toFixed(2)} %`;
  element("accuracy").dataset.value = accuracy;
  charts.evaluated(steps, accuracy);
  showConfusion(confusion);
  showMistakes(mistakes);
}

function showConfusion(rows) {
  const body = element("confusion").tBodies[0];
  if (!body.rows.length) {
    rows.forEach((row, label) => {
      const line = body.insertRow();
      const head = document.createElement("th");
      head.scope = "row";
      head.textContent = label;
      line.append(head);
      row.forEach(() => line.insertCell());
    });
  }
  rows.forEach((row, label) => {
    const total = row.reduce((sum, count) => sum + count, 0) || 1;
    row.forEach((count, answer) => {
      const cell = body.rows[label].cells[answer + 1];
      cell.textContent = count || "";
      cell.className = label === answer ? "right" : count ? "wrong" : "";
      cell.style.setProperty("--share", (count / total).toFixed(3));
    });
  });
}

function showMistakes(mistakes) {
  element("mistake-count").textContent = mistakes.length
    ? `${mistakes.length} of 360${mistakes.length > MISTAKES_SHOWN ? `, the first ${MISTAKES_SHOWN} of them` : ""}`
    : "none";
  element("mistakes").replaceChildren(...mistakes.slice(0, MISTAKES_SHOWN).map(({ label, answer, pixels }) => {
    const item = document.createElement("li");
    const picture = document.createElement("canvas");
    picture.width = picture.height = 48;
    picture.setAttribute("role", "img");
    picture.setAttribute("aria-label", `a handwritten ${label}`);
    paint(picture, pixels);
    const text = document.createElement("span");
    text.textContent = `${label}, seen as ${answer}`;
    item.append(picture, text);
    return item;
  }));
}

async function download() {
  const content = await engine.call("weights");
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content], { type: "application/octet-stream" }));
  link.download = `digits-${settings().architecture.toLowerCase()}.pdparams`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  say(`${link.download} holds the weights. paddle.load reads it, here and in Paddle.`);
}

async function upload() {
  const [file] = element("upload").files;
  element("upload").value = "";
  if (!file) return;
  try {
    if (file.size > WEIGHTS_LIMIT) throw new Error(`the file has ${(file.size / 1e6).toFixed(1)} MB, expected at most ${WEIGHTS_LIMIT / 1e6} MB.`);
    await setRunning(false);
    const content = new Uint8Array(await file.arrayBuffer());
    showEvaluation(await engine.call("loadWeights", content));
    say(`${file.name} is loaded; training goes on from there.`);
  } catch (error) {
    say(`${file.name} was not loaded: ${error.message}`, "error");
  }
}
