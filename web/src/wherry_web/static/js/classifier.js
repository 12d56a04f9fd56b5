// Image classifier by example: pictures of a few classes, a network trained on them in this tab, answers, and the result to take away.
import { Camera, cameras, fromFile, pixels } from "./camera.js";
import { Charts } from "./charts.js";
import { bytes, element, keepForOffline, manifest, milliseconds, say, start } from "./engine.js";

const FEWEST = 2, MOST = 6; // classes
const MOST_PICTURES = 400; // of a class
const BETWEEN = 125; // milliseconds between frames while a button is held
const TOGETHER = 8; // pictures that the worker gets at once

const charts = new Charts("held-out pictures");
const camera = new Camera(element("video"));
const classes = []; // {key, card, name, pictures: [{id, held, item}]}
let engine, exporter;
let made = 0; // classes, ever
let running = false;
let taught = null; // classes of the network, in the order of its answers
let changed = false; // since it was taught
let shown = null; // a canvas, where a file is looked at in place of the camera
let looking = false;
let work = Promise.resolve(); // pictures go to the worker one load after the other

for (let i = 0; i < FEWEST; i++) addClass();
begin().catch((error) => say(error.message, "error"));

async function begin() {
  const starting = start(say);
  starting.catch(() => {}); // awaited below, as the weights are
  const { backbone, exporter: address } = await manifest;
  const weights = bytes(backbone);
  weights.catch(() => {});
  ({ engine } = await starting);
  await engine.call("openClassifier", await weights);
  exporter = address;
  engine.addEventListener("trained", ({ detail }) => record(detail));
  engine.addEventListener("failed", ({ detail }) => {
    running = false;
    failed(new Error(detail.text));
  });
  for (const input of document.querySelectorAll(".needs-engine")) input.disabled = false;
  if (!exporter) element("site-note").textContent = "This server has no engine for web bundles (`make engine` makes it). The program can be taken.";
  say("Ready. Give each class some pictures, from a camera or from files; they stay in this tab.");
  document.body.dataset.ready = "true";
  update();
  keepForOffline();
}

function failed(error) {
  say(error.message, "error");
  update();
}

// An event handler that may fail, and then says so.
function guarded(action) {
  return (...args) => Promise.resolve(action(...args)).catch(failed);
}

// Classes and their pictures.

function addClass() {
  made += 1;
  const card = element("class").content.firstElementChild.cloneNode(true);
  const part = (name) => card.querySelector(`[data-part=${name}]`);
  const one = { key: `class-${made}`, card, part, name: `Class ${made}`, pictures: [] };
  const name = part("name");
  name.value = one.name;
  name.addEventListener("input", () => {
    one.name = name.value.trim() || name.placeholder;
    label(one);
    nameBars();
  });
  name.placeholder = one.name;
  part("files").addEventListener("change", guarded(async () => {
    const files = [...part("files").files];
    part("files").value = "";
    await addFiles(one, files);
  }));
  part("remove").addEventListener("click", guarded(() => removeClass(one)));
  holdToTake(part("take"), one);
  acceptDrops(card, (files) => addFiles(one, files));
  for (const input of card.querySelectorAll(".needs-engine")) input.disabled = !engine;
  element("classes").append(card);
  classes.push(one);
  label(one);
  update();
  return one;
}

function label({ part, name, card }) {
  card.setAttribute("aria-label", name);
  part("remove").setAttribute("aria-label", `Remove the class ${name}`);
  part("pictures").setAttribute("aria-label", `Pictures of ${name}`);
  part("take").setAttribute("aria-label", `Hold to take pictures of ${name}`);
  part("files").setAttribute("aria-label", `Pictures of ${name} from files`);
}

async function removeClass(one) {
  classes.splice(classes.indexOf(one), 1);
  one.card.remove();
  if (taught?.includes(one)) forgetNetwork();
  update();
  await forget(one.pictures);
  element("add-class").focus();
  say(`${one.name} is removed.`);
}

async function addFiles(one, files) {
  const wrong = [];
  const canvases = [];
  for (const file of files) {
    try {
      canvases.push(await fromFile(file));
    } catch (error) {
      wrong.push(error.message);
    }
  }
  await addPictures(one, canvases);
  if (wrong.length) say(`${wrong.slice(0, 3).join("; ")}${wrong.length > 3 ? `; and ${wrong.length - 3} more` : ""}. PNG, JPEG and WebP are read.`, "error");
}

