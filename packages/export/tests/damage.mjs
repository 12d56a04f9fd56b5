// Damaged bundles: node damage.mjs wherry.js count folder... Changes files of the bundles at random, one way for each number, loads them and
// asks them once; prints what became of them as JSON. Half of them come with digests that fit what was changed, as an attacker would
// send them. Cases run in a thread, which is ended where one takes too long.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Worker, isMainThread, parentPort, workerData } from "node:worker_threads";

const LATE = 10_000; // ms
const ADDRESS = "http://site/";
const [script, count, ...folders] = isMainThread ? process.argv.slice(2) : workerData.given;

if (isMainThread) await watch();
else await work();

async function watch() {
  const found = { answered: 0, codes: {}, other: [], late: [], rss: 0 };
  for (let next = 0; next < Number(count); ) {
    const worker = new Worker(new URL(import.meta.url), { workerData: { given: process.argv.slice(2), from: next } });
    next = await new Promise((resolve) => {
      let timer, current = null;
      const wait = () => {
        clearTimeout(timer);
        timer = setTimeout(() => {
          found.late.push(current);
          worker.removeAllListeners("exit");
          worker.terminate().then(() => resolve(current.i + 1));
        }, LATE);
      };
      worker.on("message", (said) => {
        wait();
        if (said.begins) current = said.begins;
        else if (said.answered) found.answered++;
        else if (said.code) found.codes[said.code] = (found.codes[said.code] ?? 0) + 1;
        else found.other.push({ ...current, ...said });
        found.rss = Math.max(found.rss, process.memoryUsage.rss());
      });
      worker.on("error", (error) => {
        clearTimeout(timer);
        found.other.push({ ...current, error: `ended: ${error.message}` });
        resolve(current.i + 1);
      });
      worker.on("exit", () => {
        clearTimeout(timer);
        resolve(Number(count));
      });
    });
  }
  console.log(JSON.stringify(found));
}

async function work() {
  const { load, WherryError } = await import(pathToFileURL(script));
  const sites = folders.map((folder) => new Map(["manifest.json", ...readdirSync(join(folder, "data")).map((name) => `data/${name}`)].map((name) => [name, readFileSync(join(folder, name))])));
  let files;
  globalThis.fetch = async (url) => {
    const bytes = files.get(String(url).slice(ADDRESS.length));
    return bytes ? new Response(bytes, { headers: { "Content-Type": String(url).endsWith(".wasm") ? "application/wasm" : "application/octet-stream" } }) : new Response("", { status: 404 });
  };
  for (let i = workerData.from; i < Number(count); i++) {
    const random = randomOf(i);
    const site = sites[Math.floor(random() * sites.length)];
    const sound = JSON.parse(site.get("manifest.json"));
    const kind = ["manifest", "manifest", "program", "program", "program", "program", "weights", "engine", "engine"][Math.floor(random() * 9)];
    const name = kind === "manifest" ? "manifest.json" : kind === "weights" ? sound.weights[0].url : sound[kind].url;
    const fitting = random() < 0.5;
    files = new Map(site);
    files.set(name, damaged(site.get(name), kind === "manifest" || kind === "program", random));
    if (fitting && kind !== "manifest") {
      const entry = kind === "weights" ? sound.weights[0] : sound[kind];
      entry.bytes = files.get(name).length;
      entry.sha256 = createHash("sha256").update(files.get(name)).digest("hex");
      files.set("manifest.json", Buffer.from(JSON.stringify(sound)));
    }
    parentPort.postMessage({ begins: { i, kind, fitting } });
    try {
      const model = await load(ADDRESS, { worker: false });
      const inputs = Object.fromEntries(sound.inputs.map(({ name: input, shape, dtype }) => {
        const sizes = shape.map((n) => (typeof n === "string" ? 2 : n)), n = sizes.reduce((a, b) => a * b, 1);
        return [input, { data: dtype === "int64" ? new BigInt64Array(n) : new Float32Array(n), shape: sizes }];
      }));
      await model.predict(inputs);
      await model.predict(inputs);
      model.close();
      parentPort.postMessage({ answered: true });
    } catch (error) {
      const known = error instanceof WherryError && ["input", "network", "format", "kernel", "memory", "browser"].includes(error.code) && error.message.length > 10;
      parentPort.postMessage(known ? { code: error.code } : { error: String(error?.stack ?? error).slice(0, 600) });
    }
  }
}

// Numbers from 0 to 1 that follow from one number.
function randomOf(seed) {
  let state = (seed + 1) * 0x9e3779b9;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

function damaged(content, isJson, random) {
  const whole = (n) => Math.floor(random() * n);
  if (isJson && random() < 0.75) {
    const value = JSON.parse(content);
    for (let n = 1 + whole(3); n > 0; n--) changeOne(value, random, whole);
    return Buffer.from(JSON.stringify(value));
  }
  let bytes = Buffer.from(content);
  for (let n = 1 + whole(4); n > 0; n--) {
    const at = whole(bytes.length + 1), kind = whole(4);
    const put = kind === 0 ? Buffer.from([whole(256)]) : kind === 1 ? Buffer.alloc(0) : kind === 2 ? Buffer.from(Array.from({ length: 1 + whole(20) }, () => whole(256))) : bytes.subarray(whole(bytes.length), whole(bytes.length) + whole(50));
    bytes = Buffer.concat([bytes.subarray(0, at), put, bytes.subarray(at + (kind === 0 ? 1 : kind === 1 ? 1 + whole(20) : 0))]);
  }
  return bytes;
}

// Walks down to a value by chance, and puts another in its place.
function changeOne(value, random, whole) {
  let at = value;
  for (;;) {
    const keys = Object.keys(at);
    if (!keys.length) return;
    const key = keys[whole(keys.length)], inner = at[key];
    if (inner !== null && typeof inner === "object" && Object.keys(inner).length && random() < 0.9) {
      at = inner;
      continue;
    }
    const others = [-1, 0, 1, 2, 3, 7, 64, 1e9, 2 ** 31, 2 ** 32, 2 ** 40, 2 ** 53, -(2 ** 31), 0.5, null, "x", "", [], {}, true, [inner], { poly: [[1e9, [9]]] }, "9007199254740993", "999999999999999999999"];
    const kind = whole(6);
    if (kind === 0) Array.isArray(at) ? at.splice(Number(key), 1) : delete at[key];
    else if (kind === 1 && Array.isArray(at)) at.push(inner);
    else if (kind === 2 && typeof inner === "number") at[key] = inner + whole(9) - 4;
    else at[key] = others[whole(others.length)];
    return;
  }
}
