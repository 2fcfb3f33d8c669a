"""The conclusions that a comparison follows through all methods: which, and in which words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from dashboard.text import code
from pmae_core.jobs.params import MAX_CONCLUSIONS

Conclusion = tuple[str, ...]

# Kind -> labels of its columns.
COLUMN_LABELS = {"mean": ("Of",), "correlation": ("Of", "And"), "slope": ("Of", "On")}
_JOINTS = {"mean": "", "correlation": " and ", "slope": " on "}


def most_missing_first(frame: pd.DataFrame, columns: Sequence[str]) -> list[str]:
    """Return columns by how much they miss: a complete one is the same with every method."""
    n_missing = frame[list(columns)].isna().sum()
    return [str(name) for name in n_missing.sort_values(ascending=False, kind="stable").index]


def kept_conclusions(remembered: Any, columns: Sequence[str]) -> list[Conclusion]:
    """Return those of the remembered conclusions that are about columns of the table."""
    if not isinstance(remembered, list):
        return []
    return [
        tuple(one)
        for one in remembered
        if isinstance(one, list)
        and one
        and one[0] in COLUMN_LABELS
        and all(name in columns for name in one[1:])
    ]


def all_conclusions(
    kept: Sequence[Conclusion], in_boxes: Conclusion | None
) -> tuple[Conclusion, ...]:
    """Return the added conclusions and the one in the boxes, which counts without being added."""
    chosen = list(kept)
    if in_boxes is not None and in_boxes not in chosen:
        chosen.append(in_boxes)
    return tuple(chosen[:MAX_CONCLUSIONS])


def conclusion_words(conclusion: Conclusion) -> str:
    """Return a conclusion as Markdown: "slope of `y` on `x`"."""
    kind, *names = conclusion
    return f"{kind} of {_JOINTS[kind].join(code(name) for name in names)}"
