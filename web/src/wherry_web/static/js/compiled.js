// Modules as Python compiled them, kept by the browser for the next visit: most of the time that imports take is compiling.
import { entriesOf, unpack } from "./unzip.js";

const Storage = self.caches; // not there where pages may keep nothing
const NAME = "compiled";

// archive: address of the zip that they are in; python: of Pyodide. Both name their content.
export function compiledOf(archive, python) {
  const address = `${archive}?compiled-by=${encodeURIComponent(new URL(python).pathname)}`;
  const found = search(address);
  return {
    // Takes what an earlier visit has kept; without, modules are compiled so that `keep` finds them.
    async unpack(pyodide) {
      const content = await found;
      if (content) await unpack(pyodide, entriesOf(content));
      else pyodide.runPython("import sys; sys.dont_write_bytecode = False");
    },
    // Before anything runs that is not ours: what is kept is trusted at the next visit.
    async keep(pyodide) {
      if (!Storage || (await found)) return;
      const packed = pyodide.pyimport("wherry_web.client.compiled").packed();
      const content = packed.toJs();
      packed.destroy();
      pyodide.runPython("import sys; sys.dont_write_bytecode = True");
      await store(address, content).catch((error) => console.info(`Compiled modules are not kept: ${error.message}`));
    },
  };
}

async function search(address) {
  try {
    return await (await Storage?.match(address))?.arrayBuffer();
  } catch (error) {
    console.info(`No compiled modules: ${error.message}`); // some browsers keep the storage closed
    return undefined;
  }
}

async function store(address, content) {
  const name = (url) => new URL(url).pathname.split("/").pop();
  const cache = await Storage.open(NAME);
  for (const { url } of await cache.keys()) if (name(url) === name(address)) await cache.delete(url); // of an earlier version
  await cache.put(address, new Response(content, { headers: { "Content-Type": "application/zip" } }));
}
