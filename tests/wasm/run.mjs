// Runs pytest inside Pyodide, in Node:
//
//   node [--experimental-wasm-relaxed-simd] tests/wasm/run.mjs PYODIDE_FOLDER WHEEL... -- PYTEST_ARGUMENT...
//
// The wheels are unpacked as a page does it; pytest and all that it needs have to be among them. The repository is
// mounted as the current folder. Variables WHERRY_* of the environment are passed on. The exit status is pytest's.
import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const PROGRAM = `
import os, sys
os.chdir("/repository")
sys.path.insert(0, "/repository/tests/wasm")
import pytest
sys.dont_write_bytecode = True
# Output goes out line by line, so that a crash of the interpreter leaves the name of its test.
status = int(pytest.main(["-p", "no:cacheprovider", "-p", "in_pyodide", "--color=no", *arguments.to_py()]))
sys.stdout.flush()
status
`;

const parts = process.argv.slice(2);
const dashes = parts.indexOf("--");
if (dashes < 1) {
  console.error("usage: node run.mjs PYODIDE_FOLDER WHEEL... -- PYTEST_ARGUMENT...");
  process.exit(2);
}
const [folder, ...wheels] = parts.slice(0, dashes).map((path) => resolve(path));
const root = resolve(dirname(fileURLToPath(import.meta.url)), "..", "..");

const { loadPyodide } = await import(pathToFileURL(`${folder}/pyodide.mjs`));
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith("WHERRY_")));
const pyodide = await loadPyodide({ indexURL: `${folder}/`, env: { HOME: "/home/pyodide", ...env } });
const extractDir = pyodide.runPython("import sysconfig; sysconfig.get_path('purelib')");
for (const wheel of wheels) pyodide.unpackArchive(new Uint8Array(readFileSync(wheel)), "wheel", { extractDir });
pyodide.mountNodeFS("/repository", root);
pyodide.globals.set("arguments", parts.slice(dashes + 1));
try {
  process.exitCode = pyodide.runPython(PROGRAM);
} catch (error) {
  // Not the error itself: Node would print the line it came from, which is the whole of Pyodide's script.
  console.error(String(error.stack ?? error).slice(0, 4000));
  process.exitCode = 1;
}
