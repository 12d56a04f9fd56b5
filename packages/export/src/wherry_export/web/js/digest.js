// SHA-256 of bytes, by FIPS 180-4: the browser's own where the page has it (HTTPS, localhost, Node), else computed here.
const ROUND = constants(64, 3); // of the cube roots of the first primes
const BEGIN = constants(8, 2); // of their square roots

/** The digest as 64 hexadecimal digits. */
export async function sha256(bytes) {
  const digest = globalThis.crypto?.subtle ? new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)) : computed(bytes);
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The digest as 32 bytes, without the browser's help. */
export function computed(bytes) {
  const state = Int32Array.from(BEGIN), words = new Int32Array(64);
  const whole = bytes.length & ~63;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at < whole; at += 64) block(state, words, view, at);
  const rest = bytes.length - whole;
  const last = new DataView(new ArrayBuffer(rest < 56 ? 64 : 128)); // a one, zeros, and the length in bits
  for (let i = 0; i < rest; i++) last.setUint8(i, bytes[whole + i]);
  last.setUint8(rest, 0x80);
  last.setBigUint64(last.byteLength - 8, BigInt(bytes.length) * 8n);
  for (let at = 0; at < last.byteLength; at += 64) block(state, words, last, at);
  const digest = new DataView(new ArrayBuffer(32));
  state.forEach((word, i) => digest.setInt32(4 * i, word));
  return new Uint8Array(digest.buffer);
}

function block(state, words, view, at) {
  for (let i = 0; i < 16; i++) words[i] = view.getInt32(at + 4 * i);
  for (let i = 16; i < 64; i++) {
    const x = words[i - 15], y = words[i - 2];
    words[i] = (words[i - 16] + words[i - 7] + (turned(x, 7) ^ turned(x, 18) ^ (x >>> 3)) + (turned(y, 17) ^ turned(y, 19) ^ (y >>> 10))) | 0;
  }
  let a = state[0], b = state[1], c = state[2], d = state[3], e = state[4], f = state[5], g = state[6], h = state[7];
  for (let i = 0; i < 64; i++) {
    const one = (h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & f) ^ (~e & g)) + ROUND[i] + words[i]) | 0;
    const two = ((turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g; g = f; f = e; e = (d + one) | 0;
    d = c; c = b; b = a; a = (one + two) | 0;
  }
  state[0] += a; state[1] += b; state[2] += c; state[3] += d; state[4] += e; state[5] += f; state[6] += g; state[7] += h;
}

function turned(word, by) {
  return (word >>> by) | (word << (32 - by));
}

// The first 32 bits after the point of the n-th roots of the first primes, found in whole numbers: floor((p * 2^(32 n)) ^ (1 / n)).
function constants(count, n) {
  const found = [];
  for (let p = 2; found.length < count; p++) {
    if (Array.from({ length: p - 2 }, (_, i) => i + 2).some((d) => p % d === 0)) continue;
    const wanted = BigInt(p) << BigInt(32 * n);
    let low = 0n, high = 1n << 40n;
    while (high - low > 1n) {
      const middle = (low + high) >> 1n;
      if (middle ** BigInt(n) <= wanted) low = middle;
      else high = middle;
    }
    found.push(Number(BigInt.asIntN(32, low)));
  }
  return found;
}
