// Draws a view: rows, faults, operations, the linearization, the overview. Only what is visible.
const FONT = "11px ui-monospace, Menlo, 'DejaVu Sans Mono', monospace", LETTER = 6.65;
const SMALL = FONT.replace("11px", "9px"), STATUS = ["ok", "fail", "info"], FAIL = 1, INFO = 2;
const QUIET = .38, FEW_POINTS = 600, FEW_LINES = 120, FEW_NUMBERS = 60, ROUND = 3;

class Painter {
  constructor(view, plot, overview) {
    this.view = view; this.plot = plot; this.overview = overview;
    this.isOrderShown = true; this.selected = null; this.found = new Set();
    this.density = null; this.labels = [];
    this.readColours();
  }

  readColours() {
    const style = getComputedStyle(document.documentElement);
    this.colour = Object.fromEntries(["ink", "soft", "line", "paper", "ground", "band", "ok", "fail", "info",
      "illegal", "needed"].map(name => [name, style.getPropertyValue(`--${name}`).trim()]));
    this.density = null;
  }

  resize() {
    const ratio = window.devicePixelRatio || 1;
    for (const canvas of [this.plot, this.overview]) {
      canvas.width = Math.round(canvas.clientWidth * ratio);
      canvas.height = Math.round(canvas.clientHeight * ratio);
      canvas.getContext("2d").setTransform(ratio, 0, 0, ratio, 0, 0);
    }
    this.view.resize(this.plot.clientWidth, this.plot.clientHeight);
    this.density = null;
  }

  draw() {
    const pen = this.plot.getContext("2d"), { view, colour } = this;
    pen.globalAlpha = 1;
    pen.fillStyle = colour.paper;
    pen.fillRect(0, 0, view.width, view.height);
    pen.font = FONT; pen.textBaseline = "middle";
    this.labels = labelsOf(view);
    const first = Math.max(0, view.lane(view.plotTop)), last = Math.min(view.lanes.length - 1, view.lane(view.height));
    this.bands(pen, first, last);
    pen.save();
    pen.beginPath(); pen.rect(GUTTER, 0, view.plotWidth, view.height); pen.clip();
    this.faults(pen);
    pen.save();
    pen.beginPath(); pen.rect(GUTTER, view.plotTop, view.plotWidth, view.height); pen.clip();
    for (let lane = first; lane <= last; lane++) this.row(pen, lane);
    for (const op of view.proof.keys()) this.special(pen, op);
    drawArrows(pen, view, colour);
    if (this.isOrderShown) this.linearization(pen);
    drawLabels(pen, view, colour, this.labels);
    if (this.selected !== null) this.outline(pen, this.selected, colour.ink, 2);
    pen.restore();
    this.axis(pen);
    drawWindows(pen, view, colour);
    pen.restore();
    this.names(pen, first, last);
    this.drawOverview();
  }

  bands(pen, first, last) {
    pen.fillStyle = this.colour.band;
    for (let lane = first + first % 2; lane <= last; lane += 2) {
      pen.fillRect(0, this.view.y(lane), this.view.width, this.view.rowHeight);
    }
  }

  names(pen, first, last) {
    const { view, colour } = this;
    pen.fillStyle = colour.paper;
    pen.fillRect(0, 0, GUTTER, view.plotTop);
    pen.textAlign = "right";
    pen.fillStyle = colour.soft;
    pen.fillText("process", GUTTER - 10, AXIS / 2 - 1);
    for (let lane = first; lane <= last; lane++) {
      const y = view.y(lane) + view.rowHeight / 2;
      if (y > view.plotTop) pen.fillText(view.data.lanes[lane], GUTTER - 10, y, GUTTER - 14);
    }
    view.faultLanes.forEach((kind, n) => pen.fillText(kind, GUTTER - 10, AXIS + (n + .5) * STRIP, GUTTER - 14));
    if (view.counted.size) pen.fillText("counted", GUTTER - 10, view.countedTop + STRIP / 2);
    pen.textAlign = "left";
  }

