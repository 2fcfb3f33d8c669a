"""Several models of one table as one: their estimates, mixed column by column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from pmae_core.imputers.masked._cell_errors import CellErrors, no_coordinates
from pmae_core.imputers.masked._drawing import draw_in_rounds, round_of_columns
from pmae_core.imputers.masked._estimates import Estimates, encoded_cells, wanted_columns
from pmae_core.imputers.masked._masked_forests import MaskedForests
from pmae_core.imputers.masked._own_numbers import OwnNumbers
from pmae_core.imputers.masked._shares import mix
from pmae_core.imputers.masked._table_gaussian import TableGaussian
from pmae_core.table import EncodedColumn, EncodedTable

if TYPE_CHECKING:
    from pmae_core.imputers.masked._prediction import FittedNetwork

# The pieces do not depend on the number of threads, so neither does the result.
_CELLS_AT_ONCE = 1_000_000


@dataclass(frozen=True, eq=False)
class Blend:
    """Fitted models of one table, and how much each counts in each column.

    Parameters
    ----------
    columns : sequence of EncodedColumn
        What the columns are.
    numbers : OwnNumbers
        The columns' own numbers, on which estimates are mixed.
    gaussians : sequence of TableGaussian
        The Gaussians on ranks and on the own scale; none where they are not members.
    forests : MaskedForests or None
        The trees.
    network : FittedNetwork or None
        The network.
    shares : ndarray of shape (columns, members)
        How much each member counts, in the order of :attr:`members`.
    errors : mapping of column to CellErrors
        What errors on cells that the blend has not seen say, for random imputations.
    n_threads : int
        Pieces of a table that are imputed at a time.
    """

    columns: Sequence[EncodedColumn]
    numbers: OwnNumbers
    gaussians: Sequence[TableGaussian] = ()
    forests: MaskedForests | None = None
    network: FittedNetwork | None = None
    shares: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    errors: Mapping[int, CellErrors] = field(default_factory=dict)
    n_threads: int = 1

    @property
    def members(self) -> list[str]:
        """The names of the members."""
        names = [
            "gaussian-own-scale" if one.on_own_scale else "gaussian-ranks" for one in self.gaussians
        ]
        names += ["trees"] * (self.forests is not None)
        return names + ["network"] * (self.network is not None)

    @property
    def reference(self) -> TableGaussian | None:
        """The Gaussian whose coordinates explain errors."""
        if self.gaussians:
            return self.gaussians[0]
        return self.forests.gaussian if self.forests is not None else None

    def estimate(self, values: np.ndarray, kept: np.ndarray, wanted: np.ndarray) -> Estimates:
        """Return estimates of the wanted cells, given the kept ones, mixed by the shares."""
        return self._mixed(values, kept, wanted, self._expect(values, kept))

    def parts(self, values: np.ndarray, kept: np.ndarray, wanted: np.ndarray) -> list[Estimates]:
        """Return the estimates of each member."""
        return self._parts(values, kept, wanted, self._expect(values, kept))

    def _expect(self, values: np.ndarray, kept: np.ndarray) -> list[np.ndarray]:
        """Return the coordinates that the Gaussians expect, those of the reference first."""
        used = list(self.gaussians)
        if not used and self.reference is not None:
            used = [self.reference]
        return [one.expect(values, kept) for one in used]

    def _mixed(
        self, values: np.ndarray, kept: np.ndarray, wanted: np.ndarray, expected: list[np.ndarray]
    ) -> Estimates:
        parts = self._parts(values, kept, wanted, expected)
        return {j: mix(self.shares[j], [part[j] for part in parts]) for j in wanted_columns(wanted)}

    def _parts(
        self, values: np.ndarray, kept: np.ndarray, wanted: np.ndarray, expected: list[np.ndarray]
    ) -> list[Estimates]:
        parts = [
            one.estimates_of(coordinates, wanted)
            for one, coordinates in zip(self.gaussians, expected, strict=False)
        ]
        if self.forests is not None:
            has_gaussian = self.forests.gaussian is not None
            known = expected[0] if has_gaussian else None
            parts.append(self.forests.estimate(values, kept, wanted, known))
        if self.network is not None:
            parts.append(self.network.estimate(values, kept, wanted))
        return parts

    def impute(self, encoded: EncodedTable) -> np.ndarray:
        """Return the encoded values with every missing cell estimated."""
        imputed = encoded.values.copy()

        def impute_piece(rows: np.ndarray) -> None:
            observed = encoded.observed[rows]
            for j, estimate in self.estimate(encoded.values[rows], observed, ~observed).items():
                imputed[rows[~observed[:, j]], j] = encoded_cells(estimate, j, self.numbers)

        with self._one_thread_per_piece(), ThreadPoolExecutor(self.n_threads) as pool:
            list(pool.map(impute_piece, self.pieces(encoded.observed)))
        return imputed

    def _one_thread_per_piece(self) -> AbstractContextManager[None]:
        """Keep the network's own threads from competing with those of the pieces."""
        if self.network is None:
            return nullcontext()
        from pmae_core.training.device import threads_for

        return threads_for(0)

    def draw(self, encoded: EncodedTable, n: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
        """Yield ``n`` random imputations, each by a model whose coefficients are drawn anew."""
        for _ in range(n):
            imputed = encoded.values.copy()
            errors = {j: one.drawn(rng) for j, one in self.errors.items()}
            rounds = round_of_columns(encoded.observed, rng)
            for rows in self.pieces(encoded.observed):
                imputed[rows] = draw_in_rounds(
                    imputed[rows],
                    encoded.observed[rows],
                    rounds,
                    partial(self._draw_cells, errors=errors, rng=rng),
                )
            yield imputed

    def _draw_cells(
        self,
        cells: np.ndarray,
        known: np.ndarray,
        now: np.ndarray,
        errors: Mapping[int, CellErrors],
        rng: np.random.Generator,
    ) -> np.ndarray:
        """Return cells with those of ``now`` drawn, given the known ones."""
        drawn, reference = cells.copy(), self.reference
        expected, known_rows = [], no_coordinates(len(cells))
        coordinates = spread = known_rows.values
        if reference is not None:
            coordinates, spread = reference.expect_with_spread(cells, known)
            expected = [coordinates, *(one.expect(cells, known) for one in self.gaussians[1:])]
        for j, estimate in self._mixed(cells, known, now, expected).items():
            rows = now[:, j]
            if self.numbers.is_number(j):
                estimate = self.numbers.to_scores(estimate[:, 0], j)
            own = known_rows.spread if reference is None else reference.spread_of_column(spread, j)
            drawn[rows, j] = errors[j].draw(estimate, coordinates[rows], own[rows], rng)
        return drawn

    def pieces(self, observed: np.ndarray) -> Iterator[np.ndarray]:
        """Yield the numbers of incomplete rows, so many at a time that their inputs fit."""
        rows = np.flatnonzero(~observed.all(axis=1))
        used = [*self.gaussians, *([self.forests.gaussian] if self.forests else [])]
        width = len(self.columns) + sum(len(one.column) for one in used if one is not None)
        size = max(1, _CELLS_AT_ONCE // width)
        for start in range(0, len(rows), size):
            yield rows[start : start + size]
