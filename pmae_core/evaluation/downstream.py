"""How useful is an imputed table? The score of a model trained on it to predict a target."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
import pandas as pd
from sklearn.base import clone

from pmae_core.errors import Cancelled, ImputationError, ScoringError
from pmae_core.evaluation.leakage import check_leaks
from pmae_core.evaluation.prediction import (
    PredictionProblem,
    PredictionTask,
    RowSplit,
    pose_problem,
)
from pmae_core.evaluation.prediction_models import MODELS, PredictionFeatures, score_model
from pmae_core.evaluation.sources import (
    COMPLETE_CASES,
    NOTHING_MISSING,
    TRUE_DATA,
    ImputationSource,
    ImputationSources,
    MethodParams,
    name_imputations,
    new_imputer,
    reason_of,
    refuse_reference_names,
)
from pmae_core.events import Callback
from pmae_core.imputers import BaseImputer
from pmae_core.imputers.run import ProgressMeter
from pmae_core.imputers.transductive import TransductiveImputer
from pmae_core.table import Schema
from pmae_core.words import listed

TEST_SHARE = 0.3
FEWEST_TRAINING_ROWS = 10
FEWEST_TEST_ROWS = 5

INDUCTIVE = "fitted to the features of the training rows only"
TRANSDUCTIVE = (
    "fitted to the features of all rows, never to the target, because it cannot impute new rows; "
    "its scores can be too high"
)
BEFORE_THE_SPLIT = (
    "fitted to the features of all rows, never to the target, before the rows were split; scores "
    "can be too high"
)
BEFOREHAND = "imputed beforehand; the rows it was fitted to are not known here"
COMPLETE_ONLY = "trained and tested on complete rows only, so the test rows differ"

_COLUMNS = (
    *("method", "kind", "model", "seed", "status", "error", "metric", "score"),
    *("n_train", "n_test", "how"),
)


@dataclass(frozen=True, eq=False)
class Downstream:
    """Labels of the rows of a table, to be predicted from it.

    Attributes
    ----------
    labels : Series
        What to predict, by the table's index.
    task : {"regression", "classification"}
        How.
    fit_rows : {"training", "all"}, default "training"
        Which rows imputers are fitted to: the training rows of the prediction, or all rows before
        they are split. The latter is how we read the paper; imputers then see the features of the
        test rows.
    """

    labels: pd.Series
    task: PredictionTask
    fit_rows: Literal["training", "all"] = "training"

    def pose(self, frame: pd.DataFrame, schema: Schema) -> PredictionProblem:
        """Return the problem of predicting the labels of the rows of a table."""
        return pose_problem(frame, self.labels.loc[frame.index], None, schema, self.task)


def downstream_of_method(
    imputer: BaseImputer,
    incomplete: pd.DataFrame,
    imputed: pd.DataFrame,
    downstream: Downstream,
    schema: Schema,
    seed: int,
    cancel: Callable[[], bool],
) -> dict[str, Any]:
    """Return the scores of predictions from a table that one method imputes.

    Parameters
    ----------
    imputer : BaseImputer
        The method, with its roles and seed. It is fitted again where ``downstream.fit_rows`` is
        "training".
    incomplete, imputed : DataFrame
        The features with their missing values, and as the method imputed them when it was fitted
        to all rows.
    downstream : Downstream
        What to predict. Labels are matched by the index.
    schema : Schema
        Roles of the features.
    seed : int
        Seed of the split and the models.
    cancel : callable
        Returns ``True`` to stop.

    Returns
    -------
    dict
        ``metric`` ("r2" or "auroc"), the score of each model (nan if it failed), ``how`` the rows
        were imputed, and ``error``, which says why a model failed.
    """
    problem = downstream.pose(incomplete, schema)
    split = problem.split(seed, TEST_SHARE)
    if downstream.fit_rows == "all":
        impute = partial(_take, imputed.iloc[problem.kept_rows], split, BEFORE_THE_SPLIT)
    else:
        impute = partial(_impute, problem.frame, split, clone(imputer), cancel)
    rows = _rows({}, problem, impute, MODELS, seed)
    errors = dict.fromkeys(row["error"] for row in rows if row["error"])
    return {
        "metric": problem.metric,
        **{row["model"]: row["score"] for row in rows},
        "how": rows[0]["how"],
        "error": " ".join(errors),
    }


def downstream_scores(
    frame: pd.DataFrame,
    target: pd.Series | Any,
    methods: ImputationSources,
    *,
    truth: pd.DataFrame | None = None,
    schema: Schema | None = None,
    task: PredictionTask | None = None,
    seeds: Sequence[int] = (0, 1, 2),
    test_share: float = TEST_SHARE,
    models: Sequence[str] = MODELS,
    method_params: MethodParams | None = None,
    callbacks: Sequence[Callback] = (),
    cancel: Callable[[], bool] | None = None,
) -> pd.DataFrame:
    """Train models on imputed tables and score their predictions of a target.

    For each seed the rows are split once for all methods. Imputers never see the target, and
    those that can impute new rows never see the test rows. The column ``how`` says which. A target
    that is left among the features is refused (see
    :func:`~pmae_core.evaluation.leakage.find_leaks`).

    Parameters
    ----------
    frame : DataFrame
        The features with their missing values.
    target : Series or column name
        What to predict, for the same rows; or the column of `frame` that holds it. Rows
        whose target is missing are left out.
    methods : sequence of str, or mapping of name to source
        Names of imputers; or a mapping to names, imputers or imputed tables.
    truth : DataFrame, optional
        The complete features, for a reference row that shows what is attainable.
    schema : Schema, optional
        Roles of the features; inferred if not given.
    task : {"regression", "classification"}, optional
        By default regression for numbers, classification for labels and booleans.
    seeds : sequence of int, default (0, 1, 2)
        Seeds of the split, the imputers and the models.
    test_share : float, default 0.3
        Share of rows held out for scoring.
    models : sequence of {"linear", "boosting"}, default both
        Ridge or logistic regression on scaled and one-hot features; histogram gradient boosting.
    method_params : mapping of name to mapping, optional
        Parameters of methods.
    callbacks : sequence of callables
        Each is called with progress, one unit per imputed table.
    cancel : callable, optional
        Returns ``True`` to stop.

    Returns
    -------
    DataFrame
        One row per method, model and seed: ``method``, ``kind`` ("method", "imputed table" or
        "reference"), ``model``, ``seed``, ``status`` ("done" or "failed"), ``error`` (a sentence),
        ``metric`` ("r2" or "auroc"), ``score``, ``n_train``, ``n_test`` and ``how``. AUROC of
        more than two classes is the unweighted mean of each class against the rest. The methods
        "complete cases" and, with `truth`, "true data" are the references.

    Raises
    ------
    ScoringError
        If nothing can be scored, or if a feature is a copy or a one-to-one recoding of the
        target. If only one method fails, its rows have an ``error``.

    Warns
    -----
    LeakageWarning
        If a single feature predicts the target almost perfectly.

    Examples
    --------
    >>> x, z = np.random.default_rng(0).normal(size=(2, 60))
    >>> features = pd.DataFrame({"x": x, "z": z}).mask(np.arange(60)[:, None] % 7 == [0, 3])
    >>> scores = downstream_scores(features, pd.Series(x + z), ["naive"], seeds=[0])
    >>> scores[["method", "model", "metric"]].values.tolist()[:2]
    [['naive', 'linear', 'r2'], ['naive', 'boosting', 'r2']]
    """
    problem = pose_problem(frame, target, truth, schema, task)
    sources = name_imputations(methods, frame)
    _check_settings(sources, seeds, test_share, models)
    check_leaks(problem)
    n_references = 1 + (truth is not None)
    progress = ProgressMeter(
        len(seeds) * (len(sources) + n_references),
        "imputed table",
        callbacks,
        cancel or (lambda: False),
    )
    progress.check()
    rows: list[dict[str, Any]] = []
    for seed in seeds:
        split = problem.split(seed, test_share)
        ways = _ways_to_impute(problem, split, sources, method_params or {}, seed, progress.cancel)
        for name, (kind, impute) in ways.items():
            about = {"method": name, "kind": kind, "seed": int(seed), "metric": problem.metric}
            rows += _rows(about, problem, impute, models, seed)
            progress.advance()
    return pd.DataFrame(rows, columns=list(_COLUMNS))


@dataclass(frozen=True)
class _ImputedRows:
    """Features without missing values, the rows they belong to, and how they were imputed."""

    train: pd.DataFrame
    test: pd.DataFrame
    split: RowSplit
    how: str


def _check_settings(
    sources: Mapping[str, ImputationSource],
    seeds: Sequence[int],
    test_share: float,
    models: Sequence[str],
) -> None:
    if not sources or not len(seeds) or not len(models):
        raise ScoringError("Name at least one method, one seed and one model.")
    refuse_reference_names(sources)
    unknown = [name for name in models if name not in MODELS]
    if unknown:
        raise ScoringError(f"There is no model {unknown[0]!r}. Choose {listed(MODELS, last='or')}.")
    if not 0 < test_share < 1:
        raise ScoringError(f"test_share must be between 0 and 1, not {test_share}.")
    for name, source in sources.items():
        if not isinstance(source, str | BaseImputer | pd.DataFrame):
            raise ScoringError(f"{name} has several imputed tables. Give one per name.")


def _ways_to_impute(
    problem: PredictionProblem,
    split: RowSplit,
    sources: Mapping[str, ImputationSource],
    method_params: MethodParams,
    seed: int,
    cancel: Callable[[], bool],
) -> dict[str, tuple[str, Callable[[], _ImputedRows]]]:
    """Return the kind of each source and reference, and the function that imputes its rows."""
    ways: dict[str, tuple[str, Callable[[], _ImputedRows]]] = {}
    for name, source in sources.items():
        if isinstance(source, str | BaseImputer):
            imputer = new_imputer(source, method_params.get(name, {}), problem.schema, seed)
            ways[name] = ("method", partial(_impute, problem.frame, split, imputer, cancel))
        else:
            table = pd.DataFrame(source).iloc[problem.kept_rows]
            ways[name] = ("imputed table", partial(_take, table, split, BEFOREHAND))
    ways[COMPLETE_CASES] = ("reference", partial(_complete_cases, problem, split))
    if problem.truth is not None:
        ways[TRUE_DATA] = ("reference", partial(_take, problem.truth, split, NOTHING_MISSING))
    return ways


def _impute(
    frame: pd.DataFrame, split: RowSplit, imputer: BaseImputer, cancel: Callable[[], bool]
) -> _ImputedRows:
    train, test = frame.iloc[split.train], frame.iloc[split.test]
    if not isinstance(imputer, TransductiveImputer):
        imputer.fit(train, cancel=cancel)
        try:
            return _ImputedRows(imputer.transform(train), imputer.transform(test), split, INDUCTIVE)
        except ImputationError:
            # For some methods it turns out only after the fit that they cannot impute new rows.
            pass
    return _take(imputer.fit(frame, cancel=cancel).transform(frame), split, TRANSDUCTIVE)


def _take(table: pd.DataFrame, split: RowSplit, how: str) -> _ImputedRows:
    return _ImputedRows(table.iloc[split.train], table.iloc[split.test], split, how)


def _complete_cases(problem: PredictionProblem, split: RowSplit) -> _ImputedRows:
    complete = problem.frame[problem.features].notna().all(axis=1).to_numpy()
    rows = RowSplit(split.train[complete[split.train]], split.test[complete[split.test]])
    if len(rows.train) < FEWEST_TRAINING_ROWS or len(rows.test) < FEWEST_TEST_ROWS:
        raise ScoringError(
            f"Only {len(rows.train)} training and {len(rows.test)} test rows are complete, too "
            "few to train and score a model."
        )
    return _take(problem.frame, rows, COMPLETE_ONLY)


def _rows(
    about: dict[str, Any],
    problem: PredictionProblem,
    impute: Callable[[], _ImputedRows],
    models: Sequence[str],
    seed: int,
) -> list[dict[str, Any]]:
    """Impute once and score every model; a failure becomes rows with its reason."""
    failed = {**about, "status": "failed", "score": np.nan, "n_train": 0, "n_test": 0, "how": ""}
    try:
        imputed = impute()
        features = PredictionFeatures.encode(imputed.train, imputed.test, problem)
    except Cancelled:
        raise
    except Exception as error:
        return [{**failed, "model": model, "error": reason_of(error)} for model in models]
    rows = []
    for model in models:
        sizes = {"n_train": len(imputed.split.train), "n_test": len(imputed.split.test)}
        row = {**failed, **sizes, "how": imputed.how, "model": model, "error": ""}
        try:
            score = score_model(model, features, problem, imputed.split, seed)
            rows.append({**row, "status": "done", "score": score})
        except ScoringError as error:
            rows.append({**row, "error": str(error)})
    return rows
