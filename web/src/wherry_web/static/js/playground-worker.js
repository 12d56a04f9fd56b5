// Runs the programs of the page Playground, away from the page.
//
// In: {id, call, args}. Out: {id, result} or {id, error}, and {event, ...} in between: what a program says, see
// wherry_web/playground/cells.py.
import { fetchedNow } from "./packed.js";
import { startPython } from "./python.js";

// What a program could reach the site with, or leave something behind in it. A link may bring a program that somebody runs
// without reading it; computing is all that it can do then.
const CLOSED = [
  "fetch", "XMLHttpRequest", "WebSocket", "WebSocketStream", "WebTransport", "EventSource", "caches", "indexedDB", "importScripts", "Worker",
  "SharedWorker", "BroadcastChannel", "navigator", "cookieStore", "webkitRequestFileSystem", "webkitRequestFileSystemSync",
  "webkitResolveLocalFileSystemURL", "webkitResolveLocalFileSystemSyncURL",
];
const Request = XMLHttpRequest; // for the packages of the server

let session;
let interrupt = null; // one byte that the page writes to, where pages may share memory

const calls = { boot, run };

addEventListener("message", async ({ data: { id, call, args } }) => {
  try {
    postMessage({ id, result: await calls[call](...args) });
  } catch (error) {
    postMessage({ id, error: String(error?.message ?? error).trim().split("\n").at(-1) });
  }
});

async function boot(manifest, shared, files) {
  const { pyodide, times, imported } = await startPython(manifest, manifest.playground.url, (text) => postMessage({ event: "step", text }));
  const cells = await imported("wherry_web.playground.cells");
  session = cells.Session(post);
  session.beside(JSON.stringify(files));
  const { packages, sources } = manifest.playground;
  const known = new Set([sources, ...Object.values(packages)]);
  session.offer(JSON.stringify(packages), (url) => packageNow(url, known), "", sources);
  // What does not go through Python's streams: it belongs to no run.
  for (const stream of ["setStdout", "setStderr"]) pyodide[stream]({ batched: (text) => console.info(text) });
  if (shared) {
    interrupt = new Uint8Array(shared);
    pyodide.setInterruptBuffer(interrupt);
  }
  shut();
  return { python: times.python, wherry: times.wherry() };
}

function shut() {
  for (const name of CLOSED) {
    for (let scope = self; scope; scope = Object.getPrototypeOf(scope)) delete scope[name];
    if (name in self) throw new Error(`This browser does not let go of ${name}; programs do not run here.`);
  }
}

function run(source, ...options) {
  if (interrupt) interrupt[0] = 0;
  return JSON.parse(session.run(source, ...options));
}

function post(message, content) {
  const bytes = content?.toJs();
  content?.destroy();
  postMessage({ event: "said", message: JSON.parse(message), bytes }, bytes ? [bytes.buffer] : []);
}

// A program that imports a package waits for it.
function packageNow(url, known) {
  if (!known.has(url)) throw new Error(`${url} is not a package of this server.`);
  return fetchedNow(url, Request);
}
