// What a run says and draws, on the page Playground.
import uPlot from "../vendor/uPlot.esm.js";

const LINE_COLOURS = ["--accent", "--warm", "--code-keyword", "--code-string", "--code-number", "--wrong", "--soft", "--faint"];
const MARKED = 20; // points of a line that has a dot on each
const BETWEEN = 40; // milliseconds between changes of the page

export class Output {
  #box;
  #messages = [];
  #timer = 0;
  #stream = null; // {kind, element, done, open}: where text goes
  #named = new Map(); // name -> figure
  #charts = new Map(); // figure -> chart
  #leftOut = null;
  #addresses = [];

  constructor(box) {
    this.#box = box;
    const redraw = () => this.#charts.forEach((chart) => chart.redraw());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
    addEventListener("resize", () => this.#charts.forEach((chart) => chart.setSize({ width: this.#width(), height: chart.height })));
  }

  clear() {
    clearTimeout(this.#timer);
    this.#timer = 0;
    for (const chart of this.#charts.values()) chart.destroy();
    for (const address of this.#addresses) URL.revokeObjectURL(address);
    for (const list of [this.#named, this.#charts]) list.clear();
    this.#messages.length = this.#addresses.length = 0;
    this.#stream = this.#leftOut = null;
    this.#box.replaceChildren();
  }

  // On a phone it is below the program.
  bringIntoView() {
    if (this.#box.getBoundingClientRect().top > innerHeight - 120) this.#box.parentElement.scrollIntoView();
  }

  // A message of cells.py. Several that come quickly are shown together.
  add(message, bytes) {
    this.#messages.push([message, bytes]);
    this.#timer ||= setTimeout(() => this.flush(), BETWEEN);
  }

  flush() {
    clearTimeout(this.#timer);
    this.#timer = 0;
    const down = this.#box.scrollTop + this.#box.clientHeight >= this.#box.scrollHeight - 8;
    for (const [message, bytes] of this.#messages.splice(0)) this.#show(message, bytes);
    if (down) this.#box.scrollTop = this.#box.scrollHeight;
  }

  // The traceback, and a way to the line.
  fail({ text, line }, goTo) {
    this.flush();
    this.#stream = null;
    const part = make("div", { className: "failure" }, make("pre", { textContent: text }));
    if (line) {
      const button = make("button", { type: "button", textContent: `Go to line ${line}` });
      button.addEventListener("click", goTo);
      part.append(button);
    }
    this.#box.append(part);
    part.scrollIntoView({ block: "nearest" });
  }

  note(text) {
    this.flush();
    this.#stream = null;
    this.#box.append(make("p", { className: "note", textContent: text }));
  }

  get empty() {
    return this.#box.childElementCount === 0 && this.#messages.length === 0;
  }

  #show(message, bytes) {
    const { kind } = message;
    if (kind === "text") this.#text(message);
    else if (kind === "value") this.#value(message);
    else if (kind === "left_out") this.#missing(message);
    else if (kind === "plot") this.#plot(message);
    else if (kind === "pictures") this.#pictures(message, bytes);
    else if (kind === "image") this.#image(bytes);
  }

  #text({ stream, text }) {
    if (this.#stream?.kind !== stream) {
      const element = make("span", { className: stream });
      let block = this.#box.lastElementChild;
      if (!block?.matches("pre.text")) this.#box.append((block = make("pre", { className: "text" })));
      block.append(element);
      this.#stream = { kind: stream, element, open: "", last: element.appendChild(document.createTextNode("")) };
    }
    const target = this.#stream;
    const lines = (target.open + text).split("\n").map(overwritten);
    target.open = lines.pop();
    if (lines.length) target.last.before(`${lines.map((line) => line.replace("\r", "")).join("\n")}\n`);
    target.last.data = target.open.replace("\r", "");
  }

  #value({ text }) {
    this.#stream = null;
    this.#box.append(make("div", { className: "value" }, make("span", { className: "note", textContent: "Value" }), make("pre", { textContent: text })));
  }

  #missing({ lines, characters, pictures }) {
    this.#stream = null;
    const parts = [];
    if (characters) parts.push(`${count(lines, "line")} (${count(characters, "character")})`);
    if (pictures) parts.push(count(pictures, "picture"));
    if (!this.#leftOut) this.#box.append((this.#leftOut = make("p", { className: "note left-out" })));
    this.#leftOut.textContent = `… ${parts.join(" and ")} left out …`;
  }

  // A figure with a caption; one of the same name takes the place of the earlier.
  #figure(name, caption, content) {
    this.#stream = null;
    const figure = make("figure", {}, ...(caption ? [make("figcaption", { textContent: caption })] : []), content);
    const before = name === null ? undefined : this.#named.get(name);
    if (before) {
      this.#charts.get(before)?.destroy();
      this.#charts.delete(before);
      before.replaceWith(figure);
    } else {
      this.#box.append(figure);
    }
    if (name !== null) this.#named.set(name, figure);
    return figure;
  }

  #width() {
    return Math.max(220, this.#box.clientWidth - 34);
  }

  #plot({ title, x_label: xLabel, y_label: yLabel, log, points, name, x, lines, note }) {
    const data = [x, ...lines.map(({ y }) => y)];
    const caption = [title, note && `(${note})`].filter(Boolean).join(" ");
    const before = this.#named.get(name);
    const shape = JSON.stringify([xLabel, yLabel, log, points, lines.map(({ label }) => label), Boolean(caption)]);
    if (before?.dataset.shape === shape) {
      this.#charts.get(before).setData(data);
      if (caption) before.firstElementChild.textContent = caption;
      before.querySelector("[role=img]").setAttribute("aria-label", described(title, x, lines, points));
      return;
    }
    const box = make("div", { className: "chart" });
    box.setAttribute("role", "img");
    box.setAttribute("aria-label", described(title, x, lines, points));
    const figure = this.#figure(name, caption, box);
    figure.dataset.shape = shape;
    const colour = (name) => () => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    const ruler = { stroke: colour("--line"), width: 1 };
    const axis = { stroke: colour("--text"), grid: ruler, ticks: ruler, font: "12px system-ui, sans-serif", labelFont: "12px system-ui, sans-serif" };
    const series = lines.map(({ label }, i) => {
      const stroke = colour(LINE_COLOURS[i % LINE_COLOURS.length]);
      return { label: label || yLabel || "y", stroke, width: 2, ...(points ? { paths: () => null, points: { show: true, size: 5, fill: stroke } } : { points: { show: (chart) => chart.data[0].length <= MARKED, size: 6, fill: stroke } }) };
    });
    this.#charts.set(figure, new uPlot({
      width: this.#width(), height: 240, legend: { show: lines.length > 1 || Boolean(lines[0].label), live: false }, cursor: { drag: { x: false } },
      scales: { x: { time: false }, y: log ? { distr: 3 } : {} },
      axes: [
        { ...axis, ...(xLabel ? { label: xLabel, labelSize: 20 } : {}), size: 32 },
        { ...axis, ...(yLabel ? { label: yLabel, labelSize: 20 } : {}), size: 56, values: (_, ticks) => ticks.map((tick) => (tick === null ? "" : readable(tick))) },
      ],
      series: [{}, ...series],
    }, data, box));
  }

  #pictures({ title, name, count: number, channels, height, width, shape, low, high, note }, bytes) {
    const size = number > 1 ? 72 : 224;
    const scale = Math.max(1, Math.floor(size / Math.max(width, height)));
    const box = make("div", { className: "pictures" });
    box.setAttribute("role", "img");
    box.setAttribute("aria-label", `${title ? `${title}: ` : ""}${count(number, "picture")} of ${width} by ${height}, values from ${readable(low)} to ${readable(high)}`);
    for (let i = 0; i < number; i++) {
      const canvas = make("canvas", { width, height });
      canvas.style.width = `${width * scale}px`;
      const pixels = new ImageData(width, height);
      for (let at = 0, from = i * width * height * channels; at < width * height; at++) {
        for (let part = 0; part < 3; part++) pixels.data[4 * at + part] = bytes[from + at * channels + (channels === 3 ? part : 0)];
        pixels.data[4 * at + 3] = 255;
      }
      canvas.getContext("2d").putImageData(pixels, 0, 0);
      box.append(canvas);
    }
    const range = `[${shape.join(", ")}], black is ${readable(low)}, white ${readable(high)}${note ? `; ${note}` : ""}`;
    this.#figure(name, [title, `(${range})`].filter(Boolean).join(" "), box);
  }

