// A bundle in one HTML file: single.html of the bundle, with every file that a prediction needs in an element of its own, as base64.
// wherry_export.web.single writes the same file.
const BLOCK = 24576; // bytes that are encoded at once: a multiple of 3

/** The files of this page by name, where it is such a page; else null. */
export function inlined() {
  const found = document.querySelectorAll("script[data-file]");
  return found.length ? Object.fromEntries(Array.from(found, (one) => [one.dataset.file, decoded(one.textContent)])) : null;
}

/** The worker of such a page: its own script, which answers there in place of showing a page. No module, which files may not start. */
export function workerOfPage() {
  return new Worker(URL.createObjectURL(new Blob([document.getElementById("script").textContent], { type: "text/javascript" })));
}

/** Hands the reader the bundle in one file. bytesOf(name): the content of a file of the bundle. */
export async function saved(manifest, bytesOf) {
  const { engine, relaxed, program, weights, example, single, title } = manifest;
  const names = ["manifest.json", ...[engine, relaxed, program, ...weights, ...(example ?? [])].filter(Boolean).map((file) => file.url)];
  const [page, ...contents] = await Promise.all([single.url, ...names].map(bytesOf));
  const text = new TextDecoder().decode(page);
  const at = text.lastIndexOf("</body>");
  const parts = names.map((name, i) => `<script type="text/plain" data-file="${name}">${encoded(contents[i])}<\/script>\n`); // not what ends the script that this is in
  const url = URL.createObjectURL(new Blob([text.slice(0, at), ...parts, text.slice(at)], { type: "text/html" }));
  Object.assign(document.createElement("a"), { href: url, download: `${title.replace(/[^\p{L}\p{N}]+/gu, "-")}.html` }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000); // the browser has begun to write it
}

function encoded(bytes) {
  const parts = [];
  for (let at = 0; at < bytes.length; at += BLOCK) parts.push(btoa(String.fromCharCode(...bytes.subarray(at, at + BLOCK))));
  return parts.join("");
}

function decoded(text) {
  const characters = atob(text);
  const bytes = new Uint8Array(characters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = characters.charCodeAt(i);
  return bytes;
}
