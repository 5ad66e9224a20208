// What is said on top of the bars: labels beside those that prove it, arrows for what was over
// before what, the windows in which operations were counted.
const LABEL = 18, LONGEST_LABEL = 44, FEWEST_LETTERS = 5, MANY = 8;

/** Where the labels of what proves it go, each whole and none on another: those right of their bar if there is room. */
function labelsOf(view) {
  const { data } = view, taken = view.lanes.map(() => []), found = [];
  const isLow = view.rowHeight < LABEL, reach = Math.ceil(LABEL / view.rowHeight) - 1; // rows that a label covers
  const seen = [...view.proof.keys()].filter(op => barOf(view, op).from <= view.width && barOf(view, op).to >= GUTTER);
  for (const op of seen) taken[data.lane[op]].push(barOf(view, op));
  seen.sort((a, b) => (b === data.first_illegal) - (a === data.first_illegal) || data.start[a] - data.start[b]);
  for (const op of seen) {
    const bar = barOf(view, op), lane = data.lane[op], text = labelText(view, op);
    const own = taken.slice(Math.max(0, lane - reach), lane + reach + 1).flat();
    const wide = text.length * LETTER + 14, left = Math.max(GUTTER, bar.from), right = Math.min(view.width, bar.to);
    const after = Math.min(view.width - 4, ...own.filter(one => one.from > bar.from).map(one => one.from - 4)) - bar.to - 5;
    const before = bar.from - 5 - Math.max(GUTTER + 2, ...own.filter(one => one.from < bar.from).map(one => one.to + 4));
    const isAfter = after >= wide || after >= before, room = Math.min(wide, isAfter ? after : before);
    const letters = lettersIn(room), inside = isLow ? 0 : Math.min(text.length, lettersIn(right - left));
    if (Math.max(letters, inside) < Math.min(FEWEST_LETTERS, text.length)) continue;
    if (inside >= letters) { found.push({ op, text: cut(text, inside), from: left, to: right, isInside: true }); continue; }
    const from = isAfter ? bar.to + 5 : bar.from - 5 - room;
    const label = { op, text: cut(text, letters), from, to: from + room, isInside: false };
    taken[lane].push(label);
    found.push(label);
  }
  return found;
}

function lettersIn(room) { return Math.floor((room - 14) / LETTER + .01); }

/** An operation in words; what of it is needed, if all of it is too long. */
function labelText(view, op) {
  const text = told(view.data, op), { meaning } = view.proof.get(op);
  return text.length > LONGEST_LABEL && meaning ? cut(meaning, LONGEST_LABEL) : cut(text, LONGEST_LABEL);
}

function barOf(view, op) {
  const from = view.x(view.data.start[op]);
  return { from, to: Math.max(from + 3, view.x(view.end[op])) };
}

/** What of a row is free for a text from one place to another, beside the labels in that row. */
function roomFor(labels, from, to) {
  for (const label of labels) {
    if (label.isInside || label.to < from || label.from > to) continue;
    if (label.from - from > to - label.to) to = label.from - 3; else from = label.to + 3;
  }
  return [from, to];
}

function drawLabels(pen, view, colour, labels) {
  for (const { op, text, from, to, isInside } of labels) {
    const isIllegal = op === view.data.first_illegal, shade = isIllegal ? colour.illegal : colour.needed;
    const y = view.y(view.data.lane[op]) + view.rowHeight / 2, isRequired = view.proof.get(op).required;
    pen.font = isIllegal ? `600 ${FONT}` : FONT;
    if (isInside) {
      pen.fillStyle = isRequired ? colour.paper : shade;
    } else {
      pen.fillStyle = colour.paper; pen.strokeStyle = shade; pen.lineWidth = 1;
      pen.beginPath(); pen.roundRect(from, y - LABEL / 2, to - from, LABEL, 5); pen.fill(); pen.stroke();
      pen.fillStyle = shade;
    }
    pen.fillText(text, from + 7, y + .5);
  }
  pen.font = FONT;
}

/** From the end of what was over to the begin of what came after it, among those that prove it. */
function drawArrows(pen, view, colour) {
  const middle = op => view.y(view.data.lane[op]) + view.rowHeight / 2;
  pen.globalAlpha = view.proof.size > MANY ? .35 : .8;
  pen.lineWidth = 1.6; pen.strokeStyle = pen.fillStyle = colour.needed;
  for (const [op, { after }] of view.proof) {
    for (const before of after) {
      const x = barOf(view, before).to, y = middle(before), toX = barOf(view, op).from - 1, toY = middle(op);
      if (toX < GUTTER || x > view.width || toX - x < 6) continue;
      const bend = Math.min(60, (toX - x) / 2), sag = y === toY ? view.rowHeight * .36 : 0;
      pen.beginPath(); pen.moveTo(x, y);
      pen.bezierCurveTo(x + bend, y - sag, toX - bend, toY - sag, toX - 5, toY - sag * 12 / Math.max(12, toX - x)); pen.stroke();
      pen.beginPath(); pen.moveTo(toX, toY); pen.lineTo(toX - 8, toY - 4); pen.lineTo(toX - 8, toY + 4); pen.fill();
    }
  }
  pen.globalAlpha = 1;
}

/** A strip for each window in which operations were counted, with the count. */
function drawWindows(pen, view, colour) {
  const { counted } = view.data;
  for (const [start, end] of counted.windows) {
    const from = Math.max(GUTTER, view.x(start)), to = Math.min(view.width, view.x(end)), middle = view.countedTop + STRIP / 2;
    if (to <= GUTTER || from >= view.width) continue;
    pen.fillStyle = colour.needed;
    pen.fillRect(from, view.countedTop + 1, Math.max(1.5, to - from), STRIP - 2);
    const room = Math.floor((to - from - 8) / LETTER);
    if (room >= 4) { pen.fillStyle = "#fff"; pen.fillText(cut(counted.text, room), from + 4, middle + .5); }
  }
}
