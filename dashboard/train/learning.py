"""Does the network learn? Held-out errors relative to simple methods, in numbers and in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from dashboard.text import listing
from dashboard.train.curves import GAUSSIAN, MEAN, Curves, References, Validation
from pmae_core.words import count, decimals, percent

REFERENCE_WORDS = {MEAN: "mean imputation", GAUSSIAN: "Gaussian start"}
MEMBER_WORDS = {"gaussian": "the Gaussian", "trees": "trees", "network": "the network"}
Z = 1.96  # of a 95% interval

# With fewer held-out cells, the skill of a column is mostly chance.
ENOUGH_CELLS = 10

WHY_NO_GAIN = (
    "That is fine: the relations may be close to linear or the rows too few to learn more, and "
    "the model imputes about as well as its Gaussian start."
)
STARTING = "**Starting.** The first score on held-out cells appears within seconds."
NO_HELD_OUT = (
    "This run has no held-out cells, because of its settings or because the table is small. Its "
    "curves cannot show whether it generalizes; **Compare** can."
)
OLD_RUN = (
    "This run was made with an older version and has no reference scores. Train again to see it "
    "relative to mean imputation."
)


@dataclass(frozen=True)
class Reduction:
    """How much lower one error is than another, as a share, with a 95% interval."""

    share: float
    low: float
    high: float

    @property
    def is_clear(self) -> bool:
        """Whether the interval excludes no difference."""
        return self.low > 0

    @property
    def interval(self) -> str:
        """The interval in words."""
        return f"95% interval {_signed(self.low)} to {_signed(self.high)}"


def reduction(validation: Validation, references: References, name: str) -> Reduction:
    """Return how much lower the held-out error of a model is than that of a reference."""
    reference = references.scores[name]
    margin = Z * validation.noise if name == references.baseline else float("nan")
    gain = reference - validation.score
    return Reduction(*(value / reference for value in (gain, gain - margin, gain + margin)))


def reduction_curve(curves: Curves, name: str) -> pd.DataFrame:
    """Return step, share, low and high: how the held-out error relates to that of a reference.

    ``low`` and ``high`` are the 95% interval; they are missing unless the reference is what the
    network starts from.
    """
    references, table = curves.references, curves.validation()
    if references is None:
        return pd.DataFrame(columns=["step", "share", "low", "high"], dtype=float)
    reference = references.scores[name]
    margin = Z * table["noise"] if name == references.baseline else np.nan
    gain = reference - table["score"]
    return pd.DataFrame(
        {
            "step": table["step"],
            "share": gain / reference,
            "low": (gain - margin) / reference,
            "high": (gain + margin) / reference,
        }
    )


def reference_lines(references: References, relative_to: str) -> dict[str, float]:
    """Return how much lower the error of each reference is than that of one of them, by words."""
    whole = references.scores[relative_to]
    names = [name for name in REFERENCE_WORDS if name in references.scores]
    if relative_to != MEAN:
        names.remove(MEAN)  # far below: it would flatten the curve
    return {REFERENCE_WORDS[name]: 1 - references.scores[name] / whole for name in names}


def column_skills(curves: Curves, names: list[str]) -> pd.DataFrame:
    """Return for each column with held-out cells the skill of the kept model, the best first.

    Columns with too few held-out cells to tell come last.

    Columns are ``column``, ``cells`` (held out), ``kept`` and, where the network has one,
    ``start``: 1 less the error relative to mean imputation.
    """
    references, kept = curves.references, curves.kept
    if references is None or kept is None or kept.column_scores is None:
        return pd.DataFrame(columns=["column", "cells", "kept"])
    mean = np.array(references.column_scores[MEAN], dtype=float)
    mean[mean <= 0] = np.nan
    found = {"kept": kept.column_scores}
    if GAUSSIAN in references.column_scores:
        found["start"] = references.column_scores[GAUSSIAN]
    skills = {name: 1 - np.array(scores, dtype=float) / mean for name, scores in found.items()}
    table = pd.DataFrame({"column": names, "cells": references.n_cells, **skills})
    table = table.dropna(subset=["kept"])
    order = np.lexsort((-table["kept"], table["cells"] < ENOUGH_CELLS))
    return table.iloc[order].reset_index(drop=True)


# In words


def verdict(curves: Curves, *, is_running: bool) -> str:
    """Say whether the network learns, as Markdown; nothing before the first validation."""
    references, kept = curves.references, curves.kept
    if references is None or kept is None:
        return _without_references(curves, is_running=is_running)
    to_mean = reduction(kept, references, MEAN)
    if to_mean.share <= 0:
        return (
            f"**No better than the mean{' so far' if is_running else ''}.** Held-out error is not "
            "lower than with mean imputation: the columns may be hardly related, or the held-out "
            "cells too few to show it."
        )
    beginning = f"Held-out error is {percent(to_mean.share)} lower than with mean imputation"
    if references.baseline == MEAN:
        learns = "**The network learns.** " if to_mean.is_clear else "**No clear gain.** "
        return f"{learns}{beginning} ({to_mean.interval}).{_blend(curves)}"
    why = "" if is_running or curves.answers else f" {WHY_NO_GAIN}"
    said = _against_start(kept, references, beginning, why, is_running=is_running)
    return said + _blend(curves)


def _against_start(
    kept: Validation, references: References, beginning: str, why: str, *, is_running: bool
) -> str:
    gain = reduction(kept, references, GAUSSIAN)
    if gain.is_clear:
        return (
            f"**The network learns.** {beginning} and {percent(gain.share)} lower than at its "
            f"Gaussian start ({gain.interval})."
        )
    if kept.step == 0:
        what = "No gain over the start yet" if is_running else "The network adds nothing here"
        return f"**{what}.** {beginning}, and no step improves on the Gaussian start.{why}"
    what = "No clear gain over the start yet" if is_running else "The network adds little here"
    return (
        f"**{what}.** {beginning}, and {percent(gain.share)} lower than at its Gaussian start, "
        f"which is within noise ({gain.interval}).{why}"
    )


def _blend(curves: Curves) -> str:
    """Say what each member adds to a blend; its skill is in the columns' own units."""
    known = [(name, skill) for name, skill in curves.answers if skill is not None]
    if not known:
        return ""
    (first, skill), *others = known
    steps = [f"{percent(max(0.0, skill))} with {MEMBER_WORDS.get(first, first)}"]
    steps += [
        f"{percent(max(0.0, skill))} after adding {MEMBER_WORDS.get(name, name)}"
        for name, skill in others
    ]
    return f" Held-out variance explained by the blend: {', '.join(steps)}."


def _without_references(curves: Curves, *, is_running: bool) -> str:
    if len(curves.validation()):
        return OLD_RUN
    if len(curves):
        return NO_HELD_OUT
    return (STARTING if is_running else "") + _blend(curves)


def ended_sentence(result: Mapping[str, Any]) -> str:
    """Say how a training ended and what it left, as Markdown."""
    sentences = []
    training = result.get("training") or {}
    if training:
        step = training["step"]
        is_early = training["reason"] == "early"
        how = f"Stopped early at step {step:,}" if is_early else f"Completed {count(step, 'step')}"
        best = ""
        if training.get("best_score") is not None:
            best = (
                f"; the best model is from step {training['best_step']:,} "
                f"(held-out error {training['best_score']:.3g})"
            )
        sentences.append(f"{how}{best}.")
    if result.get("n_imputed") is not None:
        sentences.append(f"{count(result['n_imputed'], 'missing value')} imputed.")
    left = result.get("still_missing") or {}
    if left:
        sentences.append(f"Not imputed, because they cannot be learned: {listing(left)}.")
    return " ".join(sentences)


def _signed(share: float) -> str:
    return f"{decimals(100 * share, 1)}%"
