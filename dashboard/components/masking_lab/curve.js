// The curve of a masking function with the columns of a table on it.

const MARGIN = { left: 48, right: 14, top: 12, bottom: 42 };
const NARROW = 380; // pixels; then less is written
const KNOB_RADIUS = 10;
const RING_GAP = 4;
const TICKS = [0, 0.25, 0.5, 0.75, 1];
const MERGED_BELOW = 10; // pixels between points that share a label
const LONGEST_PAIR = 24; // letters of two names in one label
const MOST_LABELS = { wide: 9, narrow: 6 };
const MOST_NAMES = 8;

// Dense at both ends, where the logit turns sharply. Complete columns have a point of their own:
// some functions never mask them.
const CURVE_PLACES = (() => {
  const ends = Array.from({ length: 25 }, (_, i) => 1e-4 * 500 ** (i / 24));
  const inner = Array.from({ length: 91 }, (_, i) => 0.05 + i / 100);
  return [0, ...ends, ...inner, ...ends.map((p) => 1 - p).reverse()];
})();

function svgElement(parent, tag, attributes = {}) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  setAttributes(element, attributes);
  parent.append(element);
  return element;
}

function setAttributes(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
}

/** The columns by p_obs: those with the same one share a point. */
export function groupsOf(pObs) {
  const groups = new Map();
  pObs.forEach((p, column) => groups.set(p, [...(groups.get(p) ?? []), column]));
  return [...groups].map(([p, columns]) => ({ p, columns }));
}

class Curve {
  /**
   * @param frame the element around the figure
   * @param hears what the hand does: grab(handle), drag(handle, height), release(),
   *   choose(column), key(event, parameter)
   */
  constructor(frame, hears) {
    this.hears = hears;
    this.frame = frame;
    this.svg = frame.querySelector("svg");
    this.tip = frame.querySelector(".tip");
    this.ruler = document.createElement("canvas").getContext("2d");
    this.places = new Map();
    this.groups = [];
    const layer = (attributes) => svgElement(this.svg, "g", attributes);
    this.axes = layer({ class: "axes", "aria-hidden": "true" });
    this.uniform = svgElement(this.svg, "line", { class: "uniform" });
    this.line = svgElement(this.svg, "path", { class: "line" });
    this.grip = svgElement(this.svg, "path", { class: "grip" });
    this.labels = layer({ class: "labels", "aria-hidden": "true" });
    this.handles = layer({ class: "handles" });
    this.points = layer({
      class: "points",
      role: "listbox",
      tabindex: "0",
      "aria-label": "Columns on the curve",
    });
    this.#listen();
  }

  // What it shows

