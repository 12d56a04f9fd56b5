// Tell a column: a table that is dropped, a network that learns to tell one column from the others, its residuals, and a page to take away.
import { element, keepForOffline, manifest, say, start } from "./engine.js";
import { fillFrom, keepIn } from "./fields.js";

const SAMPLE = "Made-up flats";
const settings = [...element("settings").elements];
const target = element("target");
let engine, exporter;
let table = null; // {name, rows, columns: [{name, kind, missing, values, low, high}]}
let trained = null; // {target, used}: what the network tells, and from what
let running = false;
let points = [];

begin().catch(failed);

async function begin() {
  ({ engine } = await start(say));
  ({ exporter } = await manifest);
  engine.addEventListener("trained", ({ detail }) => record(detail));
  engine.addEventListener("failed", ({ detail }) => {
    running = false;
    failed(new Error(detail.text));
  });
  if (!exporter) element("save-note").textContent = "This server has no engine for web bundles (`make engine` makes it).";
  for (const name of ["file", "sample"]) element(name).disabled = false;
  say("Ready. Drop a table, or take the made-up one; it stays in this tab.");
  if (location.hash) await fromAddress();
  document.body.dataset.ready = "true";
  keepForOffline();
}

// The address holds the settings; tables of one's own are too large for it, and stay here.
async function fromAddress() {
  await open(SAMPLE, flats());
  fillFrom(location.hash.slice(1), settings);
  const left = new URLSearchParams(location.hash.slice(1)).get("without");
  for (const box of boxes()) box.checked &&= !left?.split(",").includes(box.value);
  update();
}

function keep() {
  if (table?.name !== SAMPLE) return;
  keepIn(settings, { table: "flats", without: boxes().filter((box) => !box.checked && !box.disabled).map((box) => box.value).join(",") });
}

function failed(error) {
  say(error.message, "error");
  update();
}

function guarded(action) {
  return (...args) => Promise.resolve(action(...args)).catch(failed);
}

// The table.

element("file").addEventListener("change", guarded(async () => {
  const [file] = element("file").files;
  element("file").value = "";
  if (file) await open(file.name, await file.text());
}));
element("sample").addEventListener("click", guarded(async () => {
  await open(SAMPLE, flats());
  keep();
}));
for (const kind of ["dragover", "dragleave", "drop"]) {
  element("bring").addEventListener(kind, guarded(async (event) => {
    event.preventDefault();
    element("bring").classList.toggle("over", kind === "dragover");
    const file = kind === "drop" ? event.dataTransfer.files[0] : null;
    if (file && engine) await open(file.name, await file.text());
  }));
}

// Prices of flats by a rule and some chance, the same each time: what a network could tell at best is known.
function flats() {
  let state = 7;
  const random = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
  const towns = { Bonn: 2900, Porto: 3400, Vienna: 5200 };
  const rows = ["area,rooms,floor,town,balcony,price"];
  for (let i = 0; i < 600; i++) {
    const area = 25 + 110 * random(), rooms = Math.max(1, Math.round(area / 28 + random() - 0.5)), floor = Math.floor(7 * random());
    const town = Object.keys(towns)[Math.floor(3 * random())], balcony = random() < 0.4;
    const chance = random() + random() + random() - 1.5;
    const price = area * towns[town] * (1 + 0.02 * floor) * (balcony ? 1.06 : 1) * (1.25 - area / 500) + 9000 * rooms + 12000 * chance;
    rows.push([area.toFixed(1), i % 37 ? rooms : "", floor, town, balcony ? "yes" : "no", Math.round(price / 100) * 100].join(","));
  }
  return rows.join("\n");
}

