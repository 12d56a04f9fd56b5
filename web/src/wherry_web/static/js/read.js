// Read text: a detector and a recogniser, both exported, on pictures of one's own, of the camera, or of text that is written here.
import { Camera } from "./camera.js";
import { element, keepForOffline, manifest, milliseconds, say } from "./engine.js";
import { fillFrom, keepIn } from "./fields.js";
import { HEIGHT, WIDTHS, linesIn, outline, readOut, straightened } from "./text-lines.js";

const SIDE = 640; // of what the detector takes
const LARGEST = 1600; // pixels of a picture's longer side
const MEAN = [0.485, 0.456, 0.406], DEVIATION = [0.229, 0.224, 0.225]; // ImageNet's, as PaddleOCR
const BEGIN = "Wherry reads text\nDer Fährmann, 12,50 €\nΤο πορθμείο\nПаром у реки";

const canvas = element("picture");
const fields = ["text", "font", "size", "tilt", "bend", "noise"].map(element);
const camera = new Camera(element("video"));
let detector, recogniser;
let shown = null; // ImageData of what is looked at
let busy = false, again = false;

begin().catch((error) => say(error.message, "error"));

async function begin() {
  element("text").defaultValue = BEGIN;
  for (const field of fields) field.addEventListener("input", () => written().catch(failed));
  let problem = null;
  try {
    fillFrom(location.hash.slice(1), fields);
  } catch (error) {
    problem = error;
  }
  draw(rendered());
  const { reader } = await manifest;
  if (!reader) {
    document.body.dataset.ready = "true";
    keepForOffline();
    throw new Error("The two networks are not among the models of this server. `python examples/read_text/export.py --models DIR` puts them there in seconds; then load this page again.");
  }
  const { load } = await import(new URL("wherry.js", reader.detector).href);
  [detector, recogniser] = await Promise.all([load(reader.detector), load(reader.recogniser)]);
  const { character_error: error, lines, fonts } = reader.measured;
  element("measured").textContent = `In ${lines} lines in fonts that it never saw (${fonts.join(", ")}) ${(error * 100).toFixed(1)} % of the characters are wrong.`;
  for (const name of ["detector", "recogniser"]) Object.assign(element(name), { href: reader[name], hidden: false });
  for (const name of ["file", "camera", "written"]) element(name).disabled = false;
  say(problem ? problem.message : "Ready. Write something, take a picture, or turn the camera on; nothing leaves this tab.", problem ? "error" : "");
  await read();
  document.body.dataset.ready = "true";
  keepForOffline();
}

function failed(error) {
  say(error.message, "error");
}

// Pictures.

async function written() {
  keepIn(fields);
  if (camera.on) stopCamera();
  draw(rendered());
  await read();
}

// The text of the form as a picture: set in a font of this browser, tilted, bent, with noise that is the same each time.
function rendered() {
  const [text, font, size, tilt, bend, noise] = fields.map((field) => (field.type === "range" ? Number(field.value) : field.value));
  const width = SIDE, height = 400;
  const flat = new OffscreenCanvas(width, height), context = flat.getContext("2d");
  const lines = text.split("\n").slice(0, 8);
  context.fillStyle = "#fbf8ef";
  context.fillRect(0, 0, width, height);
  context.translate(width / 2, height / 2);
  context.rotate((tilt * Math.PI) / 180);
  context.fillStyle = "#1c2630";
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.font = `${size}px ${font}`;
  lines.forEach((line, i) => context.fillText(line, 0, (i - (lines.length - 1) / 2) * size * 1.9, width - 40));
  const bent = new OffscreenCanvas(width, height), target = bent.getContext("2d", { willReadFrequently: true });
  target.fillStyle = "#fbf8ef";
  target.fillRect(0, 0, width, height);
  for (let x = 0; x < width; x++) target.drawImage(flat, x, 0, 1, height, x, bend * 4 * ((2 * x) / width - 1) ** 2 - bend * 2, 1, height);
  const image = target.getImageData(0, 0, width, height);
  let state = 1;
  for (let i = 0; noise && i < image.data.length; i++) {
    if (i % 4 === 3) continue;
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    image.data[i] += (state / 2 ** 32 - 0.5) * noise * 14;
  }
  return image;
}

// Any picture, not larger than LARGEST.
function imageOf(source, width, height) {
  const scale = Math.min(1, LARGEST / Math.max(width, height));
  const taken = new OffscreenCanvas(Math.max(1, Math.round(width * scale)), Math.max(1, Math.round(height * scale)));
  const context = taken.getContext("2d", { willReadFrequently: true });
  context.fillStyle = "#fff"; // after what is transparent
  context.fillRect(0, 0, taken.width, taken.height);
  context.drawImage(source, 0, 0, taken.width, taken.height);
  return context.getImageData(0, 0, taken.width, taken.height);
}

function draw(image) {
  shown = image;
  canvas.width = image.width;
  canvas.height = image.height;
  canvas.getContext("2d").putImageData(image, 0, 0);
}

element("file").addEventListener("change", async () => {
  const [file] = element("file").files;
  element("file").value = "";
  if (!file) return;
  try {
    await look(file);
  } catch (error) {
    failed(error);
  }
});

async function look(file) {
  let bitmap;
  try {
    bitmap = await createImageBitmap(file);
  } catch {
    throw new Error(`${file.name} is not a picture that this browser reads. PNG, JPEG and WebP are.`);
  }
  if (camera.on) stopCamera();
  draw(imageOf(bitmap, bitmap.width, bitmap.height));
  bitmap.close();
  await read();
  say(`${file.name} is read; it did not leave this tab.`);
}

