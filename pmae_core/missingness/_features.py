"""What a tree may ask about a row: numbers, labels, and whether cells are missing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from pmae_core.missingness._columns import (
    number_words,
    read_labels,
    read_numbers,
)
from pmae_core.missingness.patterns import IntArray
from pmae_core.table.roles import LABEL_ROLES, NUMBER_ROLES
from pmae_core.table.schema import Schema
from pmae_core.words import exact_text

_LABELS_PER_COLUMN = 8
_LARGEST = float(np.finfo(np.float32).max)


@dataclass(frozen=True)
class MissingnessQuestion:
    """What a feature asks: a column's number, whether it has a label, or whether it is missing."""

    column: Any
    label: str | None = None
    otherwise: str | None = None
    is_missing: bool = False
    may_miss: bool = False
    whole: bool = False
    words: Callable[[float], str] = str


@dataclass(frozen=True, eq=False)
class PredictorFeatures:
    """Features of rows, and the question that each of them answers."""

    values: np.ndarray
    questions: list[MissingnessQuestion]

    @classmethod
    def build(
        cls, df: pd.DataFrame, names: list[Any], schema: Schema, rows: IntArray
    ) -> PredictorFeatures:
        """Return the features of some rows of a table."""
        found = [feature for name in names for feature in _features_of(df[name].iloc[rows], schema)]
        if not found:
            return cls(np.empty((len(rows), 0), dtype=np.float32), [])
        return cls(
            np.column_stack([values for values, _ in found]), [question for _, question in found]
        )


def _features_of(
    series: pd.Series, schema: Schema
) -> Iterator[tuple[np.ndarray, MissingnessQuestion]]:
    name, role = series.name, schema.role(series.name)
    missing = series.isna().to_numpy()
    if role in NUMBER_ROLES and not missing.all():
        values = np.clip(read_numbers(series, role), -_LARGEST, _LARGEST).astype(np.float32)
        question = MissingnessQuestion(
            name,
            may_miss=bool(np.isnan(values).any()),
            whole=schema[name].integer,
            words=number_words(series, role),
        )
        yield values, question
        return
    if missing.any() and not missing.all():
        yield missing.astype(np.float32), MissingnessQuestion(name, is_missing=True)
    if role in LABEL_ROLES:
        codes, labels = read_labels(series)
        counts = np.bincount(codes[codes >= 0], minlength=len(labels))
        frequent = np.argsort(-counts, kind="stable")[:_LABELS_PER_COLUMN]
        one_of_two = len(labels) == 2 and not missing.any()
        for code in frequent[:1] if one_of_two else frequent:
            label = exact_text(labels[code])
            otherwise = exact_text(labels[1 - code]) if one_of_two else f"not {label}"
            yield (codes == code).astype(np.float32), MissingnessQuestion(name, label, otherwise)
