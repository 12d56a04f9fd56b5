// The picture of a program: moved, zoomed, searched. The layout is the one of wherry_program; nothing is laid out here.
//
// The SVG stands in a shadow tree of its own with its own style sheet: the policy of the pages allows no style inside of markup.
const STEP = 1.3; // of a zoom
const NEAR = 4, FAR = 0.02; // pixels for a unit of the picture
const MARKS = `
  :host { display: block; width: 100%; height: 100%; }
  svg { display: block; width: 100%; height: 100%; }
  .paper { fill: none; } /* the page's own background goes on around the picture */
  g[data-node], g[data-feed], g[data-fetch] { cursor: pointer; }
  g.found rect { stroke: #c2410c; stroke-width: 3; }
  g.chosen rect { stroke: #c2410c; stroke-width: 5; }
`;

export class GraphView extends EventTarget {
  #host;
  #root;
  #svg = null;
  #size = { width: 1, height: 1 };
  #view = { x: 0, y: 0, scale: 1 }; // the upper left corner in the picture, and pixels for a unit
  #pointers = new Map();
  #moved = false;

  // Events: "choose" with detail "kind:position" of a box.
  constructor(host) {
    super();
    this.#host = host;
    const inner = document.createElement("div");
    host.append(inner);
    this.#root = inner.attachShadow({ mode: "open" });
    host.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    host.addEventListener("keydown", (event) => this.#key(event));
    host.addEventListener("pointerdown", (event) => this.#down(event));
    host.addEventListener("pointermove", (event) => this.#move(event));
    for (const name of ["pointerup", "pointercancel"]) host.addEventListener(name, (event) => this.#up(event));
    new ResizeObserver(() => this.#show()).observe(host);
  }

  // Shows a picture that `to_svg` made.
  set(text) {
    const sheets = [];
    // Taken out of the text: even a document that is not shown may hold no style under the policy. Names in the picture are escaped.
    const bare = text.replace(/<style>([^<]*)<\/style>/g, (_, rules) => {
      sheets.push(rules);
      return "";
    });
    const parsed = new DOMParser().parseFromString(bare, "image/svg+xml").documentElement;
    if (parsed.localName !== "svg") throw new Error("The picture cannot be shown: it is not an SVG.");
    this.#root.adoptedStyleSheets = [...sheets, MARKS].map((rules) => {
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(rules);
      return sheet;
    });
    const [, , width, height] = parsed.getAttribute("viewBox").split(" ").map(Number);
    this.#size = { width, height };
    parsed.removeAttribute("width");
    parsed.removeAttribute("height");
    this.#svg = document.importNode(parsed, true);
    this.#root.replaceChildren(this.#svg);
    this.start();
  }

  clear() {
    this.#svg = null;
    this.#root.replaceChildren();
  }

  get scale() {
    return this.#view.scale;
  }

  // From the top, as large as the width allows.
  start() {
    const { width, height } = this.#box();
    const scale = Math.min(Math.max(Math.min(width / this.#size.width, 1), 0.5), NEAR);
    this.#view = { x: (this.#size.width - width / scale) / 2, y: this.#size.height * scale < height ? (this.#size.height - height / scale) / 2 : 0, scale };
    this.#show();
  }

  // All of it.
  fit() {
    const { width, height } = this.#box();
    const scale = Math.max(Math.min(width / this.#size.width, height / this.#size.height, 1), FAR);
    this.#view = { x: (this.#size.width - width / scale) / 2, y: (this.#size.height - height / scale) / 2, scale };
    this.#show();
  }

  // x and y: of what stays in place, in pixels of the host; the middle without.
  zoom(factor, x = this.#box().width / 2, y = this.#box().height / 2) {
    const before = this.#view.scale;
    const scale = Math.min(Math.max(before * factor, FAR), NEAR);
    this.#view = { x: this.#view.x + x / before - x / scale, y: this.#view.y + y / before - y / scale, scale };
    this.#show();
  }

  closer() {
    this.zoom(STEP);
  }

  farther() {
    this.zoom(1 / STEP);
  }

  // Marks boxes by their places, "node:0:12", "feed:0", "fetch:1".
  mark(places) {
    for (const box of this.#root.querySelectorAll("g.found")) box.classList.remove("found");
    for (const place of places) this.#at(place)?.classList.add("found");
  }

  // Brings a box into the middle.
  goTo(place) {
    for (const box of this.#root.querySelectorAll("g.chosen")) box.classList.remove("chosen");
    const box = this.#at(place);
    if (!box) return;
    box.classList.add("chosen");
    const { width, height } = this.#box();
    const scale = Math.max(this.#view.scale, 0.8);
    const { x, y, width: wide, height: tall } = box.querySelector("rect").getBBox();
    const panel = box.closest("g[transform]").transform.baseVal.consolidate().matrix;
    this.#view = { x: x + panel.e + wide / 2 - width / scale / 2, y: y + panel.f + tall / 2 - height / scale / 2, scale };
    this.#show();
  }

  #at(place) {
    const kind = /^(feed|fetch):/.exec(place)?.[1] ?? "node";
    return this.#root.querySelector(`g[data-${kind}="${CSS.escape(kind === "node" ? place : place.slice(kind.length + 1))}"]`);
  }

  #box() {
    return { width: Math.max(this.#host.clientWidth, 1), height: Math.max(this.#host.clientHeight, 1) };
  }

  // Some of the picture stays in sight.
  #show() {
    if (!this.#svg) return;
    const { width, height } = this.#box();
    const view = this.#view, kept = 60 / view.scale;
    view.x = Math.min(Math.max(view.x, kept - width / view.scale), this.#size.width - kept);
    view.y = Math.min(Math.max(view.y, kept - height / view.scale), this.#size.height - kept);
    this.#svg.setAttribute("viewBox", `${view.x} ${view.y} ${width / view.scale} ${height / view.scale}`);
    this.#host.dataset.view = [view.x, view.y, view.scale].map((n) => n.toFixed(3)).join(" ");
  }

  #pan(dx, dy) {
    this.#view.x += dx / this.#view.scale;
    this.#view.y += dy / this.#view.scale;
    this.#show();
  }

  // With Ctrl (and by pinching a touchpad) it zooms; else it moves, and past the ends the page scrolls on.
  #wheel(event) {
    if (!this.#svg) return;
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      const box = this.#host.getBoundingClientRect();
      this.zoom(Math.exp(-event.deltaY / 300), event.clientX - box.left, event.clientY - box.top);
      return;
    }
    const { height } = this.#box();
    const top = this.#view.y <= 0 && event.deltaY < 0;
    const bottom = this.#view.y + height / this.#view.scale >= this.#size.height && event.deltaY > 0;
    if ((top || bottom) && !event.deltaX) return;
    event.preventDefault();
    this.#pan(event.shiftKey ? event.deltaY : event.deltaX, event.shiftKey ? 0 : event.deltaY);
  }

  #key(event) {
    const page = this.#box().height * 0.8;
    const moves = { ArrowLeft: [-60, 0], ArrowRight: [60, 0], ArrowUp: [0, -60], ArrowDown: [0, 60], PageUp: [0, -page], PageDown: [0, page] };
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (moves[event.key]) this.#pan(...moves[event.key]);
    else if (event.key === "+" || event.key === "=") this.closer();
    else if (event.key === "-") this.farther();
    else if (event.key === "0") this.fit();
    else if (event.key === "Home") this.start();
    else return;
    event.preventDefault();
  }

  #down(event) {
    if (event.button > 0) return;
    this.#host.setPointerCapture(event.pointerId);
    this.#pointers.set(event.pointerId, [event.clientX, event.clientY]);
    this.#moved = this.#pointers.size > 1;
  }

  // One pointer moves the picture, two zoom it.
  #move(event) {
    const before = this.#pointers.get(event.pointerId);
    if (!before) return;
    const now = [event.clientX, event.clientY];
    if (!this.#moved && Math.hypot(now[0] - before[0], now[1] - before[1]) < 4) return; // a click may tremble
    this.#moved = true;
    const other = [...this.#pointers].find(([id]) => id !== event.pointerId)?.[1];
    if (other) {
      const far = ([x, y]) => Math.max(Math.hypot(x - other[0], y - other[1]), 1);
      const box = this.#host.getBoundingClientRect();
      this.zoom(far(now) / far(before), (now[0] + other[0]) / 2 - box.left, (now[1] + other[1]) / 2 - box.top);
    } else {
      this.#pan(before[0] - now[0], before[1] - now[1]);
    }
    this.#pointers.set(event.pointerId, now);
  }

  #up(event) {
    if (!this.#pointers.delete(event.pointerId) || this.#moved || event.type === "pointercancel") return;
    const box = this.#root.elementFromPoint(event.clientX, event.clientY)?.closest("g[data-node], g[data-feed], g[data-fetch]");
    if (!box) return;
    const { node, feed, fetch } = box.dataset;
    this.dispatchEvent(new CustomEvent("choose", { detail: node ?? (feed !== undefined ? `feed:${feed}` : `fetch:${fetch}`) }));
  }
}