  #image(bytes) {
    const address = URL.createObjectURL(new Blob([bytes], { type: "image/png" }));
    this.#addresses.push(address);
    this.#figure(null, "", make("img", { src: address, alt: "A figure of matplotlib" }));
  }
}

// What a line shows when parts of it were written over: the last of them. A return at its end waits for what comes.
function overwritten(line) {
  if (!line.includes("\r")) return line;
  return line.split("\r").findLast((part) => part) + (line.endsWith("\r") ? "\r" : "");
}

function described(title, x, lines, points) {
  const parts = lines.map(({ label, y }) => {
    const values = y.filter((value) => value !== null);
    const range = values.length ? `from ${readable(values.reduce((a, b) => Math.min(a, b)))} to ${readable(values.reduce((a, b) => Math.max(a, b)))}, the last ${readable(values.at(-1))}` : "no values";
    return `${label ? `${label}: ` : ""}${count(values.length, "point")}, ${range}`;
  });
  return `${points ? "Points" : "Lines"}${title ? `, ${title}` : ""}. ${parts.join(". ")}.`;
}

function readable(value) {
  return String(Number(value.toPrecision(4)));
}

function count(number, word) {
  return `${number.toLocaleString("en")} ${word}${number === 1 ? "" : "s"}`;
}

function make(tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}
