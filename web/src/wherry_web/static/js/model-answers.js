// What a program gave: classes by share, values, or a picture; with facts about all values.
const BEST = 5;
const WRITTEN = 400;
const MOST_CLASSES = 100_000;

// A view of each output. labels: names of classes, or null.
export function answersFor(outputs, labels) {
  return outputs.map((output) => answer(output, labels));
}

function answer({ name, dtype, shape, count, min, max, mean, bad, data }, labels) {
  const values = new Float64Array(data.buffer, data.byteOffset, data.byteLength / 8);
  const complex = dtype.startsWith("complex");
  const section = make("section", { className: "answer" });
  section.append(make("h3", { textContent: `${name}: ${dtype} [${shape.join(", ")}]` }));
  const facts = min === undefined ? (count ? "no finite value" : "no values") : `min ${short(min)} · max ${short(max)} · mean ${short(mean)}`;
  section.append(make("p", { className: "note", textContent: `${facts}${bad ? ` · ${bad} values are NaN or infinite` : ""}${complex ? " · real and imaginary parts in turn" : ""}` }));
  const views = {};
  const classes = shape.at(-1) ?? 0;
  if (dtype.includes("float") && shape.length >= 1 && shape.length <= 2 && classes > 1 && classes <= MOST_CLASSES && count) {
    views.Classes = () => bars(values, shape, labels);
  }
  const image = complex ? null : imageOf(shape);
  if (image && count === values.length) views.Picture = () => picture(values, image, min, max);
  views.Values = () => written(values, shape, count, dtype);
  const names = Object.keys(views);
  const body = make("div");
  const show = (chosen) => body.replaceChildren(...[views[chosen]()].flat());
  if (names.length > 1) {
    const select = make("select");
    select.append(...names.map((text) => make("option", { textContent: text })));
    select.addEventListener("change", () => show(select.value));
    const label = make("label", { className: "note" });
    label.append("Shown as ", select);
    section.append(label);
  }
  show(names[0]);
  section.append(body);
  return section;
}

// Of one row: the classes with the largest scores, as shares of one.
function bars(values, shape, labels) {
  const classes = shape.at(-1), rows = shape.length === 2 ? shape[0] : 1;
  const list = make("ol", { className: "bars" });
  list.setAttribute("aria-label", "Classes by share");
  const show = (row) => {
    const scores = values.subarray(row * classes, (row + 1) * classes);
    let sum = 0, least = Infinity, most = -Infinity;
    for (const x of scores) {
      sum += x;
      least = Math.min(least, x);
      most = Math.max(most, x);
    }
    const shares = least >= 0 && Math.abs(sum - 1) < 1e-3 ? scores : softmax(scores, most);
    const order = Array.from(scores.keys()).sort((a, b) => scores[b] - scores[a]).slice(0, BEST);
    list.replaceChildren(...order.map((i, at) => {
      const item = make("li", { className: at ? "" : "best" });
      const track = make("span", { className: "track" }), fill = make("span", { className: "fill" });
      fill.style.transform = `scaleX(${shares[i] || 0})`;
      track.append(fill);
      item.append(make("span", { className: "label", textContent: labels?.[i] ?? `class ${i}` }), track, make("span", { className: "value", textContent: `${(100 * shares[i]).toFixed(1)} %` }));
      item.dataset.class = i;
      return item;
    }));
  };
  show(0);
  if (rows === 1) return list;
  const box = make("input", { type: "number", min: 0, max: rows - 1, value: 0 });
  box.addEventListener("input", () => show(Math.min(Math.max(Math.floor(Number(box.value) || 0), 0), Math.floor(values.length / classes) - 1)));
  const label = make("label", { className: "note" });
  label.append(`Row, of ${rows} `, box);
  return [label, list];
}

function softmax(scores, most) {
  const raised = scores.map((x) => Math.exp(x - most));
  const sum = raised.reduce((a, b) => a + b, 0);
  return raised.map((x) => x / sum);
}

function written(values, shape, count, dtype) {
  const wide = shape.at(-1) ?? 1;
  const words = Array.from(values.subarray(0, WRITTEN), (x) => (dtype === "bool" ? String(Boolean(x)) : short(x)));
  const lines = [];
  for (let i = 0; i < words.length; i += Math.max(1, Math.min(wide, 16))) {
    lines.push(words.slice(i, i + Math.max(1, Math.min(wide, 16))).join("  "));
  }
  const pre = make("pre", { tabIndex: 0, textContent: `${lines.join("\n")}${count > WRITTEN ? `\n… and ${count - WRITTEN} more` : ""}` });
  pre.setAttribute("role", "region");
  pre.setAttribute("aria-label", "Values");
  return pre;
}

// The planes of a tensor that could be a picture: {planes, height, width}, or null.
function imageOf(shape) {
  const sizes = shape[0] === 1 && shape.length > 2 ? shape.slice(1) : shape;
  if (sizes.length < 2 || sizes.length > 4) return null;
  const [height, width] = sizes.slice(-2);
  if (height < 4 || width < 4 || height > 4096 || width > 4096) return null;
  return { planes: sizes.slice(0, -2).reduce((a, b) => a * b, 1), height, width };
}

// One plane in grey, or three in colour, from the least to the largest value.
function picture(values, { planes, height, width }, min = 0, max = 1) {
  const canvas = make("canvas", { width, height });
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", "The values as a picture");
  const size = height * width, range = max - min || 1;
  const show = (plane) => {
    const pixels = new ImageData(width, height);
    for (let i = 0; i < size; i++) {
      for (let c = 0; c < 3; c++) pixels.data[4 * i + c] = (255 * (values[(plane < 0 ? c : plane) * size + i] - min)) / range;
      pixels.data[4 * i + 3] = 255;
    }
    canvas.getContext("2d").putImageData(pixels, 0, 0);
  };
  show(planes === 3 ? -1 : 0);
  if (planes === 1) return canvas;
  const box = make("input", { type: "number", min: planes === 3 ? -1 : 0, max: planes - 1, value: planes === 3 ? -1 : 0 });
  box.addEventListener("input", () => show(Math.min(Math.max(Math.floor(Number(box.value) || 0), Number(box.min)), planes - 1)));
  const label = make("label", { className: "note" });
  label.append(`Plane, of ${planes}${planes === 3 ? " (-1: all three as colours)" : ""} `, box);
  return [label, canvas];
}

function short(x) {
  return Number.isInteger(x) ? String(x) : Number.isFinite(x) ? String(Number(x.toPrecision(6))) : String(x);
}

function make(tag, properties = {}) {
  return Object.assign(document.createElement(tag), properties);
}
