"""The learners that HyperImpute chooses from."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pmae_core.errors import ImputationError

LEARNERS = ("linear", "forest", "boosting")
BOOSTING = ("sklearn", "xgboost", "catboost")


@dataclass(frozen=True)
class LearnerFactory:
    """Makes untrained learners with their settings.

    Attributes
    ----------
    learners, boosting, n_trees, n_boosting_rounds
        As in :class:`~pmae_core.imputers.classic.hyperimpute.HyperImputeImputer`.
    seed : int
        Seed of every learner; the same in each round, so that rounds can converge.
    """

    learners: tuple[str, ...]
    boosting: str
    n_trees: int
    n_boosting_rounds: int
    seed: int

    def make(self, learner: str, *, classify: bool, categorical: np.ndarray) -> Any:
        """Return an untrained learner; ``categorical`` is True for features that are codes."""
        if learner == "linear":
            model = LogisticRegression(max_iter=200) if classify else Ridge()
            return make_pipeline(StandardScaler(), model)
        if learner == "forest":
            forest = RandomForestClassifier if classify else RandomForestRegressor
            return forest(self.n_trees, min_samples_leaf=3, random_state=self.seed)
        if self.boosting == "sklearn":
            boosted = HistGradientBoostingClassifier if classify else HistGradientBoostingRegressor
            return boosted(
                max_iter=self.n_boosting_rounds,
                categorical_features=categorical,
                early_stopping=False,
                random_state=self.seed,
            )
        return self._make_from_package(classify)

    def reads_codes(self, learner: str) -> bool:
        """Whether a learner reads categories as codes, and not as 0/1 columns."""
        return learner == "forest" or (learner == "boosting" and self.boosting == "sklearn")

    def _make_from_package(self, classify: bool) -> Any:
        package = boosting_package(self.boosting)
        if self.boosting == "xgboost":
            boosted = package.XGBClassifier if classify else package.XGBRegressor
            return boosted(n_estimators=self.n_boosting_rounds, random_state=self.seed)
        boosted = package.CatBoostClassifier if classify else package.CatBoostRegressor
        return boosted(
            iterations=self.n_boosting_rounds,
            random_seed=self.seed,
            verbose=False,
            allow_writing_files=False,
        )


def boosting_package(name: str) -> Any:
    """Return the module of a gradient boosting package, or explain how to install it."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise ImputationError(
            f'boosting="{name}" needs the package {name}, which is not installed. '
            f'Run "pip install {name}", or choose boosting="sklearn".'
        ) from None
