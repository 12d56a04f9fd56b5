// Starts Pyodide in a worker.

// Resolves to {pyodide, times}: Python with the archives unpacked in it.
//
// manifest: of files.py; archives: addresses of zips; step: told what is going on.
export async function startPython(manifest, archives, step) {
  const started = performance.now();
  step("Loading Python");
  const contents = archives.map(fetched);
  const snapshot = manifest.pyodide.snapshot ? fetched(`${manifest.pyodide.url}snapshot.bin`) : null; // the memory of one that has started
  const { loadPyodide } = await import(manifest.pyodide.url + "pyodide.mjs");
  const pyodide = await loadPyodide({ indexURL: manifest.pyodide.url, ...(snapshot && { _loadSnapshot: new Uint8Array(await snapshot) }) });
  if (snapshot) pyodide.runPython("import random; random.seed()"); // else everybody would have the seed that is in it
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

async function fetched(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: the server answered ${response.status}`);
  return response.arrayBuffer();
}
