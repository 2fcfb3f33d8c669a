// Elements of SVG, and text that is measured before it is placed.

const SVG = "http://www.w3.org/2000/svg";
const LINE = 16; // pixels from one line of text to the next

function add(parent, name, attributes = {}) {
  const element = document.createElementNS(SVG, name);
  set(element, attributes);
  parent.append(element);
  return element;
}

/** Set what has changed; to touch the rest would make the browser draw it again. */
function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    const text = String(value);
    if (element.getAttribute(name) !== text) element.setAttribute(name, text);
  }
}

function addText(parent, words, attributes) {
  const element = add(parent, "text", attributes);
  element.textContent = words;
  return element;
}

/** Lines of text below each other; y is the base of the first one. */
function addLines(parent, lines, { y, lineHeight = LINE, ...attributes }) {
  lines.forEach((line, k) => {
    addText(parent, line, { ...attributes, y: pixels(y + k * lineHeight) });
  });
}

/** The canvas behind the picture, for more points than the browser can move as elements. */
class Paper {
  constructor(canvas, width, height) {
    Object.assign(this, { canvas, width, height, sharp: window.devicePixelRatio || 1 });
    canvas.width = Math.round(width * this.sharp);
    canvas.height = Math.round(height * this.sharp);
    this.context = canvas.getContext("2d");
    this.context.scale(this.sharp, this.sharp);
    this.dots = new Map();
  }

  clear() {
    this.context.clearRect(0, 0, this.width, this.height);
  }

  forgetDots() {
    this.dots.clear();
  }

  /** A picture of a dot: to copy it thousands of times is quicker than to draw it. */
  dotOf(color, radius) {
    const name = `${color} ${radius}`;
    if (!this.dots.has(name)) this.dots.set(name, this.newDot(color, radius));
    return this.dots.get(name);
  }

  newDot(color, radius) {
    const dot = document.createElement("canvas");
    const middle = (radius + 1) * this.sharp;
    dot.width = dot.height = Math.round(2 * middle);
    const context = dot.getContext("2d");
    const variable = color === "text" ? "--ink" : `--${color}`;
    context.fillStyle = getComputedStyle(this.canvas).getPropertyValue(variable).trim();
    context.arc(middle, middle, radius * this.sharp, 0, 2 * Math.PI);
    context.fill();
    return dot;
  }
}

/** Measures text in the font of an element. */
class Ruler {
  constructor(element) {
    this.family = getComputedStyle(element).fontFamily;
    this.context = document.createElement("canvas").getContext("2d");
  }

  width(text, { size = 12, weight = 400 } = {}) {
    this.context.font = `${weight} ${size}px ${this.family}`;
    return this.context.measureText(text).width;
  }

  /** The lines of a text, no wider than a number of pixels if its words allow: a_name has two. */
  wrapped(text, widest, font) {
    const lines = [""];
    for (const word of text.split(/(?<=[\s_])/)) {
      const longer = lines.at(-1) + word;
      const fits = this.width(longer.trimEnd(), font) <= widest;
      if (lines.at(-1) === "" || fits) lines[lines.length - 1] = longer;
      else lines.push(word);
    }
    return lines.map((line) => line.trimEnd());
  }

  /** As much of a text as fits, with an ellipsis if that is not all. */
  shortened(text, widest, font) {
    if (this.width(text, font) <= widest) return text;
    let end = text.length;
    while (end > 0 && this.width(`${text.slice(0, end)}…`, font) > widest) end--;
    return end > 0 ? `${text.slice(0, end)}…` : "";
  }
}
