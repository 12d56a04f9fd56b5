// From ink on a canvas to the 8 x 8 counts of the digits data set, and back.
//
// The data set was made so: a digit fills 32 x 32 dots, and each of the 64 numbers counts the ink in 4 x 4 of
// them. So the drawing is cut to its ink, scaled to the full height (or width, if that is larger), centred, and counted.
export const SIZE = 8;
export const FULL = 16;

// Ink of each pixel, 0 to 1, from an opaque canvas that is white where there is none.
export function inkOf(canvas) {
  const { width, height } = canvas;
  const { data } = canvas.getContext("2d", { willReadFrequently: true }).getImageData(0, 0, width, height);
  const ink = new Float32Array(width * height);
  for (let i = 0; i < ink.length; i++) ink[i] = 1 - data[4 * i] / 255;
  return { ink, width, height };
}

// 64 numbers from 0 to 16, or null for an empty canvas.
export function counts({ ink, width, height }) {
  let left = width, right = -1, top = height, bottom = -1;
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      if (ink[y * width + x] < 0.06) continue; // half of the faintest step of the data set
      left = Math.min(left, x);
      right = Math.max(right, x);
      top = Math.min(top, y);
      bottom = Math.max(bottom, y);
    }
  }
  if (right < 0) return null;
  const wide = right - left + 1, high = bottom - top + 1;
  const scale = Math.max(wide, high) / SIZE; // canvas pixels for one of the 8 cells
  const x0 = left - (SIZE * scale - wide) / 2, y0 = top - (SIZE * scale - high) / 2;
  const cells = new Float32Array(SIZE * SIZE);
  for (let row = 0; row < SIZE; row++) {
    for (let column = 0; column < SIZE; column++) {
      cells[row * SIZE + column] = FULL * mean(ink, width, height, x0 + column * scale, y0 + row * scale, scale);
    }
  }
  return cells;
}

// Mean over a square whose sides need not lie on pixels.
function mean(ink, width, height, x, y, size) {
  let sum = 0;
  for (let j = Math.max(0, Math.floor(y)); j < Math.min(height, y + size); j++) {
    const tall = Math.min(j + 1, y + size) - Math.max(j, y);
    for (let i = Math.max(0, Math.floor(x)); i < Math.min(width, x + size); i++) {
      sum += ink[j * width + i] * tall * (Math.min(i + 1, x + size) - Math.max(i, x));
    }
  }
  return sum / (size * size);
}

// Draws 64 numbers as grey squares.
export function paint(canvas, cells) {
  const context = canvas.getContext("2d", { willReadFrequently: true });
  const side = canvas.width / SIZE;
  for (let i = 0; i < SIZE * SIZE; i++) {
    const grey = Math.round(255 * (1 - cells[i] / FULL));
    context.fillStyle = `rgb(${grey} ${grey} ${grey})`;
    context.fillRect((i % SIZE) * side, Math.floor(i / SIZE) * side, side, side);
  }
}