  axis(pen) {
    const { view, colour } = this, wanted = view.span / Math.max(2, view.plotWidth / 120);
    const power = 10 ** Math.floor(Math.log10(wanted));
    const step = [1, 2, 5, 10].map(one => one * power).find(one => one >= wanted);
    pen.fillStyle = colour.soft; pen.strokeStyle = colour.line; pen.lineWidth = 1;
    pen.textAlign = "center";
    const origin = view.data.unit === "ns" ? view.data.origin : 0;  // the run's clock, as the sentences have it
    for (let time = Math.ceil((view.left + origin) / step) * step - origin; time <= view.right; time += step) {
      const x = Math.round(view.x(time)) + .5;
      pen.beginPath(); pen.moveTo(x, AXIS - 6); pen.lineTo(x, AXIS); pen.stroke();
      const text = timeText(time + origin, view.data.unit, view.span), half = pen.measureText(text).width / 2 + 2;
      pen.fillText(text, Math.min(x, view.width - half), AXIS / 2 - 1);
    }
    pen.textAlign = "left";
  }

  faults(pen) {
    const { view } = this;
    for (const fault of view.data.faults) {
      const from = Math.max(GUTTER, view.x(fault.start)), to = Math.min(view.width, view.x(fault.end ?? view.last * 2));
      if (to < GUTTER || from > view.width) continue;
      const width = Math.max(1.5, to - from), y = AXIS + view.faultLanes.indexOf(fault.kind) * STRIP;
      pen.fillStyle = fault.colour;
      pen.globalAlpha = .11;
      pen.fillRect(from, view.plotTop, width, view.height);
      pen.globalAlpha = .9;
      pen.fillRect(from, y + 1, width, STRIP - 2);
      pen.globalAlpha = 1;
      const room = Math.floor((width - 8) / LETTER);
      if (room >= 4) { pen.fillStyle = "#fff"; pen.fillText(cut(fault.label, room), from + 4, y + STRIP / 2 + .5); }
    }
  }

  row(pen, lane) {
    const { view, colour } = this, { data } = view, row = view.lanes[lane];
    const y = view.y(lane) + 2, height = view.rowHeight - 4;
    const labels = this.labels.filter(one => data.lane[one.op] === lane);
    let drawnTo = -1;
    for (let n = view.firstAt(lane, view.left); n < row.length; n++) {
      const op = row[n], from = view.x(data.start[op]);
      if (from > view.width) break;
      const to = Math.max(from + 2, view.x(view.end[op]));
      if (to <= drawnTo + .6 || view.proof.has(op)) continue;
      drawnTo = to;
      const inset = data.status[op] === FAIL ? height * .26 : 0;  // it did nothing: a thin bar
      pen.globalAlpha = this.found.size && !this.found.has(op) ? QUIET / 2 : this.found.has(op) ? 1 : QUIET + .1;
      pen.fillStyle = colour[STATUS[data.status[op]]];
      bar(pen, from, y + inset, to - from, height - 2 * inset);
      if (view.counted.has(op)) { pen.globalAlpha = 1; pen.fillStyle = colour[view.counted.get(op)]; pen.fillRect(from, y + height - 3, to - from, 3); }
      if (data.status[op] === INFO) this.tail(pen, to, y, height, colour.info);
      pen.globalAlpha = inset ? .6 : .9;
      this.text(pen, op, ...roomFor(labels, from, to), y + height / 2, colour.ink, height - 2 * inset);
    }
    pen.globalAlpha = 1;
  }

  /** What nobody heard the end of fades out. */
  tail(pen, x, y, height, colour) {
    for (let n = 0; n < 4; n++) {
      pen.globalAlpha = .34 - n * .08;
      pen.fillStyle = colour;
      pen.fillRect(x + n * 6, y, 5, height);
    }
  }

  text(pen, op, from, to, y, colour, height) {
    const left = Math.max(from, GUTTER), room = Math.floor((to - left - 8) / LETTER);
    if (room < 3 || height < 11) return;
    pen.fillStyle = colour;
    pen.fillText(cut(told(this.view.data, op), room), left + 5, y);
  }

  /** The operations that prove it are whole and in front. */
  special(pen, op) {
    const { view, colour } = this, { data } = view, { from, to } = barOf(view, op);
    if (from > view.width || to < GUTTER) return;
    const y = view.y(data.lane[op]) + 1, height = view.rowHeight - 2, shade = op === data.first_illegal ? colour.illegal : colour.needed;
    const isRequired = view.proof.get(op).required;
    pen.fillStyle = isRequired ? shade : colour.paper;
    bar(pen, from, y, to - from, height);
    if (isRequired) return;
    pen.setLineDash([5, 3]);
    this.outline(pen, op, shade, 2);
    pen.setLineDash([]);
    this.tail(pen, to + 2, y, height, shade);
    pen.globalAlpha = 1;
  }

  outline(pen, op, colour, width) {
    const { view } = this, from = view.x(view.data.start[op]), to = Math.max(from + 3, view.x(view.end[op]));
    pen.strokeStyle = colour; pen.lineWidth = width;
    pen.strokeRect(from, view.y(view.data.lane[op]) + 2, to - from, view.rowHeight - 4);
  }

