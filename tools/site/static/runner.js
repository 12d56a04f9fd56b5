// Runs the code blocks of a page in the reader's tab, with the worker of the page Playground: one Python for all of them.
//
// A block that runs carries `data-program` (as JSON; empty: the text as it stands) and `data-runs`; tools/site/programs.py puts them there.
// Nothing is loaded before the first press of Run.
const TRY = new URL("../try/", import.meta.url);
let base = null; // a promise of the address of the Playground's files
let python = null; // a promise of the engine
let listening = null; // the block whose program runs
let queue = Promise.resolve();
const blocks = [...document.querySelectorAll("[data-program]")].map(block);

async function found() {
  const response = await fetch(new URL("assets.json", TRY));
  if (!response.ok) throw new Error("This copy of the site has no Python for the browser. `make wasm`, then `make docs`, build one that has it.");
  const address = new URL((await response.json()).static, TRY);
  for (const sheet of ["vendor/uPlot.min.css", "css/playground.css"]) {
    document.head.append(Object.assign(document.createElement("link"), { rel: "stylesheet", href: new URL(sheet, address).href }));
  }
  return address;
}

// A module of the Playground, by its name. One at a time: Python starts while the others load.
async function part(name) {
  base ??= found().catch((error) => {
    base = null;
    throw error;
  });
  return import(new URL(`js/${name}.js`, await base).href);
}

// Resolves to the engine; a failed start is tried again at the next press.
function boot(status) {
  python ??= (async () => {
    const { start, manifest } = await part("engine");
    const { pyodide, bundle } = await manifest;
    if (!pyodide || !bundle) {
      throw new Error("This copy of the site was built without Python for the browser, so its examples do not run here. `make wasm`, then `make docs`, build one where they do.");
    }
    const { engine } = await start((text) => status(text), "playground-worker.js", null, await filesBeside());
    engine.addEventListener("said", ({ detail: { message, bytes } }) => {
      if (message.kind === "loading") listening?.status(`${message.text} …`);
      else listening?.output.add(message, bytes);
    });
    return engine;
  })();
  python.catch(() => (python = null));
  return python;
}

// What the tutorials import and read.
async function filesBeside() {
  if (!document.querySelector("[data-beside]") && !/\/tutorials\//.test(location.pathname)) return {};
  const response = await fetch(new URL("beside.json", import.meta.url));
  return response.ok ? response.json() : {};
}

// One after another: they share names, and one Python.
function inTurn(job) {
  queue = queue.then(job, job);
  return queue;
}

function block(box, index) {
  const shown = box.querySelector("pre");
  const original = box.dataset.program ? JSON.parse(box.dataset.program) : shown.textContent.replace(/\n$/, "");
  const reason = box.dataset.reason ?? "";
  const place = make("div", { className: "runner" });
  box.after(place);
  let editor = null; // CodeMirror, once Edit was pressed
  let host = null;
  let fresh = true; // has not run since it was changed
  let line = null;
  const self = { run, alone, text, runs: !reason, get fresh() { return fresh; }, status, box, get output() { return self.out; }, out: null, outcome: null };
  if (reason) {
    place.append(make("p", { className: "runner-note", textContent: `Does not run in the tab: ${reason}.` }));
    return self;
  }
  const named = (text, hint) => make("button", { type: "button", textContent: text, title: hint });
  const buttons = { run: named("Run", "Run this code in the tab"), edit: named("Edit", "Change this code"), reset: named("Reset", "The code as it was"),
    open: named("Open in Playground", "A page with this code in its address") };
  buttons.reset.hidden = true;
  buttons.run.classList.add("runner-main");
  line = make("span", { className: "runner-status" });
  line.setAttribute("role", "status");
  place.append(make("div", { className: "runner-buttons" }, ...Object.values(buttons), line));
  const region = make("div", { className: "output", hidden: true, tabIndex: 0 });
  region.setAttribute("role", "region");
  region.setAttribute("aria-label", `Output of example ${index + 1}`);
  place.append(region);
  buttons.run.addEventListener("click", () => run());
  buttons.edit.addEventListener("click", () => edit().then(() => editor.focus(), failed));
  buttons.reset.addEventListener("click", reset);
  buttons.open.addEventListener("click", () => open().catch(failed));
  return self;

  function text() {
    return editor && !host.hidden ? editor.text : original;
  }

  function status(said, kind = "") {
    line.textContent = said;
    line.dataset.kind = kind;
  }

  function failed(error) {
    status(error.message, "error");
    self.outcome = "failed";
    box.dataset.ran = "failed";
  }

  async function edit() {
    const { Editor } = await part("editor");
    if (!editor) {
      host = make("div", { className: "runner-editor" });
      box.after(host);
      editor = new Editor(host, { onRun: () => run(), onChange: () => (fresh = true) });
    }
    if (!box.hidden) {
      editor.text = original;
      box.hidden = true;
      host.hidden = false;
      buttons.edit.hidden = true;
      buttons.reset.hidden = false;
    }
  }

  function reset() {
    box.hidden = false;
    host.hidden = true;
    buttons.edit.hidden = false;
    buttons.reset.hidden = true;
    region.hidden = true;
    fresh = true;
    status("");
    buttons.run.focus();
  }

  async function open() {
    const { fragmentOf } = await part("share");
    const above = blocks.slice(0, index).filter((one) => one.runs);
    const whole = [...above.map((one) => one.text()), text()].join("\n");
    location.href = new URL(`playground/#${await fragmentOf(whole)}`, TRY).href;
  }

  // Runs what stands above it first, where that has not run: blocks share names.
  async function run() {
    buttons.run.disabled = true;
    try {
      for (const one of blocks.slice(0, index)) if (one.runs && one.fresh) await one.alone();
      await alone();
    } finally {
      buttons.run.disabled = false;
    }
  }

  function alone() {
    return inTurn(async () => {
      delete box.dataset.ran;
      try {
        const starting = boot((said) => status(said, "busy"));
        const [engine, { milliseconds }, { Output }] = await Promise.all([starting, part("engine"), part("output")]);
        self.out ??= new Output(region);
        self.out.clear();
        region.hidden = false;
        status("Running …", "busy");
        listening = self;
        const program = text();
        editor?.mark();
        const result = await engine.call("run", program);
        self.out.flush();
        fresh = false;
        self.outcome = result.outcome;
        status(`${result.outcome === "done" ? "Took" : "Ended after"} ${milliseconds(result.seconds * 1e3)}.`);
        if (result.error) {
          await edit(); // the place of the error is marked in the editor
          if (result.error.line) editor.mark(result.error);
          self.out.fail(result.error, () => editor.goTo(result.error));
          status(result.error.line ? `Line ${result.error.line}: ${result.error.title}` : result.error.title, "error");
        } else if (self.out.empty) {
          region.hidden = true;
        }
        box.dataset.ran = result.outcome;
      } catch (error) {
        failed(error);
      } finally {
        listening = null;
      }
    });
  }
}

function make(tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

// The theme's own marks that are only icons get names.
for (const button of document.querySelectorAll(".theme-toggle")) button.setAttribute("aria-label", "Light, dark, or as the system has it");
// Tables and code that are wider than a phone scroll, also by keyboard.
for (const box of document.querySelectorAll(".table-wrapper, div.highlight pre")) if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
