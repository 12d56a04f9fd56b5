// wherry.js where things go wrong, and on several threads. The site is a Linear(4, 3) that takes `x` [batch, 4], the other one takes images
// [batch, 3, 32, 32]; without them only what needs none is tested.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { cp, mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

const { load, WherryError } = await import(pathToFileURL(process.env.WHERRY_JS));
const site = process.env.WHERRY_SITE;
const skip = site ? false : "the engine is not built";
const url = pathToFileURL(`${site}/`);
const images = pathToFileURL(`${process.env.WHERRY_IMAGES}/`);
const fails = (code, message) => (error) => error instanceof WherryError && error.code === code && message.test(error.message);

test("a folder that is not there is named", async () => {
  await assert.rejects(load("file:///nowhere/at/all/"), fails("network", /nowhere\/at\/all\/manifest\.json cannot be read/));
});

test("an array, nested numbers and {data, shape} are one input", { skip }, async () => {
  const model = await load(url);
  const flat = await model.predict(Float32Array.of(1, 2, 3, 4, 5, 6, 7, 8));
  const [name] = Object.keys(flat);
  assert.deepEqual(flat[name].shape, [2, 3]);
  for (const same of [[[1, 2, 3, 4], [5, 6, 7, 8]], { x: [1, 2, 3, 4, 5, 6, 7, 8] }, { x: { data: Int32Array.of(1, 2, 3, 4, 5, 6, 7, 8), shape: [2, 4] } }]) {
    assert.deepEqual((await model.predict(same))[name].data, flat[name].data);
  }
});

test("inputs that do not fit are explained, and the model answers afterwards", { skip }, async () => {
  const model = await load(url);
  await assert.rejects(model.predict(new Float32Array(5)), fails("input", /Got 5 numbers, expected float32 of shape \[batch, 4\]/));
  await assert.rejects(model.predict({ y: new Float32Array(4) }), fails("input", /no input 'y'. Expected 'x'/));
  await assert.rejects(model.predict({}), fails("input", /'x' is missing/));
  await assert.rejects(model.predict({ x: { data: new Float32Array(8), shape: [4, 2] } }), fails("input", /Got shape \[4,2\]/));
  await assert.rejects(model.predict({ x: new Float32Array(0) }), fails("input", /empty/));
  await assert.rejects(model.predict(null), fails("input", /by name/));
  await assert.rejects(model.predict({ x: null }), fails("input", /'x' is not an array. Got null/));
  await assert.rejects(model.predict({ x: { data: [1, 2, 3, 4], shape: "4" } }), fails("input", /'x' has no shape/));
  await assert.rejects(model.predict([["z", 1, 2, 3]]), fails("input", /holds other things than numbers. Got 'z' \(string\)/));
  await assert.rejects(model.predict([[1, null, 2, 3]]), fails("input", /Got 'null' \(null\)/));
  assert.equal(Object.values(await model.predict(new Float32Array(4)))[0].data.length, 3);
});

test("many sizes and many predictions take bounded memory", { skip }, async () => {
  const model = await load(url);
  for (let n = 1; n <= 64; n++) await model.predict(new Float32Array(4 * n));
  const before = await model.memory();
  for (let round = 0; round < 20; round++) for (let n = 1; n <= 64; n++) await model.predict(new Float32Array(4 * n));
  assert.equal(await model.memory(), before);
});

test("a damaged bundle is explained", { skip }, async () => {
  const folder = await mkdtemp(join(tmpdir(), "site-"));
  const damaged = pathToFileURL(`${folder}/`);
  const fresh = () => cp(site, folder, { recursive: true, force: true });
  const files = await readdir(join(site, "data"));
  const change = async (pattern, how) => {
    await fresh();
    const path = join(folder, "data", files.find((name) => pattern.test(name)));
    await writeFile(path, how(await readFile(path)));
  };
  await change(/weights/, (bytes) => bytes.subarray(1));
  await assert.rejects(load(damaged), fails("network", /not what the manifest says/));
  await change(/weights/, (bytes) => Buffer.alloc(bytes.length));
  await assert.rejects(load(damaged), fails("network", /Got another content/));
  await change(/engine/, (bytes) => Buffer.alloc(bytes.length));
  await assert.rejects(load(damaged), fails("browser", /cannot be compiled/));
  await fresh();
  const manifest = JSON.parse(await readFile(join(folder, "manifest.json"), "utf8"));
  await writeFile(join(folder, "manifest.json"), JSON.stringify({ ...manifest, format: 99 }));
  await assert.rejects(load(damaged), fails("format", /Got format 99, expected 3/));
  for (const url of ["../../secret", "https://elsewhere.org/engine.wasm", "data:application/wasm,", 3, null]) {
    await writeFile(join(folder, "manifest.json"), JSON.stringify({ ...manifest, engine: { ...manifest.engine, url } }));
    await assert.rejects(load(damaged), fails("format", /manifest\.json is damaged/));
  }
  for (const wrong of [{ inputs: "" }, { outputs: [null] }, { weights: {} }, { title: 3 }, { labels: [1] }, { columns: [{ name: 1, words: null }] }, { columns: [] }, { train: { files: {} } }]) {
    await writeFile(join(folder, "manifest.json"), JSON.stringify({ ...manifest, ...wrong }));
    await assert.rejects(load(damaged), fails("format", /manifest\.json is damaged: /));
  }
  await writeFile(join(folder, "manifest.json"), "<html>");
  await assert.rejects(load(damaged), fails("format", /not a manifest/));
  await rm(folder, { recursive: true });
});

