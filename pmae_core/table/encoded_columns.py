"""One learned column: its cells as encoded numbers, and encoded numbers as its cells again."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from pmae_core.errors import ImputationError, SchemaError
from pmae_core.storage.json_values import from_json_value, to_json_value
from pmae_core.table.cells import impute_cells, observed_cells
from pmae_core.table.encoded_table import EncodedColumn
from pmae_core.table.labels import LabelCells
from pmae_core.table.number_cells import NumberCells
from pmae_core.table.ordinal_cells import OrdinalCells
from pmae_core.table.scaling import Scaler, scaler_from_dict
from pmae_core.table.time_cells import TimeCells


@dataclass(frozen=True, eq=False)
class NumericalColumn:
    """A learned column of numbers, times or the ranks of levels."""

    name: Hashable
    cells: NumberCells | TimeCells | OrdinalCells
    scaler: Scaler

    @property
    def encoded(self) -> EncodedColumn:
        """What a model knows about the column."""
        return EncodedColumn(self.name, "numerical", 0)

    def encode(self, series: pd.Series) -> tuple[np.ndarray, np.ndarray]:
        """Return the encoded cells, and which of them are observed."""
        numbers = self.cells.read(series)
        observed = ~np.isnan(numbers)
        return np.where(observed, self.scaler.scale(numbers), 0), observed

    def write(self, values: np.ndarray, like: pd.Series, *, reflect: bool = False) -> Any:
        """Return encoded values as cells of the dtype of a column, inside its limits.

        Parameters
        ----------
        values
            Encoded values.
        like
            The column.
        reflect
            Reflect values at the limits instead of moving them there, where they would pile up.
        """
        if reflect and isinstance(self.cells, NumberCells):
            values = self._reflected(values, self.cells)
        return self.cells.write(self.scaler.unscale(values), like)

    def ready(self, series: pd.Series) -> pd.Series:
        """Return the column able to hold everything that `write` returns."""
        return self.cells.ready(series) if isinstance(self.cells, OrdinalCells) else series

    def _reflected(self, scores: np.ndarray, cells: NumberCells) -> np.ndarray:
        """Return scores reflected at the limits that lie inside the observed range.

        On the scale of the scores, since beside an outlier a distance in numbers says little.
        """
        scores = np.clip(scores, *self.scaler.bounds)
        low, high = self.scaler.scale(np.array(cells.bounds))
        outside = (scores < low) | (scores > high)
        if low >= high or not outside.any():
            return scores
        width = high - low
        reflected = high - np.abs((scores - low) % (2 * width) - width)
        return np.where(outside, reflected, scores)

    def to_dict(self) -> dict[str, Any]:
        """Return the column as JSON-able data."""
        return {
            "name": to_json_value(self.name),
            "kind": "numerical",
            **self.cells.to_dict(),
            "scaling": self.scaler.to_dict(),
        }


@dataclass(frozen=True, eq=False)
class CategoricalColumn:
    """A learned column of labels, or (with one label only) one that is always the same."""

    name: Hashable
    labels: LabelCells

    @property
    def encoded(self) -> EncodedColumn:
        """What a model knows about the column."""
        return EncodedColumn(self.name, "categorical", self.labels.n_classes)

    def encode(self, series: pd.Series) -> tuple[np.ndarray, np.ndarray]:
        """Return the encoded cells, and which of them are observed."""
        codes = self.labels.read(series)
        return np.maximum(codes, 0), codes >= 0

    def write(self, values: np.ndarray, like: pd.Series, *, reflect: bool = False) -> Any:
        """Return encoded values as cells of the dtype of a column; categories have no limits."""
        codes = np.clip(np.rint(values), 0, self.labels.n_classes - 1).astype(np.intp)
        return self.labels.write(codes, like)

    def ready(self, series: pd.Series) -> pd.Series:
        """Return the column able to hold everything that `write` returns."""
        return self.labels.ready(series)

    def to_dict(self) -> dict[str, Any]:
        """Return the column as JSON-able data."""
        return {
            "name": to_json_value(self.name),
            "kind": "categorical",
            **self.labels.to_dict(),
        }


LearnedColumn = NumericalColumn | CategoricalColumn


def column_from_dict(data: Mapping[str, Any]) -> LearnedColumn:
    """Return the column that `to_dict` wrote."""
    content = {key: data[key] for key in data if key not in ("name", "kind", "scaling")}
    name = from_json_value(data["name"])
    if data["kind"] == "categorical":
        return CategoricalColumn(name, LabelCells.from_dict(content))
    return NumericalColumn(name, cells_from_dict(content), scaler_from_dict(data["scaling"]))


def cells_from_dict(data: dict[str, Any]) -> NumberCells | TimeCells | OrdinalCells:
    """Return the translator of cells that `to_dict` wrote."""
    if data["cells"] == "ordinal":
        return OrdinalCells.from_dict(data)
    content = {key: value for key, value in data.items() if key != "cells"}
    return NumberCells(**content) if data["cells"] == "number" else TimeCells(**content)


def impute_column(
    series: pd.Series, column: LearnedColumn, values: np.ndarray, *, reflect: bool = False
) -> pd.Series:
    """Return one column of a table with its missing cells imputed."""
    missing = ~observed_cells(series)
    if not missing.any():
        return series
    if np.isnan(values[missing]).any():
        raise ImputationError(f"The values for column {column.name!r} hold NaN in missing cells.")
    series = column.ready(series)
    try:
        return impute_cells(series, missing, column.write(values[missing], series, reflect=reflect))
    except (TypeError, ValueError, OverflowError) as error:
        if isinstance(error, SchemaError):
            raise
        raise SchemaError(
            f"Column {column.name!r} ({series.dtype}) cannot hold the learned values: {error}."
        ) from None
