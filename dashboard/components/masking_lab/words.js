// The sentences that follow the hand. Each is a list of parts: plain text, or {strong} or {code}.

const WHOLE = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

export function count(number) {
  return WHOLE.format(number);
}

/** A share in percent: never 0% for something, never 100% for not quite all. */
export function percent(share) {
  if (share > 0 && share < 0.001) return "less than 0.1%";
  if (share > 0.999 && share < 1) return "more than 99.9%";
  return `${(100 * share).toFixed(1).replace(/\.0$/, "")}%`;
}

/** What masking does to one column; `rows` says of which rows its share is. */
export function columnSentence(name, pObs, probability, rows = "rows") {
  const column = ["Column ", { code: name }];
  if (pObs === 1 && probability === 0)
    return [
      ...column,
      " has no missing values, so none of its cells are masked. It is always available to predict " +
        "the other columns.",
    ];
  if (pObs === 1)
    return [
      ...column,
      ` has no missing values, yet ${percent(probability)} of its cells are masked. In those rows ` +
        "it cannot help to predict the other columns.",
    ];
  const observed = ` is observed in ${percent(pObs)} of ${rows}`;
  if (probability === 0)
    return [
      ...column,
      `${observed}. None of its cells are masked: the network never learns to predict it.`,
    ];
  if (probability === 1)
    return [
      ...column,
      `${observed}. All of its cells are masked and predicted; none serve as input.`,
    ];
  return [
    ...column,
    `${observed}: ${percent(probability)} of its observed cells are masked and predicted, the ` +
      `other ${percent(1 - probability)} are reconstructed.`,
  ];
}

/** How much of the whole table is masked, beside uniform masking. */
export function tableSentence(pObs, probabilities, nRows, uniformRate) {
  const sum = (shares) => shares.reduce((total, share) => total + share, 0);
  const nObserved = nRows * sum(pObs);
  const nMasked = nRows * sum(pObs.map((p, j) => p * probabilities[j]));
  return [
    {
      strong:
        `About ${count(nMasked)} of ${count(nObserved)} observed cells ` +
        `(${percent(nObserved ? nMasked / nObserved : 0)}) are masked`,
    },
    " in each pass over the table. Uniform masking would mask " +
      `${count(uniformRate * nObserved)} (${percent(uniformRate)}).`,
  ];
}

/** What is masked in one batch of training. */
export function batchSentence(number, nMasked, nObserved) {
  return [
    `Batch ${count(number)}: `,
    {
      strong:
        `${count(nMasked)} of ${count(nObserved)} observed cells ` +
        `(${percent(nObserved ? nMasked / nObserved : 0)}) are masked.`,
    },
  ];
}

export function plainText(parts) {
  return parts.map((part) => part.code ?? part.strong ?? part).join("");
}

/** Show a sentence; names of columns stay text, whatever is in them. */
function writeSentence(element, parts) {
  const text = plainText(parts);
  if (element.dataset.text === text) return;
  element.dataset.text = text;
  element.replaceChildren(
    ...parts.map((part) => {
      if (typeof part === "string") return part;
      const [tag, words] = Object.entries(part)[0];
      return Object.assign(document.createElement(tag), { textContent: words });
    }),
  );
}
