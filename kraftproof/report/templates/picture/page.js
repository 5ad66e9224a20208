// The page around the picture: mouse, keys, search, the tip, light and dark.
const data = JSON.parse(document.getElementById("data").textContent);
const byId = id => document.getElementById(id);
const plot = byId("plot"), overview = byId("overview"), tip = byId("tip");
const view = new View(data), painter = new Painter(view, plot, overview);
const rowOf = new Map(data.index.map((index, op) => [index, op]));
const proofInOrder = [...view.proof.keys()].sort((a, b) => data.start[a] - data.start[b]);
let isDue = false, held = null, matches = [], match = -1;

function redraw() {
  if (isDue) return;
  isDue = true;
  requestAnimationFrame(() => { isDue = false; painter.draw(); });
}

/** Moves smoothly to where something is seen. */
function glide({ left, span, top }, arrived = () => {}) {
  const from = { left: view.left, span: view.span, top: view.top };
  const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const begun = performance.now();
  const frame = now => {
    const share = isStill ? 1 : Math.min(1, Math.max(0, (now - begun) / 260)), ease = 1 - (1 - share) ** 3;
    const wide = from.span * (span / from.span) ** ease;
    const centre = (from.left + from.span / 2) * (1 - ease) + (left + span / 2) * ease;
    view.show(centre - wide / 2, wide);
    view.top = from.top + (top - from.top) * ease;
    view.keepRows();
    painter.draw();
    if (share < 1) requestAnimationFrame(frame); else arrived();
  };
  requestAnimationFrame(frame);
}

function select(op) {
  painter.selected = op;
  const near = data.start.length > 60 ? Math.min(view.span, view.last * 60 / data.start.length) : view.span;
  glide(view.around(op, Math.max(near, 8 * (view.end[op] - data.start[op]))),
    () => showTip(op, view.x(view.middle(op)), view.y(data.lane[op]) + view.rowHeight - 12));
}

function offending() { painter.selected = null; glide(view.offending()); }
function whole() { glide({ left: -view.last * .02, span: view.last * 1.04, top: 0 }); }

function element(name, text) { const made = document.createElement(name); made.textContent = text; return made; }

function facts(op) {
  const length = view.end[op] - data.start[op], place = data.order[op], proof = view.proof.get(op);
  const wall = data.end[op] === null ? "never completed" : `${timeText(data.start[op] + data.origin, data.unit, view.span)}`
    + (data.unit === "ns" ? `, took ${timeText(length, data.unit, length)}` : ` to ${data.end[op]}`);
  return [
    ["status", STATUS[data.status[op]]],
    ["process", data.process[op] + (data.node[op] ? ` at node ${data.node[op]}` : "")],
    ["time", wall],
    ["error", data.error[op]],
    ["order", place < 0 ? "" : `${place + 1} of ${view.byOrder.length} in the longest linearization`],
    ["then", place < 0 ? "" : data.states[data.state[op]]],
    ["counted", !view.counted.has(op) ? "" : data.counted.inside.includes(op) ? "wholly in a window" : "may have taken effect in a window"],
    ["proof", op === data.first_illegal ? "not linearizable: the operation has no place in a legal order" : proof ? (proof.required ? "" : "may have taken effect: ") + proof.meaning : ""],
  ].filter(([, text]) => text);
}

function showTip(op, x, y) {
  const list = document.createElement("dl");
  for (const [name, text] of facts(op)) list.append(element("dt", name), element("dd", text));
  placeTip([element("b", `${data.index[op]}: ${told(data, op)}`), list], x, y);
}

function placeTip(children, x, y) {
  tip.replaceChildren(...children);
  tip.hidden = false;
  const stage = byId("stage");
  tip.style.left = `${Math.max(4, Math.min(x + 14, stage.clientWidth - tip.offsetWidth - 8))}px`;
  tip.style.top = `${y + 18 + tip.offsetHeight > stage.clientHeight ? Math.max(4, y - tip.offsetHeight - 10) : y + 18}px`;
}

function hover(x, y) {
  const op = view.operationAt(x, y), fault = op === null ? view.faultAt(x, y) : null;
  if (op !== null) showTip(op, x, y);
  else if (view.isInCounted(x, y)) placeTip([element("b", "counted"), element("div", data.counted.text)], x, y);
  else if (fault) placeTip([element("b", fault.kind), element("div", fault.label)], x, y);
  else tip.hidden = true;
}

