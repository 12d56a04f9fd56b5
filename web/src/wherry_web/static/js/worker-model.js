// The calls of the worker that open, draw and run a program that somebody brought. Files are read here: the page keeps no copy.
export function bringing({ plain, pyodide }) {
  let module; // wherry_web.client.model, loaded when it is needed first
  let model = null;

  function python() {
    module ??= pyodide().pyimport("wherry_web.client.model");
    return module;
  }

  return {
    async openModel(described, params) {
      const contents = await Promise.all([described, params].map(async (file) => file && new Uint8Array(await file.arrayBuffer())));
      const fresh = python().Model(contents[0], contents[1] ?? undefined);
      model?.destroy();
      model = fresh;
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
    exampleModel: (architecture, classes, weights) => plain(python().example(architecture, classes, weights)),
  };
}
