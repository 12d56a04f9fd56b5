// A network to play with: each frame asks the worker for some steps and draws what the network makes of the plane.
import { address, element, keepForOffline, say, start } from "./engine.js";
import { EDGE, fragmentOf as fragmentOfState, LIMITS, rounded, stateOf } from "./play-state.js";
import { Pictures } from "./play-pictures.js";
import { fragmentOf } from "./share.js";

const SLICE = 8; // milliseconds of steps for each frame
const AHEAD = 2; // answers that wait for their frame: one may come late, and the next frame has something new all the same
const NUDGE = 0.06; // of the cross, for a press of an arrow key

const form = element("settings");
const canvas = element("plane");
const pictures = new Pictures();
const CHOICES = Object.fromEntries(["data", "activation", "optimizer", "rate"].map((name) => [name, valuesOf(name)]));
const USUAL = { ...chosen(), layers: [8, 8] };

let engine;
let refusal = ""; // why the address was not taken
let state = fromAddress();
let shown = null; // the answer of the worker that is drawn, with planes as numbers
let next = []; // answers that came after it: one for each frame
let known = []; // points of the network that the worker has
let ready = false; // the worker has the network of the state
let running = false;
let asking = false;
let stale = false; // there is something to draw
let turn = 0; // of the state: answers for an earlier one are passed over
let drawing = 0; // milliseconds that a frame is drawn in, smoothed
let cross = null; // where the keyboard would add a point

showState();
redraw();
start(say).then(async ({ engine: started }) => {
  engine = started;
  await configure();
  document.body.dataset.ready = "true";
  keepForOffline();
}).catch((error) => say(error.message, "error"));

// What is chosen.

function valuesOf(name) {
  const control = form.elements[name];
  return Array.from(control.options ?? control, (one) => one.value);
}

function chosen() {
  return Object.fromEntries(Object.keys(CHOICES).map((name) => [name, form.elements[name].value]));
}

function fromAddress() {
  try {
    return stateOf(location.hash.slice(1), CHOICES, USUAL);
  } catch (error) {
    refusal = error.message;
    return stateOf("", CHOICES, USUAL);
  }
}

form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("change", () => change(chosen()));
element("more").addEventListener("click", () => change({ layers: [...state.layers, state.layers.at(-1) ?? 4] }));
element("less").addEventListener("click", () => change({ layers: state.layers.slice(0, -1) }));
element("undo").addEventListener("click", () => change({ points: state.points.slice(0, -1) }));
element("clear").addEventListener("click", () => change({ points: [] }));
element("reset").addEventListener("click", () => change({}));
addEventListener("hashchange", () => {
  if (location.hash.slice(1) === fragmentOfState(state)) return;
  state = fromAddress();
  showState();
  again();
});

function change(what) {
  state = { ...state, ...what };
  history.replaceState(null, "", `#${fragmentOfState(state)}`);
  showState();
  again();
}

function showState() {
  for (const name of Object.keys(CHOICES)) form.elements[name].value = state[name];
  const own = state.data === "own";
  element("own").hidden = !own;
  canvas.classList.toggle("own", own);
  if (own) canvas.tabIndex = 0;
  else canvas.removeAttribute("tabindex");
  if (!own) cross = null;
  element("undo").disabled = element("clear").disabled = !state.points.length;
  element("less").disabled = !state.layers.length;
  element("more").disabled = state.layers.length >= LIMITS.layers;
  showLayers();
}

// A box for each layer; the buttons of those that stay are kept, and with them the focus.
function showLayers() {
  const boxes = element("layers");
  while (boxes.children.length > state.layers.length) boxes.lastElementChild.remove();
  while (boxes.children.length < state.layers.length) boxes.append(layerBox(boxes.children.length));
  state.layers.forEach((width, i) => {
    const box = boxes.children[i];
    const [fewer, more] = box.querySelectorAll("button");
    box.querySelector("output").textContent = width;
    fewer.disabled = width <= 1;
    more.disabled = width >= LIMITS.neurons;
    const neurons = box.querySelector(".neurons");
    while (neurons.children.length > width) neurons.lastElementChild.remove();
    while (neurons.children.length < width) {
      const picture = document.createElement("canvas");
      picture.setAttribute("role", "img");
      picture.setAttribute("aria-label", `Layer ${i + 1}, neuron ${neurons.children.length + 1}`);
      neurons.append(picture);
    }
  });
}

