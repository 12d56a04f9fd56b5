// Starts Pyodide in a worker.
import { compiledOf } from "./compiled.js";
import { fetched } from "./packed.js";
import { entriesOf, unpack } from "./unzip.js";

// Resolves to {pyodide, times, imported}: Python with an archive unpacked in it. `imported` takes the name of the module to begin with.
//
// manifest: of files.py; archive: address of a zip; step: told what is going on.
export async function startPython(manifest, archive, step) {
  const started = performance.now();
  const amount = counted(step);
  amount.of("Loading Python");
  const content = fetched(archive).then(entriesOf);
  const compiled = compiledOf(archive, manifest.pyodide.url);
  const pyodide = await loadedPyodide(manifest.pyodide);
  const loaded = performance.now();
  amount.of("Loading Wherry");
  await unpack(pyodide, await content);
  await compiled.unpack(pyodide);
  pyodide.runPython(WAKE);
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

// In the memory are the seed of `random`, which everybody would have, what folders held, and the places in the zip that the library lay in when it was
// written. Not importlib.invalidate_caches, which imports importlib.metadata and so half of the library (0.15 s); this is the rest of it.
const WAKE = `import random, sys
random.seed()
for finder in sys.path_importer_cache.values():
    if finder is not None:
        finder.invalidate_caches()`;

const MODULE = "pyodide.asm.wasm", LIBRARY = "python_stdlib.zip", MEMORY = "snapshot.bin"; // the large files of Pyodide
const SCRIPT = "pyodide.asm.js", LOCK = "pyodide-lock.json";

// Resolves to Pyodide, started. snapshot: see `remembered`; packed: what is large is packed (packed.js).
async function loadedPyodide({ url, snapshot, packed }) {
  const large = (name) => fetched(packed ? `${url}${name}.zst` : url + name);
  const answers = new Map(); // address -> what fetch is to answer with
  const module = (packed || snapshot) && large(MODULE); // loaded once, for both of its uses
  if (module) answers.set(url + MODULE, module.then((content) => new Response(content, { headers: { "Content-Type": "application/wasm" } })));
  if (packed) for (const name of [LIBRARY, LOCK]) answers.set(url + name, large(name).then((content) => new Response(content)));
  const memory = snapshot && remembered(large(MEMORY), module, snapshot);
  const [{ loadPyodide }] = await Promise.all([import(url + "pyodide.mjs"), packed && large(SCRIPT).then(run)]);
  return answering(answers, () => loadPyodide({ indexURL: url, ...(memory && { _loadSnapshot: memory }) }));
}

// Runs a script that defines what Pyodide would load otherwise. Where the server's policy forbids that, Pyodide loads the file itself.
async function run(content) {
  const url = URL.createObjectURL(new Blob([content], { type: "text/javascript" }));
  await import(url).catch((error) => console.info(`Pyodide's script is loaded unpacked: ${error.message}`));
  URL.revokeObjectURL(url);
}

// Runs what asks with `fetch` for files that are there already, or on their way.
async function answering(answers, use) {
  const { fetch } = self;
  self.fetch = (request, ...more) => answers.get(String(request)) ?? fetch(request, ...more);
  try {
    return await use();
  } finally {
    self.fetch = fetch;
  }
}

// The memory of a Pyodide that has started. Bytes that the module has too were taken out of it (memory.py): shares says where they are in both.
async function remembered(content, module, shares) {
  const [memory, constants] = (await Promise.all([content, module])).map((one) => new Uint8Array(one));
  for (const [at, begin, length] of shares) for (let i = 0; i < length; i++) memory[at + i] ^= constants[begin + i];
  return memory;
}
