// The page of a bundle: an input form made from what the model takes, and a view of what it answers.
import { fitted } from "./shapes.js";
import { inlined, saved, workerOfPage } from "./single.js";
import { load } from "./wherry.js";

const FILES = inlined(); // of a page in one file
const ROOT = FILES ? new URL("bundle:/") : new URL("../../", import.meta.url); // this file is static/<digest>/page.js
const PER_CLASS = 10; // bars that are shown
const SHOWN = 60; // numbers of a tensor that are shown
const KINDS = { bool: Uint8Array, uint8: Uint8Array, int8: Int8Array, int16: Int16Array, int32: Int32Array, int64: BigInt64Array, float32: Float32Array, float64: Float64Array };

const element = (id) => document.getElementById(id);
let model, forms, busy = false, waiting = false;

begin().catch((error) => say(error.message, "error"));

async function begin() {
  const started = performance.now();
  const alone = FILES && { files: FILES, worker: workerOfPage(), threads: 1 };
  model = await load(ROOT, { onprogress: ({ loaded, total }) => (element("progress").value = loaded / total), ...alone });
  const ready = performance.now() - started;
  element("progress").hidden = true;
  forms = model.inputs.map(formOf);
  element("inputs").append(...forms.flatMap((form) => form.parts));
  element("run").addEventListener("click", predict);
  element("random").addEventListener("click", () => {
    for (const form of forms) form.random();
    predict();
  });
  element("run").disabled = element("random").disabled = false;
  const manifest = JSON.parse(new TextDecoder().decode(await bytesOf("manifest.json")));
  const example = await exampleOf(manifest);
  if (example) {
    element("example").hidden = false;
    element("example").addEventListener("click", () => useExample(example));
  }
  facts(ready);
  if (manifest.single && !FILES) {
    element("single").hidden = false;
    element("single").addEventListener("click", () => saved(manifest, bytesOf).catch((error) => say(`The file could not be made: ${error.message}`, "error")));
  }
  say(`The model is ready after ${(ready / 1e3).toFixed(2)} s. It runs in this tab.`);
  if (example) await useExample(example);
  else if (forms.every((form) => form.picture)) await predict();
  document.body.dataset.ready = "true";
  if (!FILES && "serviceWorker" in navigator) {
    navigator.serviceWorker.register(new URL("sw.js", ROOT)).catch((error) => console.warn(`No offline copy: ${error.message}`));
  }
}

function say(text, kind = "") {
  const line = element("status");
  line.textContent = text;
  line.dataset.kind = kind;
  line.setAttribute("role", kind === "error" ? "alert" : "status");
}

// Predicting: one at a time; what changed meanwhile is predicted once after it.
async function predict() {
  if (busy) {
    waiting = true;
    return;
  }
  busy = true;
  document.body.dataset.state = "working";
  try {
    do {
      waiting = false;
      const inputs = Object.fromEntries(forms.map((form) => [form.name, form.value()]));
      const started = performance.now();
      show(await model.predict(inputs), performance.now() - started);
    } while (waiting);
  } catch (error) {
    say(error.message, "error");
  }
  busy = false;
  document.body.dataset.state = "settled";
}

async function bytesOf(name) {
  if (FILES) return FILES[name];
  const response = await fetch(new URL(name, ROOT), { cache: name === "manifest.json" ? "no-cache" : "default" });
  if (!response.ok) throw new Error(`${name}: the server answered ${response.status}. Was the folder copied as a whole?`);
  return new Uint8Array(await response.arrayBuffer());
}

async function exampleOf(manifest) {
  if (!manifest.example) return null;
  return Promise.all(manifest.example.map(async ({ url, shape }, i) => {
    const bytes = await bytesOf(url);
    return { data: new KINDS[model.inputs[i].dtype](bytes.buffer), shape };
  }));
}

async function useExample(example) {
  forms.forEach((form, i) => form.set(example[i]));
  await predict();
}

// Inputs.

function formOf(input) {
  const [n, channels, height, width] = input.shape;
  const isPicture = input.shape.length === 4 && (n === 1 || typeof n === "string") && (channels === 1 || channels === 3) && input.dtype === "float32";
  if (model.columns) return columnsForm(input);
  return isPicture ? pictureForm(input, channels, sizeOf(height), sizeOf(width)) : numbersForm(input);
}

