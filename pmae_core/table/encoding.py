"""A table as numbers for a model, and the model's numbers as cells of the table again."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd

from pmae_core.errors import ImputationError, SchemaError
from pmae_core.storage.json_values import from_json_value, to_json_value
from pmae_core.table.cells import CellKind, cell_kind, impute_cells
from pmae_core.table.derived import DerivedColumn, complete_derived
from pmae_core.table.encoded_columns import (
    CategoricalColumn,
    LearnedColumn,
    NumericalColumn,
    column_from_dict,
    impute_column,
)
from pmae_core.table.encoded_table import EncodedColumn, EncodedTable
from pmae_core.table.labels import LabelCells
from pmae_core.table.learned import NotLearned
from pmae_core.table.number_cells import NumberCells
from pmae_core.table.ordinal_cells import OrdinalCells
from pmae_core.table.roles import NUMBER_ROLES, Role, check_role
from pmae_core.table.scaling import NUMERIC_SCALINGS, Scaler, fit_scaler
from pmae_core.table.schema import ColumnSchema, Schema, check_unique_names
from pmae_core.table.time_cells import TimeCells
from pmae_core.words import listed

_FORMAT_VERSION = 2
# A label observed this often can be learned, however long the column is.
ENOUGH_CELLS = 30
# As many as 1% of the cells each can be; more would make wide networks of a column of names.
MOST_CLASSES = 100


class TableEncoder:
    """Turn a table into numbers for a model, and a model's numbers into cells again.

    Fitted on observed cells only. The levels of an ordinal column are numbers for a model: their
    ranks; an imputed cell gets the level nearest to the model's number. A column that is always the
    same is not learned: its missing cells get that value. Identifiers, ignored and empty columns
    stay as they are.

    Parameters
    ----------
    schema
        Roles and rules of the columns; inferred from the table if None. Columns of the table that
        the schema does not name stay as they are.
    numeric
        Scaling of numbers to [0, 1]: "rank" (normal scores, exactly invertible, the default),
        "quantile" (the paper's), "standard" (mean ± 3 standard deviations; outliers may leave
        [0, 1]) or "minmax".
    min_category_count
        Labels observed less often share one class: a number, "paper" (max(30, 1% of the rows)) or
        "auto" (1% of the observed cells, but from 2 to 30, and no more than 100 classes).

    Attributes
    ----------
    schema_ : Schema
        The roles in use.
    columns_ : tuple of EncodedColumn
        The columns a model learns, in the table's order.
    not_learned_ : dict
        For each column that is not learned, the reason: a `NotLearned`.

    Notes
    -----
    Encoded values are float32. A number comes back exactly where the scaler has a knot: with "rank"
    this is every value of a column with at most 1,000 different ones. Between knots, and with the
    other scalings, a number comes back within about 1e-6 of the column's range.

    Examples
    --------
    >>> import pandas as pd
    >>> df = pd.DataFrame({"age": [31, 45, None, 60], "town": ["Ulm", None, "Bonn", "Ulm"]})
    >>> encoder = TableEncoder()
    >>> encoded = encoder.fit_transform(df)
    >>> encoded.observed.sum(axis=0).tolist(), encoded.columns[1].n_categories
    ([3, 3], 2)
    >>> encoder.decode(encoded.values, df)["age"].tolist()
    [31.0, 45.0, 31.0, 60.0]
    """

    schema_: Schema
    columns_: tuple[EncodedColumn, ...]
    not_learned_: dict[Any, NotLearned]

    def __init__(
        self,
        *,
        schema: Schema | None = None,
        numeric: str = "rank",
        min_category_count: str | int = "auto",
    ) -> None:
        self.schema = schema
        self.numeric = numeric
        self.min_category_count = min_category_count

    def fit(self, df: pd.DataFrame) -> TableEncoder:
        """Learn scalings and categories from the observed cells of a table."""
        self._check_settings()
        check_unique_names(df)
        schema = Schema.infer(df) if self.schema is None else self.schema
        _check_has_columns(df, schema.names())
        schema.check_rules(df)
        schema = schema.with_levels(df)
        self.schema_ = schema
        self._derived = [
            DerivedColumn.fit(df, name, expression) for name, expression in schema.derived.items()
        ]
        self.not_learned_ = schema.not_learned(df)
        self._learned: list[LearnedColumn] = []
        self._constant: list[CategoricalColumn] = []
        for column in schema:
            self._fit_column(df[column.name], column)
        self.columns_ = tuple(column.encoded for column in self._learned)
        return self

    def transform(self, df: pd.DataFrame) -> EncodedTable:
        """Return a table, its columns in any order, as numbers."""
        self._check_fitted()
        check_unique_names(df)
        _check_has_columns(df, [column.name for column in self._learned])
        shape = (len(df), len(self._learned))
        values = np.zeros(shape, dtype=np.float32)
        observed = np.zeros(shape, dtype=bool)
        for j, column in enumerate(self._learned):
            values[:, j], observed[:, j] = column.encode(df[column.name])
        return EncodedTable(values, observed, self.columns_)

    def fit_transform(self, df: pd.DataFrame) -> EncodedTable:
        """Fit to a table and return it as numbers."""
        return self.fit(df).transform(df)

    def decode(self, values: np.ndarray, df: pd.DataFrame, *, random: bool = False) -> pd.DataFrame:
        """Return a copy of a table with its missing cells imputed from encoded values.

        Parameters
        ----------
        values
            Shape (n, d), as in `EncodedTable.values`; only those of missing cells are used. Numbers
            are kept inside the observed range and the declared limits, and get the precision of
            their column; codes are rounded.
        df
            The table to impute. It is not changed.
        random
            The values are one of several random imputations: those beyond a declared limit are
            reflected at it, so that they do not pile up there. Otherwise they get the limit.

        Returns
        -------
        DataFrame
            Missing cells of derived columns are computed from the imputed row. Every
            observed cell, the index, the order of the columns and the dtypes are as in
            `df`. (A category column that lacks a category it needs gets the learned ones.)
        """
        self._check_fitted()
        check_unique_names(df)
        _check_has_columns(df, self._needed())
        values = np.asarray(values)
        if values.shape != (len(df), len(self._learned)):
            raise ImputationError(
                f"Values of shape {values.shape} do not fit a table of {len(df)} rows "
                f"with {len(self._learned)} learned columns."
            )
        places = {column.name: j for j, column in enumerate(self._learned)}
        columns = {column.name: column for column in (*self._learned, *self._constant)}
        # Column by column: a copy of the whole table would stay as long as one column of it does,
        # and in double precision all values would be as large as the table.
        imputed = df.copy(deep=False)
        for position, name in enumerate(df.columns):
            series = df.iloc[:, position].copy()
            if name in columns:
                numbers = values[:, places[name]] if name in places else np.zeros(len(df))
                series = impute_column(
                    series, columns[name], numbers.astype(np.float64), reflect=random
                )
            imputed.isetitem(position, series)  # type: ignore[arg-type]  # the stubs forget it
        complete_derived(imputed, df, self._derived, self._solvable())
        return imputed

    def _needed(self) -> list[Any]:
        """Return the names of the columns that imputed cells are for, or computed from."""
        derived = ((column.name, *column.expression.columns) for column in self._derived)
        imputed = (column.name for column in (*self._learned, *self._constant))
        return list(dict.fromkeys([*imputed, *chain.from_iterable(derived)]))

    def _solvable(self) -> dict[Any, NumericalColumn]:
        return {c.name: c for c in self._learned if isinstance(c, NumericalColumn)}

    @property
    def scalers_(self) -> tuple[Scaler | None, ...]:
        """What makes scores of each column's numbers; ``None`` for a categorical column."""
        self._check_fitted()
        return tuple(getattr(column, "scaler", None) for column in self._learned)

    @property
    def not_imputed_(self) -> dict[Any, NotLearned]:
        """The columns whose missing cells stay missing, with the reason."""
        self._check_fitted()
        derived = {column.name for column in self._derived}
        return {
            name: reason
            for name, reason in self.not_learned_.items()
            if not reason.imputed and name not in derived
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the fitted encoder as JSON-able data."""
        self._check_fitted()
        return {
            "version": _FORMAT_VERSION,
            "numeric": self.numeric,
            "min_category_count": self.min_category_count,
            "schema": self.schema_.to_dict(),
            "learned": [column.to_dict() for column in self._learned],
            "constant": [column.to_dict() for column in self._constant],
            "derived": [column.to_dict() for column in self._derived],
            "not_learned": [
                [to_json_value(name), reason.value] for name, reason in self.not_learned_.items()
            ],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> TableEncoder:
        """Return the fitted encoder that `to_dict` wrote."""
        if data.get("version") != _FORMAT_VERSION:
            raise SchemaError(
                f"This encoder was saved in format {data.get('version')!r}, "
                f"but this version of the library reads format {_FORMAT_VERSION}."
            )
        schema = Schema.from_dict(data["schema"])
        encoder = cls(
            schema=schema, numeric=data["numeric"], min_category_count=data["min_category_count"]
        )
        encoder.schema_ = schema
        encoder._learned = [column_from_dict(column) for column in data["learned"]]
        encoder._constant = [
            CategoricalColumn(from_json_value(column["name"]), LabelCells.from_dict(column))
            for column in data["constant"]
        ]
        encoder._derived = [DerivedColumn.from_dict(column) for column in data.get("derived", [])]
        encoder.columns_ = tuple(column.encoded for column in encoder._learned)
        encoder.not_learned_ = {
            from_json_value(name): NotLearned(reason) for name, reason in data["not_learned"]
        }
        return encoder

    def _check_settings(self) -> None:
        if self.numeric not in NUMERIC_SCALINGS:
            raise ValueError(
                f"numeric must be one of {', '.join(NUMERIC_SCALINGS)}, not {self.numeric!r}."
            )
        count = self.min_category_count
        is_count = isinstance(count, int) and not isinstance(count, bool) and count >= 1
        if count not in ("auto", "paper") and not is_count:
            raise ValueError(
                'min_category_count must be "auto", "paper" or a whole number from 1, '
                f"not {count!r}."
            )

    def _check_fitted(self) -> None:
        if not hasattr(self, "columns_"):
            raise ImputationError("The encoder is not fitted yet.", advice="Call fit first.")

    def _fit_column(self, series: pd.Series, column: ColumnSchema) -> None:
        """Learn one column, or the only value of a constant one."""
        reason = self.not_learned_.get(column.name)
        if reason is not None and not reason.imputed:
            return
        check_role(series, column.role)
        if reason is not None:
            self._constant.append(_constant_column(series, column))
        elif column.role is Role.ORDINAL or column.role in NUMBER_ROLES:
            cells = _cells_of(series, column)
            numbers = cells.read(series)
            scaler = fit_scaler(numbers[~np.isnan(numbers)], self.numeric)
            self._learned.append(NumericalColumn(series.name, cells, scaler))
        else:
            most = MOST_CLASSES if self.min_category_count == "auto" else None
            labels = LabelCells.fit(series, self._min_count(series), most)
            self._learned.append(CategoricalColumn(series.name, labels))

    def _min_count(self, series: pd.Series) -> int:
        if self.min_category_count == "paper":
            return max(30, round(len(series) / 100))
        if self.min_category_count == "auto":
            return min(max(2, round(int(series.notna().sum()) / 100)), ENOUGH_CELLS)
        return int(self.min_category_count)


def _cells_of(series: pd.Series, column: ColumnSchema) -> NumberCells | TimeCells | OrdinalCells:
    if column.role is Role.ORDINAL:
        return OrdinalCells.fit(series, column.rules.levels)
    is_time = cell_kind(series) in (CellKind.DATETIME, CellKind.DURATION)
    return TimeCells.fit(series) if is_time else column.rules.applied_to(NumberCells.fit(series))


def _constant_column(series: pd.Series, column: ColumnSchema) -> CategoricalColumn:
    """Return a column with one value; infinite numbers beside it are no value."""
    if column.role in NUMBER_ROLES:
        cells = _cells_of(series, column)
        numbers = cells.read(series)
        series = series[~np.isnan(numbers)]
        if column.rules.restricts:
            # The only value may break the rules; missing cells get the nearest that does not.
            allowed = cells.write(numbers[~np.isnan(numbers)][:1], series)
            series = impute_cells(series.iloc[:1], np.array([True]), allowed)
    return CategoricalColumn(series.name, LabelCells.fit(series))


def _check_has_columns(df: pd.DataFrame, names: Sequence[Hashable]) -> None:
    absent = [name for name in names if name not in df.columns]
    if absent:
        raise SchemaError(
            f"The table lacks {len(absent)} of the expected columns: "
            f"{listed(map(repr, absent), most=10)}."
        )
