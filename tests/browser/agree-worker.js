// Makes the calls of tests/wasm/agree.py in the Python of a page: what test_agreement.py starts as a worker.
addEventListener("message", async ({ data: { pyodide, bundle } }) => {
  try {
    const { loadPyodide } = await import(`${pyodide}pyodide.mjs`);
    const python = await loadPyodide({ indexURL: pyodide });
    python.unpackArchive(await (await fetch(bundle)).arrayBuffer(), "zip");
    python.FS.writeFile("agree.py", await (await fetch("/beside/agree.py")).text());
    python.FS.writeFile("expected.bin", new Uint8Array(await (await fetch("/beside/expected.bin")).arrayBuffer()));
    postMessage({ result: JSON.parse(python.runPython(PROGRAM)) });
  } catch (error) {
    postMessage({ error: String(error) });
  }
});

const PROGRAM = `
import json, sys, warnings
import agree, wherry, wherry_ops_cpu
warnings.simplefilter("ignore", UserWarning)  # some samples warn, and the test takes what stands in the console for errors
made, wrong = agree.disagreements(open("expected.bin", "rb").read())
assert "numpy" not in sys.modules
json.dumps({"made": made, "wrong": wrong, "kernels": wherry_ops_cpu.chosen_isa()})
`;
