// The part of the history that is on the screen: time to pixels and back, rows, what lies where.
// It draws nothing and listens to nothing.
const GUTTER = 96, AXIS = 26, STRIP = 13, CLOSEST = 12, TALLEST = 64;

class View {
  constructor(data) {
    this.data = data;
    this.lanes = data.lanes.map(() => []);
    data.start.forEach((_, op) => this.lanes[data.lane[op]].push(op));
    this.end = data.start.map((start, op) => Math.max(start, data.end[op] ?? start));
    this.last = Math.max(1, maximum(this.end));
    this.byOrder = data.order.map((_, op) => op).filter(op => data.order[op] >= 0)
      .sort((a, b) => data.order[a] - data.order[b]);
    this.faultLanes = [...new Set(data.faults.map(fault => fault.kind))];
    this.proof = new Map(data.proof.map(one => [one.operation, one]));
    this.counted = new Map([...data.counted.inside.map(op => [op, "needed"]), ...data.counted.touching.map(op => [op, "ink"])]);
    this.width = this.height = 1;
    this.left = 0; this.span = this.last; this.top = 0;
  }

  resize(width, height) { this.width = width; this.height = height; this.keepRows(); }

  /** Where the strip of the windows in which operations were counted lies, under those of the faults. */
  get countedTop() { return AXIS + this.faultLanes.length * STRIP; }
  get plotTop() { return this.countedTop + (this.data.counted.windows.length ? STRIP : 0) + 4; }
  get tallest() { return Math.max(180, this.plotTop + this.lanes.length * TALLEST + 6); }
  get plotWidth() { return Math.max(1, this.width - GUTTER); }
  get rowHeight() {
    const room = (this.height - this.plotTop) / this.lanes.length;
    return Math.min(TALLEST, Math.max(CLOSEST, room));
  }
  get right() { return this.left + this.span; }
  x(time) { return GUTTER + (time - this.left) / this.span * this.plotWidth; }
  time(x) { return this.left + (x - GUTTER) / this.plotWidth * this.span; }
  y(lane) { return this.plotTop + lane * this.rowHeight - this.top; }
  lane(y) { return Math.floor((y - this.plotTop + this.top) / this.rowHeight); }

  show(left, span) {
    this.span = Math.min(this.last * 1.1, Math.max(this.data.unit === "ns" ? 50 : .5, span));
    const slack = this.span * .45;
    this.left = Math.min(this.last - this.span + slack, Math.max(-slack, left));
  }
  zoom(factor, x) {
    const at = this.time(x), span = this.span * factor;
    this.show(at - (x - GUTTER) / this.plotWidth * Math.min(span, this.last * 1.1), span);
  }
  move(dx, dy) { this.show(this.left - dx / this.plotWidth * this.span, this.span); this.top -= dy; this.keepRows(); }
  keepRows() {
    const most = this.lanes.length * this.rowHeight - (this.height - this.plotTop);
    this.top = Math.max(0, Math.min(most, this.top));
  }

  middle(op) { return (this.data.start[op] + this.end[op]) / 2; }

  /** Where to look to see one operation, as wide as asked for. */
  around(op, span) {
    const row = this.data.lane[op] * this.rowHeight;
    return { left: this.middle(op) - span / 2, span, top: row - (this.height - this.plotTop) / 2 };
  }

  /** The offending operation in the middle, and all that proves it, unless that lies too far off. */
  offending() {
    const first = this.data.first_illegal, at = this.middle(first);
    let reach = 6 * (this.end[first] - this.data.start[first]);
    for (const op of this.proof.keys()) {
      reach = Math.max(reach, at - this.data.start[op], Math.min(this.end[op], 2 * at) - at);
    }
    const some = this.last * Math.min(1, 300 / this.data.start.length);
    const seen = this.around(first, Math.max(2.4 * Math.min(reach, some), this.data.unit === "ns" ? 1000 : 10));
    return { ...seen, left: Math.max(seen.left, -.03 * seen.span) };  // there is nothing before the first
  }

  /** The first operation of a row that ends at a time or later. */
  firstAt(lane, time) {
    const row = this.lanes[lane];
    let low = 0, high = row.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.end[row[middle]] < time) low = middle + 1; else high = middle;
    }
    return low;
  }

  /** The operation under a point, with some room beside those that are narrow. */
  operationAt(x, y) {
    const lane = this.lane(y);
    if (x < GUTTER || y < this.plotTop || !(lane in this.lanes)) return null;
    const row = this.lanes[lane], room = 4 / this.plotWidth * this.span, time = this.time(x);
    let found = null, nearest = Infinity;
    for (let n = this.firstAt(lane, time - room); n < row.length; n++) {
      const op = row[n], start = this.data.start[op];
      if (start > time + room) break;
      const off = start > time ? start - time : Math.max(0, time - this.end[op]);
      if (off < nearest) { found = op; nearest = off; }
    }
    return found;
  }

  isInCounted(x, y) {
    const time = this.time(x);
    return x >= GUTTER && this.countedTop <= y && y < this.plotTop
      && this.data.counted.windows.some(([start, end]) => start <= time && time <= end);
  }

  faultAt(x, y) {
    const lane = Math.floor((y - AXIS) / STRIP), time = this.time(x);
    if (x < GUTTER || lane < 0 || lane >= this.faultLanes.length) return null;
    const kind = this.faultLanes[lane], room = 3 / this.plotWidth * this.span;
    return this.data.faults.find(one =>
      one.kind === kind && one.start - room <= time && time <= (one.end ?? this.last) + room) ?? null;
  }
}

function maximum(values) { return values.reduce((most, one) => one > most ? one : most, 0); }

function timeText(time, unit, span) {
  if (unit !== "ns") return `event ${Math.round(time)}`;
  const [scale, name] = span > 4e9 ? [1e9, "s"] : span > 4e6 ? [1e6, "ms"] : span > 4e3 ? [1e3, "µs"] : [1, "ns"];
  return `${+(time / scale).toPrecision(Math.max(3, Math.ceil(Math.log10(Math.abs(time) / span + 1)) + 3))} ${name}`;
}
