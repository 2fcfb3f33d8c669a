"""Levels as ranks, and numbers as the nearest level again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from pmae_core.storage.json_values import from_json_value, to_json_value
from pmae_core.table.labels import LabelCells
from pmae_core.table.levels import Levels, levels_of


@dataclass(frozen=True)
class OrdinalCells:
    """Labels or numbers of which only the order matters, as ranks from 0.

    Parameters
    ----------
    levels
        All levels, from the lowest to the highest.
    declared
        All categories of a category column as its dtype has them, else None.

    Examples
    --------
    >>> sizes = pd.Series(["small", None, "large"])
    >>> cells = OrdinalCells.fit(sizes, ["small", "medium", "large"])
    >>> cells.read(sizes).tolist(), cells.write(np.array([1.2, 7.0]), sizes).tolist()
    ([0.0, nan, 2.0], ['medium', 'large'])
    """

    levels: Levels
    declared: Levels | None = None

    @classmethod
    def fit(cls, series: pd.Series, levels: Sequence[Any] | None = None) -> OrdinalCells:
        """Learn how levels are written in a column; see `levels_of`."""
        declared = None
        if isinstance(series.dtype, pd.CategoricalDtype):
            declared = tuple(series.dtype.categories.tolist())
        return cls(levels_of(series, levels), declared)

    @cached_property
    def _labels(self) -> LabelCells:
        return LabelCells(self.levels, tuple(range(len(self.levels))), self.levels, self.declared)

    def read(self, series: pd.Series) -> np.ndarray:
        """Return the column as float64 ranks, NaN where it is missing or holds no level."""
        codes = self._labels.read(series)
        return np.where(codes >= 0, codes, np.nan)

    def write(self, values: np.ndarray, like: pd.Series) -> Any:
        """Return the levels nearest to numbers, as cells of the dtype of a column."""
        ranks = np.clip(np.rint(values), 0, len(self.levels) - 1).astype(np.intp)
        return self._labels.write(ranks, like)

    def ready(self, like: pd.Series) -> pd.Series:
        """Return the column able to hold every level; see `LabelCells.ready`."""
        return self._labels.ready(like)

    def to_dict(self) -> dict[str, Any]:
        """Return the translator as JSON-able data."""
        return {
            "cells": "ordinal",
            "levels": _to_json(self.levels),
            "declared": None if self.declared is None else _to_json(self.declared),
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> OrdinalCells:
        """Return the translator that `to_dict` wrote."""
        declared = data["declared"]
        return cls(_from_json(data["levels"]), None if declared is None else _from_json(declared))


def _to_json(levels: Levels) -> list[Any]:
    return [to_json_value(level) for level in levels]


def _from_json(levels: list[Any]) -> Levels:
    return tuple(from_json_value(level) for level in levels)
