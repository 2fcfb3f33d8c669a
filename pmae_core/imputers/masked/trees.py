"""Trees that learn to impute from copied masks, with a Gaussian's estimate among their inputs."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, TypeAlias

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor

from pmae_core.errors import ImputationWarning
from pmae_core.imputers.base import BaseImputer
from pmae_core.imputers.masked._drawing import draw_in_rounds, round_of_columns
from pmae_core.imputers.masked._gaussian_inputs import GaussianInputs
from pmae_core.imputers.masked._leaf_targets import LeafTargets
from pmae_core.imputers.parameters import BOOLEAN, Constraints, Integer, Number, OneOf
from pmae_core.imputers.registry import register_imputer
from pmae_core.imputers.run import FitRun
from pmae_core.table import EncodedTable, Schema

Forest: TypeAlias = ExtraTreesClassifier | ExtraTreesRegressor

# Trees that are grown between two checks whether the user wants to stop.
_TREES_AT_ONCE = 10
# Few rows are shown with several masks, so that trees see more of what will be missing together.
_ROWS_WITH_COPIES = 4_000
_MOST_COPIES = 4
# A leaf of five rows, and of more in large tables: a tree has some thousand leaves at most.
_SMALLEST_LEAF = 5
_MOST_LEAVES = 4_000
_CELLS_AT_ONCE = 2_000_000


@register_imputer(
    name="masked-trees",
    title="Masked trees",
    explanation="Predicts each column by randomized trees. They learn from rows in which the "
    "column is observed, masked as in rows in which it is missing, and take a Gaussian's estimate "
    "of every cell as further inputs.",
    citation="This project: extremely randomized trees (Geurts, Ernst and Wehenkel, Machine "
    "Learning, 2006) trained on copied masks.",
    limits="The forests of all columns stay in memory: up to about 70 MB per column.",
    draws_samples=True,
)
class MaskedTreesImputer(BaseImputer):
    """Impute by one forest per column, trained on masks copied from rows that miss the column.

    To impute a column, a forest has to do with the cells of the rows in which the column is
    missing. So it learns from rows in which the column is observed, after the cells that are
    missing in a random row of the other kind are masked. Masked and missing cells stay missing
    inputs, which the trees split on as they are. A Gaussian, fitted to all columns on the scale of
    normal scores, adds its estimate of every cell given the remaining ones: it is good at linear
    relations and on few rows, and the trees correct it. Every row is imputed by itself, in one
    pass. A random imputation takes a number that a random tree learned in the leaf of the row, and
    a category by its probability.

    Parameters
    ----------
    n_trees : int, default 100
        Trees per column.
    min_leaf : int or "auto", default "auto"
        Fewest rows in a leaf; "auto" is 5, and more where a tree would have too many leaves.
    max_features : float, default 0.5
        Share of the inputs that a split chooses from.
    n_copies : int or "auto", default "auto"
        How often a row is shown, each time with another mask; "auto" is up to 4 in small tables.
    max_samples : int or None, default 20_000
        Most rows that a column is learned from.
    gaussian : bool, default True
        Whether the Gaussian's estimates are inputs; not beyond 1,000 numbers and categories.
    n_jobs : int, default 1
        Threads that grow trees; -1 for all cores. The result does not depend on it.
    schema : Schema or mapping of column to role, optional
        Roles of the columns; inferred where not given.
    random_state : int, RandomState or None
        Seed of masks and trees.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.repeat(np.arange(10.0), 8)
    >>> table = np.column_stack([x, x**2])
    >>> table[12, 1] = np.nan
    >>> MaskedTreesImputer(n_trees=20, random_state=0).fit_transform(table)[12, 1].round()
    np.float64(1.0)
    """

    _parameter_constraints: ClassVar[Constraints] = {
        **BaseImputer._parameter_constraints,
        "n_trees": [Integer(least=1)],
        "min_leaf": [OneOf("auto"), Integer(least=1)],
        "max_features": [Number(above=0, most=1)],
        "n_copies": [OneOf("auto"), Integer(least=1)],
        "max_samples": [Integer(least=1), None],
        "gaussian": [BOOLEAN],
        "n_jobs": [Integer(least=1), Integer(most=-1)],
    }

    def __init__(
        self,
        *,
        n_trees: int = 100,
        min_leaf: int | str = "auto",
        max_features: float = 0.5,
        n_copies: int | str = "auto",
        max_samples: int | None = 20_000,
        gaussian: bool = True,
        n_jobs: int = 1,
        schema: Schema | Mapping[Any, str] | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_trees = n_trees
        self.min_leaf = min_leaf
        self.max_features = max_features
        self.n_copies = n_copies
        self.max_samples = max_samples
        self.gaussian = gaussian
        self.n_jobs = n_jobs
        self.schema = schema
        self.random_state = random_state

    def _fit_encoded(self, encoded: EncodedTable, run: FitRun) -> None:
        progress = run.progress(len(encoded.columns) * self.n_trees, "tree", every=_TREES_AT_ONCE)
        progress.check()
        rng = np.random.default_rng([run.seed, 0])
        self._gaussian = GaussianInputs.fit(encoded, rng) if self.gaussian else None
        if self.gaussian and self._gaussian is None:
            warnings.warn(
                "The table has too many columns and categories for a Gaussian; the trees learn "
                "without its estimates.",
                ImputationWarning,
                stacklevel=3,
            )
        self._forests: dict[int, Forest] = {}
        self._leaf_targets: dict[int, LeafTargets] = {}
        for j in range(len(encoded.columns)):
            rng = np.random.default_rng([run.seed, 1, j])
            rows, kept = self._training_rows(encoded.observed, j, rng)
            forest = self._new_forest(encoded, j, len(rows), int(rng.integers(2**31 - 1)))
            inputs, target = self._inputs(encoded.values[rows], kept), encoded.values[rows, j]
            # Growing goes on where it stopped: the trees are those of one long fit.
            for n_trees in [*range(_TREES_AT_ONCE, self.n_trees, _TREES_AT_ONCE), self.n_trees]:
                n_new = n_trees - len(getattr(forest, "estimators_", ()))
                forest.set_params(n_estimators=n_trees).fit(inputs, target)
                for _ in range(n_new):
                    progress.advance()
            self._forests[j] = forest
            if encoded.columns[j].kind == "numerical":
                self._leaf_targets[j] = LeafTargets.of(forest, inputs, target)

    def _training_rows(
        self, observed: np.ndarray, j: int, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return rows in which a column is observed, and which of their cells are kept."""
        rows = np.flatnonzero(observed[:, j])
        n_copies = self.n_copies
        if isinstance(n_copies, str):
            n_copies = int(np.clip(_ROWS_WITH_COPIES // len(rows), 1, _MOST_COPIES))
        rows = np.tile(rng.permutation(rows), n_copies)[: self.max_samples]
        # Where nobody misses the column, new rows may: other rows' patterns stand in for theirs.
        missing = np.flatnonzero(~observed[:, j])
        donors = rng.choice(missing if len(missing) else len(observed), size=len(rows))
        kept = observed[rows] & observed[donors]
        kept[:, j] = False
        return rows, kept

    def _new_forest(self, encoded: EncodedTable, j: int, n_rows: int, seed: int) -> Forest:
        min_leaf = self.min_leaf
        if isinstance(min_leaf, str):
            min_leaf = max(_SMALLEST_LEAF, n_rows // _MOST_LEAVES)
        is_categorical = encoded.columns[j].kind == "categorical"
        forest_class = ExtraTreesClassifier if is_categorical else ExtraTreesRegressor
        return forest_class(
            min_samples_leaf=min_leaf,
            max_features=self.max_features,
            n_jobs=self.n_jobs,
            random_state=seed,
            warm_start=True,
        )

    def _inputs(self, values: np.ndarray, kept: np.ndarray) -> np.ndarray:
        """Return the inputs of all forests: the kept cells, and the Gaussian's estimates."""
        cells = np.where(kept, values, np.float32("nan"))
        if self._gaussian is None:
            return cells
        return np.hstack([cells, self._gaussian.estimate(values, kept)])

    def _impute_encoded(self, encoded: EncodedTable) -> np.ndarray:
        imputed = encoded.values.copy()
        for rows in self._pieces(np.flatnonzero(~encoded.observed.all(axis=1)), imputed.shape[1]):
            observed = encoded.observed[rows]
            inputs = self._inputs(encoded.values[rows], observed)
            for j, forest in self._forests.items():
                missing = ~observed[:, j]
                if missing.any():
                    imputed[rows[missing], j] = forest.predict(inputs[missing])
        return imputed

    def _draw_encoded(
        self, encoded: EncodedTable, n: int, rng: np.random.Generator
    ) -> Iterator[np.ndarray]:
        n_columns = len(encoded.columns)
        incomplete = np.flatnonzero(~encoded.observed.all(axis=1))
        for _ in range(n):
            imputed = encoded.values.copy()
            rounds = round_of_columns(n_columns, rng)
            for rows in self._pieces(incomplete, n_columns):
                imputed[rows] = draw_in_rounds(
                    imputed[rows],
                    encoded.observed[rows],
                    rounds,
                    lambda cells, known, now: self._draw_cells(cells, known, now, rng),
                )
            yield imputed

    def _draw_cells(
        self, cells: np.ndarray, known: np.ndarray, now: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        """Return cells with those of ``now`` drawn, given the known ones."""
        inputs, drawn = self._inputs(cells, known), cells.copy()
        for j in np.flatnonzero(now.any(axis=0)).tolist():
            forest, rows = self._forests[j], now[:, j]
            if j in self._leaf_targets:
                drawn[rows, j] = self._leaf_targets[j].draw(forest, inputs[rows], rng)
            else:
                below = forest.predict_proba(inputs[rows]).cumsum(axis=1)
                place = (rng.random((len(below), 1)) > below).sum(axis=1)
                drawn[rows, j] = forest.classes_[place.clip(max=len(forest.classes_) - 1)]
        return drawn

    def _pieces(self, rows: np.ndarray, n_columns: int) -> Iterator[np.ndarray]:
        """Yield rows, so many at a time that their inputs fit into memory."""
        width = n_columns + (0 if self._gaussian is None else len(self._gaussian))
        size = max(1, _CELLS_AT_ONCE // width)
        for start in range(0, len(rows), size):
            yield rows[start : start + size]