async function open(name, text) {
  if (running) await stop();
  trained = table = null;
  update();
  table = { name, ...(await engine.call("openTable", text)) };
  trained = null;
  points = [];
  if (name !== SAMPLE) history.replaceState(null, "", location.pathname + location.search);
  const numbers = table.columns.filter(({ kind }) => kind === "number");
  if (!numbers.length) throw new Error("No column of this table holds numbers that differ, so there is none to tell.");
  target.replaceChildren(...numbers.map(({ name: column }, i) => new Option(column, column, i === numbers.length - 1, i === numbers.length - 1)));
  element("caption").textContent = `${name}: ${table.rows} rows`;
  element("columns").tBodies[0].replaceChildren(...table.columns.map(rowOf));
  element("answer").textContent = element("told").textContent = "–";
  for (const line of ["held", "progress"]) element(line).textContent = "";
  say(`${name} is open: ${table.rows} rows, ${table.columns.length} columns. Choose what to tell, and press Train.`);
  update();
}

function rowOf(column) {
  const row = document.createElement("tr");
  const head = Object.assign(document.createElement("th"), { scope: "row", textContent: column.name });
  const box = Object.assign(document.createElement("input"), { type: "checkbox", value: column.name, checked: column.kind !== "unused", disabled: column.kind === "unused" });
  box.setAttribute("aria-label", `Learn from ${column.name}`);
  box.addEventListener("change", () => {
    keep();
    update();
  });
  const said = {
    number: () => `numbers from ${short(column.low)} to ${short(column.high)}`, words: () => `${column.values.length} words: ${column.values.slice(0, 4).join(", ")}${column.values.length > 4 ? ", …" : ""}`,
    unused: () => (column.different < 2 ? "always the same" : `${column.different} different words: too many to learn from`),
  };
  const cells = [box, said[column.kind](), String(column.missing)].map((content) => {
    const cell = document.createElement("td");
    cell.append(content);
    return cell;
  });
  row.append(head, ...cells);
  return row;
}

function boxes() {
  return [...element("columns").querySelectorAll("input")];
}

// Training.

element("settings").addEventListener("submit", (event) => event.preventDefault());
element("settings").addEventListener("input", () => {
  keep();
  update();
});
element("run").addEventListener("click", guarded(async () => {
  if (running) {
    await stop();
    say("Stopped. The network stays as it is now.");
    return;
  }
  const form = Object.fromEntries(settings.map((field) => [field.name, field.value]));
  const used = boxes().filter((box) => box.checked && box.value !== form.target).map((box) => box.value);
  const options = { hidden: form.hidden ? form.hidden.split(",").map(Number) : [], learning_rate: Number(form.rate), epochs: Number(form.epochs), seed: 0 };
  show(await engine.call("teachTable", form.target, used, options));
  trained = { target: form.target, used };
  running = true;
  prepareAsking();
  update();
  say("Training …", "busy");
  await engine.call("start");
}));

async function stop() {
  running = false;
  await engine.call("pause");
  show(await engine.call("evaluate"));
  update();
}

function record({ steps, epochs, seconds, losses, done }) {
  if (!running) return;
  element("progress").textContent = `Step ${steps}, ${epochs.toFixed(0)} times through the rows, ${(steps / seconds).toFixed(0)} steps a second, loss ${losses.at(-1).toFixed(4)}`;
  if (done) stop().then(() => say(`Trained: it tells ${trained.target} of rows that it did not learn from to within ${element("answer").textContent}.`)).catch(failed);
}

function show({ count, distance, r2, points: fresh }) {
  points = fresh;
  element("answer").textContent = `± ${short(distance)}`;
  element("answer").dataset.r2 = r2 ?? "";
  element("held").textContent = `mean distance on ${count} rows that it does not learn from${r2 === null ? "" : `; it tells ${(Math.max(0, r2) * 100).toFixed(1)} % of the variance (R²)`}`;
  draw();
}

