// Installs Wherry from an index by micropip, as a page of somebody else's would: what test_micropip.py starts.
addEventListener("message", async ({ data: { pyodide, wheels, index } }) => {
  try {
    const { loadPyodide } = await import(`${pyodide}pyodide.mjs`);
    const python = await loadPyodide({ indexURL: pyodide });
    const extractDir = python.runPython("import sysconfig; sysconfig.get_path('purelib')");
    for (const wheel of wheels) python.unpackArchive(await (await fetch(wheel)).arrayBuffer(), "wheel", { extractDir });
    postMessage({ result: await python.runPythonAsync(PROGRAM.replace("INDEX", JSON.stringify(index))) });
  } catch (error) {
    postMessage({ error: String(error) });
  }
});

const PROGRAM = `
import json, micropip
await micropip.install("wherry", index_urls=[INDEX])
import wherry
x = wherry.to_tensor([[1.0, 2.0], [3.0, 4.0]], stop_gradient=False)
(x @ x).sum().backward()
json.dumps({"gradient": x.grad.tolist(), "installed": sorted(name for name in micropip.list() if name.startswith("wherry"))})
`;
