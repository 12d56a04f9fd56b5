// The pictures of the network to play with: planes of numbers as colours, points, and the curve of the loss.
const FINER = 4; // times as many places in the answer as the network was asked about
const CURVE = 600; // values that the curve keeps: of more, every second goes

export class Pictures {
  #colors;
  #small = document.createElement("canvas"); // a plane in its own size
  #curve; // every: so many values make one of it

  constructor() {
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const mix = () => (this.#colors = colors());
    dark.addEventListener("change", mix);
    mix();
    this.forget();
  }

  // Numbers from -1 to 1 into a canvas: class 0 and negative values in one colour, class 1 and positive ones in the other.
  plane(canvas, values, side, scale = 1, shift = 0) {
    if (canvas.width !== side) canvas.width = canvas.height = side;
    const context = canvas.getContext("2d", { willReadFrequently: true }); // in memory, where pixels are written quickest
    const image = context.createImageData(side, side);
    const pixels = new Uint32Array(image.data.buffer);
    const { table } = this.#colors;
    for (let i = 0; i < values.length; i++) {
      const at = Math.round((values[i] * scale + shift) * 127.5 + 127.5);
      pixels[i] = table[at < 0 ? 0 : at > 255 ? 255 : at || 0];
    }
    context.putImageData(image, 0, 0);
  }

  // The answer of the network (nothing: none yet), how far the score of class 1 lies above the other, and the points over it.
  answer(canvas, values, side, points, edge, cross) {
    const context = canvas.getContext("2d");
    const size = canvas.width;
    const { zero, one, ink, paper } = this.#colors;
    context.fillStyle = paper;
    context.fillRect(0, 0, size, size);
    if (values) {
      this.plane(this.#small, finer(values, side), side * FINER);
      context.drawImage(this.#small, 0, 0, size, size);
    }
    const place = (value) => ((value + edge) / (2 * edge)) * size;
    context.strokeStyle = paper;
    context.lineWidth = 1.5;
    for (const { x, y, label } of points) {
      context.beginPath();
      if (label) context.rect(place(x) - 4.5, place(-y) - 4.5, 9, 9);
      else context.arc(place(x), place(-y), 5, 0, 7);
      context.fillStyle = label ? one : zero;
      context.fill();
      context.stroke();
    }
    if (!cross) return;
    context.strokeStyle = ink;
    context.lineWidth = 2;
    context.beginPath();
    for (const [dx, dy] of [[12, 0], [0, 12]]) {
      context.moveTo(place(cross.x) - dx, place(-cross.y) - dy);
      context.lineTo(place(cross.x) + dx, place(-cross.y) + dy);
    }
    context.stroke();
  }

  forget() {
    this.#curve = { every: 1, seen: 0, steps: [], losses: [] };
  }

  record(steps, loss) {
    const curve = this.#curve;
    if (!Number.isFinite(loss) || curve.seen++ % curve.every) return;
    curve.steps.push(steps);
    curve.losses.push(loss);
    if (curve.steps.length < CURVE) return;
    curve.every *= 2;
    for (const name of ["steps", "losses"]) curve[name] = curve[name].filter((_, i) => i % 2 === 0);
  }

  curve(canvas) {
    const ratio = devicePixelRatio;
    const width = Math.round(canvas.clientWidth * ratio), height = Math.round(canvas.clientHeight * ratio);
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    const context = canvas.getContext("2d");
    const { steps, losses } = this.#curve;
    const { ink, line, accent } = this.#colors;
    const top = losses.reduce((most, loss) => Math.max(most, loss), 0.7);
    const left = 34 * ratio, foot = 20 * ratio, pad = 8 * ratio;
    const x = (step) => left + (step / Math.max(steps.at(-1) ?? 1, 1)) * (width - left - pad);
    const y = (loss) => height - foot - (loss / top) * (height - foot - pad);
    context.clearRect(0, 0, width, height);
    context.font = `${11 * ratio}px system-ui, sans-serif`;
    context.fillStyle = ink;
    context.strokeStyle = line;
    context.lineWidth = ratio;
    context.textAlign = "right";
    context.textBaseline = "middle";
    context.beginPath();
    for (const loss of [0, top / 2, top]) {
      context.moveTo(left, y(loss));
      context.lineTo(width - pad, y(loss));
      context.fillText(loss.toFixed(2), left - 4 * ratio, y(loss));
    }
    context.stroke();
    context.textBaseline = "alphabetic";
    context.fillText(`step ${steps.at(-1) ?? 0}`, width - pad, height - 5 * ratio);
    context.strokeStyle = accent;
    context.lineWidth = 2 * ratio;
    context.lineJoin = "round";
    context.beginPath();
    steps.forEach((step, i) => context.lineTo(x(step), y(losses[i])));
    context.stroke();
  }
}

// Scores between those that are known, and of them the share of class 1 less that of class 0. Shares themselves change within a
// place or two where the network is sure: between them the border would have teeth.
function finer(scores, side) {
  const size = side * FINER;
  const found = new Float32Array(size * size);
  for (let i = 0; i < size; i++) {
    const [top, down] = between(i, side);
    for (let k = 0; k < size; k++) {
      const [left, right] = between(k, side);
      const at = top * side + left;
      const above = scores[at] + right * (scores[at + 1] - scores[at]);
      const below = scores[at + side] + right * (scores[at + side + 1] - scores[at + side]);
      const score = above + down * (below - above);
      found[i * size + k] = score > 12 ? 1 : score < -12 ? -1 : Math.tanh(score / 2);
    }
  }
  return found;
}

// Of a finer place: the known one before it, and how far behind that it lies.
function between(i, side) {
  const at = Math.min(Math.max((i + 0.5) / FINER - 0.5, 0), side - 1);
  const low = Math.min(Math.floor(at), side - 2);
  return [low, at - low];
}

function colors() {
  const style = getComputedStyle(document.documentElement);
  const context = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const parts = (name) => {
    context.fillStyle = style.getPropertyValue(name).trim();
    context.fillRect(0, 0, 1, 1);
    return [...context.getImageData(0, 0, 1, 1).data.slice(0, 3)];
  };
  const zero = parts("--accent"), one = parts("--warm"), paper = parts("--card");
  const table = new Uint32Array(256);
  for (let i = 0; i < 256; i++) {
    const value = (i - 127.5) / 127.5;
    const share = 0.75 * Math.abs(value); // points of the class stay visible on it
    const [r, g, b] = paper.map((part, k) => Math.round(part + share * ((value < 0 ? zero : one)[k] - part)));
    table[i] = ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
  }
  const text = (name) => style.getPropertyValue(name).trim();
  return { table, zero: text("--accent"), one: text("--warm"), paper: text("--card"), ink: text("--text"), line: text("--line"), accent: text("--accent") };
}
