// Your model: a program from files is drawn, run and measured in this tab.
//
// The page keeps the files; the worker has what was made of them. To stop, the worker is ended: the next one opens the files again.
import { bytes, element, keepForOffline, manifest, milliseconds, say, start } from "./engine.js";
import { paint, SIZE } from "./digit.js";
import { GraphView } from "./graph-view.js";
import { answersFor } from "./model-answers.js";
import { formFor } from "./model-inputs.js";

const LIMITS = { program: 32 << 20, params: 512 << 20, labels: 4 << 20 }; // bytes
const PATIENCE = { open: 90, draw: 30, run: 180 }; // seconds, then it is stopped
const SHOWN = 60; // search results
const LISTED = 200; // parameters, and types of operators
// What is opened, by the endings of names: what comes first, where several files of a model are brought together. Others lie beside it.
const PROGRAMS = ["pdmodel", "json", "onnx", "pt2"], WEIGHTS = ["pdparams", "pdopt", "pth", "pt", "safetensors", "npz", "gguf"];
const WORDS = {
  info: "A .pdiparams.info is of no use here. Bring the .pdmodel and .pdiparams beside it.",
  tflite: "Files of TensorFlow Lite are not read. Make ONNX of the model: python -m tf2onnx.convert.",
  pb: "Files of TensorFlow are not read. Make ONNX of the model: python -m tf2onnx.convert.",
};

const graph = new GraphView(element("graph"));
let engine = null, starting = null;
let files = null; // {program, params, name, preset}
let about = null; // of the program that is open
let form = [];
let labels = null, found = [], at = -1, svg = "";
let lastRun = null;
let busy = null; // {what}: while the worker is at something that can be stopped
let turn = 0; // grows with each model and each stop: what belongs to an earlier one is not shown

listen();
boot(false).then(ready).catch((error) => say(error.message, "error"));

function boot(again) {
  starting = start((text) => say(again ? `Stopped. ${text}` : text, "busy")).then(({ engine: started }) => (engine = started));
  return starting;
}

async function ready() {
  say("Ready. Drop a model, choose one, or try the example.");
  element("example").disabled = false;
  document.body.dataset.ready = "true";
  keepForOffline();
}

function listen() {
  element("files").addEventListener("change", () => {
    const chosen = [...element("files").files];
    element("files").value = "";
    bring(chosen);
  });
  for (const name of ["dragenter", "dragover"]) {
    addEventListener(name, (event) => {
      event.preventDefault();
      element("drop").classList.add("over");
    });
  }
  addEventListener("dragleave", (event) => event.relatedTarget ?? element("drop").classList.remove("over"));
  addEventListener("drop", (event) => {
    event.preventDefault();
    element("drop").classList.remove("over");
    bring([...event.dataTransfer.files]);
  });
  element("example").addEventListener("click", () => example().catch((error) => say(error.message, "error")));
  element("stop").addEventListener("click", () => stop("Stopped"));
  element("closer").addEventListener("click", () => graph.closer());
  element("farther").addEventListener("click", () => graph.farther());
  element("fit").addEventListener("click", () => graph.fit());
  element("top").addEventListener("click", () => graph.start());
  element("save-svg").addEventListener("click", saveSvg);
  graph.addEventListener("choose", ({ detail }) => choose(detail));
  element("search").addEventListener("input", search);
  element("search-form").addEventListener("submit", (event) => {
    event.preventDefault();
    if (found.length) go((at + 1) % Math.min(found.length, SHOWN));
  });
  element("run").addEventListener("click", run);
  element("inputs").addEventListener("submit", (event) => event.preventDefault());
  element("labels").addEventListener("change", readLabels);
  for (const button of element("ops").querySelectorAll("th button")) button.addEventListener("click", () => sort(button));
}

// Files.

function kindOf({ name }) {
  if (name === "__model__") return "pdmodel";
  return name === "__params__" ? "pdiparams" : name.toLowerCase().split(".").at(-1);
}

