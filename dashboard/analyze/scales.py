"""On which scale an estimate is told: a difference, a percentage or a ratio."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from dashboard.analyze.fits import FittedModel
from dashboard.text import code, plain
from pmae_core.expressions import ColumnName, FunctionCall, SurvivalOutcome

_BASES = {"log": math.e, "log2": 2.0, "log10": 10.0}


@dataclass(frozen=True)
class EffectScale:
    """How a coefficient reads.

    Attributes
    ----------
    kind : {"difference", "percent", "ratio"}
        Percentages are those of an outcome whose logarithm is explained.
    subject : str
        What is higher or lower, as Markdown.
    base : float
        Of the logarithm that coefficients are on, where they are on one.
    """

    kind: Literal["difference", "percent", "ratio"]
    subject: str
    base: float = math.e

    @classmethod
    def of(cls, fitted: FittedModel) -> EffectScale:
        """Return the scale of a regression."""
        outcome = fitted.analysis.formula.outcome
        if isinstance(outcome, SurvivalOutcome):
            return cls("ratio", f"the hazard of {code(outcome.event)}")
        if fitted.analysis.family == "logistic":
            being = f" being {plain(fitted.event)}" if fitted.event else ""
            return cls("ratio", f"the odds of {code(outcome)}{being}")
        if fitted.analysis.family == "poisson":
            return cls("ratio", f"the rate of {code(outcome)}")
        if (
            isinstance(outcome, FunctionCall)
            and outcome.function in _BASES
            and isinstance(outcome.argument, ColumnName)
        ):
            return cls("percent", code(outcome.argument.name), _BASES[outcome.function])
        return cls("difference", code(outcome))

    @property
    def null(self) -> float:
        """The value of no association."""
        return 1.0 if self.kind == "ratio" else 0.0

    def value(self, estimate: float) -> float:
        """Return a coefficient on this scale; percentages as shares."""
        if self.kind == "difference":
            return estimate
        try:
            ratio = self.base**estimate
        except OverflowError:
            return math.inf
        return ratio if self.kind == "ratio" else ratio - 1

    def text(self, estimate: float) -> str:
        """Return a coefficient on this scale as text, with its sign."""
        value = self.value(estimate)
        return _percentage(value) if self.kind == "percent" else rounded(value)

    def change(self, estimate: float) -> str:
        """Say what goes with it, as Markdown: "5.5% higher `wages`"."""
        if self.kind == "ratio":
            return f"{self.text(estimate)} times {self.subject}"
        size = self.text(estimate).removeprefix("-")
        return f"{size} {'higher' if estimate > 0 else 'lower'} {self.subject}"


def rounded(value: float) -> str:
    """Return a number with as many digits as a sentence needs.

    Examples
    --------
    >>> rounded(0.54012), rounded(-12345.6), rounded(1e9)
    ('0.54', '-12,346', '1,000,000,000')
    """
    return f"{value:,.0f}" if 1000 <= abs(value) < math.inf else f"{value:.3g}"


def _percentage(share: float) -> str:
    """Return a change in percent, also one below 0 or above 100.

    Examples
    --------
    >>> _percentage(0.05), _percentage(-0.0004), _percentage(2.5)
    ('5.0%', '-0.04%', '250%')
    """
    number = 100 * share
    if 0 < abs(number) < 0.1:
        return f"{number:.2g}%"
    return f"{number:,.1f}%" if abs(number) < 100 else f"{number:,.0f}%"