// Adds pictures that came together; the worker makes features of them, some at a time.
function addPictures(one, canvases) {
  work = work.catch(() => {}).then(async () => {
    const room = MOST_PICTURES - one.pictures.length;
    const taken = canvases.slice(0, room);
    for (let at = 0; at < taken.length; at += TOGETHER) {
      const some = taken.slice(at, at + TOGETHER);
      say(`Looking at pictures of ${one.name}: ${Math.min(at + TOGETHER, taken.length)} of ${taken.length} …`, "busy");
      const answers = await engine.call("addPictures", one.key, pixels(some), taken.length - at);
      answers.forEach(({ id, held }, i) => show(one, id, held, some[i]));
    }
    if (!taken.length && !canvases.length) return;
    changed = true;
    say(taken.length < canvases.length
      ? `${one.name} has ${MOST_PICTURES} pictures now, which is the most it can have.`
      : `${one.name} has ${counted(one.pictures)}. ${hint()}`);
    update();
  });
  return work;
}

function counted({ length }) {
  return `${length} picture${length === 1 ? "" : "s"}`;
}

function hint() {
  const empty = classes.filter(({ pictures }) => !pictures.length);
  if (empty.length) return `${empty.map(({ name }) => name).join(" and ")} ${empty.length > 1 ? "need" : "needs"} some, too.`;
  return taught ? "Train again to learn from them." : "Press Train when each class has enough.";
}

function show(one, id, held, canvas) {
  const item = document.createElement("li");
  const button = document.createElement("button");
  button.type = "button";
  button.className = held ? "held" : "";
  canvas.setAttribute("aria-hidden", "true");
  button.append(canvas);
  item.append(button);
  const picture = { id, held, item };
  button.addEventListener("click", guarded(async () => {
    const next = item.nextElementSibling ?? item.previousElementSibling;
    one.pictures.splice(one.pictures.indexOf(picture), 1);
    item.remove();
    (next?.firstElementChild ?? one.part("name")).focus();
    changed = true;
    update();
    await forget([picture]);
    say(`The picture is deleted; ${one.name} has ${one.pictures.length}.`);
  }));
  one.pictures.push(picture);
  one.part("pictures").append(item);
}

function forget(pictures) {
  const ids = pictures.map(({ id }) => id);
  work = work.catch(() => {}).then(() => engine?.call("removePictures", ids));
  return work;
}

function acceptDrops(target, accept) {
  const isFiles = (event) => event.dataTransfer.types.includes("Files");
  target.addEventListener("dragover", (event) => {
    if (!isFiles(event)) return;
    event.preventDefault();
    target.classList.add("over");
  });
  target.addEventListener("dragleave", (event) => target.contains(event.relatedTarget) || target.classList.remove("over"));
  target.addEventListener("drop", guarded(async (event) => {
    if (!isFiles(event)) return;
    event.preventDefault();
    target.classList.remove("over");
    if (engine) await accept([...event.dataTransfer.files]);
  }));
}

// What is dropped beside a class would replace the page by the picture.
for (const name of ["dragover", "drop"]) addEventListener(name, (event) => event.preventDefault());

// Frames are taken as long as the button is held, by a pointer or by a key; a click of a screen reader takes one.
function holdToTake(button, one) {
  let timer = null, taken = [];
  const take = () => {
    if (taken.length + one.pictures.length >= MOST_PICTURES) return;
    taken.push(camera.take());
    one.part("count").textContent = `${taken.length} taken`;
  };
  const from = () => {
    if (timer !== null || !camera.on) return;
    button.classList.add("taking");
    take();
    timer = setInterval(take, BETWEEN);
  };
  const until = guarded(async () => {
    if (timer === null) return;
    clearInterval(timer);
    timer = null;
    button.classList.remove("taking");
    const canvases = taken;
    taken = [];
    await addPictures(one, canvases);
  });
  button.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    button.setPointerCapture(event.pointerId);
    from();
  });
  for (const name of ["pointerup", "pointercancel", "lostpointercapture", "blur"]) button.addEventListener(name, until);
  const isKey = ({ key }) => key === " " || key === "Enter";
  button.addEventListener("keydown", (event) => {
    if (!isKey(event)) return;
    event.preventDefault();
    if (!event.repeat) from();
  });
  button.addEventListener("keyup", (event) => {
    if (!isKey(event)) return;
    event.preventDefault();
    until();
  });
  button.addEventListener("contextmenu", (event) => event.preventDefault());
  button.addEventListener("click", guarded(async (event) => {
    if (event.detail === 0 && camera.on) await addPictures(one, [camera.take()]); // no pointer clicked, and keys are taken above
  }));
}