const ofPaddle = (file) => ["pdmodel", "json"].includes(kindOf(file));

function bring(given) {
  if (!given.length) return;
  try {
    // Whole folders of a saved model are welcome; what is of no use is left out where there is a program.
    const params = given.filter((file) => kindOf(file) === "pdiparams");
    let mains = given.filter((file) => PROGRAMS.includes(kindOf(file)));
    if (!mains.length) mains = given.filter((file) => WEIGHTS.includes(kindOf(file)));
    if (mains.length > 1 || params.length > 1) throw new Error(`Got ${mains.length} models (${mains.map((file) => file.name).join(", ")}) and ${params.length} .pdiparams, expected one of each. Bring one model at a time.`);
    if (!mains.length && !params.length) {
      const [file] = given;
      throw new Error(WORDS[kindOf(file)] ?? `${file.name} is not a model. Bring a .pdmodel or .json with its .pdiparams, an .onnx, a .pt2, or weights: ${WEIGHTS.map((kind) => `.${kind}`).join(", ")}.`);
    }
    const kept = files && ofPaddle(files.given[0]) ? files.given[0] : null; // of which the parameters come later
    const main = mains[0] ?? kept;
    if (!main) throw new Error(`${params[0].name} holds parameters alone. Bring the program that was saved together with it.`);
    const beside = ofPaddle(main) ? params : given.filter((file) => file !== main);
    const limits = [ofPaddle(main) ? LIMITS.program : LIMITS.params, ...beside.map(() => LIMITS.params)];
    [main, ...beside].forEach((file, i) => {
      if (file.size > limits[i]) throw new Error(`${file.name} has ${(file.size / 1e6).toFixed(0)} MB, expected at most ${limits[i] >> 20} MiB in a tab. Run it outside of the browser.`);
    });
    open({ given: [main, ...beside], name: main.name.replace(/\.(pdmodel|json|onnx|pt2)$/i, "") }, null);
  } catch (error) {
    say(error.message, "error");
  }
}

// The LeNet of the gallery; a network with weights by chance where there is none.
async function example() {
  const mine = ++turn;
  if (busy) {
    files = about = null;
    element("opened").hidden = true;
    await restart();
  }
  await starting;
  const { models, digits } = await manifest;
  const saved = models.find((model) => model.weights_url && JSON.stringify(model.input_shape) === "[1,28,28]");
  say("Fetching the example …", "busy");
  const [weights, pixels] = await Promise.all([saved ? bytes(saved.weights_url) : undefined, bytes(digits)]);
  const { model, params } = await engine.call("exampleModel", saved?.architecture ?? "LeNet", saved?.labels.length ?? 10, weights);
  if (mine !== turn) return; // another one was chosen meanwhile
  labels = saved?.labels ?? null;
  await open(
    { given: [new File([model], "lenet.pdmodel"), new File([params], "lenet.pdiparams")], name: saved ? "LeNet" : "LeNet, untrained" },
    { range: "-1 to 1", inverted: true, digit: pixels.slice(1437 * 64, 1438 * 64) },
  );
}

async function open(chosen, preset) {
  const mine = ++turn;
  element("opened").hidden = true;
  if (!preset) labels = null;
  files = about = null;
  if (busy) await restart();
  form.forEach((field) => field.release());
  delete document.body.dataset.opened;
  try {
    about = await work("open", `Reading ${chosen.name}`, () => engine.call("openModel", ...chosen.given));
    if (mine !== turn) return;
    files = { ...chosen, preset };
    showAbout();
    const drawn = about.why ? "" : await draw();
    if (mine !== turn) return;
    document.body.dataset.opened = chosen.name;
    const lacks = about.why ? ` There is nothing to draw and run: ${about.why}` : about.lacksParams ? " To run it, bring its .pdiparams too." : "";
    say(`${drawn}${chosen.name} is open.${lacks}`);
    element("opened").scrollIntoView?.({ block: "nearest" });
  } catch (error) {
    if (mine === turn) say(`${chosen.name} was not opened: ${error.message}`, "error");
  }
}

