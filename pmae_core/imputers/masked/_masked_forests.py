"""Forests for all columns of a table, with a Gaussian's estimates among their inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pmae_core.imputers.masked._copied_masks import WANTED_ROWS, copied_masks
from pmae_core.imputers.masked._estimates import Estimates, wanted_columns
from pmae_core.imputers.masked._forests import (
    N_FOLDS,
    ColumnForests,
    Growth,
)
from pmae_core.imputers.masked._own_numbers import OwnNumbers
from pmae_core.imputers.masked._saved_arrays import arrays_below
from pmae_core.imputers.masked._table_gaussian import TableGaussian
from pmae_core.masking import MaskSampler
from pmae_core.table import EncodedColumn, EncodedTable


@dataclass(frozen=True, kw_only=True)
class Masks:
    """How the rows that trees learn from are masked; see :func:`copied_masks`."""

    n_copies: int | str = "auto"
    wanted_rows: int = WANTED_ROWS
    most_rows: int | None = None
    function: str = "logit"
    copy_share: float = 1.0

    def examples(
        self, observed: np.ndarray, j: int, seed: int, most_rows: int | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows that a column is learned from, and their kept cells.

        Fewer rows are the first of more rows.
        """
        rows, kept = copied_masks(
            observed,
            j,
            np.random.default_rng([seed, 1, j]),
            n_copies=self.n_copies,
            wanted_rows=self.wanted_rows,
            most_rows=self.most_rows,
            sampler=MaskSampler(function=self.function),
            copy_share=self.copy_share,
        )
        return rows[:most_rows], kept[:most_rows]


