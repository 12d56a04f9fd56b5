// The calls of the worker that teach a classifier; training itself goes as on the page Train in the tab (objects.trainer).
import { exporting } from "./worker-exporter.js";

export function classifying(objects, { plain, given, pyodide }) {
  const exporter = exporting(pyodide);

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
      await exporter(address);
      return given(names, (list) => objects.trainer.site(title, list));
    },
  };
}
