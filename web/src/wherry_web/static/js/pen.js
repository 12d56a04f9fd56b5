// Drawing on a canvas: with a pointer, and without one with the arrow keys (with Shift they draw, Escape clears).
//
// width: of a line, in pixels of the canvas. began: before a pointer's stroke. changed: after each piece of a line.
// cleared: Escape. moved: told where the pen stands, in words.
export function drawingOn(canvas, { width, began = () => {}, changed, cleared, moved }) {
  const context = canvas.getContext("2d", { willReadFrequently: true });
  const at = { x: canvas.width / 2, y: canvas.height / 6 };
  let last = null;

  function place(event) {
    const box = canvas.getBoundingClientRect();
    return [((event.clientX - box.left) / box.width) * canvas.width, ((event.clientY - box.top) / box.height) * canvas.height];
  }

  function stroke([x0, y0], [x1, y1]) {
    context.strokeStyle = "#000";
    context.lineWidth = width;
    context.lineCap = context.lineJoin = "round";
    context.beginPath();
    context.moveTo(x0, y0);
    context.lineTo(x1, y1 + 0.01);
    context.stroke();
    changed();
  }

  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    began();
    last = place(event);
    stroke(last, last);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!last) return;
    for (const one of event.getCoalescedEvents?.() ?? [event]) {
      const next = place(one);
      stroke(last, next);
      last = next;
    }
  });
  for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, () => (last = null));

  canvas.addEventListener("keydown", (event) => {
    const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (event.key === "Escape") return cleared();
    if (!moves[event.key]) return undefined;
    event.preventDefault();
    const from = [at.x, at.y];
    const [dx, dy] = moves[event.key];
    at.x = Math.min(Math.max(at.x + dx * 12, 10), canvas.width - 10);
    at.y = Math.min(Math.max(at.y + dy * 12, 10), canvas.height - 10);
    if (event.shiftKey) stroke(from, [at.x, at.y]);
    moved(`Pen at ${Math.round((at.x / canvas.width) * 100)} % from the left, ${Math.round((at.y / canvas.height) * 100)} % from the top.`);
    return undefined;
  });
}
