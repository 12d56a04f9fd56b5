// A form for the inputs of a program, made from what it takes: pictures, numbers, or numbers by chance.
import { drawingOn } from "./pen.js";

const WIDE = 280; // pixels of a drawing area
const MOST_WRITTEN = 2000; // numbers that are written out
const MOST_SIDE = 8192; // of a picture
const FILES = 64 << 20; // bytes of a picture's file

// The ways in which networks want their pixels, of 0 to 1.
const RANGES = {
  "0 to 1": () => [1, 0],
  "-1 to 1": () => [2, -1],
  "0 to 255": () => [255, 0],
  "mean and deviation of ImageNet": (channel) => {
    const mean = [0.485, 0.456, 0.406][channel] ?? 0.449, deviation = [0.229, 0.224, 0.225][channel] ?? 0.226;
    return [1 / deviation, -mean / deviation];
  },
};

let fields = 0;

// A field for each input. say(text, kind): for the page's status line.
export function formFor(inputs, say) {
  return inputs.map((input) => new Field(input, say));
}

class Field {
  constructor(input, say) {
    this.input = input;
    this.say = say;
    this.number = fields++;
    this.element = make("fieldset", { className: "field" });
    this.element.append(make("legend", { textContent: `${input.name}: ${input.dtype} [${input.shape.map((n) => (n < 0 ? "?" : n)).join(", ")}]` }));
    this.layout = layoutOf(input);
    this.sizes = input.shape.map((n) => n);
    this.#askSizes();
    this.body = make("div");
    const kinds = [...(this.layout ? ["picture"] : []), "numbers", "chance"];
    this.kind = make("select");
    const names = { picture: "a picture", numbers: "numbers", chance: "numbers by chance" };
    this.kind.append(...kinds.map((kind) => make("option", { value: kind, textContent: names[kind] })));
    this.kind.value = this.layout ? "picture" : this.count() <= MOST_WRITTEN ? "numbers" : "chance";
    this.kind.addEventListener("change", () => this.show());
    const row = make("div", { className: "row" });
    row.append(labelled("Give it as", this.kind));
    this.element.append(row, this.body);
    this.show();
  }

