// Labels that make way for each other.

export const LABEL_HEIGHT = 15;
const SIDE_GAP = 5;
const WORD_GAP = 6;
const TOO_MUCH = 9;
const DISTANCES = [0, 17, 34, 51, 68, 85, 102];

// Beside the point, above and below it, then farther and farther up and down with a line to it.
const SPOTS = DISTANCES.flatMap((distance) =>
  (distance ? [-distance, distance] : [0]).flatMap((dy) =>
    [1, -1].map((side) => ({ side, dy, cost: distance / 12 + (side < 0 ? 0.1 : 0) })),
  ),
).concat([-1, 1].map((up) => ({ side: 0, dy: up * (LABEL_HEIGHT / 2 + 2), cost: 0.5 })));

/**
 * Find a place for each label, the most important first; null where there is no good one.
 *
 * Labels never overlap each other and never leave the frame. They avoid points and lines, and
 * stay where they were while that is about as good as any other place, so that they do not jump.
 *
 * @param labels [{key, x, y, radius, width, isNeeded}] by importance
 * @param frame {width, height}
 * @param obstacles [{x, y, radius}] to keep clear of: points and handles
 * @param lines [[x, y], ...] on the lines of the figure
 * @param before Map of key to the place that it had; it is brought up to date
 */
export function placeLabels(labels, frame, obstacles, lines, before = new Map()) {
  const taken = [];
  const chosen = labels.map((label) => {
    let best = null;
    SPOTS.forEach((spot, place) => {
      const box = boxAt(label, spot);
      if (!isInside(box, frame) || taken.some((other) => overlap(box, other))) return;
      const cost =
        spot.cost +
        3 * obstacles.filter((point) => covers(box, point)).length +
        (lines.some(([x, y]) => isWithin(box, x, y)) ? 2 : 0) -
        (before.get(label.key) === place ? 1.5 : 0);
      if (cost > TOO_MUCH && !label.isNeeded) return;
      if (!best || cost < best.cost) best = { ...box, spot, cost, place };
    });
    if (best) taken.push(best);
    return best;
  });
  before.clear();
  labels.forEach((label, i) => chosen[i] && before.set(label.key, chosen[i].place));
  return chosen;
}

function boxAt({ x, y, radius, width }, { side, dy }) {
  const middle = y + dy + (side === 0 ? Math.sign(dy) * radius : 0);
  const gap = radius + SIDE_GAP;
  const left = side > 0 ? x + gap : side < 0 ? x - gap - width : x - width / 2;
  const top = middle - LABEL_HEIGHT / 2;
  return { left, right: left + width, top, bottom: top + LABEL_HEIGHT, middle };
}

function isInside(box, { width, height }) {
  return box.left >= 0 && box.top >= 0 && box.right <= width && box.bottom <= height;
}

function overlap(one, other) {
  return (
    one.left < other.right + WORD_GAP &&
    other.left < one.right + WORD_GAP &&
    one.top < other.bottom &&
    other.top < one.bottom
  );
}

function isWithin(box, x, y) {
  return x > box.left && x < box.right && y > box.top && y < box.bottom;
}

function covers(box, { x, y, radius }) {
  const nearestX = Math.min(Math.max(x, box.left), box.right);
  const nearestY = Math.min(Math.max(y, box.top), box.bottom);
  return Math.hypot(x - nearestX, y - nearestY) < radius;
}
