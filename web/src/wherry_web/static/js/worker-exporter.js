import { fetched } from "./packed.js";

// The part of Wherry that exports, which pages go without until it is needed: returns what loads it, once.
export function exporting(pyodide) {
  let loading;

  return async (address) => {
    loading ??= loaded(address, pyodide());
    await loading.catch((error) => {
      loading = undefined;
      throw error;
    });
  };
}

async function loaded(address, pyodide) {
  const content = await fetched(address);
  pyodide.pyimport("wherry_export.web").destroy(); // comes now: a folder with nothing but the engine would be imported in its place
  pyodide.unpackArchive(content, "zip");
}