function sizeOf(n) {
  return typeof n === "number" ? n : 224;
}

// A picture: drawn where the model takes small grey ones, or from a file.
function pictureForm(input, channels, height, width) {
  const draws = channels === 1 && Math.max(height, width) <= 128;
  const side = draws ? 280 : 320;
  const canvas = Object.assign(document.createElement("canvas"), { width: side, height: Math.round((side * height) / width), className: `picture${draws ? " drawing" : ""}`, tabIndex: 0 });
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", draws ? `Drawing area for ${input.name}. Arrow keys move the pen, Shift with an arrow key draws, Escape clears.` : `The picture for ${input.name}`);
  const context = canvas.getContext("2d", { willReadFrequently: true });
  let given = null; // numbers that stand in place of the picture
  const changed = () => {
    given = null;
    predict();
  };
  const clear = () => {
    context.fillStyle = "#fff";
    context.fillRect(0, 0, canvas.width, canvas.height);
  };
  clear();
  const choose = Object.assign(document.createElement("label"), { className: "file", textContent: "A picture from a file" });
  const file = Object.assign(document.createElement("input"), { type: "file", accept: "image/*" });
  choose.append(file);
  file.addEventListener("change", async () => {
    try {
      const picture = await createImageBitmap(file.files[0]);
      clear();
      const scale = Math.max(canvas.width / picture.width, canvas.height / picture.height); // the middle, as large as it goes
      const [w, h] = [picture.width * scale, picture.height * scale];
      context.drawImage(picture, (canvas.width - w) / 2, (canvas.height - h) / 2, w, h);
      changed();
    } catch (error) {
      say(`The picture cannot be read: ${error.message}. Take a PNG, JPEG or WebP file.`, "error");
    }
  });
  const buttons = Object.assign(document.createElement("div"), { className: "buttons" });
  if (draws) {
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: "Clear" });
    button.addEventListener("click", () => {
      clear();
      changed();
    });
    buttons.append(button);
    drawOn(canvas, context, changed, clear);
  }
  buttons.append(choose);
  return {
    name: input.name, parts: [canvas, buttons], picture: true,
    value: () => given ?? { data: numbersOf(canvas, channels, height, width), shape: [1, channels, height, width] },
    random() {
      this.set({ data: Float32Array.from({ length: channels * height * width }, normal), shape: [1, channels, height, width] });
    },
    set(value) {
      given = value;
      paint(context, canvas, value, channels);
    },
  };
}

function drawOn(canvas, context, changed, clear) {
  const pen = { x: canvas.width / 2, y: canvas.height / 4 };
  let last = null;
  const line = ([x0, y0], [x1, y1]) => {
    context.strokeStyle = "#000";
    context.lineWidth = canvas.width / 14;
    context.lineCap = context.lineJoin = "round";
    context.beginPath();
    context.moveTo(x0, y0);
    context.lineTo(x1, y1 + 0.01);
    context.stroke();
    changed();
  };
  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    return [((event.clientX - box.left) / box.width) * canvas.width, ((event.clientY - box.top) / box.height) * canvas.height];
  };
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    last = at(event);
    line(last, last);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!last) return;
    const next = at(event);
    line(last, next);
    last = next;
  });
  for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, () => (last = null));
  canvas.addEventListener("keydown", (event) => {
    const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (event.key === "Escape") {
      clear();
      changed();
      return;
    }
    if (!moves[event.key]) return;
    event.preventDefault();
    const from = [pen.x, pen.y];
    pen.x = Math.min(Math.max(pen.x + moves[event.key][0] * 12, 10), canvas.width - 10);
    pen.y = Math.min(Math.max(pen.y + moves[event.key][1] * 12, 10), canvas.height - 10);
    if (event.shiftKey) line(from, [pen.x, pen.y]);
  });
}