element("written").addEventListener("click", () => written().catch(failed));
element("camera").addEventListener("click", () => toggleCamera().catch(failed));

async function toggleCamera() {
  if (camera.on) return stopCamera();
  await camera.start(undefined, stopCamera);
  element("video").classList.remove("mirrored");
  element("camera").textContent = "Turn the camera off";
  element("camera").setAttribute("aria-pressed", "true");
  say("The camera is on. Hold a text before it.");
  while (camera.on) {
    const { videoWidth: width, videoHeight: height } = element("video");
    if (width) {
      draw(imageOf(element("video"), width, height));
      await read();
    }
    await new Promise(requestAnimationFrame);
  }
}

function stopCamera() {
  camera.stop();
  element("camera").textContent = "Turn the camera on";
  element("camera").setAttribute("aria-pressed", "false");
  say("The camera is off. What it saw last stands here.");
}

// Reading. One picture at a time; while one is read, later ones only note that there is something new.

async function read() {
  again = true;
  if (busy || !recogniser) return;
  busy = true;
  element("lines").dataset.state = "working";
  try {
    while (again) {
      again = false;
      await readOnce(shown);
    }
  } finally {
    busy = false;
    element("lines").dataset.state = "settled";
  }
}

async function readOnce(image) {
  const began = performance.now();
  const scale = Math.max(1, image.width / SIDE, image.height / SIDE); // pixels of the picture for one of the map
  const [map] = Object.values(await detector.predict({ x: prepared(image, scale) }));
  const lines = linesIn(map.data, SIDE);
  const found = performance.now();
  const texts = [];
  for (const line of lines) {
    const pictures = WIDTHS.map((stretch) => straightened(line, image, scale, stretch));
    const views = [];
    for (const { data, width } of pictures) {
      const [scores] = Object.values(await recogniser.predict({ x: { data, shape: [1, 3, HEIGHT, width] } }));
      views.push(scores.data);
    }
    texts.push({ ...readOut(views, recogniser.labels), ...pictures[0] });
  }
  const readable = texts.map((one, i) => ({ ...one, line: lines[i] })).filter(({ text }) => text);
  show(image, readable, scale);
  const each = lines.length ? `, ${milliseconds((performance.now() - found) / lines.length)} for each of ${lines.length} to read` : "";
  element("time").textContent = `${milliseconds(found - began)} to find lines${each}`;
}

// As the detector takes a picture: in the corner of a square, less the mean and over the deviation.
function prepared(image, scale) {
  const small = new OffscreenCanvas(SIDE, SIDE), context = small.getContext("2d", { willReadFrequently: true });
  const whole = new OffscreenCanvas(image.width, image.height);
  whole.getContext("2d").putImageData(image, 0, 0);
  const width = Math.round(image.width / scale), height = Math.round(image.height / scale);
  context.imageSmoothingQuality = "high";
  context.drawImage(whole, 0, 0, width, height);
  const { data } = context.getImageData(0, 0, SIDE, SIDE);
  const values = new Float32Array(3 * SIDE * SIDE);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      for (let c = 0; c < 3; c++) values[(c * SIDE + y) * SIDE + x] = (data[(y * SIDE + x) * 4 + c] / 255 - MEAN[c]) / DEVIATION[c];
    }
  }
  return { data: values, shape: [1, 3, SIDE, SIDE] };
}

function show(image, texts, scale) {
  const context = canvas.getContext("2d");
  context.putImageData(image, 0, 0);
  context.strokeStyle = "#0b6e75";
  context.lineWidth = Math.max(2, image.width / 400);
  for (const { line } of texts) {
    context.beginPath();
    for (const [x, y] of outline(line)) context.lineTo(x * scale, y * scale);
    context.closePath();
    context.stroke();
  }
  element("lines").replaceChildren(...texts.map(({ text, sure, data, width }) => {
    const row = document.createElement("li");
    const picture = Object.assign(document.createElement("canvas"), { width, height: HEIGHT });
    picture.setAttribute("aria-hidden", "true");
    picture.getContext("2d").putImageData(pixels(data, width), 0, 0);
    const written = Object.assign(document.createElement("div"), { className: "text", textContent: text });
    const note = Object.assign(document.createElement("div"), { className: "sure", textContent: `${(sure * 100).toFixed(0)} % sure` });
    row.append(picture, written, note);
    return row;
  }));
  element("copy").disabled = !texts.length;
  if (!texts.length) element("lines").append(Object.assign(document.createElement("li"), { textContent: "No text found." }));
}

function pixels(data, width) {
  const image = new ImageData(width, HEIGHT);
  for (let i = 0; i < HEIGHT * width; i++) {
    for (let c = 0; c < 3; c++) image.data[i * 4 + c] = (data[c * HEIGHT * width + i] + 1) * 127.5;
    image.data[i * 4 + 3] = 255;
  }
  return image;
}

element("copy").addEventListener("click", async () => {
  const text = [...document.querySelectorAll("#lines .text")].map((line) => line.textContent).join("\n");
  try {
    await navigator.clipboard.writeText(text);
    say("The text is in the clipboard.");
  } catch {
    say("The clipboard is closed to this page. Select the text and copy it.", "error");
  }
});
