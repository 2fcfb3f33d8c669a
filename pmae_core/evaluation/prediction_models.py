"""Models that predict a target from an imputed table, and their scores."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import r2_score, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pmae_core.errors import ScoringError
from pmae_core.evaluation.prediction import PredictionProblem, PredictionTask, RowSplit
from pmae_core.table import EncodedTable, TableEncoder
from pmae_core.words import listed

MODELS = ("linear", "boosting")
# More categories than this exceed what histogram gradient boosting handles natively.
MOST_NATIVE_CATEGORIES = 255


@dataclass(frozen=True)
class PredictionFeatures:
    """Features as numbers: codes for trees, 0/1 columns for linear models."""

    train: EncodedTable
    test: EncodedTable

    @classmethod
    def encode(
        cls, train: pd.DataFrame, test: pd.DataFrame, problem: PredictionProblem
    ) -> PredictionFeatures:
        """Encode imputed rows; the encoder is fitted to the training rows."""
        usable = problem.features
        missing = train[usable].isna().any() | test[usable].isna().any()
        if missing.any():
            names = listed([name for name in usable if missing[name]])
            raise ScoringError(f"Cells are still missing in {names}.")
        schema = problem.schema.only(usable)
        encoder = TableEncoder(schema=schema, numeric="standard").fit(train)
        if not encoder.columns_:
            raise ScoringError("No feature varies, so there is nothing to predict from.")
        return cls(encoder.transform(train), encoder.transform(test))

    @property
    def categorical(self) -> list[bool]:
        """Whether a tree treats each feature as categories."""
        return [0 < column.n_categories <= MOST_NATIVE_CATEGORIES for column in self.train.columns]


def score_model(
    model: str, features: PredictionFeatures, problem: PredictionProblem, split: RowSplit, seed: int
) -> float:
    """Train a model on the training rows and return its score on the test rows.

    Parameters
    ----------
    model : {"linear", "boosting"}
        Ridge or logistic regression; or histogram gradient boosting.
    features : PredictionFeatures
        The encoded features.
    problem : PredictionProblem
        What to predict.
    split : RowSplit
        The rows of the features.
    seed : int
        Seed of the model.
    """
    train, test = problem.target[split.train], problem.target[split.test]
    if problem.task == "classification" and len(np.unique(train)) < 2:
        raise ScoringError("The training rows have only one class.")
    learner = _learner(model, problem.task, features.categorical, seed)
    read = _indicators if model == "linear" else _codes
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        learner.fit(read(features.train), train)
    if problem.task == "regression":
        return float(r2_score(test, learner.predict(read(features.test))))
    return _auroc(test, learner.predict_proba(read(features.test)), learner.classes_)


def _codes(table: EncodedTable) -> np.ndarray:
    # A category absent from training is missing to a tree, and no category to a linear model.
    return np.where(table.observed, table.values, np.nan)


def _indicators(table: EncodedTable) -> np.ndarray:
    blocks = []
    for j, column in enumerate(table.columns):
        values = table.values[:, [j]]
        if column.kind == "categorical":
            values = (values == np.arange(column.n_categories)) & table.observed[:, [j]]
        blocks.append(values.astype(np.float64))
    return np.concatenate(blocks, axis=1)


def _learner(model: str, task: PredictionTask, categorical: list[bool], seed: int) -> Any:
    if model == "linear":
        linear = Ridge() if task == "regression" else LogisticRegression(max_iter=1000)
        return make_pipeline(StandardScaler(), linear)
    regress = task == "regression"
    boosted = HistGradientBoostingRegressor if regress else HistGradientBoostingClassifier
    return boosted(categorical_features=categorical, random_state=seed)


def _auroc(truth: np.ndarray, probabilities: np.ndarray, classes: np.ndarray) -> float:
    """Return the mean over classes of one against the rest; of two classes both are equal."""
    present = np.unique(truth)
    if len(present) < 2:
        raise ScoringError("The test rows have only one class, so AUROC is not defined.")
    by_class = dict(zip(classes, probabilities.T, strict=True))
    absent = np.zeros(len(truth))
    areas = [roc_auc_score(truth == one, by_class.get(one, absent)) for one in present]
    return float(np.mean(areas))
