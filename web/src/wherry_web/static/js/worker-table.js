// The calls of the worker that teach a network a table; training itself goes as on the page Train in the tab (objects.trainer).
import { exporting } from "./worker-exporter.js";

export function tabular(objects, { plain, given, pyodide }) {
  const exporter = exporting(pyodide);

  return {
    openTable(text) {
      const fresh = pyodide().pyimport("wherry_web.client.table").Table(text);
      objects.trainer?.destroy();
      objects.trainer = fresh;
      return plain(fresh.facts());
    },
    teachTable: (target, used, settings) => given(used, (list) => given(settings, (options) => objects.trainer.begin(target, list, options))),
    tell: (cells) => given(cells, (row) => objects.trainer.tell(row)),
    async saveTable(address, title) {
      await exporter(address);
      return plain(objects.trainer.page(title));
    },
  };
}
