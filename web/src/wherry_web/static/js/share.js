// A program in the fragment of an address, which browsers do not send to servers: compressed, bounded, checked.
const PROGRAM = 100_000; // characters
const FRAGMENT = 32_000; // characters
const KEY = "code=";

// Resolves to the fragment of a program.
export async function fragmentOf(text) {
  if (text.length > PROGRAM) throw new Error(`The program is too long for a link. Got ${text.length} characters, expected at most ${PROGRAM}.`);
  const packed = await read(new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw")), Infinity);
  const fragment = KEY + btoa(Array.from(packed, (byte) => String.fromCharCode(byte)).join("")).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
  if (fragment.length > FRAGMENT) throw new Error(`The program is too long for a link. Got ${fragment.length} characters when compressed, expected at most ${FRAGMENT}.`);
  return fragment;
}

// Resolves to the program of a fragment; to null where there is none.
export async function programOf(fragment) {
  if (!fragment.startsWith(KEY)) return null;
  const data = fragment.slice(KEY.length);
  const damaged = (why) => new Error(`The link holds no program: ${why}. It may have been cut off; ask for it again.`);
  if (fragment.length > FRAGMENT) throw damaged(`got ${fragment.length} characters, expected at most ${FRAGMENT}`);
  if (!/^[\w-]+$/.test(data)) throw damaged("it has characters that do not belong there");
  let bytes;
  try {
    const packed = Uint8Array.from(atob(data.replace(/-/g, "+").replace(/_/g, "/")), (letter) => letter.charCodeAt(0));
    bytes = await read(new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw")), 4 * PROGRAM);
  } catch (error) {
    throw damaged(error instanceof RangeError ? error.message : "it is not compressed as it should be");
  }
  let text;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw damaged("it is not text");
  }
  if (text.length > PROGRAM) throw damaged(`it has ${text.length} characters, expected at most ${PROGRAM}`);
  return text;
}

// What a stream holds, as long as that is at most `limit` bytes.
async function read(stream, limit) {
  const parts = [];
  let length = 0;
  const reader = stream.getReader();
  for (let step = await reader.read(); !step.done; step = await reader.read()) {
    length += step.value.length;
    if (length > limit) {
      await reader.cancel();
      throw new RangeError(`it has more than ${limit} bytes`);
    }
    parts.push(step.value);
  }
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
