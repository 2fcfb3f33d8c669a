"""Fit the members of a blend one after the other, and learn how much each counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from pmae_core.imputers.masked._blend import Blend
from pmae_core.imputers.masked._category_errors import CategoryErrors
from pmae_core.imputers.masked._cell_errors import (
    MOST_COORDINATES,
    CellErrors,
    RowCoordinates,
    no_coordinates,
)
from pmae_core.imputers.masked._estimates import Estimates, encoded_cells, true_cells
from pmae_core.imputers.masked._forests import Growth, folds_of_rows
from pmae_core.imputers.masked._held_out import HeldOutPredictions
from pmae_core.imputers.masked._masked_forests import (
    FoldedGaussian,
    MaskedForests,
    Masks,
    TreeInputs,
    grow_forests,
)
from pmae_core.imputers.masked._number_errors import NumberErrors
from pmae_core.imputers.masked._own_numbers import OwnNumbers
from pmae_core.imputers.masked._shares import (
    OPTIMISM_OF_THE_NETWORK,
    learn_shares,
    member_errors,
    mix,
)
from pmae_core.imputers.masked._validation import validation_cells
from pmae_core.imputers.run import FitRun
from pmae_core.masking import HeldOut
from pmae_core.table import EncodedTable, Scaler

if TYPE_CHECKING:
    from pmae_core.imputers.masked._prediction import FittedNetwork

MEMBERS = ("network", "gaussian", "trees")

# Cells of a column from which the shares of Gaussians and trees are learned.
CELLS_FOR_SHARES = 2_000
# Cells of all columns, and the most of one, that teach what the blend is off by. The more, the less
# random imputations differ from each other; the first answer need not wait for all of them.
_CELLS_FOR_ERRORS = 150_000
_MOST_CELLS_FOR_ERRORS = 10_000
# How many times larger than in rows of its training the errors of a network may be.
_MOST_OVERFITTING = 3.0
# Held-out cells count like so many more without overfitting.
_CELLS_WITHOUT_OVERFITTING = 20
SHARE_HELD_OUT = 0.2
ROWS_FOR_SPREAD = 5_000


@dataclass(frozen=True, eq=False)
class BlendAnswer:
    """A blend of the members fitted so far, and how good it is.

    Attributes
    ----------
    blend : Blend
        The blend.
    column_skill : dict of column number to float
        For each column with held-out cells, 1 less their mean squared error in units of the
        column's own variance (for a category, of its class indicators).
    skill : float or None
        The same over all held-out cells; ``None`` where too few could be held out.
    held_out : HeldOutPredictions or None
        The estimates of the held-out cells.
    """

    blend: Blend
    column_skill: dict[int, float]
    skill: float | None
    held_out: HeldOutPredictions | None = None


class Blending:
    """Members that are fitted one after the other, the quickest first.

    The shares of Gaussians and trees are learned from cells of every column; rows take turns to be
    unknown to them. A network is fitted only once: its share is learned from the cells that were
    held out of its training.

    Parameters
    ----------
    encoded : EncodedTable
        The table.
    scalers : sequence of Scaler or None
        What makes scores of each column's numbers.
    masks : Masks
        How rows are masked to learn from.
    run : FitRun
        Seed, callbacks and cancellation.
    n_threads : int
        Pieces of a table that the blend imputes at a time.
    follow_curves : bool
        Whether random imputations follow curves that the members do not find.
    """

    def __init__(
        self,
        encoded: EncodedTable,
        scalers: Sequence[Scaler | None],
        masks: Masks,
        run: FitRun,
        n_threads: int,
        *,
        follow_curves: bool = False,
    ) -> None:
        self.encoded = encoded
        self.numbers = OwnNumbers(scalers)
        self.masks = masks
        self.run = run
        self.follow_curves = follow_curves
        self.fold = folds_of_rows(len(encoded.values), np.random.default_rng([run.seed, 5]))
        self.held_out = validation_cells(encoded.observed, SHARE_HELD_OUT, run.seed)
        self.gaussians: list[FoldedGaussian] = []
        # Estimates of each member fitted so far, by rows that it does not know.
        self.on_examples: list[Estimates] = []
        self.on_held_out: list[Estimates] = []
        self._coordinates: dict[int, RowCoordinates] = {}
        self.blend = Blend(encoded.columns, self.numbers, n_threads=n_threads)

    def fit_gaussians(self, *, on_own_scale: bool = True) -> None:
        """Fit a Gaussian on ranks, and one on the own scale if wanted, with their folds."""
        has_numbers = any(not column.n_categories for column in self.encoded.columns)
        for own_scale in (False, True) if has_numbers and on_own_scale else (False,):
            rng = np.random.default_rng([self.run.seed, 0])
            self.gaussians.append(
                FoldedGaussian.fit(
                    self.encoded,
                    self.numbers,
                    self.fold,
                    rng,
                    on_own_scale=own_scale,
                    check=self.run.check,
                )
            )

    def add_gaussians(self) -> BlendAnswer:
        """Make the fitted Gaussians members of the blend."""
        for one in self.gaussians:
            self.on_examples.append(self._gaussian_on_examples(one))
            if self.held_out is not None:
                rows = self.held_out.rows
                expected = one.expect_unseen(
                    self.encoded.values[rows], self.held_out.kept, self.fold[rows]
                )
                self.on_held_out.append(one.whole.estimates_of(expected, self.held_out.cells))
        self.blend = replace(self.blend, gaussians=[one.whole for one in self.gaussians])
        return self._answer()

    def learn_from_further_cells(self) -> Blend:
        """Learn from more cells what the Gaussians are off by; return the blend."""
        self._ask_gaussians_further()
        return self._finish(self.blend).blend

    def _ask_gaussians_further(self) -> None:
        """Add the Gaussians' estimates of examples that the first answer did without."""
        for members, one in zip(self.on_examples, self.gaussians, strict=False):
            further = self._gaussian_on_examples(one, slice(CELLS_FOR_SHARES, None))
            for j, found in further.items():
                members[j] = np.concatenate([members[j], found])

    def add_forests(self, growth: Growth) -> BlendAnswer:
        """Grow the forests of all columns, and make them a member of the blend."""
        encoded = self.encoded
        if self.blend.gaussians:
            self._ask_gaussians_further()
        progress = self.run.progress(len(encoded.columns) * growth.n_trees, "tree")
        gaussian = self.gaussians[0] if self.gaussians else None
        columns = list(
            grow_forests(
                encoded,
                self.numbers,
                self.fold,
                gaussian,
                self.masks,
                growth,
                self.run.seed,
                most_unseen=self._n_examples,
                advance=progress.advance,
            )
        )
        self.on_examples.append({j: column.unseen for j, column in enumerate(columns)})
        forests = MaskedForests(
            encoded.columns,
            [column.forests for column in columns],
            None if gaussian is None else gaussian.whole,
        )
        if self.held_out is not None:
            self.on_held_out.append(self._forests_on_held_out(forests, gaussian, self.held_out))
        self.blend = replace(self.blend, forests=forests)
        return self._answer()

    def add_network(self, fit: Callable[[], FittedNetwork]) -> BlendAnswer:
        """Fit the network, and make it a member of the blend."""
        network = fit()
        before = self.blend
        self.blend = replace(before, network=network)
        if self.held_out is None:
            n_members = len(self.blend.members)
            shares = np.full((len(self.encoded.columns), n_members), 1 / n_members)
            self.on_examples.append(self._network_on_examples(network, {}))
            return self._finish(replace(self.blend, shares=shares))
        held_out = self.held_out
        found = network.estimate(self.encoded.values[held_out.rows], held_out.kept, held_out.cells)
        shares = np.ones((len(self.encoded.columns), 1))
        if before.members:
            others = _mixed(before.shares, self.on_held_out)
            of_two = self._learn_shares(
                [others, found], self._true_held_out(), (0.0, OPTIMISM_OF_THE_NETWORK)
            )
            shares = np.hstack([before.shares * of_two[:, :1], of_two[:, 1:]])
        self.on_held_out.append(found)
        self.on_examples.append(self._network_on_examples(network, found))
        return self._finish(replace(self.blend, shares=shares))

    def _answer(self) -> BlendAnswer:
        """Learn the shares of Gaussians and trees from the examples."""
        some = slice(CELLS_FOR_SHARES)
        truth = {j: self._truth(rows[some], j) for j, (rows, _) in enumerate(self._examples)}
        parts = [{j: found[some] for j, found in part.items()} for part in self.on_examples]
        return self._finish(replace(self.blend, shares=self._learn_shares(parts, truth)))

    def _learn_shares(
        self,
        parts: Sequence[Estimates],
        truth: Estimates,
        optimism: Sequence[float] | None = None,
    ) -> np.ndarray:
        errors = {
            j: member_errors(true, [part[j] for part in parts])
            for j, true in truth.items()
            if len(true)
        }
        return learn_shares(errors, len(self.encoded.columns), len(parts), optimism)

    def _finish(self, blend: Blend) -> BlendAnswer:
        """Return a blend with its errors and its skill."""
        on_held_out: Estimates = {}
        true_held_out: Estimates = {}
        if self.held_out is not None:
            on_held_out = _mixed(blend.shares, self.on_held_out)
            true_held_out = self._true_held_out()
        errors = {j: self._errors(blend.shares[j], j) for j in range(len(self.encoded.columns))}
        self.blend = replace(blend, errors=errors)
        skill = {
            j: self._skill(true, on_held_out[j], j)
            for j, true in true_held_out.items()
            if self._spread(j) > 0
        }
        counts = [len(true_held_out[j]) for j in skill]
        whole = float(np.average(list(skill.values()), weights=counts)) if skill else None
        return BlendAnswer(self.blend, skill, whole, self._predictions(on_held_out))

    def _predictions(self, on_held_out: Estimates) -> HeldOutPredictions | None:
        """Return estimates of the held-out cells, encoded."""
        if self.held_out is None:
            return None
        values = np.zeros(self.held_out.cells.shape, dtype=np.float32)
        for j, estimate in on_held_out.items():
            values[self.held_out.cells[:, j], j] = encoded_cells(estimate, j, self.numbers)
        return HeldOutPredictions(self.held_out, values)

    def _skill(self, truth: np.ndarray, estimate: np.ndarray, j: int) -> float:
        return 1.0 - float(np.square(truth - estimate).sum() / len(truth) / self._spread(j))

    def _spread(self, j: int) -> float:
        """Return the variance of a column's observed cells: held-out ones may be few and alike."""
        cells = self._truth(np.flatnonzero(self.encoded.observed[:, j])[:ROWS_FOR_SPREAD], j)
        return float(np.square(cells - cells.mean(axis=0)).sum() / len(cells))

    def _errors(self, shares: np.ndarray, j: int) -> CellErrors:
        """Learn from the examples of a column, each row once."""
        known = self._coordinates_of_examples(j)
        n_cells = min(len(known.values), *(len(part[j]) for part in self.on_examples))
        estimate = mix(shares, [part[j][:n_cells] for part in self.on_examples])
        known = known.first(n_cells)
        cells = self.encoded.values[self._examples[j][0][:n_cells], j]
        if self.numbers.is_number(j):
            return NumberErrors.fit(
                cells,
                encoded_cells(estimate, j, self.numbers),
                known,
                follow_curves=self.follow_curves,
            )
        return CategoryErrors.fit(cells, estimate, known)

    def _coordinates_of_examples(self, j: int) -> RowCoordinates:
        """Return what explains errors in a column's examples, without repeated rows."""
        if j not in self._coordinates:
            rows, kept = self._examples[j]
            if not self.gaussians:
                return no_coordinates(self._n_different(j, len(rows)))
            self._add_coordinates(
                j,
                *self.gaussians[0].expect_unseen_with_spread(
                    self.encoded.values[rows], kept, self.fold[rows]
                ),
            )
        return self._coordinates[j]

    def _add_coordinates(self, j: int, expected: np.ndarray, spread: np.ndarray) -> None:
        """Keep what the reference expects of further examples of a column."""
        reference = self.gaussians[0].whole
        places = reference.important_coordinates(j)[:MOST_COORDINATES]
        own = reference.spread_of_column(spread, j)
        found = RowCoordinates(places, expected[:, places].astype(np.float32), own)
        if j in self._coordinates:
            found = self._coordinates[j].followed_by(found)
        self._coordinates[j] = found.first(self._n_different(j, len(found.values)))

    def _n_different(self, j: int, n_examples: int) -> int:
        """Return how many of a column's first examples are of different rows."""
        return min(n_examples, int(self.encoded.observed[:, j].sum()))

    def _gaussian_on_examples(
        self, gaussian: FoldedGaussian, some: slice = slice(CELLS_FOR_SHARES)
    ) -> Estimates:
        found: Estimates = {}
        for j, (all_rows, all_kept) in enumerate(self._examples):
            rows, kept = all_rows[some], all_kept[some]
            if not len(rows):
                continue
            self.run.check()
            expected, spread = gaussian.expect_unseen_with_spread(
                self.encoded.values[rows], kept, self.fold[rows]
            )
            found |= gaussian.whole.estimates_of(expected, _only(j, kept))
            if gaussian is self.gaussians[0]:
                self._add_coordinates(j, expected, spread)
        return found

    def _network_on_examples(self, network: FittedNetwork, on_held_out: Estimates) -> Estimates:
        """Return estimates of the network whose errors are as large as on held-out cells."""
        found: Estimates = {}
        true_held_out = self._true_held_out()
        for j, (rows, kept) in enumerate(self._examples):
            self.run.check()
            n_cells = self._n_different(j, len(rows))
            rows, kept = rows[:n_cells], kept[:n_cells]
            truth = self._truth(rows, j)
            estimate = network.estimate(self.encoded.values[rows], kept, _only(j, kept))[j]
            if j in on_held_out:
                unseen = true_held_out[j] - on_held_out[j]
                estimate = truth - _overfitting(truth - estimate, unseen) * (truth - estimate)
            found[j] = estimate if self.numbers.is_number(j) else _as_probabilities(estimate)
        return found

    def _forests_on_held_out(
        self, forests: MaskedForests, gaussian: FoldedGaussian | None, held_out: HeldOut
    ) -> Estimates:
        values, fold = self.encoded.values[held_out.rows], self.fold[held_out.rows]
        expected = None
        if gaussian is not None:
            expected = gaussian.expect_unseen(values, held_out.kept, fold)
        inputs = TreeInputs(self.encoded.columns, values, held_out.kept, expected)
        return {
            j: forests.forests[j].estimate_unseen(inputs.of(j, cells), fold[cells])
            for j, cells in enumerate(held_out.cells.T)
            if cells.any()
        }

    @property
    def _n_examples(self) -> int:
        most = _CELLS_FOR_ERRORS // len(self.encoded.columns)
        return int(np.clip(most, CELLS_FOR_SHARES, _MOST_CELLS_FOR_ERRORS))

    @cached_property
    def _examples(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """For each column the rows and kept cells from which shares and errors are learned.

        Rows are repeated, with other masks, only where there are too few for the shares.
        """
        return [
            self.masks.examples(
                self.encoded.observed,
                j,
                self.run.seed,
                max(CELLS_FOR_SHARES, self._n_different(j, self._n_examples)),
            )
            for j in range(len(self.encoded.columns))
        ]

    def _truth(self, rows: np.ndarray, j: int) -> np.ndarray:
        n_categories = self.encoded.columns[j].n_categories
        return true_cells(self.encoded.values[rows, j], j, self.numbers, n_categories)

    def _true_held_out(self) -> Estimates:
        held_out = self.held_out
        if held_out is None:
            return {}
        return {
            j: self._truth(held_out.rows[cells], j)
            for j, cells in enumerate(held_out.cells.T)
            if cells.any()
        }


def _mixed(shares: np.ndarray, parts: Sequence[Estimates]) -> Estimates:
    return {j: mix(shares[j], [part[j] for part in parts]) for j in parts[0]}


def _only(j: int, kept: np.ndarray) -> np.ndarray:
    """Return the cells of one column as those that are wanted."""
    wanted = np.zeros_like(kept)
    wanted[:, j] = True
    return wanted


def _overfitting(known: np.ndarray, unseen: np.ndarray) -> float:
    """Return how many times larger errors on unseen cells are than on known ones."""
    known_size = np.square(known).sum() / max(1, len(known))
    if known_size == 0:
        return 1.0
    ratio = np.square(unseen).sum() / len(unseen) / known_size
    n_cells = len(unseen)
    pulled = (n_cells * ratio + _CELLS_WITHOUT_OVERFITTING) / (n_cells + _CELLS_WITHOUT_OVERFITTING)
    return float(np.sqrt(np.clip(pulled, 1.0, _MOST_OVERFITTING**2)))


def _as_probabilities(estimate: np.ndarray) -> np.ndarray:
    likely = np.clip(estimate, 0.0, 1.0)
    total = likely.sum(axis=1, keepdims=True)
    return np.where(total > 0, likely / np.where(total > 0, total, 1.0), 1 / likely.shape[1])