plot.addEventListener("wheel", event => {
  event.preventDefault();
  const scale = event.deltaMode === 1 ? 16 : 1;
  if (event.shiftKey) view.move(-(event.deltaY || event.deltaX) * scale, 0);
  else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) view.move(-event.deltaX * scale, 0);
  else view.zoom(Math.exp(event.deltaY * scale * .0016), event.offsetX);
  tip.hidden = true;
  redraw();
}, { passive: false });
plot.addEventListener("pointerdown", event => {
  held = { x: event.offsetX, y: event.offsetY, moved: 0 };
  plot.setPointerCapture(event.pointerId);
  plot.classList.add("held");
});
plot.addEventListener("pointermove", event => {
  if (!held) { hover(event.offsetX, event.offsetY); return; }
  const dx = event.offsetX - held.x, dy = event.offsetY - held.y;
  view.move(dx, dy);
  held = { x: event.offsetX, y: event.offsetY, moved: held.moved + Math.abs(dx) + Math.abs(dy) };
  tip.hidden = true;
  redraw();
});
plot.addEventListener("pointerup", event => {
  if (held && held.moved < 4) { painter.selected = view.operationAt(event.offsetX, event.offsetY); redraw(); }
  held = null;
  plot.classList.remove("held");
});
plot.addEventListener("pointerleave", () => { if (!held) tip.hidden = true; });
plot.addEventListener("dblclick", event => { view.zoom(.4, event.offsetX); redraw(); });

function overviewTo(event) {
  const time = (event.offsetX - GUTTER) / (overview.clientWidth - GUTTER) * view.last;
  view.show(time - view.span / 2, view.span);
  redraw();
}
overview.addEventListener("pointerdown", event => { overview.setPointerCapture(event.pointerId); overviewTo(event); });
overview.addEventListener("pointermove", event => { if (event.buttons) overviewTo(event); });

/** All operations whose text holds what is asked for; a bare number is an operation's own. */
function find(asked) {
  const text = asked.trim().toLowerCase();
  if (!text) return [];
  if (/^#?\d+$/.test(text) && rowOf.has(+text.replace("#", ""))) return [rowOf.get(+text.replace("#", ""))];
  return data.index.map((_, op) => op).filter(op =>
    `${told(data, op)} process ${data.process[op]} node ${data.node[op]} ${STATUS[data.status[op]]} ${data.error[op]}`.toLowerCase().includes(text));
}

function search(step) {
  matches = find(byId("search").value);
  painter.found = new Set(matches);
  match = matches.length ? (match + step + matches.length) % matches.length : -1;
  byId("matches").textContent = matches.length ? `${match + 1} of ${matches.length}` : byId("search").value.trim() ? "none" : "";
  if (match >= 0) select(matches[match]); else redraw();
}

byId("search").addEventListener("input", () => { match = -1; search(1); });
byId("search").addEventListener("keydown", event => {
  if (event.key === "Enter") search(event.shiftKey ? -1 : 1);
  if (event.key === "Escape") { event.target.value = ""; search(0); plot.focus(); }
  event.stopPropagation();
});

function next(step) {
  const now = proofInOrder.indexOf(painter.selected ?? data.first_illegal);
  if (proofInOrder.length) select(proofInOrder[(now + step + proofInOrder.length) % proofInOrder.length]);
}
function toggleOrder() {
  painter.isOrderShown = !painter.isOrderShown;
  byId("order").setAttribute("aria-pressed", painter.isOrderShown);
  redraw();
}
function setTheme(name) { document.documentElement.dataset.theme = name; painter.readColours(); redraw(); }
function zoomBy(factor) { view.zoom(factor, GUTTER + view.plotWidth / 2); redraw(); }
function moveBy(dx, dy) { view.move(dx, dy); redraw(); }

const KEYS = {
  ArrowLeft: () => moveBy(120, 0), ArrowRight: () => moveBy(-120, 0),
  ArrowUp: () => moveBy(0, 60), ArrowDown: () => moveBy(0, -60),
  "+": () => zoomBy(.6), "=": () => zoomBy(.6), "-": () => zoomBy(1 / .6),
  0: whole, o: offending, n: () => next(1), p: () => next(-1), l: toggleOrder,
  t: () => byId("theme").click(), "/": () => byId("search").focus(), Escape: () => { painter.selected = null; tip.hidden = true; redraw(); },
};
document.addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in KEYS)) return;
  if (event.target instanceof HTMLButtonElement && event.key === "Enter") return;
  event.preventDefault();
  KEYS[event.key]();
});

byId("offending").addEventListener("click", offending);
byId("whole").addEventListener("click", whole);
byId("closer").addEventListener("click", () => zoomBy(.6));
byId("wider").addEventListener("click", () => zoomBy(1 / .6));
byId("order").addEventListener("click", toggleOrder);
byId("theme").addEventListener("click", () => setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
for (const button of document.querySelectorAll(".constraint")) {
  const op = rowOf.get(+button.dataset.operation);
  if (op === data.first_illegal) button.classList.add("illegal");
  if (view.proof.has(op) && !view.proof.get(op).required) button.classList.add("maybe");
  button.addEventListener("click", () => select(op));
}
plot.style.flexBasis = `${view.tallest}px`;
new ResizeObserver(() => { painter.resize(); painter.draw(); }).observe(byId("stage"));

document.documentElement.dataset.theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
painter.readColours();
painter.resize();
const opening = view.offending();
view.show(opening.left, opening.span);
view.top = opening.top;
view.keepRows();
painter.draw();
window.picture = { view, painter, data, find, select, redraw };
