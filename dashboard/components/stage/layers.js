// The layers of a panel. Each knows its state (what moves), and builds elements that it updates.

const MOST_CIRCLES = 1500; // more points are drawn on the canvas
const TINY = 6; // pixels; smaller cells touch each other

function colorsOf(layer, state, n) {
  const colors = state > 0 && layer.color_after != null ? layer.color_after : layer.color;
  return Array.isArray(colors) ? colors : Array(n).fill(colors);
}

const LAYERS = {
  points: {
    staggered: true,
    state: (layer, k) => ({
      x: layer.x[k],
      y: layer.y[k],
      opacity: layer.opacity[k],
      color: colorsOf(layer, k, layer.x[k].length),
    }),
    build: (layer, plot) =>
      layer.x[0].length > MOST_CIRCLES ? paintPoints(layer, plot) : buildPoints(layer, plot),
  },
  bars: {
    state: (layer, k) => ({ height: layer.height[k], opacity: layer.opacity[k] }),
    build: buildBars,
  },
  line: {
    state: (layer, k) => ({ x: layer.x[k], y: layer.y[k], opacity: layer.opacity[k] }),
    build: buildLine,
  },
  mark: {
    state: (layer, k) => ({
      value: layer.value[k],
      words: layer.words[k],
      opacity: layer.opacity[k],
    }),
    build: buildMark,
  },
  intervals: {
    staggered: true,
    state: (layer, k) => ({
      low: layer.low[k],
      center: layer.center[k],
      high: layer.high[k],
      opacity: layer.opacity[k],
      color: colorsOf(layer, k, layer.low[k].length),
    }),
    build: buildIntervals,
  },
  cells: {
    staggered: true,
    state: (layer, k) => ({
      row: layer.place ? layer.place[k] : layer.color[k].map((_, row) => row),
      column: layer.column_place ? layer.column_place[k] : layer.columns.map((_, column) => column),
      color: layer.color[k].flat(),
    }),
    build: buildCells,
  },
};

function buildPoints(layer, plot) {
  const group = plot.clippedGroup();
  const dots = layer.x[0].map(() => add(group, "circle", { r: layer.radius }));
  return ({ x, y, opacity, color }) =>
    dots.forEach((dot, k) =>
      set(dot, {
        class: `dot ${color[k]}`,
        cx: pixels(plot.x(x[k])),
        cy: pixels(plot.y(y[k])),
        opacity: pixels(opacity[k]),
      }),
    );
}

function paintPoints(layer, plot) {
  const { paper } = plot;
  const reach = layer.radius + 1;
  return ({ x, y, opacity, color }) => {
    const { context } = paper;
    context.save();
    context.beginPath();
    context.rect(plot.left, plot.top, plot.right - plot.left, plot.bottom - plot.top);
    context.clip();
    for (let k = 0; k < x.length; k++) {
      context.globalAlpha = opacity[k];
      const dot = paper.dotOf(color[k], layer.radius);
      context.drawImage(dot, plot.x(x[k]) - reach, plot.y(y[k]) - reach, 2 * reach, 2 * reach);
    }
    context.restore();
  };
}

function buildBars(layer, plot) {
  const group = plot.clippedGroup();
  const zero = clamp(plot.y(0), plot.top, plot.bottom);
  const colors = colorsOf(layer, 0, layer.left.length);
  const bars = layer.left.map((left, k) => {
    const [begin, end] = [plot.x(left), plot.x(layer.right[k])];
    const gap = end - begin > 6 ? 1 : 0;
    const width = Math.max(0.5, end - begin - gap);
    return add(group, "rect", {
      class: `bar ${colors[k]}`,
      x: pixels(begin + gap / 2),
      width: pixels(width),
    });
  });
  return ({ height, opacity }) => {
    set(group, { opacity: pixels(opacity) });
    bars.forEach((bar, k) => {
      const end = plot.y(height[k]);
      set(bar, { y: pixels(Math.min(zero, end)), height: pixels(Math.abs(zero - end)) });
    });
  };
}

function buildLine(layer, plot) {
  const curve = add(plot.clippedGroup(), "path", {
    class: `curve ${layer.color} ${layer.dashed ? "dashed" : ""}`,
    "stroke-width": layer.width,
  });
  return ({ x, y, opacity }) => {
    const places = x.map((value, k) => `${pixels(plot.x(value))} ${pixels(plot.y(y[k]))}`);
    set(curve, { d: `M${places.join("L")}`, opacity: pixels(opacity) });
  };
}

