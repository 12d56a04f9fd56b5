// Playground: programs that run in the tab.
import { Editor } from "./editor.js";
import { element, keepForOffline, manifest, milliseconds, say, start } from "./engine.js";
import { Output } from "./output.js";
import { fragmentOf, programOf } from "./share.js";

const DRAFT = "wherry.playground.draft";
const EARLIER = "wherry.playground.earlier"; // what was the draft before a link was opened and changed
const PATIENCE = 2000; // milliseconds after which an interrupt is called ignored
const PROGRAM = 1_000_000; // characters

const editor = new Editor(element("editor"), { onRun: () => run(), onChange: changed });
const output = new Output(element("output"));
const shared = self.crossOriginIsolated ? new Uint8Array(new SharedArrayBuffer(1)) : null;
let engine = null; // when Python is ready
let running = false;
let stopping = 0; // a timer
let fromLink = false; // the program came with the link and was not changed
const examples = fetch(new URL("../data/examples.json", import.meta.url)).then((response) => response.json());

element("run").addEventListener("click", () => run());
element("stop").addEventListener("click", stop);
element("restart").addEventListener("click", () => again("Python was started again: names of earlier runs are gone."));
element("share").addEventListener("click", share);
element("examples").addEventListener("change", choose);
addEventListener("hashchange", () => fromAddress().catch((error) => say(error.message, "error")));
document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.defaultPrevented) run();
});

begin();

async function begin() {
  const filled = fill();
  try {
    await boot();
    say("Ready. Ctrl+Enter runs the program.");
  } catch (error) {
    say(error.message, "error");
    return;
  }
  try {
    await filled;
  } catch (error) {
    say(error.message, "error");
  }
  document.body.dataset.ready = "true";
  keepForOffline();
  keepPackages();
}

async function boot() {
  const { files } = await examples;
  const { engine: fresh } = await start(say, "playground-worker.js", shared?.buffer ?? null, files);
  fresh.addEventListener("said", ({ detail: { message, bytes } }) => {
    if (message.kind === "loading") say(`${message.text} …`, "busy");
    else output.add(message, bytes);
  });
  engine = fresh;
  buttons();
}

// The menu, and the program to begin with: of the address, or the draft, or the first example.
async function fill() {
  const { groups } = await examples;
  const packages = (await manifest).playground?.packages ?? {};
  element("examples").append(...groups.map(({ title, examples }) => {
    const group = document.createElement("optgroup");
    group.label = title;
    group.append(...examples.map(({ name, title, numpy }) => option(title, name, numpy && !packages.numpy)));
    return group;
  }));
  offerEarlier();
  const draft = kept(DRAFT);
  editor.text = draft ?? groups[0].examples[0].code;
  await fromAddress();
}

function option(title, name, lacksNumpy) {
  const made = new Option(lacksNumpy ? `${title} (needs NumPy, which this server has not)` : title, name);
  made.disabled = lacksNumpy;
  return made;
}

async function fromAddress() {
  const fragment = location.hash.slice(1);
  const name = fragment.startsWith("example=") ? decodeURIComponent(fragment.slice("example=".length)) : null;
  const program = name === null ? await programOf(fragment) : await example(name);
  if (program === null) return;
  editor.text = program;
  fromLink = true;
  element("linked").hidden = name !== null; // examples are ours
}

async function example(name) {
  const { groups } = await examples;
  const found = groups.flatMap(({ examples }) => examples).find((one) => one.name === name);
  if (!found) throw new Error(`There is no example of the name ${name.slice(0, 80)}. The menu has those that there are.`);
  return found.code;
}

async function choose() {
  const name = element("examples").value;
  if (!name) return;
  const program = name === EARLIER ? kept(EARLIER) : await example(name);
  if (program === null) return;
  editor.text = program;
  fromLink = false;
  element("linked").hidden = true;
  history.replaceState(null, "", name === EARLIER ? location.pathname : `#example=${encodeURIComponent(name)}`);
  editor.mark();
  say("The example is in the editor. Undo brings back what was there.");
}

function changed(text) {
  if (fromLink && kept(DRAFT) !== null) {
    keep(EARLIER, kept(DRAFT)); // the draft gives way, but is not lost
    offerEarlier();
  }
  fromLink = false;
  element("linked").hidden = true;
  keep(DRAFT, text);
  if (location.hash) history.replaceState(null, "", location.pathname); // it is another program now
}

