// Lines of text in the map of a detector: where each runs, and its picture made straight. No page is needed for it.
const LIKELY = 0.5; // of a pixel that is of a line's middle
const SURE = 0.6; // the mean of a line's pixels, at least
const SMALLEST = 14; // pixels of a middle
const LONG = 3; // times its thickness, from which on a middle says in which direction its line runs
const BENT = 6; // the same for how it is bent
const WHOLE = 2.9; // heights of a middle that make the height of a line: middles are its inner half, and room is left above and below
const GAP = 0.5; // heights between two middles that are of one line: a wide space, after a comma
const BESIDE = 0.25; // heights by which the second may lie beside the run of the first
const ALIKE = 1.6; // times the height of the other
export const HEIGHT = 32; // of the pictures that the recogniser takes
// Times its width at which each line is read: letters are narrower in one font and wider in another.
export const WIDTHS = [1, 1.09, 1.18];
const DOUBT = 0.05; // of another class in a column, from which on it is tried
const ODD = 1.5; // of a logarithm, that a pair of neighbours costs of which the second hardly follows the first

// map: likelihoods of side x side pixels. Returns lines, from the top: {along: [x, y] of the direction, middle, from, to, bend(u), height}.
export function linesIn(map, side) {
  const seen = new Uint8Array(map.length);
  const found = [];
  for (let start = 0; start < map.length; start++) {
    if (seen[start] || map[start] < LIKELY) continue;
    const pixels = together(map, side, start, seen);
    const mean = pixels.reduce((sum, at) => sum + map[at], 0) / pixels.length;
    if (pixels.length >= SMALLEST && mean >= SURE) found.push(lineOf(pixels, side));
  }
  return inOrder(joined(found, side));
}

// Parts that go on with each other as one line: a detector may see an end at a wide space.
function joined(parts, side) {
  const lines = parts.sort((a, b) => a.middle[0] - b.middle[0]);
  for (let i = 0; i < lines.length; i++) {
    const next = lines.findIndex((other, j) => j > i && goesOn(lines[i], other));
    if (next < 0) continue;
    const [rest] = lines.splice(next, 1);
    lines[i] = lineOf([...lines[i].pixels, ...rest.pixels], side);
    i -= 1; // it may go on
  }
  return lines;
}

function goesOn(line, other) {
  const height = (line.height + other.height) / 2;
  if (Math.max(line.height, other.height) > ALIKE * Math.min(line.height, other.height)) return false;
  const [x, y] = place(other, other.from, 0);
  const dx = x - line.middle[0], dy = y - line.middle[1];
  const u = dx * line.along[0] + dy * line.along[1], v = dy * line.along[0] - dx * line.along[1];
  return Math.abs(u - line.to) < GAP * height && Math.abs(v - line.bend(Math.min(u, line.to))) < BESIDE * height;
}

// The pixels that hang together with one, sides and corners.
function together(map, side, start, seen) {
  const pixels = [start];
  seen[start] = 1;
  for (let next = 0; next < pixels.length; next++) {
    const x = pixels[next] % side, y = (pixels[next] - x) / side;
    for (let j = Math.max(0, y - 1); j <= Math.min(side - 1, y + 1); j++) {
      for (let i = Math.max(0, x - 1); i <= Math.min(side - 1, x + 1); i++) {
        const at = j * side + i;
        if (seen[at] || map[at] < LIKELY) continue;
        seen[at] = 1;
        pixels.push(at);
      }
    }
  }
  return pixels;
}

// Direction by the largest spread, bend by a parabola over it (least squares), height by area over length.
function lineOf(pixels, side) {
  const count = pixels.length;
  const xs = pixels.map((at) => (at % side) + 0.5), ys = pixels.map((at) => Math.floor(at / side) + 0.5);
  const middle = [mean(xs), mean(ys)];
  let xx = 0, xy = 0, yy = 0;
  for (let i = 0; i < count; i++) {
    const x = xs[i] - middle[0], y = ys[i] - middle[1];
    xx += x * x;
    xy += x * y;
    yy += y * y;
  }
  const [left, right] = ends(xs), [top, bottom] = ends(ys);
  const wide = right - left + 1, high = bottom - top + 1;
  const long = Math.max(wide, high) ** 2 > LONG * count;
  const angle = long ? Math.atan2(2 * xy, xx - yy) / 2 : 0;
  const along = [Math.cos(angle), Math.sin(angle)];
  const us = [], vs = [];
  for (let i = 0; i < count; i++) {
    const x = xs[i] - middle[0], y = ys[i] - middle[1];
    us.push(x * along[0] + y * along[1]);
    vs.push(y * along[0] - x * along[1]);
  }
  const [first, last] = ends(us);
  const from = first - 0.5, to = last + 0.5;
  const thick = count / new Set(us.map((u) => Math.floor(u - from))).size; // over the columns that there are, without gaps
  const bent = to - from > BENT * thick ? parabola(us, vs) : [0, 0, 0];
  return {
    pixels, along, middle, from: from - thick * 0.75, to: to + thick * 0.75, height: thick * WHOLE,
    bend: (u) => bent[0] + u * (bent[1] + u * bent[2]), slope: (u) => bent[1] + 2 * u * bent[2],
  };
}

