// Models: the server wrote the list; here is what sends a new one.
import { element, keepForOffline, say } from "./engine.js";

const form = document.getElementById("upload");
form?.addEventListener("submit", (event) => {
  event.preventDefault();
  send().catch((error) => say(error.message, "error"));
});
document.body.dataset.ready = "true";
keepForOffline();

async function send() {
  const body = new FormData();
  for (const [name, value] of new FormData(form)) {
    if (value instanceof File ? value.name : value) body.append(name, value); // a field that was left empty is not sent
  }
  const headers = { "X-Wherry-Upload": "1" };
  const token = document.getElementById("token");
  if (token) headers.Authorization = `Bearer ${token.value}`;
  const button = form.querySelector("button");
  button.disabled = true;
  say("Sending and checking …", "busy");
  try {
    const response = await fetch("api/uploads", { method: "POST", body, headers });
    const answer = await response.json();
    if (!response.ok) throw new Error(answer.error?.detail ?? `The server answered ${response.status}.`);
    await listAgain();
    form.reset();
    say(`${answer.title} is here: api/models/${answer.name}.`);
  } finally {
    button.disabled = false;
  }
}

// The list as the server writes it now.
async function listAgain() {
  const page = new DOMParser().parseFromString(await (await fetch("gallery")).text(), "text/html");
  const list = page.getElementById("models"), here = document.getElementById("models");
  if (here) here.replaceWith(list);
  else element("upload-title").before(page.getElementById("models-title"), list);
}
