// Rows of the table, cell by cell: each cell has a random number, and is masked while M_j of its
// column is larger.

const [MISSING, OBSERVED, MASKED] = [0, 1, 2];
const STATES = ["missing", "observed", "masked"];
const MOST_COLUMN_NAMES = 20;
const NAMES_HEIGHT = { turned: 92, flat: 20 };
const LEAST_TURNED_HEIGHT = 220;

/** The observed cells of the sampled rows, from bits: a cell is at row · nColumns + column. */
export function unpackBits(text, length) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return Uint8Array.from({ length }, (_, i) => (bytes[i >> 3] >> (7 - (i & 7))) & 1);
}

export function unpackFloats(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Float32Array(bytes.buffer);
}

/** The states of the cells of some rows; `numbers` has one number per cell of `rows`. */
export function cellStates({ observed, rows, numbers }, probabilities, states) {
  const nColumns = probabilities.length;
  for (let row = 0, cell = 0; row < rows.length; row++) {
    const start = rows[row] * nColumns;
    for (let column = 0; column < nColumns; column++, cell++) {
      if (!observed[start + column]) states[cell] = MISSING;
      else states[cell] = numbers[cell] < probabilities[column] ? MASKED : OBSERVED;
    }
  }
  return states;
}

class Cells {
  constructor(frame, hears) {
    this.canvas = frame.querySelector("canvas");
    this.marker = frame.querySelector(".marker");
    this.canvas.onclick = (event) => {
      const column = Math.floor((event.offsetX / this.width) * this.labels.length);
      if (event.offsetY < this.gridHeight) hears.choose(Math.min(column, this.labels.length - 1));
    };
  }

  /** Take the columns, or a new size or theme: everything is painted anew. */
  resize(labels, nRows) {
    const { width, height } = this.canvas.getBoundingClientRect();
    const scale = window.devicePixelRatio || 1;
    Object.assign(this, { labels, nRows, width, height, shown: null });
    this.turned = labels.length <= MOST_COLUMN_NAMES && height >= LEAST_TURNED_HEIGHT;
    this.gridHeight = height - (this.turned ? NAMES_HEIGHT.turned : NAMES_HEIGHT.flat);
    Object.assign(this.canvas, { width: width * scale, height: height * scale });
    this.brush = this.canvas.getContext("2d");
    this.brush.scale(scale, scale);
    const style = getComputedStyle(this.canvas);
    this.colors = STATES.map((state) => style.getPropertyValue(`--${state}`));
    this.textColor = style.color;
    this.fontFamily = style.fontFamily;
  }

  /** Paint the cells whose state changed, row by row. */
  draw(states, focus) {
    const [nColumns, nRows] = [this.labels.length, this.nRows];
    const [width, height] = [this.width / nColumns, this.gridHeight / nRows];
    const gap = { x: width > 4 ? 1 : 0, y: height > 3 ? 1 : 0 };
    const left = this.#edges(nColumns, width);
    const top = this.#edges(nRows, height);
    for (const [state, color] of this.colors.entries()) {
      this.brush.fillStyle = color;
      for (let cell = 0; cell < nRows * nColumns; cell++) {
        if (states[cell] !== state || this.shown?.[cell] === state) continue;
        const [row, column] = [Math.floor(cell / nColumns), cell % nColumns];
        const cellWidth = left[column + 1] - left[column] - gap.x;
        const cellHeight = top[row + 1] - top[row] - gap.y;
        this.brush.fillRect(left[column], top[row], cellWidth, cellHeight);
      }
    }
    const isNew = !this.shown;
    this.shown = states.slice(0, nRows * nColumns);
    if (!isNew && this.focus === focus) return;
    this.focus = focus;
    this.marker.style.left = `${focus * width - 2}px`;
    this.marker.style.width = `${width + 3}px`;
    this.marker.style.height = `${this.gridHeight + 3}px`;
    this.#drawNames(focus, width);
  }

  /** Edges on whole pixels of the screen: what is painted over leaves no trace. */
  #edges(count, size) {
    const scale = window.devicePixelRatio || 1;
    return Array.from({ length: count + 1 }, (_, i) => Math.round(i * size * scale) / scale);
  }

  #drawNames(focus, width) {
    const { brush } = this;
    brush.clearRect(0, this.gridHeight + 1, this.width, this.height);
    brush.fillStyle = this.textColor;
    brush.textBaseline = "middle";
    const font = (column) => `${column === focus ? 600 : 400} 12px ${this.fontFamily}`;
    if (!this.turned) {
      brush.font = font(focus);
      const room = this.width - brush.measureText(this.labels[focus]).width;
      const left = Math.min(Math.max(0, focus * width), Math.max(0, room));
      brush.fillText(this.labels[focus], left, this.gridHeight + NAMES_HEIGHT.flat / 2 + 2);
      return;
    }
    this.labels.forEach((label, column) => {
      brush.font = font(column);
      brush.save();
      brush.translate((column + 0.5) * width, this.gridHeight + 6);
      brush.rotate(Math.PI / 2);
      brush.fillText(label, 0, 0, NAMES_HEIGHT.turned - 8);
      brush.restore();
    });
  }
}
