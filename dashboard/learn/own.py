"""Lesson: what dropping incomplete rows does to a slope in the reader's own table.

Nothing is assumed about the table. The rows in which both columns are observed are its truth, and
repetitions on these rows decide which answer is right.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from scipy.special import ndtri

from dashboard.learn.least_squares import FloatArray, coefficients
from dashboard.learn.lesson import Lesson, independent_numbers
from dashboard.text import code
from pmae_core.amputation.propensity import observed_probability
from pmae_core.words import percent

LESSON = Lesson(
    name="own",
    title="Complete cases in your own table",
    story="Choose an outcome and a predictor among the numerical columns of your open table. The "
    "rows in which both are observed are taken as the **truth**. Then about half of them lose a "
    "value, by a rule that you choose, and the incomplete rows are dropped.",
    question="How does the line through the remaining rows compare with the line through all of "
    "these rows?",
    answers={
        "flatter": "Flatter",
        "same": "No clear change",
        "steeper": "Steeper",
    },
    points=(
        "If values are missing **by chance**, dropping rows does not bias a slope. It only "
        "makes it less precise.",
        "If the **predictor** decides, the slope stays as it is where a straight line fits. Where "
        "the relation is curved, it becomes that of the part that remains.",
        "If the **outcome** decides, the slope usually becomes flatter. Outliers, and a spread "
        "that changes along the line, can turn this around.",
        "The rows in your table that are *already* incomplete may differ from the complete ones. "
        "This lesson cannot show what dropping them did.",
    ),
    simplified="The complete rows of your table are taken as the truth, although they may be a "
    "selection themselves. A change counts as clear if it has the same direction in at least 90% "
    "of the repetitions. Of more than 2,000 complete rows, a random 2,000 are used.",
)

Rule = Literal["chance", "predictor", "outcome"]
Answer = Literal["flatter", "same", "steeper"]

RULES: tuple[Rule, ...] = ("outcome", "predictor", "chance")
P_OBS, N_REPETITIONS = 0.5, 400
CLEAR = 0.9
"""Share of the repetitions that must agree on a direction."""
_STRENGTH = 3.0  # log-odds per standard deviation of the deciding column's normal scores
_WEAK_CORRELATION = 0.1
_REPETITIONS_SEED = 2**31  # beyond the seeds of readers: the answer is the same for all of them


@dataclass(frozen=True, eq=False)
class OwnRows:
    """The complete rows of two columns, some of them dropped.

    Attributes
    ----------
    rows
        Predictor and outcome, in this order: the truth.
    kept
        True for the rows that remain.
    true_line, kept_line
        Slope and intercept of all rows, and of those that remain.
    repeated_slopes
        Slopes of the rows that remain when the rule is applied to the same rows again.
    """

    rows: pd.DataFrame
    kept: np.ndarray
    true_line: tuple[float, float]
    kept_line: tuple[float, float]
    repeated_slopes: FloatArray

    @property
    def correlation(self) -> float:
        """Of predictor and outcome in all rows."""
        return float(np.corrcoef(self.rows.to_numpy().T)[0, 1])

    @property
    def shares(self) -> dict[str, float]:
        """Shares of the repetitions that are flatter and steeper than the truth."""
        true_slope = self.true_line[0]
        change = np.sign(true_slope) * (self.repeated_slopes - true_slope)
        return {"flatter": float((change < 0).mean()), "steeper": float((change > 0).mean())}

    @property
    def answer(self) -> Answer:
        """What the rule does to the slope in these rows, if its direction is clear."""
        if self.shares["flatter"] >= CLEAR:
            return "flatter"
        return "steeper" if self.shares["steeper"] >= CLEAR else "same"

    def sentence(self) -> str:
        """Return the result in numbers."""
        n_repeated, n_kept = len(self.repeated_slopes), int(self.kept.sum())
        text = (
            f"Slope in all {len(self.rows):,} rows: **{_number(self.true_line[0])}**. In the "
            f"{n_kept:,} rows that remain: **{_number(self.kept_line[0])}**. In {n_repeated} "
            f"repetitions on the same rows, it was {_number(float(self.repeated_slopes.mean()))} "
            f"on average, flatter in {percent(self.shares['flatter'])} and steeper in "
            f"{percent(self.shares['steeper'])} of them."
        )
        if abs(self.correlation) < _WEAK_CORRELATION:
            text += (
                f" The columns are hardly related (correlation {self.correlation:.2f}), so there "
                "is little slope to change."
            )
        return text


def rule_words(rule: Rule, predictor: str, outcome: str) -> str:
    """Say which rows lose a value (Markdown)."""
    if rule == "chance":
        return "A coin flip decides which rows lose a value."
    if rule == "predictor":
        return f"Rows with a low {code(predictor)} lose their {code(outcome)} more often."
    return f"Rows with a high {code(outcome)} lose it more often."


def drop_own_rows(rows: pd.DataFrame, rule: Rule, seed: int) -> OwnRows:
    """Drop about half of the rows by a rule, and compare the slopes.

    Parameters
    ----------
    rows
        Complete rows of two columns of numbers: the predictor, then the outcome.
    rule
        What decides which rows lose a value.
    seed
        Decides, for equal chances, which rows it is.
    """
    x, y = rows.to_numpy(dtype=float).T
    p_observed = _probability_observed(rows, rule)
    kept = independent_numbers(seed).random(len(rows)) < p_observed
    return OwnRows(
        rows=rows,
        kept=kept,
        true_line=_line(x, y),
        kept_line=_line(x[kept], y[kept]),
        repeated_slopes=_repeated_slopes(x, y, p_observed),
    )


def _probability_observed(rows: pd.DataFrame, rule: Rule) -> FloatArray:
    if rule == "chance":
        return np.full(len(rows), P_OBS)
    decides, sign = (rows.iloc[:, 0], 1) if rule == "predictor" else (rows.iloc[:, 1], -1)
    score = ndtri((decides.rank().to_numpy() - 0.5) / len(rows))
    return observed_probability(sign * _STRENGTH * score, P_OBS)


def _repeated_slopes(x: FloatArray, y: FloatArray, p_observed: FloatArray) -> FloatArray:
    """Return the slopes of the rows that remain, for many masks at once."""
    rng = independent_numbers(_REPETITIONS_SEED)
    kept = (rng.random((N_REPETITIONS, len(x))) < p_observed).astype(float)
    x, y = x - x.mean(), y - y.mean()
    # One product gives the sums of all masks, much faster than one regression after another.
    n, sum_x, sum_y, sum_xy, sum_xx = (kept @ np.stack([x**0, x, y, x * y, x * x], axis=1)).T
    return (sum_xy - sum_x * sum_y / n) / (sum_xx - sum_x**2 / n)


def _line(x: FloatArray, y: FloatArray) -> tuple[float, float]:
    # Around the mean: years or populations far from 0 would lose digits otherwise.
    level, per_unit = coefficients(y, x - x.mean())
    return float(per_unit), float(level - per_unit * x.mean())


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
