// A panel: first planned (what needs how much room), then built.

const LINE = 16; // pixels from one line of text to the next
const TITLE = { size: 14, weight: 600, line: 19 };
const WORDS = { size: 12, weight: 600 };
const RIGHT = 14; // pixels beside the plot, for half of the last value on the axis
const GAP = 28; // pixels between panels
const NARROW = 560; // pixels; panels of a narrower stage stand below each other
const CELL = { widest: 130, tallest: 30, worded: 17 }; // pixels
const NAME = { lines: 2, line: 14, longest: 100 }; // names of columns: pixels, but for their lines

let clips = 0; // every panel needs a name of its own for its clip path

/** Plan the panels beside each other, or below each other in a narrow window. */
function planPanels(panels, width, height, ruler) {
  const below = width < NARROW && panels.length > 1;
  const nColumns = below ? 1 : panels.length;
  const each = (width - GAP * (nColumns - 1)) / nColumns;
  const plans = panels.map((panel, k) => {
    const left = below ? 0 : k * (each + GAP);
    return planPanel(panel, { left, top: 0, width: each, height: below ? 0.8 * height : height }, ruler);
  });
  let top = 0;
  for (const row of below ? plans.map((plan) => [plan]) : [plans]) {
    // Plots beside each other begin and end at the same height.
    const header = Math.max(...row.map((plan) => plan.header));
    const tallest = Math.max(...row.map((plan) => plan.box.height));
    row.forEach((plan) => Object.assign(plan, { header, box: { ...plan.box, top, height: tallest } }));
    top += tallest + GAP;
  }
  return { plans, height: top - GAP };
}

function planPanel(panel, box, ruler) {
  const plan = { panel, box, ruler, left: box.left, right: box.left + box.width };
  plan.title = panel.title ? ruler.wrapped(panel.title, box.width, TITLE) : [];
  plan.legend = planLegend(panel.layers, box.width, ruler);
  plan.header = plan.title.length * TITLE.line + plan.legend.height;
  plan.footer = 4;
  if (panel.x && panel.y) planAxes(plan);
  else planCells(plan);
  return plan;
}

function planLegend(layers, width, ruler) {
  const entries = [];
  let [x, row] = [0, 0];
  layers.forEach((layer, index) => {
    if (!layer.label) return;
    const room = 20 + ruler.width(layer.label) + 16;
    if (x > 0 && x + room - 16 > width) [x, row] = [0, row + 1];
    entries.push({ layer, index, x, row });
    x += room;
  });
  return { entries, height: entries.length ? (row + 1) * (LINE + 2) + 4 : 0 };
}

function planAxes(plan) {
  const { panel, box, ruler } = plan;
  plan.yTicks = ticksOf(panel.y, (box.height - plan.header - 70) / 34);
  const widest = Math.max(0, ...plan.yTicks.map(({ words }) => ruler.width(words)));
  const column = Math.min(widest, 0.4 * box.width);
  plan.yTicks.forEach((tick) => (tick.lines = ruler.wrapped(tick.words, column)));
  plan.left = box.left + column + 10;
  plan.right = box.left + box.width - RIGHT;
  plan.x = scaleOf(panel.x, plan.left, plan.right);

  plan.xTicks = ticksOf(panel.x, Math.min(10, (plan.right - plan.left) / 70));
  const places = plan.xTicks.map(({ value }) => plan.x(value));
  const apart = Math.min(...places.slice(1).map((place, k) => place - places[k]), plan.right - plan.left);
  plan.xTicks.forEach((tick) => (tick.lines = ruler.wrapped(tick.words, apart - 6)));
  const tickLines = Math.max(0, ...plan.xTicks.map(({ lines }) => lines.length));
  plan.xLabel = panel.x.label ? ruler.wrapped(panel.x.label, box.width) : [];
  plan.yLabel = panel.y.label ? ruler.wrapped(panel.y.label, box.width) : [];
  plan.footer = (tickLines + plan.xLabel.length) * LINE + 8;

  plan.flags = planFlags(plan);
  const rows = Math.max(plan.yLabel.length, ...[...plan.flags.values()].map((row) => row + 1));
  plan.header += rows * LINE + 8;
}

