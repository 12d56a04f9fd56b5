// Writes snapshot.bin into a folder of Pyodide: the memory of one that has just started, which pages load in place of starting it.
//
//   node tools/wasm/snapshot.mjs .cache/wasm/pyodide
//
// Our compiled modules cannot be in it: a snapshot is memory alone, and the functions that they add to Pyodide's table would be missing ("table
// index is out of bounds" at their first call). Modules of the standard library in it made nothing faster. Whoever loads it draws a seed for
// `random`, which Pyodide imports when it starts.
import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

if (process.argv.length !== 3) {
  console.error("usage: node snapshot.mjs PYODIDE_FOLDER");
  process.exit(2);
}
const folder = resolve(process.argv[2]);
const { loadPyodide } = await import(pathToFileURL(`${folder}/pyodide.mjs`));
const pyodide = await loadPyodide({ indexURL: `${folder}/`, _makeSnapshot: true });
const content = pyodide.makeMemorySnapshot();
writeFileSync(`${folder}/snapshot.bin`, content);
console.log(`${folder}/snapshot.bin: ${(content.length / 1e6).toFixed(1)} MB`);