/** A line across the panel; the panel places its words, since those of all marks must fit. */
function buildMark(layer, plot) {
  const line = add(plot.group, "line", {
    class: `mark ${layer.color} ${layer.dashed ? "dashed" : ""}`,
  });
  const label = plot.labels.get(layer);
  return ({ value, words, opacity }) => {
    set(line, { opacity: pixels(opacity) });
    if (layer.axis === "x") {
      const place = clamp(plot.x(value), plot.left, plot.right);
      const top = label ? label.placeX(place, words, opacity) : plot.top;
      set(line, { x1: pixels(place), x2: pixels(place), y1: pixels(top), y2: plot.bottom });
    } else {
      const place = clamp(plot.y(value), plot.top, plot.bottom);
      set(line, { x1: plot.left, x2: plot.right, y1: pixels(place), y2: pixels(place) });
      label?.placeY(place, words, opacity);
    }
  };
}

function buildIntervals(layer, plot) {
  const group = plot.clippedGroup();
  const places = layer.place.map((place) => plot.y(place));
  const apart = Math.abs(plot.bottom - plot.top) / Math.max(1, places.length);
  const width = clamp(apart * 0.3, 1, 3);
  const elements = places.map((place) => {
    const interval = add(group, "g");
    const y = pixels(place);
    return {
      interval,
      line: add(interval, "line", { y1: y, y2: y, "stroke-width": width }),
      center: add(interval, "circle", { cy: y, r: clamp(apart * 0.5, 1.5, 4) }),
    };
  });
  return ({ low, center, high, opacity, color }) =>
    elements.forEach((element, k) => {
      set(element.interval, { class: `interval ${color[k]}`, opacity: pixels(opacity[k]) });
      set(element.line, { x1: pixels(plot.x(low[k])), x2: pixels(plot.x(high[k])) });
      set(element.center, { cx: pixels(plot.x(center[k])) });
    });
}

function buildCells(layer, plot) {
  const { grid } = plot;
  const names = layer.columns.map((name) => addColumnName(plot, name));
  const rows = (layer.row_words ?? []).map((words) =>
    addText(plot.group, plot.ruler.shortened(words, grid.left - plot.left - 6), {
      x: pixels(grid.left - 6),
      "text-anchor": "end",
    }),
  );
  const cells = layer.color[0].flatMap((colors, row) =>
    colors.map((_, column) => addCell(plot, layer.words?.[row][column])),
  );
  const nColumns = layer.columns.length;
  const kind = `cell ${layer.words ? "worded" : ""} ${grid.height < TINY ? "tiny" : ""}`;
  return ({ row, column, color }) => {
    const x = column.map((place) => pixels(grid.left + place * grid.width));
    const y = row.map((place) => pixels(grid.top + place * grid.height));
    names.forEach((name, k) => {
      const middle = pixels(x[k] + grid.width / 2);
      set(name, { transform: `translate(${middle} ${pixels(grid.top - 6)})` });
    });
    rows.forEach((words, k) => set(words, { y: pixels(y[k] + grid.height / 2 + 4) }));
    cells.forEach((cell, k) =>
      set(cell, {
        class: `${kind} ${color[k]}`,
        transform: `translate(${x[k % nColumns]} ${y[Math.floor(k / nColumns)]})`,
      }),
    );
  };
}

function addColumnName({ group, grid, ruler }, name) {
  const holder = add(group, "g");
  if (grid.upright) {
    const shown = ruler.shortened(name, grid.nameHeight - 8);
    addText(holder, shown, { transform: "rotate(-90)", dy: 4 });
  } else {
    const lines = ruler.wrapped(name, grid.width - 4);
    const y = (1 - lines.length) * NAME.line;
    addLines(holder, lines, { y, lineHeight: NAME.line, "text-anchor": "middle" });
  }
  return holder;
}

function addCell({ group, grid, ruler }, words) {
  const cell = add(group, "g");
  const gap = Math.min(grid.width, grid.height) < TINY ? 0 : 1;
  add(cell, "rect", {
    width: pixels(grid.width - gap),
    height: pixels(grid.height - gap),
    rx: gap && 2,
  });
  if (words) {
    const [x, y] = [pixels(grid.width / 2), pixels(grid.height / 2 + 4)];
    addText(cell, ruler.shortened(words, grid.width - 4), { x, y, "text-anchor": "middle" });
  }
  return cell;
}
