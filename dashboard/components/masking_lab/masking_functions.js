// The masking functions of pmae_core.masking, for figures that follow the hand. Python is the
// truth: a test compares both on a grid of p_obs and parameters.

const logOdds = (p) => Math.log((1 - p) / p);

const FORMULAS = {
  logit: (p, { a, b }) => (a === 0 ? b : a * logOdds(p) + b), // 0 · ∞ would be NaN at both ends
  constant: (p, { rate }) => rate,
  no_reconstruction: () => 1,
  no_prediction: () => 0,
  linear: (p) => 1 - p,
  reversed: (p) => p,
  piecewise: (p) => (p < 0.5 ? 1 - p : 0.5),
  sigmoid: (p, { slope }) => 1 / (Math.exp(-slope * (0.5 - p)) + 1),
};
const SKIP_FULLY_OBSERVED = new Set(["logit", "constant"]);

/** M_j before it is clipped: what a handle on the curve moves. */
export function unclipped(name, p, parameters) {
  return FORMULAS[name](p, parameters);
}

/** The probability M_j that an observed cell of a column is masked, from its p_obs. */
export function maskingProbability(name, p, parameters) {
  if (p === 1 && SKIP_FULLY_OBSERVED.has(name)) return 0;
  return Math.min(Math.max(unclipped(name, p, parameters), 0), 1);
}

/** Where the curve can be dragged up and down; the first place of a parameter has the keyboard. */
export const HANDLES = {
  logit: [
    { parameter: "b", at: 0.5 },
    { parameter: "a", at: 0.1 },
    { parameter: "a", at: 0.9 },
  ],
  constant: [{ parameter: "rate", at: 0.5 }],
  sigmoid: [
    { parameter: "slope", at: 0.35 },
    { parameter: "slope", at: 0.65 },
  ],
};

const VALUES_AT_HEIGHT = {
  a: (height, p, { b }) => (height - b) / logOdds(p),
  b: (height, p, { a }) => height - (a === 0 ? 0 : a * logOdds(p)),
  rate: (height) => height,
  slope: (height, p) => -logOdds(Math.min(Math.max(height, 1e-9), 1 - 1e-9)) / (0.5 - p),
};

/** The value of a parameter with which the curve, not clipped, has a height at p. */
export function valueAtHeight(parameter, height, p, parameters) {
  return VALUES_AT_HEIGHT[parameter](height, p, parameters);
}
