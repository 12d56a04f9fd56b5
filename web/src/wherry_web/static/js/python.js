// Starts Pyodide in a worker.
import { compiledOf } from "./compiled.js";

// Resolves to {pyodide, times, imported}: Python with an archive unpacked in it. `imported` takes the name of the module to begin with.
//
// manifest: of files.py; archive: address of a zip; step: told what is going on.
export async function startPython(manifest, archive, step) {
  const started = performance.now();
  const amount = counted(step);
  amount.of("Loading Python");
  const content = fetched(archive);
  const { url, snapshot } = manifest.pyodide;
  const compiled = compiledOf(archive, url);
  const memory = snapshot && remembered(url, snapshot); // of one that has started
  const { loadPyodide } = await import(url + "pyodide.mjs");
  const pyodide = await loadPyodide({ indexURL: url, ...(memory && { _loadSnapshot: await memory }) });
  if (memory) pyodide.runPython(WAKE);
  const loaded = performance.now();
  amount.of("Loading Wherry");
  pyodide.unpackArchive(await content, "zip");
  await compiled.unpack(pyodide);
  amount.end();
  const imported = async (name) => {
    const module = pyodide.pyimport(name);
    await compiled.keep(pyodide);
    return module;
  };
  return { pyodide, times: { python: loaded - started, wherry: () => performance.now() - loaded }, imported };
}

// Says what is loaded and how much has come: of everything that this worker fetches, as it was sent.
function counted(step) {
  let what = "", bytes = 0;
  const say = () => step(bytes > 5e4 ? `${what}, ${(bytes / 1e6).toFixed(1)} MB so far` : what);
  const observer = new PerformanceObserver((list) => {
    for (const { encodedBodySize } of list.getEntries()) bytes += encodedBodySize;
    say();
  });
  observer.observe({ type: "resource" });
  return { of: (text) => { what = text; say(); }, end: () => observer.disconnect() };
}

// Unpacks more archives into a Python that runs.
export async function added(pyodide, archives) {
  for (const content of archives.map(fetched)) pyodide.unpackArchive(await content, "zip");
  pyodide.pyimport("importlib").invalidate_caches();
}

// The content of an address, waited for: Python imports a module that is there. Request: XMLHttpRequest, of a worker.
export function contentNow(url, Request) {
  const request = new Request();
  request.open("GET", url, false);
  request.responseType = "arraybuffer";
  request.send();
  if (request.status !== 200) throw new Error(`${url}: the server answered ${request.status}`);
  return new Uint8Array(request.response);
}

// In the memory are the seed of `random`, which everybody would have, and the places in the zip that the library lay in when it was written.
const WAKE = "import importlib, random; random.seed(); importlib.invalidate_caches()";

// The memory of a started Pyodide. Bytes that the module has too were taken out of it (memory.py): shares says where they are in both.
async function remembered(url, shares) {
  const [memory, module] = (await Promise.all(["snapshot.bin", "pyodide.asm.wasm"].map((name) => fetched(url + name)))).map((content) => new Uint8Array(content));
  for (const [at, begin, length] of shares) for (let i = 0; i < length; i++) memory[at + i] ^= module[begin + i];
  return memory;
}

async function fetched(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: the server answered ${response.status}`);
  return response.arrayBuffer();
}
