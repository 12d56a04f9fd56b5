// Wherry in Pyodide, as a page has it.
export async function start({ weights, images, labels, wheels }) {
  const { loadPyodide } = await import("/pyodide/pyodide.mjs");
  const pyodide = await loadPyodide({ indexURL: "/pyodide/" });
  const extractDir = pyodide.runPython("import sysconfig; sysconfig.get_path('purelib')");
  for (const wheel of wheels) {
    pyodide.unpackArchive(await (await fetch(`/wheels/${wheel}`)).arrayBuffer(), "wheel", { extractDir });
  }
  pyodide.FS.writeFile("/home/pyodide/wherry_cases.py", await (await fetch("wherry_cases.py")).text());
  const cases = pyodide.pyimport("wherry_cases");
  cases.prepare(weights, images, labels);
  return {
    name: "Wherry",
    version: `Wherry ${cases.version()}`,
    notes: [`Wherry runs in Pyodide ${pyodide.version}; its kernels are those for ${cases.isa()}.`],
    run: async (name, count) => cases.run(name, count),
    predict: async (count) => cases.predict(count).toJs(),
  };
}