@dataclass(frozen=True, eq=False)
class FoldedGaussian:
    """A Gaussian of a table, and others that do not know the rows of one fold each.

    What a model learns from must not contain the answer: in rows that the Gaussian itself has
    learned from, its estimates are better than they will be.

    Parameters
    ----------
    whole : TableGaussian
        The Gaussian of all rows.
    folds : sequence of TableGaussian
        Those without the rows of each fold.
    """

    whole: TableGaussian
    folds: Sequence[TableGaussian]

    @classmethod
    def fit(
        cls,
        encoded: EncodedTable,
        numbers: OwnNumbers,
        fold: np.ndarray,
        rng: np.random.Generator,
        *,
        on_own_scale: bool,
        check: Callable[[], None],
    ) -> FoldedGaussian:
        """Fit all Gaussians; ``check`` is called before each and may raise to stop."""
        check()
        whole = TableGaussian.fit(
            encoded, encoded.observed, numbers, on_own_scale=on_own_scale, rng=rng
        )
        folds = []
        for k in range(N_FOLDS):
            check()
            folds.append(whole.without_rows(encoded, encoded.observed, fold == k))
        return cls(whole, folds)

    def expect_unseen(self, values: np.ndarray, kept: np.ndarray, fold: np.ndarray) -> np.ndarray:
        """Return what is expected of rows of these folds without having seen them."""
        expected = np.empty((len(values), len(self.whole.column)))
        for k in np.unique(fold).tolist():
            rows = fold == k
            expected[rows] = self.folds[k].expect(values[rows], kept[rows])
        return expected

    def expect_unseen_with_spread(
        self, values: np.ndarray, kept: np.ndarray, fold: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return what :meth:`expect_unseen` does, and the standard deviation around it."""
        expected = np.empty((len(values), len(self.whole.column)))
        spread = np.empty_like(expected)
        for k in np.unique(fold).tolist():
            rows = fold == k
            found = self.folds[k].expect_with_spread(values[rows], kept[rows])
            expected[rows], spread[rows] = found
        return expected, spread


@dataclass(frozen=True, eq=False)
class MaskedForests:
    """Forests for all columns, trained on copied masks.

    Parameters
    ----------
    columns : sequence of EncodedColumn
        What the columns are.
    forests : sequence of ColumnForests
        The forests of each column.
    gaussian : TableGaussian or None
        What adds its estimates to the inputs.
    """

    columns: Sequence[EncodedColumn]
    forests: Sequence[ColumnForests]
    gaussian: TableGaussian | None

    def estimate(
        self,
        values: np.ndarray,
        kept: np.ndarray,
        wanted: np.ndarray,
        expected: np.ndarray | None = None,
    ) -> Estimates:
        """Return estimates of the wanted cells, given the kept ones.

        Parameters
        ----------
        values, kept, wanted
            As for :class:`~pmae_core.imputers.masked._estimates.Estimator`.
        expected : ndarray of shape (rows, coordinates), optional
            What the Gaussian expects, if that is known already.
        """
        if expected is None and self.gaussian is not None:
            expected = self.gaussian.expect(values, kept)
        inputs = TreeInputs(self.columns, values, kept, expected)
        return {
            j: self.forests[j].estimate(inputs.of(j, wanted[:, j])) for j in wanted_columns(wanted)
        }

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays of all forests, each named by its column."""
        return {
            f"{j}.{name}": array
            for j, forests in enumerate(self.forests)
            for name, array in forests.arrays().items()
        }

    @classmethod
    def from_arrays(
        cls,
        arrays: Mapping[str, np.ndarray],
        columns: Sequence[EncodedColumn],
        gaussian: TableGaussian | None,
    ) -> MaskedForests:
        """Return the forests that :meth:`arrays` describes."""
        forests = [
            ColumnForests.from_arrays(
                arrays_below(arrays, f"{j}."),
                column.n_categories,
                n_inputs(columns, j, has_gaussian=gaussian is not None),
            )
            for j, column in enumerate(columns)
        ]
        return cls(columns, forests, gaussian)


class TreeInputs:
    """The inputs of all forests for some rows.

    These are the kept cells (NaN for the others) and, if there is a Gaussian, its estimates of all
    numbers and of the column's own categories. The categories of other columns would be many
    inputs that say little.

    Parameters
    ----------
    columns : sequence of EncodedColumn
        What the columns are.
    values, kept : ndarray of shape (rows, columns)
        Encoded cells, and which of them are given.
    expected : ndarray of shape (rows, coordinates) or None
        What a :class:`TableGaussian` expects of the rows.
    """

    def __init__(
        self,
        columns: Sequence[EncodedColumn],
        values: np.ndarray,
        kept: np.ndarray,
        expected: np.ndarray | None,
    ) -> None:
        self.columns = columns
        self.cells = np.where(kept, values, np.float32("nan"))
        self.expected = None if expected is None else expected.astype(np.float32)
        self.coordinate_of = _coordinate_slices(columns)

    def of(self, j: int, rows: np.ndarray | slice = slice(None)) -> np.ndarray:
        """Return the inputs of the forests of a column for some of the rows."""
        if self.expected is None:
            return self.cells[rows]
        places = [
            place
            for i, place in enumerate(self.coordinate_of)
            if i == j or not self.columns[i].n_categories
        ]
        used = np.concatenate([np.arange(place.start, place.stop) for place in places])
        return np.hstack([self.cells[rows], self.expected[rows][:, used]])


def n_inputs(columns: Sequence[EncodedColumn], j: int, *, has_gaussian: bool) -> int:
    """Return how many inputs the forests of a column have."""
    n_numbers = sum(not column.n_categories for column in columns)
    own = max(0, columns[j].n_categories - 1)
    return len(columns) + (n_numbers + own if has_gaussian else 0)


def _coordinate_slices(columns: Sequence[EncodedColumn]) -> list[slice]:
    """Return the coordinates of each column in a Gaussian."""
    widths = [column.n_categories - 1 if column.n_categories else 1 for column in columns]
    ends = np.cumsum(widths).tolist()
    return [slice(end - width, end) for end, width in zip(ends, widths, strict=True)]


@dataclass(frozen=True, eq=False)
class GrownColumn:
    """A column's forests, and their estimates of the cells they learned from, each unseen."""

    forests: ColumnForests
    unseen: np.ndarray


def grow_forests(
    encoded: EncodedTable,
    numbers: OwnNumbers,
    fold: np.ndarray,
    gaussian: FoldedGaussian | None,
    masks: Masks,
    growth: Growth,
    seed: int,
    *,
    most_unseen: int = 0,
    advance: Callable[[int], None],
) -> Iterator[GrownColumn]:
    """Grow the forests of one column after the other.

    Parameters
    ----------
    encoded : EncodedTable
        The table.
    numbers : OwnNumbers
        The columns' own numbers.
    fold : int ndarray of shape (rows,)
        The fold of each row.
    gaussian : FoldedGaussian or None
        What adds its estimates to the inputs.
    masks : Masks
        How rows are masked.
    growth : Growth
        How forests are grown.
    seed : int
        Seed of masks and trees.
    most_unseen : int
        How many of the examples to estimate unseen; 0 for none.
    advance : callable
        Called with the number of trees after each forest; may raise to stop.
    """
    for j, column in enumerate(encoded.columns):
        rows, kept = masks.examples(encoded.observed, j, seed)
        values = encoded.values[rows]
        expected = None if gaussian is None else gaussian.expect_unseen(values, kept, fold[rows])
        inputs = TreeInputs(encoded.columns, values, kept, expected).of(j)
        cells = values[:, j]
        target = cells if column.n_categories else numbers.of_scores(cells, j)
        forests = ColumnForests.grow(
            inputs,
            target,
            fold[rows],
            column.n_categories,
            growth,
            int(np.random.default_rng([seed, 6, j]).integers(2**31 - N_FOLDS)),
            n_copies=len(rows) / len(np.unique(rows)),
            advance=advance,
        )
        some = slice(most_unseen)
        yield GrownColumn(forests, forests.estimate_unseen(inputs[some], fold[rows][some]))
