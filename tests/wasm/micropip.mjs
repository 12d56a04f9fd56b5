// Installs Wherry from an index by micropip in Node, as a stranger would, and trains a step:
//
//   node tests/wasm/micropip.mjs PYODIDE_FOLDER INDEX_ADDRESS WHEEL...
//
// The wheels (micropip and packaging) are unpacked first: a page has them from Pyodide's own server. Nothing else is there, NumPy neither.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const PROGRAM = `
import json, sys, micropip
await micropip.install("wherry", index_urls=[index])
import wherry
x = wherry.to_tensor([[1.0, 2.0], [3.0, 4.0]], stop_gradient=False)
(x @ x).sum().backward()
net = wherry.nn.Linear(2, 1)
optimizer = wherry.optimizer.SGD(0.01, parameters=net.parameters())  # 0.1 diverges on numbers of this size
losses = []
for _ in range(3):
    loss = (net(x.detach()) ** 2).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    losses.append(loss.item())
json.dumps({"gradient": x.grad.tolist(), "learns": losses[-1] < losses[0], "python": sys.version.split()[0], "installed": sorted(name for name in micropip.list() if name.startswith("wherry"))})
`;

const [folder, index, ...wheels] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(`${resolve(folder)}/pyodide.mjs`));
const pyodide = await loadPyodide({ indexURL: `${resolve(folder)}/` });
const extractDir = pyodide.runPython("import sysconfig; sysconfig.get_path('purelib')");
for (const wheel of wheels) pyodide.unpackArchive(new Uint8Array(readFileSync(wheel)), "wheel", { extractDir });
pyodide.globals.set("index", index);
console.log(await pyodide.runPythonAsync(PROGRAM));
