// Draw a digit: bars move while drawing, the server's answer stands beside them on demand.
import { address, bytes, element, keepForOffline, manifest, milliseconds, say, start } from "./engine.js";
import { counts, inkOf, paint } from "./digit.js";
import { drawingOn } from "./pen.js";

const canvas = element("canvas");
const context = canvas.getContext("2d", { willReadFrequently: true });
const opened = performance.now();
const TEST = { count: 1797, from: 1437 };
const PEN = 5.5; // of them make the width: as bold as the digits that were learned, where ink fills three tenths
const EMPTY = new Float32Array(64);

let predict, model, digits; // predict: 64 counts to {probabilities, scores, milliseconds}
let busy = false, changed = false;
let shown = null; // the test digit on the canvas

clear();
prepareDrawing();
prepareBars();
begin().catch((error) => say(error.message, "error"));

async function begin() {
  const { models: [saved], digits: digitsAddress, static_build: noServer } = await manifest;
  if (!saved) throw new Error("No model is saved yet. Run `make demo`, or train one on the next page.");
  predict = saved.page_url ? await exported(saved) : await inPython(saved);
  model = saved;
  const seconds = ((performance.now() - opened) / 1e3).toFixed(1);
  say(`${model.title} is ready after ${seconds} s. It runs in this tab; nothing you draw leaves it unless you ask the server.`);
  document.body.dataset.ready = "true";
  element("ask").disabled = Boolean(noServer);
  if (noServer) element("server").textContent = "These pages are plain files: there is no server to ask.";
  update();
  digits = await bytes(digitsAddress);
  element("sample").disabled = false;
  keepForOffline();
}

// The network as `wherry.export.web` wrote it: some hundred kilobytes, and no Python.
async function exported(saved) {
  const { load } = await import(new URL("wherry.js", saved.page_url).href);
  const network = await load(saved.page_url);
  return async (cells) => {
    const began = performance.now();
    const [{ data: scores }] = Object.values(await network.predict({ image: Float32Array.from(image(cells).flat()) }));
    const largest = Math.max(...scores);
    const powers = Array.from(scores, (score) => Math.exp(score - largest));
    const sum = powers.reduce((total, power) => total + power, 0);
    return { scores: Array.from(scores), probabilities: powers.map((power) => power / sum), milliseconds: performance.now() - began };
  };
}

// The weights in Python, where the model was not exported.
async function inPython(saved) {
  const starting = start(say);
  starting.catch(() => {}); // awaited below, as the weights are
  const weights = bytes(saved.weights_url); // loads while Python starts
  weights.catch(() => {});
  const { engine } = await starting;
  await engine.call("loadModel", saved.architecture, saved.labels.length, await weights);
  await engine.call("predict", new Float32Array(64)); // the first one compiles
  return (cells) => engine.call("predict", cells);
}

function prepareDrawing() {
  drawingOn(canvas, {
    width: canvas.width / PEN,
    began: () => shown && clear(),
    changed: update,
    cleared: clear,
    moved: (text) => (element("pen").textContent = text),
  });
  element("clear").addEventListener("click", clear);
  element("sample").addEventListener("click", sample);
  element("ask").addEventListener("click", ask);
}

function clear() {
  context.fillStyle = "#fff";
  context.fillRect(0, 0, canvas.width, canvas.height);
  shown = null;
  element("truth").textContent = "";
  element("server").textContent = "";
  update();
}

// A digit that the model was not trained on, drawn by its 64 numbers.
function sample() {
  clear();
  const from = canvas.dataset.next ? Number(canvas.dataset.next) : TEST.from + Math.floor(Math.random() * (TEST.count - TEST.from));
  canvas.dataset.next = "";
  paint(canvas, digits.subarray(from * 64, from * 64 + 64));
  shown = digits[TEST.count * 64 + from];
  element("truth").textContent = `Digit ${from} of the test set: a ${shown}.`;
  update();
}

// One prediction at a time; while it runs, later strokes only note that there is something new.
async function update() {
  changed = true;
  if (busy || !predict || !model) return;
  busy = true;
  element("answer").dataset.state = "working";
  while (changed) {
    changed = false;
    const cells = counts(inkOf(canvas));
    paint(element("seen"), cells ?? EMPTY);
    if (!cells) {
      show(null);
      continue;
    }
    try {
      show(await predict(cells));
    } catch (error) {
      say(error.message, "error");
    }
  }
  busy = false;
  element("answer").dataset.state = "settled";
}

function prepareBars() {
  element("bars").append(...Array.from({ length: 10 }, (_, i) => {
    const row = document.createElement("li");
    row.innerHTML = `<span class="label">${i}</span><span class="track"><span class="fill"></span></span><span class="value"></span>`;
    return row;
  }));
}

function show(answer) {
  const rows = [...element("bars").children];
  rows.forEach((row, i) => {
    const probability = answer ? answer.probabilities[i] : 0;
    row.querySelector(".fill").style.transform = `scaleX(${probability})`;
    row.querySelector(".value").textContent = answer ? `${(probability * 100).toFixed(1)} %` : "";
  });
  const best = answer ? answer.probabilities.indexOf(Math.max(...answer.probabilities)) : -1;
  rows.forEach((row, i) => row.classList.toggle("best", i === best));
  element("answer").textContent = answer ? String(best) : "–";
  element("time").textContent = answer ? `answered in ${milliseconds(answer.milliseconds)}` : "Draw with a pointer, or take a digit from the test set.";
}

async function ask() {
  const cells = counts(inkOf(canvas));
  if (!cells) {
    element("server").textContent = "Draw something first.";
    return;
  }
  const started = performance.now();
  try {
    const response = await fetch(address(`api/models/${model.name}/predict`), {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ inputs: [image(cells)] }),
    });
    const content = await response.json();
    if (!response.ok) throw new Error(content.error.detail);
    const [best] = content.top[0];
    const here = (await predict(cells)).scores;
    const apart = Math.max(...here.map((score, i) => Math.abs(score - content.outputs[0][i])));
    element("server").textContent =
      `The server says ${best.label} (${(best.probability * 100).toFixed(1)} %), computed in ${milliseconds(content.milliseconds)}, ` +
      `${milliseconds(performance.now() - started)} with the way there and back. Its scores and ours differ by at most ${apart.toExponential(1)}.`;
  } catch (error) {
    element("server").textContent = `The server did not answer: ${error.message}`;
  }
}

// The 28 x 28 that the network takes: each cell 3 x 3, 2 of background around, values from -1 to 1.
function image(cells) {
  return Array.from({ length: 28 }, (_, y) => Array.from({ length: 28 }, (_, x) => {
    const row = Math.floor((y - 2) / 3), column = Math.floor((x - 2) / 3);
    return row >= 0 && row < 8 && column >= 0 && column < 8 ? cells[row * 8 + column] / 8 - 1 : -1;
  }));
}