  // Sizes that the program leaves open.
  #askSizes() {
    const open = this.input.shape.flatMap((n, axis) => (n < 0 ? [axis] : []));
    if (!open.length) return;
    const row = make("div", { className: "row" });
    for (const axis of open) {
      const isSide = this.layout && (axis === this.layout.height || axis === this.layout.width);
      this.sizes[axis] = isSide ? 224 : 1;
      const box = make("input", { type: "number", min: 0, step: 1, value: this.sizes[axis] });
      box.addEventListener("change", () => {
        this.sizes[axis] = Math.max(0, Math.floor(Number(box.value) || 0));
        box.value = this.sizes[axis];
        if (this.kind.value !== "chance") this.show();
      });
      const word = isSide ? (axis === this.layout.height ? "Height" : "Width") : axis === 0 ? "Size of axis 0 (batch)" : `Size of axis ${axis}`;
      row.append(labelled(word, box));
    }
    this.element.append(row);
  }

  count() {
    return this.sizes.reduce((a, b) => a * b, 1);
  }

  show() {
    this.release();
    const body = { picture: () => this.#picture(), numbers: () => this.#numbers(), chance: () => this.#chance() }[this.kind.value];
    this.body.replaceChildren(...body());
  }

  // Gives back a camera.
  release() {
    this.camera?.getTracks().forEach((track) => track.stop());
    this.camera = null;
  }

  #chance() {
    const float = /^(b?float|complex)/.test(this.input.dtype);
    const low = make("input", { type: "number", step: "any", value: 0 });
    const high = make("input", { type: "number", step: "any", value: float ? 1 : this.input.dtype === "bool" ? 2 : this.input.below ?? 2 });
    const row = make("div", { className: "row" });
    row.append(labelled(float ? "Mean" : "From", low), labelled(float ? "Standard deviation" : "To below", high));
    this.value = () => ({ shape: this.sizes, random: [Number(low.value), Number(high.value)] });
    return [row];
  }

  #numbers() {
    const text = make("textarea", { spellcheck: false, id: `numbers-${this.number}` });
    const count = this.count();
    if (count <= MOST_WRITTEN) text.value = Array.from({ length: count }, () => 0).join(" ");
    const whole = !/^(b?float|complex)/.test(this.input.dtype);
    this.value = () => {
      const words = text.value.split(/[\s,;[\]()]+/).filter(Boolean);
      const values = words.map((word) => ({ true: 1, false: 0 })[word.toLowerCase()] ?? Number(word));
      const bad = values.findIndex((x, i) => (Number.isNaN(x) && words[i].toLowerCase() !== "nan") || (whole && !Number.isInteger(x)));
      if (bad >= 0) throw new Error(`${this.input.name}: number ${bad + 1} is "${words[bad].slice(0, 20)}", expected ${whole ? "a whole number" : "a number"}. Write numbers with spaces or commas between them.`);
      if (values.length !== this.count()) throw new Error(`${this.input.name}: got ${values.length} numbers, expected ${this.count()} for [${this.sizes.join(", ")}]. Write as many, or change the sizes.`);
      if (this.input.dtype === "int64") return { shape: this.sizes, data: BigInt64Array.from(words, (word, i) => (/^[+-]?\d+$/.test(word) ? BigInt(word) : BigInt(values[i]))), format: "q" };
      return { shape: this.sizes, data: Float64Array.from(values), format: "d" };
    };
    const label = make("label", { htmlFor: text.id, textContent: `${count} numbers, row by row` });
    return [label, text];
  }

  #picture() {
    const { channels, height, width } = this.#image();
    const scale = WIDE / Math.max(width, height, 1);
    const canvas = make("canvas", { className: "picture", tabIndex: 0, width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) });
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", `Drawing area for ${this.input.name}. Arrow keys move the pen, Shift with an arrow key draws, Escape clears.`);
    this.canvas = canvas;
    const context = canvas.getContext("2d", { willReadFrequently: true });
    const clear = () => {
      this.picture = null;
      context.fillStyle = "#fff";
      context.fillRect(0, 0, canvas.width, canvas.height);
    };
    clear();
    const pen = make("span", { className: "hidden" });
    pen.setAttribute("role", "status");
    drawingOn(canvas, { width: Math.max(canvas.width, canvas.height) / 12, began: () => (this.picture = null), changed: () => (this.picture = null), cleared: clear, moved: (words) => (pen.textContent = words) });

    const file = make("input", { type: "file", accept: "image/*", className: "hidden" });
    const choose = make("label", { className: "file" });
    choose.append(file, "From a file");
    file.addEventListener("change", () => this.#fromFile(file, clear));
    const video = make("video", { className: "picture", muted: true, playsInline: true, hidden: true });
    video.setAttribute("aria-label", "What the camera sees");
    const camera = button("Camera"), wipe = button("Clear");
    camera.addEventListener("click", () => this.#fromCamera(video, camera, clear));
    wipe.addEventListener("click", clear);
    const buttons = make("div", { className: "buttons" });
    buttons.append(choose, camera, wipe);

    const range = make("select");
    range.append(...Object.keys(RANGES).map((name) => make("option", { textContent: name })));
    range.value = this.range ?? (this.input.dtype === "uint8" ? "0 to 255" : channels === 3 ? "mean and deviation of ImageNet" : "0 to 1");
    const invert = make("input", { type: "checkbox", checked: this.inverted ?? channels === 1 });
    const inverted = make("label", { className: "check" });
    inverted.append(invert, "Light on dark");
    const row = make("div", { className: "row" });
    row.append(labelled("Pixels become", range), inverted);
    range.addEventListener("change", () => (this.range = range.value));
    invert.addEventListener("change", () => (this.inverted = invert.checked));
    this.value = () => ({ shape: this.sizes, data: this.#pixels(canvas, RANGES[range.value], invert.checked), format: "f" });
    return [canvas, video, pen, buttons, row];
  }

  #image() {
    const { channel, height, width } = this.layout;
    const side = (axis) => Math.min(Math.max(this.sizes[axis], 1), MOST_SIDE);
    return { channels: channel === null ? 1 : this.sizes[channel], height: side(height), width: side(width) };
  }

  async #fromFile(box, clear) {
    const [file] = box.files;
    box.value = "";
    if (!file) return;
    try {
      if (file.size > FILES) throw new Error(`it has ${(file.size / 1e6).toFixed(0)} MB, expected at most ${FILES >> 20}`);
      const picture = await createImageBitmap(file);
      clear();
      this.paint(picture, picture.width, picture.height);
      this.say(`${file.name} is the input ${this.input.name}.`);
    } catch (error) {
      this.say(`${file.name} cannot be read as a picture: ${error.message}. Take a PNG, JPEG or WebP file.`, "error");
    }
  }

  // First it shows what the camera sees, then it takes the picture.
  async #fromCamera(video, trigger, clear) {
    if (this.camera) {
      clear();
      this.paint(video, video.videoWidth, video.videoHeight);
      this.release();
      video.hidden = true;
      this.canvas.hidden = false;
      trigger.textContent = "Camera";
      return;
    }
    try {
      if (!navigator.mediaDevices) throw new Error("browsers open cameras over HTTPS and on localhost alone");
      const camera = await navigator.mediaDevices.getUserMedia({ video: { facingMode: "environment" }, audio: false });
      if (!video.isConnected) { // another kind was chosen meanwhile
        camera.getTracks().forEach((track) => track.stop());
        return;
      }
      this.camera = camera;
      video.srcObject = camera;
      await video.play();
      video.hidden = false;
      this.canvas.hidden = true;
      trigger.textContent = "Take the picture";
    } catch (error) {
      this.release();
      this.say(`The camera did not open: ${error.message}. Allow it for this page, or take a file.`, "error");
    }
  }

  // The middle of a picture, as large as it goes.
  paint(picture, width, height) {
    this.picture = { source: picture, width, height };
    const { canvas } = this;
    cover(canvas.getContext("2d"), this.picture, canvas.width, canvas.height);
  }

  // Pixels as the program takes them: one example, and the same for the rest of a batch.
  #pixels(canvas, range, inverted) {
    const { channels, height, width } = this.#image();
    const small = new OffscreenCanvas(width, height);
    const context = small.getContext("2d", { willReadFrequently: true });
    context.imageSmoothingQuality = "high";
    if (this.picture) cover(context, this.picture, width, height);
    else context.drawImage(canvas, 0, 0, width, height);
    const { data } = context.getImageData(0, 0, width, height);
    const last = this.layout.channel !== null && this.layout.channel > this.layout.height;
    const one = new Float32Array(channels * height * width);
    for (let c = 0; c < channels; c++) {
      const [factor, shift] = range(channels === 1 ? null : c);
      for (let i = 0; i < height * width; i++) {
        let value = channels === 1 ? (0.299 * data[4 * i] + 0.587 * data[4 * i + 1] + 0.114 * data[4 * i + 2]) / 255 : data[4 * i + c] / 255;
        if (inverted && c < 3) value = 1 - value;
        one[last ? i * channels + c : c * height * width + i] = value * factor + shift;
      }
    }
    const all = new Float32Array(this.count());
    for (let at = 0; at + one.length <= all.length && one.length; at += one.length) all.set(one, at);
    return all;
  }
}

function cover(context, { source, width, height }, wide, tall) {
  const scale = Math.max(wide / width, tall / height);
  context.imageSmoothingQuality = "high";
  context.drawImage(source, (wide - width * scale) / 2, (tall - height * scale) / 2, width * scale, height * scale);
}

// The axes of an input that could be a picture, or null.
function layoutOf({ shape, dtype }) {
  if (!/^(b?float|uint8)/.test(dtype)) return null;
  const isSide = (n) => n < 0 || (n >= 8 && n <= MOST_SIDE);
  const isChannel = (n) => n === 1 || n === 3 || n === 4;
  const from = shape.length === 4 ? 1 : 0;
  if (shape.length !== from + 3) return null;
  const [a, b, c] = shape.slice(from);
  if (isChannel(a) && isSide(b) && isSide(c)) return { channel: from, height: from + 1, width: from + 2 };
  if (isChannel(c) && isSide(a) && isSide(b)) return { channel: from + 2, height: from, width: from + 1 };
  return null;
}

function make(tag, properties = {}) {
  return Object.assign(document.createElement(tag), properties);
}

function button(text) {
  return make("button", { type: "button", textContent: text });
}

function labelled(text, control) {
  const label = make("label");
  label.append(text, control);
  return label;
}