// Channels of the canvas as the model takes them.
function numbersOf(canvas, channels, height, width) {
  const small = new OffscreenCanvas(width, height);
  const context = small.getContext("2d", { willReadFrequently: true });
  context.imageSmoothingQuality = "high";
  context.drawImage(canvas, 0, 0, width, height);
  const { data } = context.getImageData(0, 0, width, height);
  const { mean, std, invert } = model.preprocess ?? {};
  const numbers = new Float32Array(channels * height * width);
  for (let c = 0; c < channels; c++) {
    for (let i = 0; i < height * width; i++) {
      let value = channels === 1 ? (data[4 * i] + data[4 * i + 1] + data[4 * i + 2]) / 765 : data[4 * i + c] / 255;
      if (invert) value = 1 - value;
      numbers[c * height * width + i] = (value - (mean?.[c] ?? 0)) / (std?.[c] ?? 1);
    }
  }
  return numbers;
}

// The first picture of some numbers, as it looked before the model's preprocessing.
function paint(context, canvas, { data, shape }, channels) {
  const [height, width] = shape.slice(2);
  const small = new OffscreenCanvas(width, height);
  const pixels = new ImageData(width, height);
  const { mean, std, invert } = model.preprocess ?? {};
  for (let i = 0; i < height * width; i++) {
    for (let c = 0; c < 3; c++) {
      const from = channels === 1 ? 0 : c;
      const value = data[from * height * width + i] * (std?.[from] ?? 1) + (mean?.[from] ?? 0);
      pixels.data[4 * i + c] = 255 * (invert ? 1 - value : value);
    }
    pixels.data[4 * i + 3] = 255;
  }
  small.getContext("2d").putImageData(pixels, 0, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(small, 0, 0, canvas.width, canvas.height);
  context.imageSmoothingEnabled = true;
}

// Numbers, row by row, with their shape.
function numbersForm(input) {
  const id = `input-${model.inputs.indexOf(input)}`;
  const label = Object.assign(document.createElement("label"), { className: "field", htmlFor: id, textContent: `${input.name}: ${input.dtype} [${input.shape.join(", ")}], numbers row by row` });
  const text = Object.assign(document.createElement("textarea"), { id, spellcheck: false });
  const shapeLabel = Object.assign(document.createElement("label"), { className: "field", htmlFor: `${id}-shape`, textContent: "Shape" });
  const shape = Object.assign(document.createElement("input"), { id: `${id}-shape`, className: "shape", value: input.shape.map((n) => (typeof n === "number" ? n : 1)).join(", ") });
  const whole = !input.dtype.startsWith("float");
  const words = () => text.value.split(/[\s,;[\]()]+/).filter(Boolean);
  const sizes = () => shape.value.split(/[\s,]+/).filter(Boolean).map(Number);
  text.addEventListener("input", () => (shape.value = fitted(input.shape, sizes(), words().length).join(", ")));
  const form = {
    name: input.name, parts: [label, text, shapeLabel, shape],
    value() {
      const numbers = words().map(Number);
      const bad = numbers.findIndex((x) => Number.isNaN(x) || (whole && !Number.isInteger(x)));
      if (bad >= 0) throw new Error(`${input.name}: number ${bad + 1} is not ${whole ? "a whole number" : "a number"}. Write numbers with spaces or commas between them.`);
      return { data: numbers, shape: sizes() };
    },
    random() {
      const length = sizes().reduce((a, b) => a * b, 1);
      text.value = Array.from({ length }, () => (whole ? Math.floor(Math.random() * 2) : normal().toFixed(3))).join(" ");
    },
    set(value) {
      shape.value = value.shape.join(", ");
      text.value = Array.from(value.data, (x) => (whole ? String(x) : String(Math.fround(x)))).join(" ");
    },
  };
  form.random();
  return form;
}

// A row of a table: a field for each column, of words a list of them.
function columnsForm({ name }) {
  const fields = model.columns.map(({ name, words }, i) => {
    const field = Object.assign(document.createElement(words ? "select" : "input"), { id: `column-${i}`, className: "shape" });
    if (words) field.append(...words.map((word, place) => new Option(word, place)));
    else Object.assign(field, { type: "number", step: "any" });
    field.addEventListener("input", predict);
    return { field, words, label: Object.assign(document.createElement("label"), { className: "field", htmlFor: field.id, textContent: name }) };
  });
  const fill = (row) => fields.forEach(({ field, words }, i) => (field.value = words ? Math.min(Math.max(Math.round(row[i]) || 0, 0), words.length - 1) : Number(row[i].toPrecision(7))));
  return {
    name, parts: fields.flatMap(({ label, field }) => [label, field]),
    value() {
      const empty = fields.find(({ field }) => !field.value);
      if (empty) throw new Error(`${empty.label.textContent} has no number. Write one.`);
      return { data: fields.map(({ field }) => Number(field.value)), shape: [1, fields.length] };
    },
    random: () => fill(fields.map(({ words }) => (words ? Math.floor(Math.random() * words.length) : normal()))),
    set: ({ data }) => fill(data),
  };
}

function normal() {
  return Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random());
}