test("a program that another engine belongs to is refused, its digest in the manifest or not", { skip }, async () => {
  const folder = await mkdtemp(join(tmpdir(), "site-"));
  await cp(site, folder, { recursive: true });
  const manifest = JSON.parse(await readFile(join(folder, "manifest.json"), "utf8"));
  const program = JSON.parse(await readFile(join(folder, manifest.program.url), "utf8"));
  program.block[0].slots[0][1] = [5, 4];
  const text = JSON.stringify(program);
  await writeFile(join(folder, manifest.program.url), text);
  manifest.program = { ...manifest.program, bytes: text.length, sha256: createHash("sha256").update(text).digest("hex") };
  await writeFile(join(folder, "manifest.json"), JSON.stringify(manifest));
  await assert.rejects(load(pathToFileURL(`${folder}/`)), fails("format", /its engine belongs to another program/));
  await rm(folder, { recursive: true });
});

test("digests are compared in pages without TLS, too", { skip }, async () => {
  const { computed } = await import(new URL("digest.js", pathToFileURL(process.env.WHERRY_JS)));
  for (const n of [0, 1, 55, 56, 63, 64, 119, 120, 1000]) {
    const bytes = Uint8Array.from({ length: n }, (_, i) => i * 7 + n);
    assert.equal(Buffer.from(computed(bytes)).toString("hex"), createHash("sha256").update(bytes).digest("hex"));
  }
});

test("what a bundle trains with lies in its folder", { skip }, async () => {
  const folder = await mkdtemp(join(tmpdir(), "site-"));
  await cp(site, folder, { recursive: true });
  const manifest = JSON.parse(await readFile(join(folder, "manifest.json"), "utf8"));
  const file = manifest.program;
  const outside = { ...file, url: "https://elsewhere.org/pyodide.mjs" };
  const wrong = [
    { pyodide: { url: "https://elsewhere.org/", files: [] }, files: {} },
    { pyodide: { url: "data/", files: [outside] }, files: {} },
    { pyodide: { url: "data/", files: [{ ...file, url: "wherry.js" }] }, files: {} },
    { pyodide: { url: "data/", files: [file] }, files: { "model.pdmodel": outside } },
    { pyodide: { url: "data/", files: [file] }, files: { "model.pdmodel": { url: file.url, bytes: file.bytes } } },
  ];
  for (const train of wrong) {
    await writeFile(join(folder, "manifest.json"), JSON.stringify({ ...manifest, train }));
    await assert.rejects(load(pathToFileURL(`${folder}/`)), fails("format", /manifest\.json is damaged: train\./));
  }
  await rm(folder, { recursive: true });
});

test("a prediction ends when its signal is aborted, and the next one answers", { skip }, async () => {
  const model = await load(images);
  const image = (n) => ({ data: new Float32Array(n * 3 * 32 * 32).fill(1), shape: [n, 3, 32, 32] });
  const before = await model.predict(image(2));
  const stop = new AbortController();
  const long = model.predict(image(3000), { signal: stop.signal });
  setTimeout(() => stop.abort(new Error("enough")), 1);
  await assert.rejects(long, /enough/);
  assert.deepEqual(await model.predict(image(2)), before);
});

test("the shape follows what is typed where sizes are open", async () => {
  const { fitted } = await import("../src/wherry_export/web/page/shapes.js");
  const ids = ["batch", "size1"];
  assert.deepEqual(fitted(ids, [1, 1], 4), [1, 4]);
  assert.deepEqual(fitted(ids, [2, 1], 4), [2, 2], "a batch that was typed stays");
  assert.deepEqual(fitted(ids, [2, 1], 5), [1, 5], "unless it does not divide");
  assert.deepEqual(fitted(ids, [3, 2], 6), [3, 2]);
  assert.deepEqual(fitted(["batch", 4], [1, 4], 8), [2, 4]);
  assert.deepEqual(fitted(["batch", 4], [1, 4], 7), [1, 4], "no size fits, and the model says so");
  assert.deepEqual(fitted([3], [3], 2), [3]);
  assert.deepEqual(fitted(ids, [], 0), []);
});