function layerBox(i) {
  const box = document.createElement("section");
  box.className = "layer";
  box.setAttribute("aria-label", `Layer ${i + 1}`);
  const title = document.createElement("h3");
  title.textContent = `Layer ${i + 1}`;
  const count = document.createElement("div");
  count.className = "count";
  const button = (text, label, by) => {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = text;
    made.setAttribute("aria-label", label);
    made.addEventListener("click", () => change({ layers: state.layers.map((width, k) => (k === i ? width + by : width)) }));
    return made;
  };
  count.append(button("−", `One neuron less in layer ${i + 1}`, -1), document.createElement("output"), button("+", `One neuron more in layer ${i + 1}`, 1));
  const neurons = document.createElement("div");
  neurons.className = "neurons";
  box.append(title, count, neurons);
  return box;
}

// The worker gets the network of the state; where it ran, it goes on running.
async function configure() {
  const mine = ++turn;
  ready = false;
  shown = null;
  next = [];
  pictures.forget();
  const { data, points, layers, activation, optimizer, rate } = state;
  if (data === "own" && new Set(points.map(({ label }) => label)).size < 2) {
    setRunning(false);
    element("program").textContent = "";
    element("open").href = address("playground");
    element("result").textContent = "–";
    element("progress").textContent = "";
    say("Click on the picture to add points, some of each class.");
    return redraw();
  }
  const flat = points.flatMap(({ x, y, label }) => [x, y, label]);
  const first = await engine.call("openPlay", { data, points: flat, layers, activation, optimizer, learning_rate: Number(rate) });
  if (mine !== turn) return undefined;
  ready = true;
  element("program").textContent = first.program;
  const floats = numbersOf(first.points);
  known = first.labels.map((label, i) => ({ x: floats[2 * i], y: floats[2 * i + 1], label }));
  take(first);
  const link = `${address("playground")}#${await fragmentOf(first.program)}`;
  if (mine === turn) element("open").href = link;
  if (mine !== turn) return undefined;
  setRunning(running);
  if (refusal) say(refusal, "error");
  else say(running ? "It learns …" : "Ready.", running ? "busy" : "");
  refusal = "";
  return redraw();
}

function again() {
  if (engine) configure().catch(failed);
  redraw();
}

function failed(error) {
  setRunning(false);
  say(error.message, "error");
}

// Learning.

element("run").addEventListener("click", () => {
  setRunning(!running);
  say(running ? "It learns …" : "Paused.", running ? "busy" : "");
});
element("step").addEventListener("click", () => {
  setRunning(false);
  say("One step, and it waits.");
  ask(0);
});

function setRunning(value) {
  running = value;
  element("run").textContent = running ? "Pause" : "Start";
  element("run").setAttribute("aria-pressed", String(running));
  for (const id of ["run", "step", "reset"]) element(id).disabled = !ready;
  redraw();
}

// At most one question at a time: a slow machine makes fewer steps, the page stays as quick.
async function ask(milliseconds) {
  if (asking || !ready) return;
  asking = true;
  const mine = turn;
  try {
    const seen = await engine.call("play", milliseconds);
    if (mine !== turn) return;
    take(seen);
    if (!Number.isFinite(seen.loss)) throw new Error("The loss is not a number any more: the steps were too large. Choose a smaller learning rate.");
  } catch (error) {
    if (mine === turn) failed(error);
  } finally {
    asking = false;
    keepOn();
  }
}

// Steps for the frames to come, not in the time of one alone: the worker learns while the page draws.
function keepOn() {
  if (running && next.length < AHEAD) ask(SLICE);
}

