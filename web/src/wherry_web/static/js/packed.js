// Files whose addresses end in .zst: a copy of the site for servers that compress nothing has them packed by Zstandard.
import { decompress } from "../vendor/fzstd.esm.js";

const SUFFIX = ".zst", MAGIC = 0xfd2fb528;

// The content of an address as it was before it was packed, an ArrayBuffer.
export function unpacked(url, content) {
  if (!url.endsWith(SUFFIX)) return content;
  if (content.byteLength > 4 && new DataView(content).getUint32(0, true) !== MAGIC) return content; // a server that knows .zst has told the browser
  let found;
  try {
    found = decompress(new Uint8Array(content));
  } catch (error) {
    throw new Error(`${url} is damaged: ${error.message}. Load the page again.`);
  }
  return found.byteLength === found.buffer.byteLength ? found.buffer : found.slice().buffer;
}

export async function fetched(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: the server answered ${response.status}`);
  return unpacked(url, await response.arrayBuffer());
}

// The same, waited for: Python imports a module that is there. Request: XMLHttpRequest, of a worker.
export function fetchedNow(url, Request) {
  const request = new Request();
  request.open("GET", url, false);
  request.responseType = "arraybuffer";
  request.send();
  if (request.status !== 200) throw new Error(`${url}: the server answered ${request.status}`);
  return new Uint8Array(unpacked(url, request.response));
}