  /** Draw the axes anew for a new size; say whether there is room to draw at all. */
  resize() {
    const { width, height } = this.svg.getBoundingClientRect();
    this.width = width;
    this.height = height;
    this.inner = {
      width: width - MARGIN.left - MARGIN.right,
      height: height - MARGIN.top - MARGIN.bottom,
    };
    const style = getComputedStyle(this.svg);
    this.ruler.font = `600 12px ${style.fontFamily}`;
    this.places.clear();
    this.axes.replaceChildren();
    for (const tick of TICKS) {
      const [x, y] = [this.x(tick), this.y(tick)];
      const [left, right, top, bottom] = [this.x(0), this.x(1), this.y(1), this.y(0)];
      svgElement(this.axes, "line", { x1: left, x2: right, y1: y, y2: y });
      svgElement(this.axes, "line", { x1: x, x2: x, y1: top, y2: bottom });
      this.#write(100 * tick + "%", { x, y: bottom + 16, "text-anchor": "middle" });
      this.#write(100 * tick + "%", { x: left - 6, y: y + 4, "text-anchor": "end" });
    }
    const middle = this.y(0.5);
    this.#write("share of rows observed (p_obs)", {
      x: this.x(0.5),
      y: height - 7,
      "text-anchor": "middle",
    });
    this.#write(height < 240 ? "masked (M_j)" : "share of cells masked (M_j)", {
      transform: `translate(12 ${middle}) rotate(-90)`,
      "text-anchor": "middle",
    });
  }

  #write(text, attributes) {
    svgElement(this.axes, "text", attributes).textContent = text;
  }

  x(p) {
    return MARGIN.left + p * this.inner.width;
  }

  y(share) {
    return MARGIN.top + (1 - share) * this.inner.height;
  }

  /** Take the columns to show, by their p_obs. */
  setColumns(pObs, names, labels) {
    Object.assign(this, { names, labelTexts: labels, groups: groupsOf(pObs) });
    this.tip.hidden = true;
    this.points.replaceChildren();
    this.groups.forEach((group, i) => {
      group.radius = 5 + 1.4 * Math.log2(group.columns.length);
      group.element = svgElement(this.points, "g", {
        role: "option",
        id: `point-${i}`,
        "aria-label": this.#namesOf(group).join(", "),
      });
      svgElement(group.element, "circle", { class: "finger" });
      group.ring = svgElement(group.element, "circle", { class: "ring", r: group.radius + RING_GAP });
      svgElement(group.element, "circle", { class: "point", r: group.radius });
    });
  }

  /** Take the handles to show: {parameter, at, label, low, high}. */
  setHandles(handles) {
    const seen = new Set();
    this.handles.replaceChildren();
    this.grabbable = handles.map((handle) => {
      const element = svgElement(this.handles, "g", { class: "handle" });
      svgElement(element, "circle", { class: "finger", r: 18 });
      svgElement(element, "circle", { class: "knob", r: KNOB_RADIUS });
      svgElement(element, "path", { class: "arrows", d: "M-3 -2L0 -5L3 -2M-3 2L0 5L3 2" });
      const hasKeyboard = !seen.has(handle.parameter);
      seen.add(handle.parameter);
      setAttributes(
        element,
        hasKeyboard
          ? {
              role: "slider",
              tabindex: "0",
              "aria-label": `Curve, ${handle.label}`,
              "aria-orientation": "vertical",
              "aria-valuemin": handle.low,
              "aria-valuemax": handle.high,
            }
          : { "aria-hidden": "true" },
      );
      element.onpointerdown = (event) => this.#grab(event, handle);
      element.onkeydown = (event) => this.hears.key(event, handle.parameter);
      return { ...handle, element };
    });
  }

  /** Draw the curve and all that lies on it. */
  draw(probability, values, { uniform, focus }) {
    const line = CURVE_PLACES.map((p) => [this.x(p), this.y(probability(p))]);
    const path = line.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
    this.line.setAttribute("d", path);
    this.grip.setAttribute("d", path);
    const height = this.y(uniform);
    setAttributes(this.uniform, { x1: this.x(0), x2: this.x(1), y1: height, y2: height });
    for (const handle of this.grabbable) {
      Object.assign(handle, { x: this.x(handle.at), y: this.y(probability(handle.at)) });
      setAttributes(handle.element, {
        transform: `translate(${handle.x} ${handle.y})`,
        "aria-valuenow": values[handle.parameter],
      });
    }
    for (const group of this.groups) {
      group.x = this.x(group.p);
      group.y = this.y(probability(group.p));
      group.share = probability(group.p);
      group.hasFocus = group.columns.includes(focus);
      group.element.setAttribute("transform", `translate(${group.x} ${group.y})`);
      group.element.setAttribute("aria-selected", group.hasFocus);
    }
    Object.assign(this, { focus, uniformRate: uniform });
    this.#drawLabels(line);
    const at = this.groups.findIndex((group) => group.hasFocus);
    if (at >= 0) this.points.setAttribute("aria-activedescendant", `point-${at}`);
    if (!this.tip.hidden) this.#showTip(this.tipGroup);
  }

  #drawLabels(line) {
    const clusters = this.#clusters();
    const most = this.width < NARROW ? MOST_LABELS.narrow : MOST_LABELS.wide;
    const labels = clusters.slice(0, most).map((cluster) => {
      const text = this.#labelOf(cluster);
      return { ...cluster, key: text, text, width: this.ruler.measureText(text).width + 2 };
    });
    const knobs = this.grabbable.map(({ x, y }) => ({ x, y, radius: KNOB_RADIUS }));
    const uniform = this.y(this.uniformRate);
    const lines = [...line, ...TICKS.flatMap((p) => [p, p + 0.125].map((q) => [this.x(q), uniform]))];
    const frame = { width: this.width, height: this.y(0) };
    const placed = placeLabels(labels, frame, [...this.groups, ...knobs], lines, this.places);
    while (this.labels.childElementCount < labels.length) {
      const label = svgElement(this.labels, "g");
      svgElement(label, "line");
      svgElement(label, "text");
    }
    [...this.labels.children].forEach((element, i) => {
      const [leader, words] = element.children;
      const place = placed[i];
      element.style.display = place ? "" : "none";
      if (!place) return;
      const { x, y, text, isNeeded } = labels[i];
      const isFar = place.spot.side && place.spot.dy;
      const near = Math.min(Math.max(x, place.left), place.right);
      setAttributes(leader, { x1: x, y1: y, x2: near, y2: place.middle });
      leader.style.display = isFar ? "" : "none";
      setAttributes(words, { x: place.left + 1, y: place.middle + 4 });
      words.classList.toggle("highlighted", isNeeded);
      if (words.textContent !== text) words.textContent = text;
    });
  }

  /** Points that lie on each other share a label; the highlighted one has its own. */
  #clusters() {
    const clusters = [];
    for (const group of [...this.groups].sort((one, other) => one.p - other.p)) {
      const { x, y, columns, hasFocus } = group;
      const radius = group.radius + (hasFocus ? RING_GAP : 0);
      const last = clusters.at(-1);
      const isNear = last && Math.hypot(last.x - x, last.y - y) < MERGED_BELOW;
      if (isNear && !hasFocus && !last.isNeeded) last.columns = [...last.columns, ...columns];
      else clusters.push({ x, y, radius, columns, isNeeded: hasFocus, isComplete: group.p === 1 });
    }
    return clusters.sort(
      (one, other) =>
        other.isNeeded - one.isNeeded ||
        other.isComplete - one.isComplete ||
        other.columns.length - one.columns.length,
    );
  }

  #labelOf({ columns, isNeeded, isComplete }) {
    const others = columns.length - 1;
    const names = columns.slice(0, 2).map((column) => this.labelTexts[column]);
    if (isNeeded) return this.labelTexts[this.focus] + (others ? ` + ${others} more` : "");
    if (others <= 1 && names.join(", ").length <= LONGEST_PAIR) return names.join(", ");
    return `${count(columns.length)} ${isComplete ? "complete " : ""}columns`;
  }

  #namesOf({ columns }) {
    const names = columns.slice(0, MOST_NAMES).map((column) => this.names[column]);
    const rest = columns.length - names.length;
    return [...names, ...(rest ? [`and ${count(rest)} more`] : [])];
  }

  #showTip(group) {
    this.tipGroup = group;
    const shares = `observed in ${percent(group.p)} of rows: ${percent(group.share)} masked`;
    const lines = [...this.#namesOf(group), shares].map((text) =>
      Object.assign(document.createElement("span"), { textContent: text }),
    );
    this.tip.replaceChildren(...lines);
    this.tip.hidden = false;
    const left = group.x > this.width / 2 ? group.x - this.tip.offsetWidth - 14 : group.x + 14;
    const top = Math.min(group.y + 10, this.height - this.tip.offsetHeight);
    this.tip.style.translate = `${Math.max(0, left)}px ${Math.max(0, top)}px`;
  }

  // What the hand does

  #listen() {
    this.grip.onpointerdown = (event) => this.#grab(event, this.#handleNear(event));
    this.svg.onpointermove = (event) => this.#move(event);
    this.svg.onpointerup = this.svg.onpointercancel = () => this.#letGo();
    const groupAt = (event) => this.groups.find(({ element }) => element.contains(event.target));
    const nearest = (event) => this.#nearestPoint(event, groupAt(event));
    this.points.onclick = (event) => nearest(event) && this.#choose(nearest(event));
    this.points.onpointermove = (event) => nearest(event) && this.#showTip(nearest(event));
    this.points.onpointerleave = () => this.#hideTip();
    this.points.onfocus = () => {
      if (!this.points.matches(":focus-visible")) return;
      const group = this.groups.find(({ hasFocus }) => hasFocus);
      if (group) this.#showTip(group);
    };
    this.points.onblur = () => this.#hideTip();
    this.points.onkeydown = (event) => this.#moveAlong(event);
  }

  #hideTip() {
    this.tip.hidden = true;
  }

  /** Where points crowd, the fingers of their areas overlap: the nearest is meant. */
  #nearestPoint(event, hit) {
    if (!hit) return null;
    const [x, y] = this.#placeOf(event);
    const distance = (group) => Math.hypot(group.x - x, group.y - y);
    return this.groups.reduce((best, group) => (distance(group) < distance(best) ? group : best), hit);
  }

  /** A click on the point of several columns goes through them. */
  #choose(group) {
    const at = group.columns.indexOf(this.focus);
    this.hears.choose(group.columns[(at + 1) % group.columns.length]);
  }

  #moveAlong(event) {
    const order = [...this.groups]
      .sort((one, other) => one.p - other.p)
      .flatMap(({ columns }) => columns);
    const at = order.indexOf(this.focus);
    const to = {
      ArrowRight: at + 1,
      ArrowDown: at + 1,
      ArrowLeft: at - 1,
      ArrowUp: at - 1,
      Home: 0,
      End: order.length - 1,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const chosen = order[Math.min(Math.max(to, 0), order.length - 1)];
    this.hears.choose(chosen);
    this.#showTip(this.groups.find(({ columns }) => columns.includes(chosen)));
  }

  #placeOf(event) {
    const { left, top } = this.svg.getBoundingClientRect();
    return [event.clientX - left, event.clientY - top];
  }

  #heightOf(event) {
    return 1 - (this.#placeOf(event)[1] - MARGIN.top) / this.inner.height;
  }

  /** The curve itself can be dragged anywhere: it moves what the nearest handle moves. */
  #handleNear(event) {
    const p = (this.#placeOf(event)[0] - MARGIN.left) / this.inner.width;
    const distance = ({ at }) => Math.abs(at - p);
    const sorted = [...this.grabbable].sort((one, other) => distance(one) - distance(other));
    return sorted[0];
  }

  #grab(event, handle) {
    if (!handle || event.button !== 0) return;
    event.preventDefault();
    // Captured: the hand may leave the figure. The focus goes along, for the keys.
    this.svg.setPointerCapture(event.pointerId);
    const own = this.grabbable.find(({ parameter }) => parameter === handle.parameter);
    own.element.focus({ preventScroll: true, focusVisible: false });
    this.#hideTip();
    this.dragged = { handle, offset: this.hears.grab(handle) - this.#heightOf(event) };
    this.svg.classList.add("dragging");
  }

  #move(event) {
    if (!this.dragged) return;
    this.hears.drag(this.dragged.handle, this.#heightOf(event) + this.dragged.offset);
  }

  #letGo() {
    if (!this.dragged) return;
    this.dragged = null;
    this.svg.classList.remove("dragging");
    this.hears.release();
  }
}
