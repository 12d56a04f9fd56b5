// Write along: a network of characters goes on with the text. Its state after each character is kept, so that a keystroke costs a step.
import { element, keepForOffline, manifest, milliseconds, say } from "./engine.js";
import { fillFrom, keepIn } from "./fields.js";

const BEGIN = "A list of functions that ";
const SHOWN = 5; // likeliest characters

const typed = element("typed");
const fields = [typed, element("warmth"), element("length")];
let network, numbers; // numbers: of each character
let hidden = 0;
let known = []; // of each character of the text: {letter, scores, state} after it
let seed = 1;
let busy = false, again = false;

begin().catch((error) => say(error.message, "error"));

async function begin() {
  typed.defaultValue = BEGIN;
  let problem = null;
  try {
    fillFrom(location.hash.slice(1), fields);
  } catch (error) {
    problem = error;
  }
  const { writer } = await manifest;
  if (!writer) {
    document.body.dataset.ready = "true";
    keepForOffline();
    throw new Error("The network is not trained yet. Run `python examples/write_text.py` beside the server (some minutes), then load this page again.");
  }
  const { load } = await import(new URL("wherry.js", writer.page).href);
  network = await load(writer.page);
  numbers = new Map(network.labels.map((letter, i) => [letter, i]));
  ({ hidden } = writer.measured);
  element("measured").textContent = `It learned from ${writer.measured.characters.toLocaleString("en")} characters of Python's help and this project's documents, ` +
    `and needs ${writer.measured.bits.toFixed(2)} bits for a character of text that it did not see.`;
  element("bundle").href = writer.page;
  element("alone").hidden = false;
  for (const name of ["take", "other"]) element(name).disabled = false;
  for (const field of fields) field.addEventListener("input", changed);
  say(problem ? problem.message : "Ready. Type; nothing leaves this tab.", problem ? "error" : "");
  await write();
  document.body.dataset.ready = "true";
  keepForOffline();
}

function changed() {
  keepIn(fields);
  write().catch((error) => say(error.message, "error"));
}

// One text at a time; while one is written, later ones only note that there is something new.
async function write() {
  again = true;
  if (busy) return;
  busy = true;
  element("ahead").dataset.state = "working";
  try {
    while (again) {
      again = false;
      await writeOnce();
    }
  } finally {
    busy = false;
    element("ahead").dataset.state = "settled";
  }
}

async function writeOnce() {
  const letters = [...(typed.value || "\n")].filter((letter) => numbers.has(letter));
  let same = 0;
  while (same < letters.length && known[same]?.letter === letters[same]) same += 1;
  known.length = same;
  for (const letter of letters.slice(same)) {
    known.push(await step(letter, known.at(-1)?.state ?? new Float32Array(hidden)));
    if (again) return;
  }
  if (!known.length) return show("", null, 0);
  const began = performance.now(), random = randomOf(seed), warmth = Number(element("warmth").value);
  let at = known.at(-1), ahead = "";
  for (let i = 0; i < Number(element("length").value); i++) {
    const letter = network.labels[chosen(at.scores, warmth, random)];
    ahead += letter;
    at = await step(letter, at.state);
    if (again) return;
  }
  show(ahead, known.at(-1).scores, performance.now() - began);
}

async function step(letter, state) {
  const answer = await network.predict({
    character: { data: BigInt64Array.of(BigInt(numbers.get(letter))), shape: [1, 1] }, state: { data: state, shape: [1, 1, hidden] },
  });
  const [scores, next] = Object.values(answer);
  return { letter, scores: scores.data, state: next.data };
}

// Probabilities of scores; the colder, the more the likeliest has.
function probabilities(scores, warmth) {
  const largest = Math.max(...scores);
  const powers = Array.from(scores, (score) => Math.exp((score - largest) / Math.max(warmth, 0.01)));
  const sum = powers.reduce((total, power) => total + power, 0);
  return powers.map((power) => power / sum);
}

function chosen(scores, warmth, random) {
  let left = random();
  const shares = probabilities(scores, warmth);
  const found = shares.findIndex((share) => (left -= share) < 0);
  return found < 0 ? shares.indexOf(Math.max(...shares)) : found;
}

// The same numbers from 0 to 1 for a seed.
function randomOf(start) {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let value = Math.imul(state ^ (state >>> 15), state | 1);
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
  };
}

function show(ahead, scores, time) {
  const before = Object.assign(document.createElement("span"), { className: "typed", textContent: typed.value.slice(-60) });
  element("ahead").replaceChildren(before, ahead);
  element("ahead").dataset.text = ahead;
  element("time").textContent = ahead ? `${ahead.length} characters in ${milliseconds(time)}` : "";
  const shares = scores ? probabilities(scores, 1) : [];
  const best = shares.map((share, i) => [share, i]).sort(([a], [b]) => b - a).slice(0, SHOWN);
  element("bars").replaceChildren(...best.map(([share, i], row) => {
    const item = document.createElement("li");
    item.className = row ? "" : "best";
    for (const name of ["label", "track", "value"]) item.append(Object.assign(document.createElement("span"), { className: name }));
    item.children[0].textContent = { " ": "space", "\n": "new line" }[network.labels[i]] ?? network.labels[i];
    item.children[1].append(Object.assign(document.createElement("span"), { className: "fill" }));
    item.querySelector(".fill").style.transform = `scaleX(${share})`;
    item.children[2].textContent = `${(share * 100).toFixed(1)} %`;
    return item;
  }));
}

function take() {
  typed.value = (typed.value + (element("ahead").dataset.text ?? "")).slice(0, typed.maxLength);
  typed.focus();
  changed();
}

element("take").addEventListener("click", take);
element("other").addEventListener("click", () => {
  seed += 1;
  changed();
});
typed.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !event.ctrlKey || element("take").disabled) return;
  event.preventDefault();
  take();
});
