"""Drawn regressions, corrected by forests where relations are not linear."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from sklearn import config_context
from sklearn.tree import DecisionTreeRegressor

from pmae_core.imputers.classic._drawn_regressions import DrawnLinear, DrawnLogistic, draw_codes
from pmae_core.imputers.classic._mean_matching import Candidates


@dataclass(frozen=True)
class ForestSettings:
    """How forests of residuals are grown.

    Attributes
    ----------
    n_trees, max_depth, max_features, min_samples_leaf
        As in scikit-learn.
    max_samples : int or None
        Most rows that a tree learns from.
    """

    n_trees: int
    max_depth: int
    max_features: float
    max_samples: int | None
    min_samples_leaf: int = 5

    def tree(self, seed: int) -> DecisionTreeRegressor:
        """Return a tree to grow."""
        return DecisionTreeRegressor(
            max_depth=self.max_depth,
            max_features=self.max_features,
            min_samples_leaf=self.min_samples_leaf,
            random_state=seed,
        )


@dataclass(frozen=True, eq=False)
class ResidualForest:
    """Trees that predict the residuals of a regression.

    All are grown on samples of one bootstrap sample of the rows, since other rows would give
    another forest.

    Attributes
    ----------
    trees : list of DecisionTreeRegressor
        The trees.
    share : float
        By how much their mean is shrunk: 0 where it explains nothing of the rows that they have not
        learned from.
    unseen : ndarray
        Shrunk predictions of all rows, by trees that have not learned from them.
    """

    trees: list[DecisionTreeRegressor]
    share: float
    unseen: np.ndarray

    @classmethod
    def fit(
        cls,
        features: np.ndarray,
        residuals: np.ndarray,
        rng: np.random.Generator,
        settings: ForestSettings,
    ) -> Self:
        """Grow the trees; residuals have a column per target."""
        n, cells = len(features), features.astype(np.float32)
        sample = rng.integers(n, size=min(n, settings.max_samples or n))
        totals, counts = np.zeros_like(residuals), np.zeros(n)
        # Without features or targets there is nothing to learn.
        n_trees = settings.n_trees if features.shape[1] and residuals.shape[1] else 0
        trees = [settings.tree(int(seed)) for seed in rng.integers(2**31 - 1, size=n_trees)]
        # The settings have been checked once, and the same checks take as long as growing a tree.
        with config_context(skip_parameter_validation=True):
            for tree in trees:
                times = np.bincount(rng.choice(sample, len(sample)), minlength=n)
                seen = times > 0
                tree.fit(cells[seen], residuals[seen], sample_weight=times[seen], check_input=False)
                if not seen.all():
                    totals[~seen] += _predictions(tree, cells[~seen], residuals.shape[1])
                counts += ~seen
        # Rows that all trees have learned from are not corrected.
        unseen = totals / np.maximum(counts, 1)[:, None]
        explained = np.sum(unseen * residuals) / max(np.sum(unseen**2), 1e-12)
        share = float(np.clip(explained, 0, 1))
        return cls(trees, share, share * unseen)

    def predict(self, features: np.ndarray) -> np.ndarray:
        """Return shrunk predictions of residuals."""
        cells, total = features.astype(np.float32), np.zeros((len(features), self.unseen.shape[1]))
        for tree in self.trees:
            total += _predictions(tree, cells, total.shape[1])
        return np.asarray(self.share * total / max(len(self.trees), 1))


def _predictions(tree: DecisionTreeRegressor, cells: np.ndarray, n_targets: int) -> np.ndarray:
    return np.asarray(tree.predict(cells, check_input=False)).reshape(len(cells), n_targets)


@dataclass(frozen=True, eq=False)
class CorrectedLinear:
    """Copies observed cells to rows with similar predictions by a line and a forest."""

    regression: DrawnLinear
    correction: ResidualForest
    donors: Candidates
    n_candidates: int

    @classmethod
    def fit(
        cls,
        features: np.ndarray,
        target: np.ndarray,
        rng: np.random.Generator,
        *,
        n_candidates: int,
        settings: ForestSettings,
    ) -> Self:
        """Draw a regression of a column on features, and grow the forest of its residuals."""
        regression = DrawnLinear.fit(features, target, rng)
        predictions = regression.predict(features, drawn=False)
        residuals = (target - predictions)[:, None]
        correction = ResidualForest.fit(features, residuals, rng, settings)
        donors = Candidates.shuffled(predictions + correction.unseen[:, 0], target, rng)
        return cls(regression, correction, donors, n_candidates)

    def draw(self, features: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return a number per row."""
        wanted = (
            self.regression.predict(features, drawn=True) + self.correction.predict(features)[:, 0]
        )
        return self.donors.draw(wanted, self.n_candidates, rng)


@dataclass(frozen=True, eq=False)
class CorrectedLogistic:
    """Draws codes with the probabilities of a logistic regression and a forest."""

    regression: DrawnLogistic
    correction: ResidualForest

    @classmethod
    def fit(
        cls,
        features: np.ndarray,
        is_code: np.ndarray,
        rng: np.random.Generator,
        *,
        settings: ForestSettings,
    ) -> Self:
        """Draw a regression of a category on features, and grow the forest of its residuals."""
        regression = DrawnLogistic.fit(features, is_code, rng)
        residuals = is_code - regression.chances(features, drawn=False)
        return cls(regression, ResidualForest.fit(features, residuals, rng, settings))

    def draw(self, features: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return a code per row."""
        chances = self.regression.chances(features, drawn=True)
        corrected = chances + self.correction.predict(features)
        first = np.clip(1 - corrected.sum(axis=1, keepdims=True), 0, None)
        corrected = np.clip(corrected, 0, None)
        return draw_codes(corrected / (first + corrected.sum(axis=1, keepdims=True)), rng)