  linearization(pen) {
    const { view, colour } = this, { data } = view, ops = view.byOrder;
    let low = 0, high = ops.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (data.point[ops[middle]] < view.left) low = middle + 1; else high = middle;
    }
    let last = low;
    while (last < ops.length && data.point[ops[last]] <= view.right) last++;
    if (last - low > FEW_POINTS) return;
    const shown = ops.slice(Math.max(0, low - 1), last + 1), isNumbered = last - low <= FEW_NUMBERS && view.rowHeight > 34;
    const place = op => [view.x(data.point[op]), view.y(data.lane[op]) + view.rowHeight * .8];
    pen.strokeStyle = colour.ink; pen.fillStyle = colour.ink; pen.lineWidth = 1;
    if (shown.length <= FEW_LINES) {
      pen.globalAlpha = .22;
      pen.beginPath();
      shown.forEach((op, n) => n ? pen.lineTo(...place(op)) : pen.moveTo(...place(op)));
      pen.stroke();
      pen.globalAlpha = 1;
    }
    pen.font = SMALL;
    const nextOn = new Map();  // by row: where the dot after this one is
    for (const op of shown.reverse()) {
      const [x, y] = place(op), number = String(data.order[op] + 1);
      pen.beginPath(); pen.arc(x, y, 2.6, 0, 7); pen.fill();
      if (isNumbered && x + 6 * number.length + 6 < (nextOn.get(y) ?? Infinity)) pen.fillText(number, x + 4, y + 3);
      nextOn.set(y, x);
    }
    pen.font = FONT;
  }

  drawOverview() {
    const { view, colour, overview } = this, pen = overview.getContext("2d");
    const width = overview.clientWidth, height = overview.clientHeight;
    const x = time => GUTTER + time / view.last * (width - GUTTER);
    this.density ??= densities(view, Math.max(1, width - GUTTER));
    pen.globalAlpha = 1; pen.fillStyle = colour.ground; pen.fillRect(0, 0, width, height);
    for (const fault of view.data.faults) {
      pen.globalAlpha = .3; pen.fillStyle = fault.colour;
      const from = Math.max(GUTTER, x(fault.start)), to = x(fault.end ?? view.last);
      if (to > GUTTER) pen.fillRect(from, 0, Math.max(1, to - from), height);
    }
    pen.globalAlpha = .75; pen.fillStyle = colour.soft;
    this.density.forEach((share, n) => pen.fillRect(GUTTER + n, height - 6 - share * (height - 12), 1, share * (height - 12)));
    pen.globalAlpha = 1; pen.fillStyle = colour.needed;
    for (const [start, end] of view.data.counted.windows) pen.fillRect(Math.max(GUTTER, x(start)), height - 3, Math.max(1, x(end) - x(start)), 3);
    for (const op of view.proof.keys()) {
      pen.fillStyle = op === view.data.first_illegal ? colour.illegal : colour.needed;
      pen.fillRect(x(view.data.start[op]) - 1, 2, 3, height - 4);
    }
    pen.strokeStyle = colour.needed; pen.lineWidth = 2;
    const from = Math.max(GUTTER, x(view.left)), to = Math.min(width - 1, x(view.right));
    pen.strokeRect(from, 1, Math.max(4, to - from), height - 2);
    pen.font = FONT; pen.fillStyle = colour.soft; pen.textAlign = "right"; pen.textBaseline = "middle";
    pen.fillText("whole history", GUTTER - 6, height / 2, GUTTER - 8);
  }
}

function bar(pen, x, y, width, height) {
  if (width < 3 * ROUND) { pen.fillRect(x, y, width, height); return; }
  pen.beginPath(); pen.roundRect(x, y, width, height, ROUND); pen.fill();
}

function densities(view, columns) {
  const counts = new Float64Array(columns);
  for (const start of view.data.start) counts[Math.min(columns - 1, Math.floor(start / view.last * columns))]++;
  const most = counts.reduce((a, b) => Math.max(a, b), 1);
  return Array.from(counts, one => Math.sqrt(one / most));
}

function cut(text, room) { return text.length <= room ? text : room < 3 ? "" : `${text.slice(0, room - 1)}…`; }

function told(data, op) {
  const said = data.said[op];
  return [data.f[op], data.asked[op], said && said !== data.asked[op] ? `→ ${said}` : ""].filter(Boolean).join(" ");
}
