// A panel: first planned (what needs how much room), then built.

const LEGEND_LINE = LINE + 2;
const TITLE = { size: 14, weight: 600, line: 19 };
const WORDS = { size: 12, weight: 600 };
const RIGHT = 14; // pixels beside the plot, for half of the last value on the axis
const GAP = 28; // pixels between panels
const NARROW = 560; // pixels; panels of a narrower stage stand below each other
const SHARE_BELOW = 0.8; // of the height that each of them has there
const CELL = { widest: 130, tallest: 30, worded: 17 }; // pixels
const NAME = { lines: 2, line: 14, longest: 100 }; // names of columns: pixels, but for their lines

let clips = 0; // every panel needs a name of its own for its clip path

/** Plan the panels beside each other, or below each other in a narrow window. */
function planPanels(panels, width, height, ruler) {
  const below = width < NARROW && panels.length > 1;
  const nColumns = below ? 1 : panels.length;
  const each = (width - GAP * (nColumns - 1)) / nColumns;
  const plans = panels.map((panel, k) => {
    const box = { left: below ? 0 : k * (each + GAP), top: 0, width: each, height };
    if (below) box.height *= SHARE_BELOW;
    return planPanel(panel, box, ruler);
  });
  let top = 0;
  for (const row of below ? plans.map((plan) => [plan]) : [plans]) {
    // Plots beside each other begin and end at the same height.
    const header = Math.max(...row.map((plan) => plan.header));
    const tallest = Math.max(...row.map((plan) => plan.box.height));
    for (const plan of row) {
      plan.header = header;
      Object.assign(plan.box, { top, height: tallest });
    }
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
  const entries = layers.flatMap((layer, index) =>
    layer.label ? [{ layer, index, width: 20 + ruler.width(layer.label) }] : [],
  );
  const nRows = Math.max(0, ...legendPlaces(entries, width).map(({ row }) => row + 1));
  return { entries, height: nRows ? nRows * LEGEND_LINE + 4 : 0 };
}

function legendPlaces(entries, widest) {
  let [x, row] = [0, 0];
  return entries.map(({ width }) => {
    if (x > 0 && x + width > widest) [x, row] = [0, row + 1];
    const place = { x, row };
    x += width + 16;
    return place;
  });
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
  const gaps = places.slice(1).map((place, k) => place - places[k]);
  const apart = Math.min(...gaps, plan.right - plan.left);
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
  const marks = wordedMarks(panel).filter(({ axis }) => axis === "x");
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

function wordedMarks({ layers }) {
  return layers.filter(({ kind, words }) => kind === "mark" && words.some(Boolean));
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
  const title = { class: "title", x: box.left, y: box.top + 14, lineHeight: TITLE.line };
  addLines(group, plan.title, title);
  const updateLegend = buildLegend(plan, group);
  if (panel.x && panel.y) buildAxes(plan, plot);
  else plot.grid = { ...plan.grid, top: top + plan.grid.nameHeight };
  const updateLayers = panel.layers.map((layer) => LAYERS[layer.kind].build(layer, plot));
  const levels = [...plot.labels.values()].filter((label) => label.wanted !== undefined);
  // Words lie above all lines.
  group.append(...group.querySelectorAll(".name, .words"));
  return (states) => {
    states.forEach((state, k) => updateLayers[k](state));
    dodge(levels, plot);
    updateLegend(states);
  };
}

function buildLegend({ legend, title, box }, group) {
  const entries = legend.entries.map(({ layer, index, width }) => {
    const element = add(group, "g", { class: "legend" });
    addSample(element, layer);
    addText(element, layer.label, { x: 20, y: 4 });
    return { element, index, width, color: colorsOf(layer, 0, 1)[0] };
  });
  const top = box.top + title.length * TITLE.line + 9;
  // What is not to be seen yet has no name either: that would give the solution away.
  return (states) => {
    const isSeen = ({ index }) => [states[index].opacity].flat().some((opacity) => opacity > 0.02);
    const seen = entries.filter(isSeen);
    const places = legendPlaces(seen, box.width);
    seen.forEach(({ element, index, color }, k) => {
      const { x, row } = places[k];
      element.style.transform = `translate(${box.left + x}px, ${top + row * LEGEND_LINE}px)`;
      const shown = states[index].color ? mostCommon(states[index].color) : color;
      set(element, { class: `legend ${shown}` });
    });
    for (const entry of entries) set(entry.element, { opacity: seen.includes(entry) ? 1 : 0 });
  };
}

function mostCommon(colors) {
  const counts = new Map();
  for (const color of colors) counts.set(color, (counts.get(color) ?? 0) + 1);
  return [...counts].reduce((most, entry) => (entry[1] > most[1] ? entry : most))[0];
}

function addSample(entry, layer) {
  if (layer.kind === "points") {
    add(entry, "circle", { class: "dot", cx: 7, r: 4.5 });
  } else if (layer.kind === "bars") {
    add(entry, "rect", { class: "bar", x: 2, y: -5, width: 11, height: 11, rx: 2, opacity: 0.8 });
  } else {
    const dashed = layer.dashed ? "dashed" : "";
    add(entry, "line", { class: `sample ${dashed}`, x2: 15, "stroke-width": 3 });
  }
}

function buildAxes(plan, plot) {
  const { panel, x } = plan;
  const { group, left, right, top, bottom } = plot;
  const frame = { x: left, y: top, width: pixels(right - left), height: pixels(bottom - top) };
  add(group, "rect", { class: "frame", ...frame });
  const clip = `stage-clip-${++clips}`;
  // Dots on the edge are not cut.
  const room = { x: left - 5, y: top - 5, width: right - left + 10, height: bottom - top + 10 };
  add(add(group, "clipPath", { id: clip }), "rect", room);
  plot.clippedGroup = () => add(group, "g", { "clip-path": `url(#${clip})` });
  plot.x = x;
  plot.y = scaleOf(panel.y, bottom, top);
  buildVerticalAxis(plan, plot);
  buildHorizontalAxis(plan, plot);
  for (const mark of wordedMarks(panel)) {
    const element = addText(group, "", { class: `words ${mark.color}` });
    const label =
      mark.axis === "x"
        ? flag(element, plan, top - plan.flags.get(mark) * LINE)
        : level(element, plan);
    plot.labels.set(mark, label);
  }
}

function buildVerticalAxis({ box, yLabel, yTicks }, { group, left, right, top, y }) {
  const first = top - 8 - (yLabel.length - 1) * LINE;
  addLines(group, yLabel, { class: "name", x: box.left, y: first });
  const lineHeight = LINE - 3;
  for (const { value, lines } of yTicks) {
    const place = pixels(y(value));
    add(group, "line", { class: "grid", x1: left, x2: right, y1: place, y2: place });
    const base = place + 4 - ((lines.length - 1) * lineHeight) / 2;
    const end = { x: pixels(left - 8), "text-anchor": "end" };
    addLines(group, lines, { ...end, y: base, lineHeight });
  }
}

function buildHorizontalAxis({ box, ruler, xLabel, xTicks }, plot) {
  const { group, left, right, top, bottom, x } = plot;
  let free = -Infinity; // where the words of the next value may begin
  for (const { value, lines } of xTicks) {
    const place = pixels(x(value));
    add(group, "line", { class: "grid", x1: place, x2: place, y1: top, y2: bottom });
    const half = Math.max(...lines.map((line) => ruler.width(line))) / 2;
    const middle = clamp(place, box.left + half, box.left + box.width - half);
    if (middle - half < free) continue;
    free = middle + half + 4;
    addLines(group, lines, { x: pixels(middle), y: bottom + LINE, "text-anchor": "middle" });
  }
  add(group, "line", { class: "base", x1: left, x2: right, y1: bottom, y2: bottom });
  const first = box.top + box.height - 4 - (xLabel.length - 1) * LINE;
  addLines(group, xLabel, { x: pixels((left + right) / 2), y: first, "text-anchor": "middle" });
}

/** The words of a vertical mark, in their row above the plot. */
function flag(element, { box, ruler }, bottom) {
  return {
    element,
    /** Place the words beside a line, and return where that may begin. */
    placeX(line, words, opacity) {
      if (element.textContent !== words) element.textContent = words;
      const left = flagPlace(line, ruler.width(words, WORDS), box);
      set(element, { x: pixels(left), y: bottom - 8, opacity: pixels(opacity) });
      return left < line && words ? bottom - 4 : bottom - LINE - 1;
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
