"""Fit the members of a blend one after the other, and learn how much each counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from pmae_core.imputers.masked._blend import Blend
from pmae_core.imputers.masked._estimates import Estimates, encoded_cells, true_cells
from pmae_core.imputers.masked._forests import Growth, folds_of_rows
from pmae_core.imputers.masked._masked_forests import (
    FoldedGaussian,
    MaskedForests,
    Masks,
    TreeInputs,
    grow_forests,
)
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
RESIDUALS_PER_COLUMN = 500
FEWEST_RESIDUALS = 20
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
    """

    blend: Blend
    column_skill: dict[int, float]
    skill: float | None


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
    """

    def __init__(
        self,
        encoded: EncodedTable,
        scalers: Sequence[Scaler | None],
        masks: Masks,
        run: FitRun,
        n_threads: int,
    ) -> None:
        self.encoded = encoded
        self.numbers = OwnNumbers(scalers)
        self.masks = masks
        self.run = run
        self.fold = folds_of_rows(len(encoded.values), np.random.default_rng([run.seed, 5]))
        self.held_out = validation_cells(encoded.observed, SHARE_HELD_OUT, run.seed)
        self.gaussians: list[FoldedGaussian] = []
        # Estimates of each member fitted so far, by rows that it does not know.
        self.on_examples: list[Estimates] = []
        self.on_held_out: list[Estimates] = []
        self.blend = Blend(encoded.columns, self.numbers, n_threads=n_threads)

    def fit_gaussians(self) -> None:
        """Fit the Gaussians on ranks and on the own scale, with their folds."""
        has_numbers = any(not column.n_categories for column in self.encoded.columns)
        for on_own_scale in (False, True) if has_numbers else (False,):
            rng = np.random.default_rng([self.run.seed, 0])
            self.gaussians.append(
                FoldedGaussian.fit(
                    self.encoded,
                    self.numbers,
                    self.fold,
                    rng,
                    on_own_scale=on_own_scale,
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

    def add_forests(self, growth: Growth) -> BlendAnswer:
        """Grow the forests of all columns, and make them a member of the blend."""
        encoded = self.encoded
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
                most_unseen=CELLS_FOR_SHARES,
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
        return self._finish(replace(self.blend, shares=shares))

    def _answer(self) -> BlendAnswer:
        """Learn the shares of Gaussians and trees from the examples."""
        truth = {j: self._truth(rows, j) for j, (rows, _) in enumerate(self._examples)}
        return self._finish(replace(self.blend, shares=self._learn_shares(self.on_examples, truth)))

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
        """Return a blend with its residuals and its skill."""
        on_examples = _mixed(blend.shares, self.on_examples) if blend.network is None else {}
        on_held_out: Estimates = {}
        true_held_out: Estimates = {}
        if self.held_out is not None:
            on_held_out = _mixed(blend.shares, self.on_held_out)
            true_held_out = self._true_held_out()
        residuals = dict(self.blend.residuals)
        for j in range(len(self.encoded.columns)):
            if not self.numbers.is_number(j):
                continue
            if len(on_held_out.get(j, ())) >= FEWEST_RESIDUALS:
                residuals[j] = self._residuals(true_held_out[j], on_held_out[j], j)
            elif on_examples:
                rows = self._examples[j][0]
                residuals[j] = self._residuals(self._truth(rows, j), on_examples[j], j)
            elif blend.network is not None and j not in residuals:
                residuals[j] = blend.network.calibration.residuals[j]
        self.blend = replace(blend, residuals=residuals)
        skill = {
            j: self._skill(true, on_held_out[j], j)
            for j, true in true_held_out.items()
            if self._spread(j) > 0
        }
        counts = [len(true_held_out[j]) for j in skill]
        whole = float(np.average(list(skill.values()), weights=counts)) if skill else None
        return BlendAnswer(self.blend, skill, whole)

    def _skill(self, truth: np.ndarray, estimate: np.ndarray, j: int) -> float:
        return 1.0 - float(np.square(truth - estimate).sum() / len(truth) / self._spread(j))

    def _spread(self, j: int) -> float:
        """Return the variance of a column's observed cells: held-out ones may be few and alike."""
        cells = self._truth(np.flatnonzero(self.encoded.observed[:, j])[:ROWS_FOR_SPREAD], j)
        return float(np.square(cells - cells.mean(axis=0)).sum() / len(cells))

    def _residuals(self, truth: np.ndarray, estimate: np.ndarray, j: int) -> np.ndarray:
        true_scores, scores = (
            encoded_cells(part[:RESIDUALS_PER_COLUMN], j, self.numbers)
            for part in (truth, estimate)
        )
        residuals: np.ndarray = (true_scores - scores).astype(np.float32)
        return residuals

    def _gaussian_on_examples(self, gaussian: FoldedGaussian) -> Estimates:
        found: Estimates = {}
        for j, (rows, kept) in enumerate(self._examples):
            self.run.check()
            expected = gaussian.expect_unseen(self.encoded.values[rows], kept, self.fold[rows])
            wanted = np.zeros_like(kept)
            wanted[:, j] = True
            found |= gaussian.whole.estimates_of(expected, wanted)
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

    @cached_property
    def _examples(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """For each column the rows and kept cells from which shares are learned."""
        return [
            self.masks.examples(self.encoded.observed, j, self.run.seed, CELLS_FOR_SHARES)
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
