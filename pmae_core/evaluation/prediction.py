"""A prediction problem: what to predict from which columns, and the rows to train and test on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from pmae_core.errors import ScoringError
from pmae_core.evaluation.sources import TRUE_DATA, name_imputations
from pmae_core.table import Schema
from pmae_core.table.cells import CellKind, cell_kind
from pmae_core.words import count

PredictionTask = Literal["regression", "classification"]


@dataclass(frozen=True)
class RowSplit:
    """Positions of the rows to train on and to test on."""

    train: np.ndarray
    test: np.ndarray


@dataclass(frozen=True)
class PredictionProblem:
    """What to predict from what.

    Attributes
    ----------
    frame : DataFrame
        The features with their missing values, in rows whose target is observed.
    labels : Series
        What to predict, as it was given.
    target : array
        Numbers to predict, or codes of classes.
    task : {"regression", "classification"}
        Which of both.
    schema : Schema
        Roles of the features.
    truth : DataFrame or None
        The complete features, if they are known.
    kept_rows : array of int
        Positions of the rows of `frame` in the table that was given.
    """

    frame: pd.DataFrame
    labels: pd.Series
    target: np.ndarray
    task: PredictionTask
    schema: Schema
    truth: pd.DataFrame | None
    kept_rows: np.ndarray

    @property
    def metric(self) -> str:
        """Name of the score: R² of numbers, area under the ROC curve of classes."""
        return "r2" if self.task == "regression" else "auroc"

    @property
    def features(self) -> list[Any]:
        """Columns that a model can use."""
        return self.schema.imputable(self.frame)

    def split(self, seed: int, test_share: float) -> RowSplit:
        """Split the rows at random, classes in proportion where each has two rows or more."""
        rows = np.arange(len(self.frame))
        stratify = None
        if self.task == "classification" and np.bincount(self.target).min() >= 2:
            stratify = self.target
        try:
            train, test = train_test_split(
                rows, test_size=test_share, random_state=seed, stratify=stratify
            )
        except ValueError as error:
            raise ScoringError(
                f"The rows cannot be split into training and test rows: {error}"
            ) from None
        return RowSplit(np.sort(train), np.sort(test))


def pose_problem(
    frame: pd.DataFrame,
    target: pd.Series | Any,
    truth: pd.DataFrame | None,
    schema: Schema | None,
    task: PredictionTask | None,
) -> PredictionProblem:
    """Return the prediction problem, after checking that table, target and truth match.

    Parameters
    ----------
    frame : DataFrame
        The features with their missing values.
    target : Series or column name
        What to predict, for the same rows; or the column of `frame` that holds it.
    truth : DataFrame or None
        The complete features.
    schema : Schema or None
        Roles of the features; inferred if not given.
    task : {"regression", "classification"} or None
        By default regression for numbers, classification for labels and booleans.
    """
    if not isinstance(target, pd.Series):
        if target not in frame.columns:
            raise ScoringError(f"The table has no column {target!r} to use as the target.")
        label, frame = frame[target], frame.drop(columns=target)
        truth = truth.drop(columns=target, errors="ignore") if truth is not None else None
        target = label
    elif target.name is not None and target.name in frame.columns:
        raise ScoringError(
            f"The features include a column {target.name!r}, the name of the target. Drop it: a "
            "model could read the answer from it."
        )
    if len(target) != len(frame):
        raise ScoringError(
            f"The target has {count(len(target), 'row')}, but the table has {len(frame):,}."
        )
    if truth is not None:
        name_imputations({TRUE_DATA: truth}, frame)
    kept = np.flatnonzero(target.notna().to_numpy())
    label = target.iloc[kept]
    task = task or _task_of(label)
    return PredictionProblem(
        frame=frame.iloc[kept],
        labels=label,
        target=_numbers(label) if task == "regression" else _classes(label),
        task=task,
        schema=Schema.infer(frame) if schema is None else schema.only(frame.columns),
        truth=truth.iloc[kept] if truth is not None else None,
        kept_rows=kept,
    )


def _task_of(target: pd.Series) -> PredictionTask:
    kind = cell_kind(target)
    if kind is CellKind.NUMBER:
        return "regression"
    if kind in (CellKind.BOOLEAN, CellKind.LABEL):
        return "classification"
    raise ScoringError(f"A target of {kind}s cannot be predicted. Use numbers or labels.")


def _numbers(target: pd.Series) -> np.ndarray:
    try:
        return pd.to_numeric(target).to_numpy(dtype=np.float64)
    except (ValueError, TypeError):
        raise ScoringError(
            "The target has values that are not numbers. Choose task='classification'."
        ) from None


def _classes(target: pd.Series) -> np.ndarray:
    codes, labels = pd.factorize(target.astype(object))
    if len(labels) < 2:
        raise ScoringError("The target has fewer than two classes, so there is nothing to predict.")
    return np.asarray(codes)
