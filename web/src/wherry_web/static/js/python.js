// Starts Pyodide in a worker.

// Resolves to {pyodide, times}: Python with the archives unpacked in it.
//
// manifest: of files.py; archives: addresses of zips; step: told what is going on.
export async function startPython(manifest, archives, step) {
  const started = performance.now();
  step("Loading Python");
  const contents = archives.map(fetched);
  const { loadPyodide } = await import(manifest.pyodide.url + "pyodide.mjs");
  const pyodide = await loadPyodide({ indexURL: manifest.pyodide.url });
  const loaded = performance.now();
  step("Loading Wherry");
  for (const content of contents) pyodide.unpackArchive(await content, "zip");
  return { pyodide, times: { python: loaded - started, wherry: () => performance.now() - loaded } };
}

async function fetched(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: the server answered ${response.status}`);
  return response.arrayBuffer();
}
