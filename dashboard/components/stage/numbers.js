// Numbers: where things are between two states, and which values an axis names.

const STAGGER = 0.35; // the share of a transition after which the last element sets out

const clamp = (value, low, high) => Math.min(high, Math.max(low, value));
const mix = (from, to, share) => from + (to - from) * share;
const pixels = (value) => Math.round(value * 100) / 100;
const eased = (share) => (share < 0.5 ? 4 * share ** 3 : 1 - (2 - 2 * share) ** 3 / 2);

/** How far element k of n has come: elements set out one after the other, or all at once. */
function paceOf(share, staggered) {
  if (!staggered) return () => eased(share);
  return (k, n) => {
    const start = n > 1 ? (STAGGER * k) / (n - 1) : 0;
    return eased(clamp((share - start) / (1 - STAGGER), 0, 1));
  };
}

/** A layer between two states. Numbers move; colors and words switch half way. */
function between(from, to, pace) {
  const one = (a, b, share) => (typeof b === "number" ? mix(a, b, share) : share < 0.5 ? a : b);
  const result = {};
  for (const [name, value] of Object.entries(to)) {
    result[name] = Array.isArray(value)
      ? value.map((entry, k) => one(from[name][k], entry, pace(k, value.length)))
      : one(from[name], value, pace(0, 1));
  }
  return result;
}

function scaleOf(axis, begin, end) {
  return (value) => begin + ((value - axis.low) / (axis.high - axis.low)) * (end - begin);
}

/** The values that an axis names, with their words. */
function ticksOf(axis, most) {
  if (axis.ticks) {
    const step = Math.min(...axis.ticks.slice(1).map((tick, k) => Math.abs(tick - axis.ticks[k])));
    return axis.ticks.map((value, k) => ({
      value,
      words: axis.tick_words ? axis.tick_words[k] : written(value, decimalsOf(value, step), axis),
    }));
  }
  const step = niceStep((axis.high - axis.low) / Math.max(1, most));
  const ticks = [];
  for (let k = Math.ceil(axis.low / step - 1e-9); k * step <= axis.high + 1e-9 * step; k++) {
    ticks.push({ value: k * step, words: written(k * step, decimalsOf(0, step), axis) });
  }
  return ticks;
}

/** The step of 1, 2 or 5 times a power of ten that comes nearest on a scale of ratios. */
function niceStep(wanted) {
  const power = 10 ** Math.floor(Math.log10(wanted));
  const ratio = wanted / power;
  const next = { 1: 2, 2: 5, 5: 10, 10: Infinity };
  return power * [1, 2, 5, 10].find((step) => ratio < Math.sqrt(step * next[step]));
}

/** How many decimals tell values apart that are a step from each other. */
function decimalsOf(value, step) {
  const needs = [value, step].filter((number) => Number.isFinite(number) && number !== 0);
  const fits = (digits) => needs.every((n) => Math.abs(n - Number(n.toFixed(digits))) < 1e-9);
  return [0, 1, 2, 3, 4, 5, 6].find(fits) ?? 6;
}

function written(value, decimals, { percent = false } = {}) {
  const digits = percent ? Math.max(0, decimals - 2) : decimals;
  const options = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  const number = (percent ? 100 * value : value) || 0; // never "-0"
  return number.toLocaleString("en-US", options).replace("-", "−") + (percent ? "%" : "");
}
