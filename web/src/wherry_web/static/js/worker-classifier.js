// The calls of the worker that teach a classifier; training itself goes as on the page Train in the tab (objects.trainer).
export function classifying(objects, { plain, given, pyodide }) {
  let exporter; // the part of Wherry that exports, loaded when it is needed first

  return {
    openClassifier(weights) {
      objects.trainer = pyodide().pyimport("wherry_web.client.classifier").Classifier(weights);
    },
    addPictures: (key, pixels, together) => plain(objects.trainer.add(key, pixels, together)),
    removePictures: (ids) => given(ids, (list) => objects.trainer.remove(list)),
    teach: (keys, settings) => given(keys, (list) => given(settings, (options) => objects.trainer.begin(list, options))),
    look: (pixels) => plain(objects.trainer.look(pixels)),
    saveProgram: (names) => given(names, (list) => objects.trainer.program(list)),
    async saveSite(address, title, names) {
      exporter ??= loaded(address, pyodide());
      await exporter.catch((error) => {
        exporter = undefined;
        throw error;
      });
      return given(names, (list) => objects.trainer.site(title, list));
    },
  };
}

async function loaded(address, pyodide) {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`${address}: the server answered ${response.status}`);
  pyodide.unpackArchive(await response.arrayBuffer(), "zip");
}