// The camera.

element("camera").addEventListener("click", guarded(async () => {
  if (camera.on) {
    camera.stop();
    update();
    say("The camera is off.");
    return;
  }
  await startCamera();
}));

element("cameras").addEventListener("change", guarded(() => startCamera(element("cameras").value)));

async function startCamera(device) {
  const used = await camera.start(device, () => {
    update();
    say("The camera went away.", "error");
  });
  const known = await cameras();
  element("cameras").replaceChildren(...known.map(({ deviceId, label }, i) => new Option(label || `Camera ${i + 1}`, deviceId, false, deviceId === used)));
  element("cameras").parentElement.hidden = known.length < 2;
  shown = null;
  update();
  say("The camera is on. Hold a class's button to take pictures; what it sees stays in this tab.");
}

// Training.

element("add-class").addEventListener("click", () => addClass().part("name").select());
element("settings").addEventListener("submit", (event) => event.preventDefault());
element("run").addEventListener("click", guarded(async () => {
  if (running) {
    await stop();
    say("Stopped. The network stays as it is now.");
  } else {
    await teach();
  }
}));

async function teach() {
  await work.catch(() => {}); // pictures that are still on their way
  const empty = classes.find(({ pictures }) => !pictures.some(({ held }) => !held));
  if (empty) throw new Error(`${empty.name} has no picture to learn from. Add some, from the camera or from files.`);
  const form = new FormData(element("settings"));
  const settings = { hidden: Number(form.get("hidden")), learning_rate: Number(form.get("learning_rate")), epochs: Number(form.get("epochs")), seed: 0 };
  charts.clear();
  const order = [...classes];
  showEvaluation(await engine.call("teach", order.map(({ key }) => key), settings));
  taught = order;
  changed = false;
  running = true;
  prepareBars();
  update();
  say("Training …", "busy");
  await engine.call("start");
  look();
}

async function stop() {
  running = false;
  await engine.call("pause");
  showEvaluation(await engine.call("evaluate"));
  update();
}

function record(slice) {
  if (!running) return;
  const { steps, epochs, seconds, losses, unseen, done } = slice;
  charts.record(slice);
  element("progress").textContent = `Step ${steps}, ${epochs.toFixed(0)} times through the pictures, ${(steps / seconds).toFixed(0)} steps a second, loss ${losses.at(-1).toFixed(4)}`;
  if (unseen.length) showAccuracy(unseen.at(-1)[1]);
  if (done) stop().then(finished).catch(failed);
}

function finished() {
  const value = element("accuracy").dataset.value;
  say(value === "" ? "Trained. No picture is held out yet, so nobody knows how good it is: every fifth of a class is."
    : `Trained: ${element("accuracy").textContent} of the held-out pictures are right. Try it below.`);
}

function showAccuracy(accuracy) {
  element("accuracy").textContent = accuracy === null ? "–" : `${(accuracy * 100).toFixed(0)} %`;
  element("accuracy").dataset.value = accuracy ?? "";
}

function showEvaluation({ steps, count, accuracy, mistakes }) {
  showAccuracy(accuracy);
  element("held").textContent = accuracy === null
    ? "of held-out pictures; the last of each five of a class is held out" : `of ${count} held-out pictures are right; it did not learn from them`;
  charts.evaluated(steps, accuracy);
  const wrong = new Map(mistakes.map(({ id, answer }) => [id, answer]));
  for (const one of classes) for (const picture of one.pictures) mark(picture, wrong.get(picture.id));
}

// How a picture looks in the list, and what is said of it; answer: of the network, if it is wrong.
function mark(picture, answer) {
  picture.answer = answer;
  picture.item.firstElementChild.classList.toggle("mistaken", answer !== undefined);
}

// Answers.

element("look").addEventListener("change", guarded(async () => {
  const [file] = element("look").files;
  element("look").value = "";
  if (file) await lookAt(file);
}));
element("look-camera").addEventListener("click", () => {
  shown = null;
  update();
});
acceptDrops(element("try"), (files) => (files.length ? lookAt(files[0]) : undefined));

async function lookAt(file) {
  shown = await fromFile(file);
  update();
  await look();
}