// Something for the worker: can be stopped, and is after a while. A worker that died is replaced.
async function work(kind, text, call) {
  await starting;
  const mine = turn;
  say(`${text} …`, "busy");
  busy = { what: text };
  element("stop").disabled = false;
  element("run").disabled = true;
  const timer = setTimeout(() => mine === turn && stop(`${text} took more than ${PATIENCE[kind]} s and was stopped`, "error"), PATIENCE[kind] * 1e3);
  try {
    return await call();
  } catch (error) {
    if (mine === turn && (error.fatal || /memory|fatally/i.test(error.message))) await restart();
    throw error;
  } finally {
    clearTimeout(timer);
    if (mine === turn) {
      busy = null;
      element("stop").disabled = true;
      element("run").disabled = !runs();
    }
  }
}

// Ends what runs; the model stays.
async function stop(text, kind = "") {
  const mine = ++turn;
  busy = null;
  element("stop").disabled = true;
  try {
    await restart();
    if (mine !== turn) return;
    element("run").disabled = !files || !runs();
    say(`${text}. ${files ? `${files.name} is still open.` : "Bring another model."}`, kind);
  } catch (error) {
    say(error.message, "error");
  }
}

// A new worker, with the model that is open.
async function restart() {
  engine?.close();
  busy = null;
  const kept = files;
  starting = boot(true).then(async (started) => {
    if (kept) await started.call("openModel", ...kept.given);
    return started;
  });
  await starting;
}

function showAbout() {
  element("opened").hidden = false;
  element("times").hidden = true;
  element("answers").replaceChildren(note("Run the model to see what it gives."));
  element("time").textContent = "";
  element("search").value = "";
  search();
  choose(null);
  const meta = ({ name, dtype, shape }) => `${name}: ${dtype} [${shape.map((n) => (n < 0 ? "?" : n)).join(", ")}]`;
  facts(element("about"), [
    ["Model", files.name], ["Operators", about.ops], ["Parameters", `${about.parameters.toLocaleString("en")} (${size(about.weightBytes)})`],
    ["Takes", about.inputs.map(meta).join("; ") || "nothing"], ["Gives", about.outputs.map(meta).join("; ") || "nothing"],
  ]);
  element("text").textContent = about.text;
  form = about.why ? [] : formFor(about.inputs, say);
  if (files.preset) {
    for (const field of form) Object.assign(field, { range: files.preset.range, inverted: files.preset.inverted });
    form.forEach((field) => field.show());
    paintDigit(form[0], files.preset.digit);
  }
  element("inputs").replaceChildren(...form.map((field) => field.element));
  element("run").disabled = !runs();
  for (const part of document.querySelectorAll("[data-of-program]")) part.hidden = Boolean(about.why);
  showHeld(about.held);
}

const runs = () => Boolean(about) && !about.lacksParams && !about.why;

// What the file holds, as `wherry inspect` says it.
function showHeld({ format, operators, unsupported, parameters, tensors, dtypes }) {
  facts(element("held"), [
    ["Format", format],
    ...(operators.length ? [["Not supported", unsupported.join(", ") || "nothing: all operators are"]] : []),
    ["Tensors", tensors ? `${tensors} (${Object.entries(dtypes).map(([name, count]) => `${count} ${name}`).join(", ")})` : "none"],
  ]);
  rows("held-operators", operators, ([name, count]) => [name, count]);
  rows("held-parameters", parameters, ({ name, dtype, shape }) => [name, dtype ?? "not said", shape === null ? "not said" : `[${shape.join(", ")}]`]);
}

// The first entries as rows of a table, and how many there are; nothing where there are none.
function rows(id, entries, cells) {
  element(id).hidden = !entries.length;
  element(`${id}-count`).textContent = entries.length > LISTED ? `${LISTED} of ${entries.length}` : entries.length;
  element(id).querySelector("tbody").replaceChildren(...entries.slice(0, LISTED).map((entry) => {
    const line = document.createElement("tr");
    for (const text of cells(entry)) line.insertCell().textContent = text;
    return line;
  }));
}

