"""What a filled table is worth: how well a model trained on it predicts a target."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import r2_score, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pmae_core.errors import Cancelled, ImputationError, ScoringError
from pmae_core.evaluation._fillings import (
    Filling,
    Fillings,
    MethodParams,
    name_imputations,
    new_imputer,
    reason_of,
)
from pmae_core.events import Callback
from pmae_core.imputers import BaseImputer
from pmae_core.imputers.run import ProgressMeter
from pmae_core.imputers.transductive import TransductiveImputer
from pmae_core.table import EncodedTable, Schema, TableEncoder
from pmae_core.table.cells import CellKind, cell_kind

MODELS = ("linear", "boosting")
COMPLETE_CASES = "complete cases"
TRUE_DATA = "true data"

TEST_SHARE = 0.3
FEWEST_TRAINING_ROWS = 10
FEWEST_TEST_ROWS = 5
MOST_NATIVE_CATEGORIES = 255

INDUCTIVE = "fitted to the features of the training rows only"
TRANSDUCTIVE = "fitted to the features of all rows, never to the target, as it cannot fill new rows"
BEFOREHAND = "filled beforehand; what it was fitted to is not known here"
COMPLETE_ONLY = "trained and tested on the rows without holes only, so on other test rows"
NO_HOLES = "no holes"

Task = Literal["regression", "classification"]


@dataclass(frozen=True, eq=False)
class Downstream:
    """Labels of the rows of a table, to be predicted from it.

    Attributes
    ----------
    labels : Series
        What to predict, by the table's index.
    task : {"regression", "classification"}
        How.
    """

    labels: pd.Series
    task: Task


def downstream_of_imputed(
    filled: pd.DataFrame, downstream: Downstream, schema: Schema, seed: int
) -> dict[str, Any]:
    """Return the scores of predictions from one filled table.

    Parameters
    ----------
    filled : DataFrame
        Features without holes; rows are found by their index in the labels.
    downstream : Downstream
        What to predict.
    schema : Schema
        Roles of the features.
    seed : int
        Seed of the split and the models.

    Returns
    -------
    dict
        ``metric`` ("r2" or "auroc"), the score of each model (nan where it has none), and
        ``error``, which says why.
    """
    problem = _pose(filled, downstream.labels.loc[filled.index], None, schema, downstream.task)
    fill = partial(_take, problem.frame, problem.split(seed, TEST_SHARE), BEFOREHAND)
    rows = _rows({}, problem, fill, MODELS, seed)
    errors = dict.fromkeys(row["error"] for row in rows if row["error"])
    return {
        "metric": problem.metric,
        **{row["model"]: row["score"] for row in rows},
        "error": " ".join(errors),
    }


def downstream_scores(
    frame: pd.DataFrame,
    target: pd.Series | Any,
    methods: Fillings,
    *,
    truth: pd.DataFrame | None = None,
    schema: Schema | None = None,
    task: Task | None = None,
    seeds: Sequence[int] = (0, 1, 2),
    test_share: float = TEST_SHARE,
    models: Sequence[str] = MODELS,
    method_params: MethodParams | None = None,
    callbacks: Sequence[Callback] = (),
    cancel: Callable[[], bool] | None = None,
) -> pd.DataFrame:
    """Train models on filled tables and score their predictions of a target.

    For each seed the rows are split once for all. Nothing leaks: imputers never see the target,
    and those that can fill new rows never see the test rows. The column ``how`` says it per row.

    Parameters
    ----------
    frame : DataFrame
        The features with their holes.
    target : Series or column name
        What to predict, for the same rows; or the column of `frame` that holds it. Rows
        whose target is missing are left out.
    methods : sequence of str, or mapping of name to filling
        Names of imputers; or a mapping to names, imputers or already filled tables.
    truth : DataFrame, optional
        The features without holes, for a row that shows what can be reached.
    schema : Schema, optional
        Roles of the features; inferred where not given.
    task : {"regression", "classification"}, optional
        By default regression for numbers, classification for everything else.
    seeds : sequence of int, default (0, 1, 2)
        Seeds of the split, the imputers and the models.
    test_share : float, default 0.3
        Share of rows that are held out to score.
    models : sequence of {"linear", "boosting"}, default both
        Ridge or logistic regression on scaled and one-hot features; histogram gradient boosting.
    method_params : mapping of name to mapping, optional
        Parameters of methods.
    callbacks : sequence of callables
        Each gets progress, one unit per filled table.
    cancel : callable, optional
        ``True`` when the user wants to stop.

    Returns
    -------
    DataFrame
        One row per method, model and seed: ``method``, ``kind`` ("method", "filled table" or
        "reference"), ``model``, ``seed``, ``status`` ("done" or "failed"), ``error`` (a sentence),
        ``metric`` ("r2" or "auroc"), ``score``, ``n_train``, ``n_test`` and ``how``. AUROC of
        more than two classes is one against the rest, the plain mean over classes. The methods
        "complete cases" and, with `truth`, "true data" are the references.

    Raises
    ------
    ScoringError
        If nothing can be scored. What fails for one method only is its row's ``error``.

    Examples
    --------
    >>> x = np.arange(60.0)
    >>> features = pd.DataFrame({"x": x, "z": x[::-1]}).mask(np.arange(60)[:, None] % 7 == [0, 3])
    >>> scores = downstream_scores(features, pd.Series(3 * x), ["naive"], seeds=[0])
    >>> scores[["method", "model", "metric"]].values.tolist()[:2]
    [['naive', 'linear', 'r2'], ['naive', 'boosting', 'r2']]
    """
    problem = _pose(frame, target, truth, schema, task)
    fillings = name_imputations(methods, frame)
    _check_settings(fillings, seeds, test_share, models)
    n_references = 1 + (truth is not None)
    progress = ProgressMeter(
        len(seeds) * (len(fillings) + n_references),
        "filled table",
        callbacks,
        cancel or (lambda: False),
    )
    progress.check()
    rows: list[dict[str, Any]] = []
    for seed in seeds:
        split = problem.split(seed, test_share)
        fills = _fills(problem, split, fillings, method_params or {}, seed, progress.cancel)
        for name, (kind, fill) in fills.items():
            about = {"method": name, "kind": kind, "seed": int(seed), "metric": problem.metric}
            rows += _rows(about, problem, fill, models, seed)
            progress.advance()
    order = ["method", "kind", "model", "seed", "status", "error", "metric", "score"]
    return pd.DataFrame(rows, columns=[*order, "n_train", "n_test", "how"])


@dataclass(frozen=True)
class _Split:
    train: np.ndarray
    test: np.ndarray


@dataclass(frozen=True)
class _Filled:
    """Features without holes, the rows they belong to, and how they came about."""

    train: pd.DataFrame
    test: pd.DataFrame
    split: _Split
    how: str


@dataclass(frozen=True)
class _Problem:
    """What to predict from what."""

    frame: pd.DataFrame
    target: np.ndarray
    task: Task
    schema: Schema
    truth: pd.DataFrame | None
    kept_rows: np.ndarray

    @property
    def metric(self) -> str:
        return "r2" if self.task == "regression" else "auroc"

    @property
    def features(self) -> list[Any]:
        """Columns that a model can use."""
        return self.schema.imputable(self.frame)

    def split(self, seed: int, test_share: float) -> _Split:
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
                f"The rows cannot be split into training and test: {error}"
            ) from None
        return _Split(np.sort(train), np.sort(test))


def _pose(
    frame: pd.DataFrame,
    target: pd.Series | Any,
    truth: pd.DataFrame | None,
    schema: Schema | None,
    task: Task | None,
) -> _Problem:
    if not isinstance(target, pd.Series):
        if target not in frame.columns:
            raise ScoringError(f"The table has no column {target!r} that could be the target.")
        label, frame = frame[target], frame.drop(columns=target)
        truth = truth.drop(columns=target, errors="ignore") if truth is not None else None
        target = label
    elif target.name is not None and target.name in frame.columns:
        raise ScoringError(
            f"The features hold a column {target.name!r} like the target, which would give the "
            "answer away; drop it."
        )
    if len(target) != len(frame):
        raise ScoringError(f"The target has {len(target)} rows and the table {len(frame)}.")
    if truth is not None:
        name_imputations({TRUE_DATA: truth}, frame)
    schema = Schema.infer(frame) if schema is None else _part_of(schema, frame)
    kept = np.flatnonzero(target.notna().to_numpy())
    label = target.iloc[kept]
    task = task or _task_of(label)
    return _Problem(
        frame=frame.iloc[kept],
        target=_numbers(label) if task == "regression" else _classes(label),
        task=task,
        schema=schema,
        truth=truth.iloc[kept] if truth is not None else None,
        kept_rows=kept,
    )


def _part_of(schema: Schema, frame: pd.DataFrame) -> Schema:
    return Schema(tuple(column for column in schema if column.name in frame.columns))


def _task_of(target: pd.Series) -> Task:
    kind = cell_kind(target)
    if kind is CellKind.NUMBER:
        return "regression"
    if kind in (CellKind.BOOLEAN, CellKind.LABEL):
        return "classification"
    raise ScoringError(f"A target of {kind}s can be neither regressed on nor classified.")


def _numbers(target: pd.Series) -> np.ndarray:
    try:
        return pd.to_numeric(target).to_numpy(dtype=np.float64)
    except (ValueError, TypeError):
        raise ScoringError(
            "The target holds other things than numbers; choose task='classification'."
        ) from None


def _classes(target: pd.Series) -> np.ndarray:
    codes, labels = pd.factorize(target.astype(object))
    if len(labels) < 2:
        raise ScoringError("The target has fewer than two classes: there is nothing to predict.")
    return np.asarray(codes)


def _check_settings(
    fillings: dict[str, Filling], seeds: Sequence[int], test_share: float, models: Sequence[str]
) -> None:
    if not fillings or not len(seeds) or not len(models):
        raise ScoringError("Name at least one method, one seed and one model.")
    taken = [name for name in (COMPLETE_CASES, TRUE_DATA) if name in fillings]
    if taken:
        raise ScoringError(f"{taken[0]!r} is the name of a reference; give the method another.")
    unknown = [name for name in models if name not in MODELS]
    if unknown:
        raise ScoringError(f"There is no model {unknown[0]!r}; choose from {', '.join(MODELS)}.")
    if not 0 < test_share < 1:
        raise ScoringError(f"test_share must lie between 0 and 1, not be {test_share}.")
    for name, filling in fillings.items():
        if not isinstance(filling, str | BaseImputer | pd.DataFrame):
            raise ScoringError(f"{name} is several filled tables; the task takes one at a time.")


def _fills(
    problem: _Problem,
    split: _Split,
    fillings: dict[str, Filling],
    method_params: MethodParams,
    seed: int,
    cancel: Callable[[], bool],
) -> dict[str, tuple[str, Callable[[], _Filled]]]:
    """Return for each filling and reference its kind, and the function that fills."""
    fills: dict[str, tuple[str, Callable[[], _Filled]]] = {}
    for name, filling in fillings.items():
        if isinstance(filling, str | BaseImputer):
            imputer = new_imputer(filling, method_params.get(name, {}), problem.schema, seed)
            fills[name] = ("method", partial(_impute, problem.frame, split, imputer, cancel))
        else:
            table = pd.DataFrame(filling).iloc[problem.kept_rows]
            fills[name] = ("filled table", partial(_take, table, split, BEFOREHAND))
    fills[COMPLETE_CASES] = ("reference", partial(_complete_cases, problem, split))
    if problem.truth is not None:
        fills[TRUE_DATA] = ("reference", partial(_take, problem.truth, split, NO_HOLES))
    return fills


def _impute(
    frame: pd.DataFrame, split: _Split, imputer: BaseImputer, cancel: Callable[[], bool]
) -> _Filled:
    train, test = frame.iloc[split.train], frame.iloc[split.test]
    if not isinstance(imputer, TransductiveImputer):
        imputer.fit(train, cancel=cancel)
        try:
            return _Filled(imputer.transform(train), imputer.transform(test), split, INDUCTIVE)
        except ImputationError:
            # Some methods only know after the fit that they cannot fill new rows.
            pass
    return _take(imputer.fit(frame, cancel=cancel).transform(frame), split, TRANSDUCTIVE)


def _take(table: pd.DataFrame, split: _Split, how: str) -> _Filled:
    return _Filled(table.iloc[split.train], table.iloc[split.test], split, how)


def _complete_cases(problem: _Problem, split: _Split) -> _Filled:
    complete = problem.frame[problem.features].notna().all(axis=1).to_numpy()
    rows = _Split(split.train[complete[split.train]], split.test[complete[split.test]])
    if len(rows.train) < FEWEST_TRAINING_ROWS or len(rows.test) < FEWEST_TEST_ROWS:
        raise ScoringError(
            f"Only {len(rows.train)} training and {len(rows.test)} test rows have no hole: too "
            "few to train and score a model."
        )
    return _take(problem.frame, rows, COMPLETE_ONLY)


def _rows(
    about: dict[str, Any],
    problem: _Problem,
    fill: Callable[[], _Filled],
    models: Sequence[str],
    seed: int,
) -> list[dict[str, Any]]:
    """Fill once and score every model; a failure becomes rows with its reason."""
    failed = {**about, "status": "failed", "score": np.nan, "n_train": 0, "n_test": 0, "how": ""}
    try:
        filled = fill()
        features = _DownstreamFeatures.read(filled, problem)
    except Cancelled:
        raise
    except Exception as error:
        return [{**failed, "model": model, "error": reason_of(error)} for model in models]
    rows = []
    for model in models:
        sizes = {"n_train": len(filled.split.train), "n_test": len(filled.split.test)}
        row = {**failed, **sizes, "how": filled.how, "model": model, "error": ""}
        try:
            score = _score(model, features, problem, filled.split, seed)
            rows.append({**row, "status": "done", "score": score})
        except ScoringError as error:
            rows.append({**row, "error": str(error)})
    return rows


@dataclass(frozen=True)
class _DownstreamFeatures:
    """Features as numbers: codes for trees, 0/1 columns for linear models."""

    train: EncodedTable
    test: EncodedTable

    @classmethod
    def read(cls, filled: _Filled, problem: _Problem) -> _DownstreamFeatures:
        usable = problem.features
        holes = filled.train[usable].isna().any() | filled.test[usable].isna().any()
        if holes.any():
            names = ", ".join(str(name) for name in usable if holes[name])
            raise ScoringError(f"Cells are still missing in {names}.")
        schema = Schema(tuple(column for column in problem.schema if column.name in usable))
        encoder = TableEncoder(schema=schema, numeric="standard").fit(filled.train)
        if not encoder.columns_:
            raise ScoringError("No feature varies: there is nothing to predict from.")
        return cls(encoder.transform(filled.train), encoder.transform(filled.test))

    @property
    def categorical(self) -> list[bool]:
        return [0 < column.n_categories <= MOST_NATIVE_CATEGORIES for column in self.train.columns]


def _codes(table: EncodedTable) -> np.ndarray:
    # A category that training never saw is unknown to a tree, and no category to a linear model.
    return np.where(table.observed, table.values, np.nan)


def _indicators(table: EncodedTable) -> np.ndarray:
    blocks = []
    for j, column in enumerate(table.columns):
        values = table.values[:, [j]]
        if column.kind == "categorical":
            values = (values == np.arange(column.n_categories)) & table.observed[:, [j]]
        blocks.append(values.astype(np.float64))
    return np.concatenate(blocks, axis=1)


def _score(
    model: str, features: _DownstreamFeatures, problem: _Problem, split: _Split, seed: int
) -> float:
    train, test = problem.target[split.train], problem.target[split.test]
    if problem.task == "classification" and len(np.unique(train)) < 2:
        raise ScoringError("The training rows have one class only.")
    learner = _learner(model, problem.task, features.categorical, seed)
    read = _indicators if model == "linear" else _codes
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        learner.fit(read(features.train), train)
    if problem.task == "regression":
        return float(r2_score(test, learner.predict(read(features.test))))
    return _auroc(test, learner.predict_proba(read(features.test)), learner.classes_)


def _learner(model: str, task: Task, categorical: list[bool], seed: int) -> Any:
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
        raise ScoringError("The test rows have one class only: AUROC is undefined.")
    by_class = dict(zip(classes, probabilities.T, strict=True))
    never_seen = np.zeros(len(truth))
    areas = [roc_auc_score(truth == one, by_class.get(one, never_seen)) for one in present]
    return float(np.mean(areas))