test("loading says how far it is and can be aborted", { skip }, async () => {
  const kinds = { js: "text/javascript", json: "application/json", wasm: "application/wasm" };
  const open = new Set();
  let slow = false;
  const server = createServer(async (request, response) => {
    open.add(response);
    const bytes = await readFile(join(site, request.url));
    response.setHeader("Content-Type", kinds[request.url.split(".").at(-1)] ?? "application/octet-stream");
    if (!slow || !request.url.includes("weights")) response.end(bytes);
    else response.write(bytes.subarray(0, 1)); // and no more
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = `http://127.0.0.1:${server.address().port}/`;
  const seen = [];
  const model = await load(address, { onprogress: (progress) => seen.push(progress) });
  assert.equal(seen.at(-1).loaded, seen.at(-1).total);
  assert.equal(seen.at(-1).total, model.bytes);
  slow = true;
  const stop = new AbortController();
  const loading = load(address, { signal: stop.signal });
  setTimeout(() => stop.abort(new Error("enough")), 50);
  await assert.rejects(loading, /enough/);
  await assert.rejects(load(address, { signal: AbortSignal.abort(new Error("before")) }), /before/);
  server.closeAllConnections();
  server.close();
});

test("a bundle that the caller holds is not fetched, and has to be whole", { skip }, async () => {
  const names = ["manifest.json", ...(await readdir(join(site, "data"))).map((name) => `data/${name}`)];
  const files = Object.fromEntries(await Promise.all(names.map(async (name) => [name, new Uint8Array(await readFile(join(site, name)))])));
  const x = Float32Array.of(1, -2, 3, -4);
  const asked = globalThis.fetch;
  globalThis.fetch = () => assert.fail("it was fetched");
  try {
    const model = await load("bundle:/", { files });
    assert.deepEqual(await model.predict(x), await (await load(url)).predict(x));
    const weights = names.find((name) => name.includes("weights"));
    const { [weights]: kept, ...rest } = files;
    await assert.rejects(load("bundle:/", { files: rest }), fails("format", /bundle:\/data\/weights-0.* is not among the files\. Got .*manifest\.json/));
    const other = kept.slice();
    other[0] ^= 1;
    await assert.rejects(load("bundle:/", { files: { ...files, [weights]: other } }), fails("network", /is not what the manifest says\. Got another content/));
    const told = JSON.parse(new TextDecoder().decode(files["manifest.json"]));
    const trains = new TextEncoder().encode(JSON.stringify({ ...told, train: { pyodide: { url: "data/", files: [] }, files: {} } }));
    await assert.rejects(load("bundle:/", { files: { ...files, "manifest.json": trains } }), fails("input", /trains loads Pyodide from its folder/));
  } finally {
    globalThis.fetch = asked;
  }
});

test("several threads answer with the same bits as one", { skip }, async () => {
  const image = (n) => ({ data: Float32Array.from({ length: n * 3 * 32 * 32 }, (_, i) => Math.sin(i)), shape: [n, 3, 32, 32] });
  const alone = await load(images);
  assert.equal(alone.threads, 1);
  for (const threads of [2, 3, 4]) {
    const model = await load(images, { threads });
    assert.equal(model.threads, threads);
    for (let round = 0; round < 20; round++) {
      for (const n of [1, 2, 7]) assert.deepEqual(await model.predict(image(n)), await alone.predict(image(n)));
      if (round % 8 === 0) await new Promise((resolve) => setTimeout(resolve, 20)); // the threads fall asleep
    }
    model.close();
    await assert.rejects(model.predict(image(1)), fails("browser", /was closed/));
  }
});

test("a wrong number of threads is explained, and a large one bounded", { skip }, async () => {
  for (const threads of [0, -1, 1.5, "two", null]) await assert.rejects(load(url, { threads }), fails("input", /threads is a number of threads/));
  const model = await load(url, { threads: 1000 });
  assert.equal(model.threads, 16);
  model.close();
});

test("an aborted load leaves no thread behind", { skip }, async () => {
  const stop = new AbortController();
  const loading = load(url, { threads: 3, signal: stop.signal });
  stop.abort(new Error("enough"));
  await assert.rejects(loading, /enough/);
  // A thread that is left would keep this process from ending.
});
