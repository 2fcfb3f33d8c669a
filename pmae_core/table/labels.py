"""Labels (text, categories, booleans) to codes and back, rare ones in one common class."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from pmae_core.errors import SchemaError
from pmae_core.storage.json_values import from_json_value, to_json_value
from pmae_core.table.cells import as_cells


@dataclass(frozen=True)
class LabelCells:
    """Codes of the labels of one column.

    Parameters
    ----------
    labels
        The observed labels, in the order of their codes.
    codes
        The code of each label. Rare labels share the last code.
    written
        The label that an imputed cell of each code gets: the code's most frequent member.
    declared
        All categories of a category column in their declared order, else None.
    """

    labels: tuple[Any, ...]
    codes: tuple[int, ...]
    written: tuple[Any, ...]
    declared: tuple[Any, ...] | None

    @classmethod
    def fit(
        cls, series: pd.Series, min_count: int = 1, most_classes: int | None = None
    ) -> LabelCells:
        """Learn the labels of the observed cells.

        Labels observed less than `min_count` times share one class; of more than `most_classes`
        labels the less frequent ones do. A single rare label stays itself, and so does the most
        frequent label: two different labels are always two classes.
        """
        positions, uniques = _factorize(series)
        counts = np.bincount(positions[positions >= 0], minlength=len(uniques))
        if most_classes is not None and len(counts) > most_classes:
            # One class is for all the others.
            min_count = max(min_count, int(np.sort(counts)[-most_classes]) + 1)
        declared = None
        if isinstance(series.dtype, pd.CategoricalDtype):
            declared = tuple(series.dtype.categories.tolist())
        count_of = dict(zip(uniques, counts.tolist(), strict=True))
        labels = in_order(uniques, declared)
        most_frequent = max(labels, key=lambda label: count_of[label], default=None)
        rare = {label for label in labels if count_of[label] < min_count and label != most_frequent}
        if len(rare) == 1:
            rare = set()
        kept = [label for label in labels if label not in rare]
        grouped = [label for label in labels if label in rare]
        codes = [*range(len(kept)), *[len(kept)] * len(grouped)]
        common = [max(grouped, key=lambda label: count_of[label])] if grouped else []
        return cls((*kept, *grouped), tuple(codes), (*kept, *common), declared)

    @property
    def n_classes(self) -> int:
        """Number of different codes."""
        return len(self.written)

    @cached_property
    def _code_of(self) -> dict[Any, int]:
        return dict(zip(self.labels, self.codes, strict=True))

    def read(self, series: pd.Series) -> np.ndarray:
        """Return the code of each cell, -1 where it is missing or its label unknown."""
        positions, uniques = _factorize(series)
        codes = np.array([self._code_of.get(label, -1) for label in uniques] + [-1], dtype=np.intp)
        return codes[positions]

    def write(self, codes: np.ndarray, like: pd.Series) -> Any:
        """Return codes as cells of the dtype of a column (see `ready` for category columns)."""
        dtype = like.dtype
        if isinstance(dtype, pd.CategoricalDtype):
            return pd.Categorical(as_cells(list(self.written), object)[codes], dtype=dtype)
        return as_cells(list(self.written), dtype)[codes]

    def ready(self, like: pd.Series) -> pd.Series:
        """Return the column able to hold every learned label.

        Only a category column that lacks some of them changes: it gets the categories of
        the learned table, in their order, followed by its own others.
        """
        if not isinstance(like.dtype, pd.CategoricalDtype):
            return like
        present = like.dtype.categories.tolist()
        if set(self.written) <= set(present):
            return like
        learned = self.labels if self.declared is None else self.declared
        own = [label for label in present if label not in set(learned)]
        return like.cat.set_categories([*learned, *own])

    def to_dict(self) -> dict[str, Any]:
        """Return the codes as JSON-able data."""
        return {
            "labels": [to_json_value(label) for label in self.labels],
            "codes": list(self.codes),
            "written": [to_json_value(label) for label in self.written],
            "declared": None
            if self.declared is None
            else [to_json_value(label) for label in self.declared],
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> LabelCells:
        """Return the codes that `to_dict` wrote."""
        declared = data["declared"]
        return cls(
            tuple(from_json_value(label) for label in data["labels"]),
            tuple(data["codes"]),
            tuple(from_json_value(label) for label in data["written"]),
            None if declared is None else tuple(from_json_value(label) for label in declared),
        )


def _factorize(series: pd.Series) -> tuple[np.ndarray, list[Any]]:
    """Return for each cell the position of its label (-1 if missing), and the labels."""
    if isinstance(series.dtype, pd.CategoricalDtype):
        used = series.cat.remove_unused_categories().cat
        return used.codes.to_numpy(), used.categories.tolist()
    try:
        positions, uniques = pd.factorize(series)
    except TypeError:
        raise SchemaError(
            f"Column {series.name!r} holds values such as lists that cannot be categories. "
            "Give it the role ignored."
        ) from None
    return positions, uniques.tolist()


def in_order(labels: Sequence[Any], declared: Sequence[Any] | None) -> list[Any]:
    """Return labels in declared, numerical or alphabetical order, whichever comes first."""
    if declared is not None:
        seen = set(labels)
        return [label for label in declared if label in seen]
    try:
        numbers = {label: float(label) for label in labels}
    except (TypeError, ValueError):
        numbers = {}
    if numbers and all(map(math.isfinite, numbers.values())):
        return sorted(labels, key=lambda label: (numbers[label], str(label)))
    try:
        return sorted(labels)
    except TypeError:
        return sorted(labels, key=lambda label: (type(label).__name__, str(label)))
