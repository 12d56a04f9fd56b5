// Starts Pyodide in a worker.

// Resolves to {pyodide, times}: Python with the archives unpacked in it.
//
// manifest: of files.py; archives: addresses of zips; step: told what is going on.
export async function startPython(manifest, archives, step) {
  const started = performance.now();
  step("Loading Python");
  const contents = archives.map(fetched);
  const { url, snapshot } = manifest.pyodide;
  const memory = snapshot && remembered(url, snapshot); // of one that has started
  const { loadPyodide } = await import(url + "pyodide.mjs");
  const pyodide = await loadPyodide({ indexURL: url, ...(memory && { _loadSnapshot: await memory }) });
  if (memory) pyodide.runPython(WAKE);
  const loaded = performance.now();
  step("Loading Wherry");
  for (const content of contents) pyodide.unpackArchive(await content, "zip");
  return { pyodide, times: { python: loaded - started, wherry: () => performance.now() - loaded } };
}

// Unpacks more archives into a Python that runs.
export async function added(pyodide, archives) {
  for (const content of archives.map(fetched)) pyodide.unpackArchive(await content, "zip");
  pyodide.pyimport("importlib").invalidate_caches();
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