// Coefficients of the parabola nearest to points.
function parabola(us, vs) {
  const powers = [0, 0, 0, 0, 0], sums = [0, 0, 0];
  const scale = Math.max(...ends(us).map(Math.abs)) || 1;
  us.forEach((value, i) => {
    const u = value / scale;
    let power = 1;
    for (let k = 0; k < 5; k++) {
      powers[k] += power;
      if (k < 3) sums[k] += power * vs[i];
      power *= u;
    }
  });
  const rows = [0, 1, 2].map((i) => [powers[i], powers[i + 1], powers[i + 2], sums[i]]);
  for (let i = 0; i < 3; i++) { // the matrix is positive definite: no rows need to change places
    for (let j = i + 1; j < 3; j++) {
      const share = rows[j][i] / rows[i][i];
      for (let k = i; k < 4; k++) rows[j][k] -= share * rows[i][k];
    }
  }
  const found = [0, 0, 0];
  for (let i = 2; i >= 0; i--) {
    found[i] = rows[i][3];
    for (let k = i + 1; k < 3; k++) found[i] -= rows[i][k] * found[k];
    found[i] /= rows[i][i];
  }
  return found.map((value, i) => (Number.isFinite(value) ? value / scale ** i : 0));
}

// From the top to the bottom, and from left to right where lines stand beside each other.
function inOrder(lines) {
  const rows = [];
  for (const line of [...lines].sort((a, b) => a.middle[1] - b.middle[1])) {
    const row = rows.find(([first]) => Math.abs(first.middle[1] - line.middle[1]) < Math.min(first.height, line.height) / 2);
    if (row) row.push(line);
    else rows.push([line]);
  }
  return rows.flatMap((row) => row.sort((a, b) => a.middle[0] - b.middle[0]));
}

// The place of a point of a line: u along it, v across, from -1 (above) to 1.
export function place({ along, middle, height, bend, slope }, u, v) {
  const rise = slope(u), length = Math.hypot(1, rise);
  const a = u - (rise / length) * v * height / 2, b = bend(u) + (v * height) / 2 / length;
  return [middle[0] + a * along[0] - b * along[1], middle[1] + a * along[1] + b * along[0]];
}

// The corners of a line's outline, for drawing.
export function outline(line, parts = 12) {
  const at = (i) => line.from + ((line.to - line.from) * i) / parts;
  const above = Array.from({ length: parts + 1 }, (_, i) => place(line, at(i), -1));
  const below = Array.from({ length: parts + 1 }, (_, i) => place(line, at(parts - i), 1));
  return [...above, ...below];
}

// The picture of a line made straight: {data: Float32Array of 3 x HEIGHT x width from -1 to 1, width}. image: ImageData, `scale` times as large as the map;
// stretch: times its width.
export function straightened(line, image, scale, stretch = 1) {
  const width = Math.max(8, Math.min(2048, 4 * Math.round(((line.to - line.from) * HEIGHT * stretch) / line.height / 4)));
  const data = new Float32Array(3 * HEIGHT * width);
  for (let x = 0; x < width; x++) {
    const u = line.from + ((line.to - line.from) * (x + 0.5)) / width;
    for (let y = 0; y < HEIGHT; y++) {
      const [px, py] = place(line, u, (2 * (y + 0.5)) / HEIGHT - 1);
      sample(image, px * scale - 0.5, py * scale - 0.5, (channel, value) => (data[(channel * HEIGHT + y) * width + x] = value / 127.5 - 1));
    }
  }
  return { data, width };
}

// Between four pixels; beyond the edge it goes on as at the edge.
function sample({ data, width, height }, x, y, take) {
  const cx = Math.min(Math.max(x, 0), width - 1), cy = Math.min(Math.max(y, 0), height - 1);
  const x0 = Math.floor(cx), y0 = Math.floor(cy), x1 = Math.min(x0 + 1, width - 1), y1 = Math.min(y0 + 1, height - 1);
  const fx = cx - x0, fy = cy - y0;
  for (let c = 0; c < 3; c++) {
    const above = data[(y0 * width + x0) * 4 + c] * (1 - fx) + data[(y0 * width + x1) * 4 + c] * fx;
    const below = data[(y1 * width + x0) * 4 + c] * (1 - fx) + data[(y1 * width + x1) * 4 + c] * fx;
    take(c, above * (1 - fy) + below * fy);
  }
}

