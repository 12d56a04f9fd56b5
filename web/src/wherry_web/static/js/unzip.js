// Zips, unpacked into Python's files without Python: its own zipfile takes a quarter of a second when it has just started.
//
// What is read is what our server and Python's zipfile write: stored or deflated files, no zip64, no secrets.
const END = 0x06054b50, ENTRY = 0x02014b50, LOCAL = 0x04034b50; // signatures
const STORED = 0, DEFLATED = 8;

// [[name, content or a promise of it]] of the files of a zip; stored ones are views of it. content: an ArrayBuffer.
export function entriesOf(content) {
  const view = new DataView(content);
  let at = content.byteLength - 22;
  while (at >= 0 && view.getUint32(at, true) !== END) at -= 1; // a comment may follow
  if (at < 0) throw new Error("This is not a zip, or its end is missing. Load the page again.");
  const count = view.getUint16(at + 10, true);
  at = view.getUint32(at + 16, true);
  const entries = [];
  for (let i = 0; i < count; i++) {
    if (view.getUint32(at, true) !== ENTRY) throw new Error("This zip is damaged: its directory ends too early. Load the page again.");
    const method = view.getUint16(at + 10, true), size = view.getUint32(at + 20, true), length = view.getUint16(at + 28, true);
    const local = view.getUint32(at + 42, true);
    const name = new TextDecoder().decode(new Uint8Array(content, at + 46, length));
    if (view.getUint32(local, true) !== LOCAL) throw new Error(`This zip is damaged: ${name} is not where it should be. Load the page again.`);
    const packed = new Uint8Array(content, local + 30 + view.getUint16(local + 26, true) + view.getUint16(local + 28, true), size);
    at += 46 + length + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
    if (name.endsWith("/")) continue;
    if (method !== STORED && method !== DEFLATED) throw new Error(`This zip is packed in a way that pages do not read: ${name} by method ${method}.`);
    entries.push([name, method === STORED ? packed : inflated(packed)]);
  }
  return entries;
}

async function inflated(packed) {
  return new Uint8Array(await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"))).arrayBuffer());
}

// Writes files into Python's current folder, which imports look into. entries: of `entriesOf`.
export async function unpack({ FS }, entries) {
  const folder = FS.cwd(), known = new Set();
  for (const [name, content] of entries) {
    const place = `${folder}/${name}`, parent = place.slice(0, place.lastIndexOf("/"));
    if (!known.has(parent)) FS.mkdirTree(parent);
    known.add(parent);
    FS.writeFile(place, await content, { canOwn: true });
  }
}
