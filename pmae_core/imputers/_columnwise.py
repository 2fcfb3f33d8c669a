"""A table imputed column by column, each with the method chosen for it."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from pmae_core.errors import ImputationError, ImputationWarning
from pmae_core.imputers._comparison import HeldOutComparison
from pmae_core.imputers.base import BaseImputer
from pmae_core.imputers.registry import list_imputers
from pmae_core.table import TableEncoder
from pmae_core.words import listed


@dataclass(frozen=True, eq=False)
class ColumnwiseImputation:
    """Imputes each column with its own method.

    Parameters
    ----------
    method_of : mapping of column to str
        The method chosen for each learned column.
    imputers : mapping of str to BaseImputer
        The fitted imputers of the methods chosen.
    encoder : TableEncoder
        The encoder of the table they were compared on.
    comparison : HeldOutComparison
        The errors of each method on held-out cells.
    """

    method_of: Mapping[Any, str]
    imputers: Mapping[str, BaseImputer]
    encoder: TableEncoder
    comparison: HeldOutComparison

    def impute(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return the table with every column imputed by its method."""
        imputed = self._start(frame)
        for method, names in self._methods_for(frame).items():
            columns = self._impute_with(method, names, frame)
            for name in names:
                imputed[name] = columns[name]
        return self.encoder.complete_derived(imputed, frame)

    def sample(self, frame: pd.DataFrame, n: int, seed: int) -> list[pd.DataFrame]:
        """Return ``n`` plausible imputations of the table."""
        rng = np.random.default_rng(seed)
        draws = [self._start(frame) for _ in range(n)]
        for method, names in self._methods_for(frame).items():
            drawn: Iterable[pd.DataFrame]
            if any(info.draws_samples for info in list_imputers() if info.name == method):
                drawn = self._sample_with(method, names, frame, n, seed)
            else:
                drawn = self._add_errors(method, names, frame, n, rng)
            for draw, columns in zip(draws, drawn, strict=True):
                for name in names:
                    draw[name] = columns[name]
        return [self.encoder.complete_derived(draw, frame) for draw in draws]

    def _start(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return the table with constant columns imputed; the methods do the others."""
        return self.encoder.decode(self.encoder.transform(frame).values, frame)

    def _methods_for(self, frame: pd.DataFrame) -> dict[str, list[Any]]:
        """Return the methods that have columns of this table to impute, with these columns."""
        needed: dict[str, list[Any]] = {}
        for column, method in self.method_of.items():
            if frame[column].isna().any():
                needed.setdefault(method, []).append(column)
        return needed

    def _impute_with(self, method: str, names: Sequence[Any], frame: pd.DataFrame) -> pd.DataFrame:
        try:
            imputed: pd.DataFrame = self.imputers[method].transform(frame)
        except ImputationError as error:
            raise _naming_columns(error, method, names) from None
        return imputed

    def _sample_with(
        self, method: str, names: Sequence[Any], frame: pd.DataFrame, n: int, seed: int
    ) -> list[pd.DataFrame]:
        try:
            return self.imputers[method].sample(frame, n, random_state=seed)
        except ImputationError as error:
            raise _naming_columns(error, method, names) from None

    def _add_errors(
        self,
        method: str,
        names: Sequence[Any],
        frame: pd.DataFrame,
        n: int,
        rng: np.random.Generator,
    ) -> Iterator[pd.DataFrame]:
        """Yield a method's one imputation, with errors it made on held-out cells added."""
        imputed = self.encoder.transform(self._impute_with(method, names, frame)).values
        places = {column.name: j for j, column in enumerate(self.encoder.columns_)}
        for number in range(n):
            values = imputed.copy()
            for name in names:
                drawn = self.comparison.draw(method, places[name], imputed[:, places[name]], rng)
                if drawn is not None:
                    values[:, places[name]] = drawn
                elif number == 0:
                    warnings.warn(
                        f"Column {name!r} is the same in every imputation: {method} draws no "
                        "samples, and no cell was held out to learn its errors from.",
                        ImputationWarning,
                        stacklevel=4,
                    )
            yield self.encoder.decode(values, frame, random=True)


def _naming_columns(error: ImputationError, method: str, names: Sequence[Any]) -> ImputationError:
    return ImputationError(f"auto chose {method} for {listed(names)}: {error}")