// What stands in a line of which the network saw `views`, each the probabilities of a picture of it. What was read of each, and what it becomes with one
// character as the network doubted it might be, are compared: that is taken which all views together find the likeliest, and in which neighbours belong
// together. An O among digits looks like a 0, and a capital letter is large only beside another. Beside the text: how sure the network is of what it read.
export function readOut(views, labels) {
  const read = views.map((probabilities) => bestPath(probabilities, labels.length));
  const found = new Map([...read.map((one) => one.classes), ...views.flatMap((view) => doubted(view, labels.length))].map((one) => [one.join(), one]));
  const value = (classes) => views.reduce((sum, view) => sum + logLikelihood(view, labels.length, classes), 0) / views.length
    - ODD * classes.filter((c, i) => i && hardlyFollows(labels[classes[i - 1]], labels[c])).length;
  let best = read[0].classes, most = found.size > 1 ? value(best) : 0;
  for (const classes of found.size > 1 ? found.values() : []) {
    const its = value(classes);
    if (its > most) [best, most] = [classes, its];
  }
  return { text: best.map((c) => labels[c]).join("").trim(), sure: mean(read.map(({ sure }) => sure)) };
}

// The likeliest classes of the steps, each with one of them as the network doubted it might be: another one, none, or one more.
function doubted(probabilities, count) {
  const runs = []; // of one class: the class, and the most of every class in its steps
  for (let step = 0; step < probabilities.length / count; step++) {
    const row = probabilities.subarray(step * count, (step + 1) * count);
    const best = largest(row);
    if (runs.at(-1)?.best === best) row.forEach((p, c) => (runs.at(-1).most[c] = Math.max(p, runs.at(-1).most[c])));
    else runs.push({ best, most: Float32Array.from(row) });
  }
  return runs.flatMap(({ best, most }, i) => [...most.keys()].filter((c) => c !== best && most[c] > DOUBT)
    .map((c) => runs.map((run, j) => (i === j ? c : run.best)).filter((each) => each)));
}

const KINDS = [/\p{Nd}/u, /\p{Script=Latin}/u, /\p{Script=Greek}/u, /\p{Script=Cyrillic}/u];

// Whether one is a digit and one a letter, or both are letters of two scripts, or a capital follows a small letter.
function hardlyFollows(first, second) {
  const [a, b] = [first, second].map((c) => KINDS.findIndex((kind) => kind.test(c)));
  return a >= 0 && b >= 0 && (a !== b || (/\p{Ll}/u.test(first) && /\p{Lu}/u.test(second)));
}

// The likeliest class of each step, repetitions and blanks (class 0) left out, and the mean of their probabilities.
function bestPath(probabilities, count) {
  const classes = [];
  let before = 0, sum = 0;
  for (let step = 0; step < probabilities.length / count; step++) {
    const best = largest(probabilities.subarray(step * count, (step + 1) * count));
    if (best && best !== before) {
      classes.push(best);
      sum += probabilities[step * count + best];
    }
    before = best;
  }
  return { classes, sure: classes.length ? sum / classes.length : 0 };
}

// The logarithm of how likely it is that classes follow each other in a view, over all ways to spread them over its steps: the forward half of CTC
// (Graves et al., 2006).
export function logLikelihood(probabilities, count, classes) {
  const states = [0, ...classes.flatMap((c) => [c, 0])]; // a blank around each
  let ways = states.map((_, k) => (k < 2 ? 1 : 0)), scaled = 0;
  for (let step = 0; step < probabilities.length / count; step++) {
    const next = states.map((c, k) => {
      const jumps = step && k > 1 && c && c !== states[k - 2] ? ways[k - 2] : 0;
      const comes = step ? ways[k] + (k ? ways[k - 1] : 0) + jumps : ways[k];
      return comes * Math.max(probabilities[step * count + c], 1e-12);
    });
    const sum = next.reduce((total, way) => total + way, 0);
    if (!sum) return -Infinity;
    scaled += Math.log(sum);
    ways = next.map((way) => way / sum);
  }
  return scaled + Math.log(ways.slice(-2).reduce((total, way) => total + way, 0));
}

function largest(values) {
  let best = 0;
  for (let i = 1; i < values.length; i++) if (values[i] > values[best]) best = i;
  return best;
}

function mean(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

// The smallest and the largest; there may be more than a call takes arguments.
function ends(values) {
  return values.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, -Infinity]);
}