// A digit of the test set as the network learned them: 3 x 3 pixels for each of its cells, 2 of background around.
function paintDigit({ canvas }, cells) {
  const small = new OffscreenCanvas(SIZE * 3, SIZE * 3);
  paint(small, cells);
  const unit = canvas.width / 28, context = canvas.getContext("2d");
  context.imageSmoothingEnabled = false;
  context.drawImage(small, 2 * unit, 2 * unit, 24 * unit, 24 * unit);
  context.imageSmoothingEnabled = true;
}

// The graph.

// Resolves to what there is to say: nothing, or why there is no picture.
async function draw() {
  svg = "";
  graph.clear();
  element("graph").classList.remove("empty");
  element("save-svg").disabled = true;
  const mine = turn;
  try {
    const text = await work("draw", "Drawing", () => engine.call("drawModel", files.name));
    if (mine !== turn) return "";
    graph.set(text);
    svg = text;
    element("save-svg").disabled = false;
    return "";
  } catch (error) {
    element("graph").classList.add("empty");
    return `No picture: ${error.message} `;
  }
}

function saveSvg() {
  download(new Blob([svg], { type: "image/svg+xml" }), `${files.name}.svg`);
}

function search() {
  const wanted = element("search").value.trim().toLowerCase();
  at = -1;
  found = wanted && about ? about.nodes.filter(({ type, names, reads }) => [type, ...names, ...reads].some((word) => word.toLowerCase().includes(wanted))) : [];
  // What is called so, then what makes a variable of the name, then what reads one.
  const rank = ({ type, names }) => (type.toLowerCase() === wanted ? 0 : type.toLowerCase().includes(wanted) ? 1 : names.some((name) => name.toLowerCase().includes(wanted)) ? 2 : 3);
  if (found.length) found.sort((a, b) => rank(a) - rank(b));
  element("matches").textContent = wanted ? `${found.length} found${found.length > SHOWN ? `, the first ${SHOWN} of them are listed` : ""}` : "";
  element("results").hidden = !found.length;
  element("results").replaceChildren(...found.slice(0, SHOWN).map((node, i) => {
    const item = document.createElement("li"), button = Object.assign(document.createElement("button"), { type: "button" });
    button.append(Object.assign(document.createElement("b"), { textContent: node.type }), ` ${node.names.join(", ")}`);
    button.addEventListener("click", () => go(i));
    item.append(button);
    return item;
  }));
  const named = found.filter((node) => rank(node) < 2); // operators called so; where there are none, all that has to do with the variable
  graph.mark((named.length ? named : found).slice(0, 5000).map((node) => node.at));
}

function go(i) {
  at = i;
  [...element("results").children].forEach((item, k) => item.firstChild.toggleAttribute("aria-current", k === i));
  element("results").children[i]?.scrollIntoView({ block: "nearest" });
  choose(found[i].at);
}

function choose(place) {
  const node = place && about?.nodes.find((one) => one.at === place);
  element("chosen").textContent = node ? node.text : "";
  if (node) graph.goTo(place);
}

// Running.

async function run() {
  const mine = turn;
  try {
    const values = form.map((field) => field.value());
    const fused = element("fused").checked;
    const result = await work("run", "Running", () => engine.call("runModel", values, fused));
    if (mine !== turn) return;
    lastRun = { ...result, fused };
    element("answers").replaceChildren(...answersFor(result.outputs, labels));
    element("time").textContent = `${milliseconds(result.milliseconds)}${result.repeats > 1 ? `, the median of ${result.repeats} runs` : ""}; the first took ${milliseconds(result.first)}`;
    result.ops.forEach((row, i) => (row.order = i));
    showOps(element("ops").querySelector("th[aria-sort] button").dataset.key);
    facts(element("memory"), [
      ["Weights", size(about.weightBytes)], ["Tensors at most, while it planned and ran", size(result.peak)],
      ["Tensors now", size(result.held)], ["Memory of the tab's Python", size(result.heap)],
    ]);
    element("times").hidden = false;
    element("answers").dataset.runs = Number(element("answers").dataset.runs ?? 0) + 1;
    say(`${files.name} answered.`);
  } catch (error) {
    if (mine === turn) say(error.message, "error");
  }
}