/** The grid of a table's cells: as large as the panel allows, and no larger than it reads well. */
function planCells(plan) {
  const { panel, box, ruler } = plan;
  const [layer] = panel.layers;
  const most = (places, n) => (places ? Math.max(...places.flat()) + 1 : n);
  const nRows = most(layer.place, layer.color[0].length);
  const nColumns = most(layer.column_place, layer.columns.length);
  const rowWords = Math.max(0, ...(layer.row_words ?? []).map((words) => ruler.width(words) + 8));
  const gutter = Math.min(rowWords, 0.4 * box.width);
  const width = Math.min(CELL.widest, (box.width - gutter) / nColumns);

  const names = layer.columns.map((name) => ruler.wrapped(name, width - 4));
  const nLines = Math.max(...names.map((lines) => lines.length));
  const fit = nLines <= NAME.lines && names.flat().every((line) => ruler.width(line) <= width - 2);
  const longest = Math.max(...layer.columns.map((name) => ruler.width(name)));
  const nameHeight = fit ? nLines * NAME.line + 6 : Math.min(NAME.longest, longest) + 8;

  const margins = plan.header + nameHeight + plan.footer;
  const shortest = layer.words ? CELL.worded : 0;
  const height = clamp((box.height - margins) / nRows, shortest, CELL.tallest);
  plan.grid = { left: box.left + gutter, width, height, upright: !fit, nameHeight };
  box.height = margins + nRows * height;
}

/**
 * The row above the plot for the words of each vertical mark. In no state do they overlap each
 * other, or the label of the vertical axis, which stands in the lowest rows.
 */
function planFlags({ panel, box, x, yLabel, ruler }) {
  const marks = panel.layers.filter(({ kind, axis, words }) => kind === "mark" && axis === "x" && words.some(Boolean));
  const spans = new Map(
    marks.map((mark) => [
      mark,
      mark.words.map((words, k) => {
        const width = ruler.width(words, WORDS);
        const begin = flagPlace(x(mark.value[k]), width, box);
        return { begin, end: begin + width, seen: words !== "" && mark.opacity[k] > 0 };
      }),
    ]),
  );
  const collide = (one, other) =>
    spans.get(one).some((a, k) => {
      const b = spans.get(other)[k];
      return a.seen && b.seen && a.begin < b.end + 8 && b.begin < a.end + 8;
    });
  const labelEnd = box.left + Math.max(0, ...yLabel.map((line) => ruler.width(line))) + 8;
  const meetsLabel = (mark) => spans.get(mark).some(({ begin, seen }) => seen && begin < labelEnd);
  const rows = new Map();
  // From the right: then no line on its way up runs through the words of another one.
  const last = (mark) => mark.value.at(-1);
  for (const mark of marks.toSorted((a, b) => last(b) - last(a))) {
    let row = meetsLabel(mark) ? yLabel.length : 0;
    while ([...rows].some(([other, taken]) => taken === row && collide(mark, other))) row++;
    rows.set(mark, row);
  }
  return rows;
}

/** Where words to the right of a vertical line begin, kept within the panel. */
function flagPlace(line, width, box) {
  return clamp(line + 5, box.left, Math.max(box.left, box.left + box.width - width - 2));
}

/** Draw what never changes, and return the function that draws the rest. */
function buildPanel(plan, svg, paper) {
  const { panel, box, ruler, header } = plan;
  const group = add(svg, "g", { class: "panel" });
  const top = box.top + header;
  const plot = {
    group,
    ruler,
    paper,
    left: plan.left,
    right: plan.right,
    top,
    bottom: box.top + box.height - plan.footer,
    labels: new Map(),
  };
  addLines(group, plan.title, { class: "title", x: box.left, y: box.top + 14, lineHeight: TITLE.line });
  const updateLegend = buildLegend(plan, group);
  if (panel.x && panel.y) buildAxes(plan, plot);
  else plot.grid = { ...plan.grid, top: top + plan.grid.nameHeight };
  const updateLayers = panel.layers.map((layer) => LAYERS[layer.kind].build(layer, plot));
  const levels = [...plot.labels.values()].filter((label) => label.wanted !== undefined);
  // Words lie above all lines.
  for (const { element } of plot.labels.values()) group.append(element);
  return (states) => {
    states.forEach((state, k) => updateLayers[k](state));
    dodge(levels, plot);
    updateLegend(states);
  };
}

function buildLegend({ legend, title, box }, group) {
  const entries = legend.entries.map(({ layer, index, x, row }) => {
    const entry = add(group, "g");
    const [left, middle] = [box.left + x, box.top + title.length * TITLE.line + row * (LINE + 2) + 9];
    addSample(entry, layer, left, middle);
    addText(entry, layer.label, { x: pixels(left + 20), y: middle + 4 });
    return { entry, index, color: colorsOf(layer, 0, 1)[0] };
  });
  // What is not to be seen yet has no name either: that would give the solution away.
  return (states) =>
    entries.forEach(({ entry, index, color }) => {
      const seen = [states[index].opacity].flat().some((opacity) => opacity > 0.02);
      const shown = states[index].color ? mostCommon(states[index].color) : color;
      set(entry, { class: `legend ${shown}`, opacity: seen ? 1 : 0 });
    });
}

function mostCommon(colors) {
  const counts = new Map();
  for (const color of colors) counts.set(color, (counts.get(color) ?? 0) + 1);
  return [...counts].reduce((most, entry) => (entry[1] > most[1] ? entry : most))[0];
}

