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

// Fills what is free with zeros: what was there before would be sent, too (0.7 MB of 4, compressed). All that the allocator has is taken, without
// growing, from the largest blocks to the smallest, and given back.
function cleared(module) {
  module._malloc_set_footprint_limit(module._malloc_footprint());
  const taken = [];
  for (let size = 1 << 24; size >= 16; size >>= 1) {
    for (let block; (block = module._emscripten_builtin_malloc(size)); taken.push(block)) {
      module.HEAPU8.fill(0, block, block + module._malloc_usable_size(block));
    }
  }
  for (const block of taken) module._free(block);
  module._malloc_set_footprint_limit(-1); // none
}

if (process.argv.length !== 3) {
  console.error("usage: node snapshot.mjs PYODIDE_FOLDER");
  process.exit(2);
}
const folder = resolve(process.argv[2]);
const { loadPyodide } = await import(pathToFileURL(`${folder}/pyodide.mjs`));
const pyodide = await loadPyodide({ indexURL: `${folder}/`, _makeSnapshot: true });
pyodide.runPython("import gc; gc.collect()");
cleared(pyodide._module);
const content = pyodide.makeMemorySnapshot();
writeFileSync(`${folder}/snapshot.bin`, content);
console.log(`${folder}/snapshot.bin: ${(content.length / 1e6).toFixed(1)} MB`);