function prepareBars() {
  element("bars").replaceChildren(...taught.map(() => {
    const row = document.createElement("li");
    for (const name of ["label", "track", "value"]) row.append(Object.assign(document.createElement("span"), { className: name }));
    row.children[1].append(Object.assign(document.createElement("span"), { className: "fill" }));
    return row;
  }));
  nameBars();
}

function nameBars() {
  taught?.forEach(({ name }, i) => (element("bars").children[i].firstElementChild.textContent = name));
}

// One at a time, as long as there is something new to see.
async function look() {
  if (looking) return;
  looking = true;
  try {
    let last = null;
    while (taught && (camera.on ? shown === null || shown !== last : shown !== null && shown !== last)) {
      last = shown;
      const picture = shown ?? camera.take();
      element("seen").getContext("2d").drawImage(picture, 0, 0);
      answer(await engine.call("look", pixels([picture])));
      await new Promise(shown === null ? requestAnimationFrame : setTimeout); // nothing is seen in a tab behind others
    }
  } finally {
    looking = false;
  }
}

function answer({ probabilities, milliseconds: time }) {
  if (probabilities.length !== taught?.length) return; // of another network
  const best = probabilities.indexOf(Math.max(...probabilities));
  [...element("bars").children].forEach((row, i) => {
    row.querySelector(".fill").style.transform = `scaleX(${probabilities[i]})`;
    row.querySelector(".value").textContent = `${(probabilities[i] * 100).toFixed(1)} %`;
    row.classList.toggle("best", i === best);
  });
  const name = taught[best].name;
  if (element("answer").textContent !== name) element("answer").textContent = name; // said only when it is another
  element("time").textContent = `answered in ${milliseconds(time)}`;
}

function forgetNetwork() {
  taught = null;
  if (running) {
    running = false;
    engine.call("pause").catch(failed);
  }
  element("bars").replaceChildren();
  element("answer").textContent = "–";
  element("time").textContent = "";
}

// What can be taken away.

for (const [id, call] of [["save-program", saveProgram], ["save-site", saveSite]]) {
  element(id).addEventListener("click", guarded(async () => {
    element(id).disabled = true;
    try {
      await call(taught.map(({ name }) => name));
    } finally {
      update();
    }
  }));
}

async function saveProgram(names) {
  save(await engine.call("saveProgram", names), "classifier.zip");
  say("classifier.zip holds classifier.pdmodel and classifier.pdiparams, which paddle.jit.load reads, here and in Paddle, and the names of the classes.");
}

async function saveSite(names) {
  say("Making the folder …", "busy");
  save(await engine.call("saveSite", exporter, element("title").value.trim() || element("title").placeholder, names), "classifier-site.zip");
  say("classifier-site.zip holds a folder that any file server hosts: unpack it, then python -m http.server --directory site.");
}

function save(content, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content], { type: "application/zip" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

// What can be done now.
function update() {
  const pictures = classes.reduce((sum, one) => sum + one.pictures.length, 0);
  for (const one of classes) {
    const held = one.pictures.filter((picture) => picture.held).length;
    one.part("count").textContent = one.pictures.length ? `${counted(one.pictures)}, ${held} held out` : "no pictures yet";
    one.part("take").disabled = !engine || !camera.on;
    one.part("remove").disabled = classes.length <= FEWEST || running;
    one.pictures.forEach((picture, i) => {
      const kind = picture.held ? ", held out" : "";
      const text = `Delete picture ${i + 1} of ${one.name}${kind}${picture.answer === undefined ? "" : ", taken for another"}`;
      picture.item.firstElementChild.setAttribute("aria-label", text);
      picture.item.firstElementChild.title = text;
    });
  }
  element("add-class").disabled = classes.length >= MOST || running;
  element("run").disabled = !engine || !pictures;
  element("run").textContent = running ? "Stop" : taught ? "Train again" : "Train";
  element("run").setAttribute("aria-pressed", String(running));
  element("camera").textContent = camera.on ? "Turn the camera off" : "Turn the camera on";
  element("video").hidden = !camera.on;
  const ready = engine && taught && !running;
  element("save-program").disabled = !ready;
  element("save-site").disabled = !ready || !exporter;
  element("look").disabled = !taught;
  element("look-camera").hidden = !camera.on || shown === null;
  element("changed").hidden = !(taught && changed && !running);
  if (taught) look().catch(failed);
}