// Answers.

function show(answer, milliseconds) {
  const views = Object.entries(answer).map(([name, tensor], i) => {
    const classes = tensor.shape.at(-1);
    const isClasses = i === 0 && tensor.dtype.startsWith("float") && tensor.shape.length === 2 && classes > 1 && (model.labels || classes <= 1000);
    return isClasses ? bars(tensor, classes) : numbers(name, tensor);
  });
  if (!views.some((view) => view.className === "bars")) {
    const [first] = Object.values(answer);
    element("said").textContent = model.labels?.length === 1 && first.data.length === 1 ? `${model.labels[0]}: ${Number(first.data[0]).toPrecision(5)}` : "";
  }
  element("answers").replaceChildren(...views);
  element("time").textContent = `answered in ${milliseconds < 10 ? milliseconds.toFixed(2) : milliseconds.toFixed(0)} ms`;
  if (element("status").dataset.kind === "error") say("The model answered.");
}

// Of the first row: the classes with the largest scores, as shares of one.
function bars({ data }, classes) {
  const scores = Array.from(data.slice(0, classes));
  const isShare = scores.every((x) => x >= 0) && Math.abs(scores.reduce((a, b) => a + b, 0) - 1) < 1e-3;
  const most = Math.max(...scores);
  const raised = isShare ? scores : scores.map((x) => Math.exp(x - most));
  const sum = raised.reduce((a, b) => a + b, 0);
  const order = scores.map((_, i) => i).sort((a, b) => scores[b] - scores[a]).slice(0, PER_CLASS);
  const label = (i) => model.labels?.[i] ?? `class ${i}`;
  element("said").textContent = label(order[0]);
  const list = Object.assign(document.createElement("ol"), { className: "bars" });
  list.setAttribute("aria-label", "Classes by share");
  list.append(...order.map((i, at) => {
    const row = document.createElement("li");
    if (!at) row.className = "best";
    const name = Object.assign(document.createElement("span"), { className: "label", textContent: label(i) });
    const meter = Object.assign(document.createElement("meter"), { min: 0, max: 1, value: raised[i] / sum });
    meter.setAttribute("aria-label", label(i));
    const value = Object.assign(document.createElement("span"), { className: "value", textContent: `${((100 * raised[i]) / sum).toFixed(1)} %` });
    row.append(name, meter, value);
    return row;
  }));
  return list;
}

function numbers(name, { data, shape, dtype }) {
  const text = Array.from(data.slice(0, SHOWN), (x) => (typeof x === "bigint" || Number.isInteger(x) ? String(x) : Number(x).toPrecision(5))).join("  ");
  const view = document.createElement("div");
  const title = Object.assign(document.createElement("p"), { className: "note", textContent: `${name}: ${dtype} [${shape.join(", ")}]` });
  const pre = Object.assign(document.createElement("pre"), { textContent: `${text}${data.length > SHOWN ? `  … and ${data.length - SHOWN} more` : ""}`, tabIndex: 0 });
  view.append(title, pre);
  return view;
}

function facts(ready) {
  const rows = [
    ["Inputs", model.inputs.map((x) => `${x.name}: ${x.dtype} [${x.shape.join(", ")}]`).join("; ")],
    ["Outputs", model.outputs.map((x) => `${x.name}: ${x.dtype} [${x.shape.join(", ")}]`).join("; ")],
    ["Weights", model.precision], ["Download", `${(model.bytes / 1e6).toFixed(2)} MB`], ["Loading", `${ready.toFixed(0)} ms`],
    ["Threads", String(model.threads)],
  ];
  element("facts").append(...rows.flatMap(([name, text]) => [
    Object.assign(document.createElement("dt"), { textContent: name }), Object.assign(document.createElement("dd"), { textContent: text }),
  ]));
}
