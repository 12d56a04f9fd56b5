// The calls of the worker that open, draw and run a program that somebody brought. Files are read here: the page keeps no copy.
//
// more: brings what formats of others take, which pages do not load.
export function bringing({ plain, pyodide, more }) {
  const modules = {}; // of wherry_web.client, loaded when they are needed first
  let model = null;

  function python(name) {
    modules[name] ??= pyodide().pyimport(`wherry_web.client.${name}`);
    return modules[name];
  }

  return {
    // files: the one to open, then those beside it.
    async openModel(...files) {
      const [{ name }] = files;
      if (python("formats").needs_more(name)) await more();
      const contents = await Promise.all(files.map(async (file) => [file.name, new Uint8Array(await file.arrayBuffer())]));
      const proxy = pyodide().toPy(Object.fromEntries(contents));
      try {
        const fresh = python("formats").opened(name, proxy);
        model?.destroy();
        model = fresh;
      } finally {
        proxy.destroy();
      }
      return plain(model.about());
    },
    drawModel: (title) => model.picture(title),
    runModel(values, fused) {
      const given = pyodide().toPy(values);
      try {
        return { ...plain(model.run(given, fused)), heap: pyodide()._module.HEAPU8.length };
      } finally {
        given.destroy();
      }
    },
    exampleModel: (architecture, classes, weights) => plain(python("model").example(architecture, classes, weights)),
  };
}