function numbersOf(bytes) {
  return new Float32Array(bytes.slice().buffer);
}

function take(seen) {
  next.push({ ...seen, planes: numbersOf(seen.planes) });
  redraw();
}

// The next answer, or, where it does not learn any more, the latest.
function show() {
  for (const seen of running ? next.splice(0, 1) : next.splice(0)) {
    shown = seen;
    pictures.record(seen.steps, seen.loss);
  }
}

// Drawing: in frames, and only what is new.

function redraw() {
  if (stale) return;
  stale = true;
  requestAnimationFrame(frame);
}

function frame() {
  stale = false;
  const began = performance.now();
  show();
  keepOn();
  const cells = shown ? shown.side ** 2 : 0;
  const points = state.data === "own" ? state.points : shown ? known : [];
  pictures.answer(canvas, shown?.planes.subarray(-cells), shown?.side, points, EDGE, document.activeElement === canvas ? cross : null);
  element("layers").querySelectorAll("canvas").forEach((picture, i) => neuron(picture, i, cells));
  pictures.curve(element("loss"));
  if (shown) {
    drawing += ((performance.now() - began) - drawing) / 10;
    const { steps, seconds, loss, right } = shown;
    element("result").textContent = `Now ${loss.toFixed(4)}; ${(right * 100).toFixed(1)} % of the points are right.`;
    const times = steps ? `, ${((seconds / steps) * 1e3).toFixed(2)} ms each; a frame is drawn in ${drawing.toFixed(1)} ms` : "";
    element("progress").textContent = `Step ${steps}${times}.`;
    Object.assign(element("progress").dataset, { steps, right, drawing, step: steps ? (seconds / steps) * 1e3 : 0 });
  }
  if (running) redraw();
}

function neuron(picture, i, cells) {
  const values = shown?.planes.subarray(i * cells, (i + 1) * cells);
  if (!shown || shown.planes.length < (i + 2) * cells) {
    picture.getContext("2d").clearRect(0, 0, picture.width, picture.height);
    return;
  }
  if (state.activation === "Sigmoid") pictures.plane(picture, values, shown.side, 2, -1);
  else pictures.plane(picture, values, shown.side, 1 / values.reduce((most, value) => Math.max(most, Math.abs(value)), 1e-6));
}

addEventListener("resize", redraw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);

// Own points.

function add(x, y) {
  if (state.points.length >= LIMITS.points) {
    say(`There are ${LIMITS.points} points, and no more fit. Remove some.`, "error");
    return;
  }
  const label = Number(document.querySelector("input[name=class]:checked").value);
  change({ points: [...state.points, { x: rounded(x), y: rounded(y), label }] });
  element("cross").textContent = `A point of class ${label}, ${state.points.length} in all.`;
}

canvas.addEventListener("click", (event) => {
  if (state.data !== "own") return;
  const box = canvas.getBoundingClientRect();
  add(((event.clientX - box.left) / box.width) * 2 * EDGE - EDGE, EDGE - ((event.clientY - box.top) / box.height) * 2 * EDGE);
});

canvas.addEventListener("keydown", (event) => {
  const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
  if (state.data !== "own" || event.ctrlKey || event.metaKey || event.altKey) return;
  cross ??= { x: 0, y: 0 };
  if (moves[event.key]) {
    cross = { x: rounded(cross.x + moves[event.key][0] * NUDGE), y: rounded(cross.y + moves[event.key][1] * NUDGE) };
    element("cross").textContent = `The cross is at ${cross.x.toFixed(2)}, ${cross.y.toFixed(2)}.`;
  } else if (event.key === "Enter" || event.key === " ") {
    add(cross.x, cross.y);
  } else if (event.key === "Backspace") {
    if (state.points.length) change({ points: state.points.slice(0, -1) });
  } else {
    return;
  }
  event.preventDefault();
  redraw();
});
for (const event of ["focus", "blur"]) canvas.addEventListener(event, () => {
  if (event === "focus" && state.data === "own") cross ??= { x: 0, y: 0 };
  redraw();
});