function sort(button) {
  const head = button.closest("th"), was = head.getAttribute("aria-sort");
  for (const other of element("ops").querySelectorAll("th")) other.removeAttribute("aria-sort");
  const first = button.dataset.key === "milliseconds" || button.dataset.key === "calls" ? "descending" : "ascending";
  head.setAttribute("aria-sort", was ? (was === "ascending" ? "descending" : "ascending") : first);
  showOps(button.dataset.key);
}

function showOps(key) {
  const sign = element("ops").querySelector("th[aria-sort]").getAttribute("aria-sort") === "ascending" ? 1 : -1;
  const rows = [...lastRun.ops].sort((a, b) => sign * (key === "op" ? a.op.localeCompare(b.op) : a[key] - b[key]) || a.order - b.order);
  const total = rows.reduce((sum, row) => sum + row.milliseconds, 0) || 1;
  element("ops-note").textContent = lastRun.fused
    ? "As predictors run it: operators are fused, so these are not the boxes of the picture. Leave out fusing to have each box in a row."
    : "Each row is a box of the picture; views of the same memory take no time and have none.";
  element("ops").tBodies[0].replaceChildren(...rows.map((row) => {
    const line = document.createElement("tr");
    line.insertCell().textContent = row.order + 1;
    const name = line.insertCell();
    if (row.at && svg) {
      const button = Object.assign(document.createElement("button"), { type: "button", textContent: row.op });
      button.addEventListener("click", () => {
        choose(row.at);
        element("graph").scrollIntoView({ block: "center" });
        element("graph").focus({ preventScroll: true });
      });
      name.append(button);
    } else {
      name.textContent = row.op;
    }
    line.insertCell().textContent = milliseconds(row.milliseconds);
    const bar = Object.assign(document.createElement("span"), { className: "share" }), part = document.createElement("i");
    part.style.transform = `scaleX(${row.milliseconds / total})`;
    bar.append(part);
    line.insertCell().append(`${((100 * row.milliseconds) / total).toFixed(1)} % `, bar);
    line.insertCell().textContent = row.calls;
    line.insertCell().textContent = row.inputs;
    return line;
  }));
}

async function readLabels() {
  const [file] = element("labels").files;
  element("labels").value = "";
  if (!file) return;
  try {
    if (file.size > LIMITS.labels) throw new Error(`it has ${(file.size / 1e6).toFixed(0)} MB, expected at most ${LIMITS.labels >> 20} MiB`);
    labels = (await file.text()).split(/\r?\n/).map((line) => line.trim().slice(0, 80));
    while (labels.length && !labels.at(-1)) labels.pop();
    if (lastRun && !element("times").hidden) element("answers").replaceChildren(...answersFor(lastRun.outputs, labels));
    say(`${file.name}: names of ${labels.length} classes.`);
  } catch (error) {
    say(`${file.name} was not read: ${error.message}.`, "error");
  }
}

function facts(list, entries) {
  list.replaceChildren(...entries.flatMap(([name, value]) => [
    Object.assign(document.createElement("dt"), { textContent: name }), Object.assign(document.createElement("dd"), { textContent: value }),
  ]));
}

function note(text) {
  return Object.assign(document.createElement("p"), { className: "note", textContent: text });
}

function size(count) {
  return count < 1e6 ? `${(count / 1e3).toFixed(1)} kB` : `${(count / 1e6).toFixed(1)} MB`;
}

function download(blob, name) {
  const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