// Both plots: points, the line on which it is right, and the ends of the axes.
function draw() {
  const low = Math.min(...points.flat()), high = Math.max(...points.flat());
  const residuals = points.map(([truth, guess]) => [guess, guess - truth]);
  const far = Math.max(1e-9, ...residuals.map(([, off]) => Math.abs(off)));
  const guesses = points.map(([, guess]) => guess);
  plot(element("fit"), points, [low, high], [low, high], [[low, low], [high, high]]);
  const [from, to] = [Math.min(...guesses), Math.max(...guesses)];
  plot(element("residuals"), residuals, [from, to], [-far, far], [[from, 0], [to, 0]]);
}

function plot(canvas, dots, [left, right], [bottom, top], line) {
  const context = canvas.getContext("2d"), { width, height } = canvas, edge = 34;
  const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  context.font = "14px system-ui, sans-serif";
  const names = [short(top), short(bottom)];
  const start = Math.max(...names.map((name) => context.measureText(name).width)) + 14; // points stand beside the names of the axis
  const x = (value) => start + ((value - left) / (right - left || 1)) * (width - start - edge);
  const y = (value) => height - edge - ((value - bottom) / (top - bottom || 1)) * (height - 2 * edge);
  context.clearRect(0, 0, width, height);
  if (!dots.length) return;
  context.strokeStyle = color("--warm");
  context.lineWidth = 2;
  context.beginPath();
  for (const [a, b] of line) context.lineTo(x(a), y(b));
  context.stroke();
  context.fillStyle = color("--accent");
  context.globalAlpha = 0.6;
  for (const [a, b] of dots) {
    context.beginPath();
    context.arc(x(a), y(b), 4, 0, 2 * Math.PI);
    context.fill();
  }
  context.globalAlpha = 1;
  context.fillStyle = color("--soft");
  context.textAlign = "left";
  context.fillText(short(left), start, height - 10);
  names.forEach((name, i) => context.fillText(name, 6, y([top, bottom][i]) + 4));
  context.textAlign = "right";
  context.fillText(short(right), width - edge, height - 10);
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);

function short(value) {
  return value === null ? "–" : Number(value.toPrecision(4)).toLocaleString("en", { maximumSignificantDigits: 4 });
}

// Asking.

function prepareAsking() {
  const known = new Map(table.columns.map((column) => [column.name, column]));
  element("ask").replaceChildren(...trained.used.map((name) => {
    const { kind, values, low, high } = known.get(name);
    const label = Object.assign(document.createElement("label"), { textContent: name });
    const field = kind === "words" ? document.createElement("select") : Object.assign(document.createElement("input"), { inputMode: "decimal", value: short((low + high) / 2).replaceAll(",", "") });
    if (kind === "words") field.append(...values.map((value) => new Option(value, value)));
    field.name = name;
    label.append(field);
    return label;
  }));
}

element("ask").addEventListener("submit", (event) => event.preventDefault());
element("ask").addEventListener("input", guarded(ask));

async function ask() {
  if (!trained || running) return;
  const cells = Object.fromEntries([...element("ask").elements].map((field) => [field.name, field.value]));
  element("told").textContent = `${trained.target}: ${short(await engine.call("tell", cells))}`;
}

// What is taken away.

element("save").addEventListener("click", guarded(async () => {
  say("Making the file …", "busy");
  element("save").disabled = true;
  try {
    const content = await engine.call("saveTable", exporter, element("title").value.trim() || `${trained.target} of ${table.name}`);
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([content], { type: "text/html" }));
    link.download = "table.html";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
    say(`table.html is one file of ${Math.round(content.length / 1e3)} kB. Open it from the disk, or send it to somebody.`);
  } finally {
    update();
  }
}));

// What can be done now.
function update() {
  target.disabled = !table || running;
  for (const box of boxes()) box.closest("tr").hidden = box.value === target.value;
  element("columns").hidden = !table;
  element("run").disabled = !table || !boxes().some((box) => box.checked && box.value !== target.value);
  element("run").textContent = running ? "Stop" : trained ? "Train again" : "Train";
  element("run").setAttribute("aria-pressed", String(running));
  element("save").disabled = !trained || running || !exporter;
  if (trained && !running) ask().catch(failed);
}