function offerEarlier() {
  const menu = element("examples");
  if (kept(EARLIER) !== null && !menu.querySelector(`option[value="${EARLIER}"]`)) menu.options[0].after(new Option("Your earlier draft", EARLIER));
}

async function run() {
  if (!engine || running) return;
  const program = editor.text;
  if (program.length > PROGRAM) {
    say(`The program is too long. Got ${program.length} characters, expected at most ${PROGRAM}.`, "error");
    return;
  }
  running = true;
  buttons();
  output.clear();
  output.bringIntoView();
  editor.mark();
  say("Running …", "busy");
  const mine = engine;
  try {
    const result = await mine.call("run", program);
    output.flush();
    ended(result, program);
  } catch (error) {
    if (mine === engine) await again(`Python broke down (${error.message}) and was started again: names of earlier runs are gone.`, "error");
  } finally {
    if (mine === engine) {
      running = false;
      calm();
      buttons();
    }
  }
}

function ended({ run: number, outcome, seconds, error, code }, program) {
  document.body.dataset.ran = `${number} ${outcome}`;
  const took = `Run ${number} took ${milliseconds(seconds * 1e3)}.`;
  if (outcome === "done") {
    say(output.empty ? `${took} It printed nothing.` : took);
  } else if (outcome === "left") {
    output.note(code === "" || code === "0" ? "The program ended by exit." : `The program ended by exit: ${code}`);
    say(took);
  } else {
    const same = editor.text === program; // else lines may have moved
    if (error.line && same) editor.mark(error);
    output.fail(error, () => editor.goTo(error));
    const place = error.line ? `line ${error.line}` : "";
    if (outcome === "interrupted") say(`Stopped${place ? ` at ${place}` : ""} after ${milliseconds(seconds * 1e3)}. Names keep their values.`);
    else say(`${place ? `${place[0].toUpperCase()}${place.slice(1)}: ` : ""}${error.title}`, "error");
  }
}

// Interrupts where memory may be shared, else ends Python; so does a second press.
function stop() {
  if (!running) return;
  if (!shared || stopping) {
    again("Stopped. Python was started again: names of earlier runs are gone.");
    return;
  }
  shared[0] = 2; // SIGINT
  say("Stopping …", "busy");
  stopping = setTimeout(() => {
    element("stop").textContent = "Stop and lose names";
    say("The program does not stop by itself. Stop again to end Python; names are lost then.", "busy");
  }, PATIENCE);
}

function calm() {
  clearTimeout(stopping);
  stopping = 0;
  element("stop").textContent = shared ? "Stop" : "Stop and lose names";
}

// Another Python in place of this one.
async function again(text, kind = "") {
  engine?.close();
  engine = null;
  running = false;
  calm();
  buttons();
  editor.mark();
  try {
    await boot();
    say(text, kind);
  } catch (error) {
    say(error.message, "error");
  }
}

function buttons() {
  element("run").disabled = !engine || running;
  element("stop").disabled = !running;
  element("restart").disabled = !engine;
}

async function share() {
  try {
    history.replaceState(null, "", `#${await fragmentOf(editor.text)}`);
  } catch (error) {
    say(error.message, "error");
    return;
  }
  try {
    await navigator.clipboard.writeText(location.href);
    say("The link to this program is in the clipboard. It holds the program itself; nothing was sent.");
  } catch {
    say("The link to this program is in the address bar. It holds the program itself; nothing was sent.");
  }
}

// Packages that programs may import, so that they are there without a network.
async function keepPackages() {
  if (!("serviceWorker" in navigator)) return;
  await navigator.serviceWorker.ready;
  if (!navigator.serviceWorker.controller) await new Promise((resolve) => navigator.serviceWorker.addEventListener("controllerchange", resolve, { once: true }));
  for (const url of new Set(Object.values((await manifest).playground.packages))) {
    const response = await fetch(url, { priority: "low" }).catch(() => null); // without a network: the next visit, or a program that imports it, asks again
    await response?.body?.cancel();
  }
}

// The browser's memory for this site; some keep it closed.
function kept(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

function keep(key, text) {
  try {
    localStorage.setItem(key, text);
  } catch {
    return; // then there is no draft
  }
}