function addSample(entry, layer, left, middle) {
  if (layer.kind === "points") {
    add(entry, "circle", { class: "dot", cx: pixels(left + 7), cy: middle, r: 4.5 });
  } else if (layer.kind === "bars") {
    const square = { x: left + 2, y: middle - 5, width: 11, height: 11, rx: 2 };
    add(entry, "rect", { class: "bar", ...square, opacity: 0.8 });
  } else {
    const line = { x1: left, x2: left + 15, y1: middle, y2: middle, "stroke-width": 3 };
    add(entry, "line", { class: layer.dashed ? "sample dashed" : "sample", ...line });
  }
}

function buildAxes(plan, plot) {
  const { panel, box, x, ruler } = plan;
  const { group, left, right, top, bottom } = plot;
  const y = scaleOf(panel.y, bottom, top);
  const clip = `stage-clip-${++clips}`;
  const frame = { x: left, y: top, width: pixels(right - left), height: pixels(bottom - top) };
  add(group, "rect", { class: "frame", ...frame });
  // Dots on the edge are not cut.
  const room = { x: left - 5, y: top - 5, width: right - left + 10, height: bottom - top + 10 };
  add(add(group, "clipPath", { id: clip }), "rect", room);
  Object.assign(plot, { x, y, clippedGroup: () => add(group, "g", { "clip-path": `url(#${clip})` }) });

  const labelBase = top - 8 - (plan.yLabel.length - 1) * LINE;
  addLines(group, plan.yLabel, { x: box.left, y: labelBase, lineHeight: LINE });
  for (const { value, lines } of plan.yTicks) {
    const place = pixels(y(value));
    add(group, "line", { class: "grid", x1: left, x2: right, y1: place, y2: place });
    const first = place + 4 - ((lines.length - 1) * (LINE - 3)) / 2;
    addLines(group, lines, { x: pixels(left - 8), y: first, lineHeight: LINE - 3, "text-anchor": "end" });
  }
  let free = -Infinity; // where the words of the next value may begin
  for (const { value, lines } of plan.xTicks) {
    const place = pixels(x(value));
    add(group, "line", { class: "grid", x1: place, x2: place, y1: top, y2: bottom });
    const half = Math.max(...lines.map((line) => ruler.width(line))) / 2;
    const middle = clamp(place, box.left + half, box.left + box.width - half);
    if (middle - half < free) continue;
    free = middle + half + 4;
    addLines(group, lines, { x: pixels(middle), y: bottom + LINE, lineHeight: LINE, "text-anchor": "middle" });
  }
  add(group, "line", { class: "base", x1: left, x2: right, y1: bottom, y2: bottom });
  const lastLine = box.top + box.height - 4 - (plan.xLabel.length - 1) * LINE;
  addLines(group, plan.xLabel, {
    x: pixels((left + right) / 2),
    y: lastLine,
    lineHeight: LINE,
    "text-anchor": "middle",
  });

  for (const layer of panel.layers) {
    if (layer.kind !== "mark" || !layer.words.some(Boolean)) continue;
    const element = addText(group, "", { class: `words ${layer.color}` });
    plot.labels.set(
      layer,
      layer.axis === "x" ? flag(element, plan, top - plan.flags.get(layer) * LINE) : level(element, plan),
    );
  }
}

/** The words of a vertical mark, in their row above the plot. */
function flag(element, { box, ruler }, bottom) {
  return {
    element,
    bottom: bottom - LINE - 1,
    placeX(line, words, opacity) {
      if (element.textContent !== words) element.textContent = words;
      const left = flagPlace(line, ruler.width(words, WORDS), box);
      set(element, { x: pixels(left), y: bottom - 8, opacity: pixels(opacity) });
    },
  };
}

/** The words of a horizontal mark, at the right end above their line. */
function level(element, { right }) {
  set(element, { x: right - 4, "text-anchor": "end" });
  return {
    element,
    wanted: 0,
    placeY(line, words, opacity) {
      if (element.textContent !== words) element.textContent = words;
      set(element, { opacity: pixels(opacity) });
      this.wanted = line - 5;
      this.seen = opacity > 0 && words !== "";
    },
  };
}

/** Put words of horizontal marks as near to their lines as their neighbors and the frame allow. */
function dodge(levels, { top, bottom }) {
  const seen = levels.filter((label) => label.seen).sort((a, b) => a.wanted - b.wanted);
  let free = top + LINE - 4;
  for (const label of seen) {
    label.base = Math.max(label.wanted, free);
    free = label.base + LINE;
  }
  free = bottom - 4;
  for (const label of seen.reverse()) {
    label.base = Math.min(label.base, free);
    free = label.base - LINE;
    set(label.element, { y: pixels(label.base) });
  }
}
