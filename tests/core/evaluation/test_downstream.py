"""The downstream task: models trained on imputed tables."""

import json
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pmae_core.errors import Cancelled, ImputationError, ScoringError
from pmae_core.evaluation.downstream import (
    BEFORE_THE_SPLIT,
    BEFOREHAND,
    INDUCTIVE,
    TRANSDUCTIVE,
    Downstream,
    downstream_of_method,
    downstream_scores,
)
from pmae_core.evaluation.sources import COMPLETE_CASES, TRUE_DATA
from pmae_core.imputers.base import BaseImputer
from pmae_core.imputers.classic.naive import NaiveImputer
from pmae_core.imputers.transductive import TransductiveImputer
from pmae_core.table import Schema

BROKEN = "The method failed unexpectedly: RuntimeError: boom"


class Spy(BaseImputer):
    """Imputes one half, and notes which rows and columns it was fitted to."""

    fitted_to: ClassVar[list[pd.DataFrame]] = []

    def __init__(self, *, schema=None, random_state=None):
        self.schema = schema
        self.random_state = random_state

    def fit(self, X, y=None, **kwargs):
        self.fitted_to.append(X)
        return super().fit(X, y, **kwargs)

    def _fit_encoded(self, encoded, run):
        pass

    def _impute_encoded(self, encoded):
        return np.where(encoded.observed, encoded.values, 0.5)


class TransductiveSpy(TransductiveImputer, Spy):
    _fit_encoded = TransductiveImputer._fit_encoded
    _impute_encoded = TransductiveImputer._impute_encoded

    def _complete(self, encoded, run):
        return np.where(encoded.observed, encoded.values, 0.5)


class FoundOutLate(Spy):
    """Cannot impute new rows, and says so only when asked to."""

    def transform(self, X):
        if len(X) not in (len(frame) for frame in self.fitted_to[-1:]):
            raise ImputationError("It imputes only the table it was fitted on.")
        return super().transform(X)


class Broken(Spy):
    def fit(self, X, y=None, **kwargs):
        raise RuntimeError("boom")


@pytest.fixture(autouse=True)
def _forget():
    Spy.fitted_to.clear()


@pytest.fixture(scope="module")
def data() -> tuple[pd.DataFrame, pd.DataFrame, pd.Series]:
    rng = np.random.default_rng(0)
    n = 240
    x = rng.normal(size=n)
    truth = pd.DataFrame(
        {
            "a": x + 0.3 * rng.normal(size=n),
            "b": rng.normal(size=n),
            "group": rng.choice(["p", "q", "r"], n),
            "row_id": np.arange(n),
        }
    )
    target = pd.Series(
        2 * truth["a"] + truth["b"] + 2 * (truth["group"] == "p") + 0.2 * rng.normal(size=n),
        name="y",
    )
    frame = truth.copy()
    for name in ("a", "b", "group"):
        frame[name] = frame[name].mask(rng.random(n) < 0.25)
    return frame, truth, target


def test_one_row_per_method_model_and_seed_with_references(data):
    frame, truth, target = data
    scores = downstream_scores(frame, target, ["naive", "em"], truth=truth, seeds=[0, 1])
    assert len(scores) == 4 * 2 * 2
    assert set(scores["status"]) == {"done"}
    assert set(scores["metric"]) == {"r2"}
    mean = scores.groupby("method")["score"].mean()
    assert mean[TRUE_DATA] > 0.85
    assert mean[TRUE_DATA] > mean["naive"] > 0.2
    assert set(scores.loc[scores["method"] == COMPLETE_CASES, "kind"]) == {"reference"}
    complete = scores[scores["method"] == COMPLETE_CASES]
    assert (complete["n_train"] < 100).all()
    assert (complete["n_train"] + complete["n_test"] <= frame.notna().all(axis=1).sum()).all()
    others = scores[scores["method"] != COMPLETE_CASES]
    assert set(others["n_test"]) == {72}
    records = json.loads(scores.to_json(orient="records"))
    assert records[0]["how"] == INDUCTIVE
    again = downstream_scores(frame, target, ["naive", "em"], seeds=[1], models=["boosting"])
    same = scores[(scores["seed"] == 1) & (scores["model"] == "boosting")].iloc[:3]
    pd.testing.assert_frame_equal(again, same.reset_index(drop=True))


def test_the_linear_score_is_that_of_scikit_learn(data):
    _, truth, target = data
    features = truth[["a", "b"]]
    scores = downstream_scores(
        features, target, {"same": features}, models=["linear"], seeds=[3], test_share=0.25
    )
    from sklearn.model_selection import train_test_split

    train, test = map(np.sort, train_test_split(np.arange(240), test_size=0.25, random_state=3))
    ridge = make_pipeline(StandardScaler(), Ridge())
    ridge.fit(features.iloc[train], target.iloc[train])
    expected = r2_score(target.iloc[test], ridge.predict(features.iloc[test]))
    assert scores.loc[0, "score"] == pytest.approx(expected, abs=1e-4)
    assert scores.loc[0, "how"] == BEFOREHAND


def test_imputers_see_neither_test_rows_nor_the_target(data):
    frame, _, target = data
    scores = downstream_scores(frame, target, {"spy": Spy()}, seeds=[0])
    (seen,) = Spy.fitted_to
    assert len(seen) == scores.loc[0, "n_train"] == 168
    assert "y" not in seen.columns
    with_target = frame.assign(y=target)
    downstream_scores(with_target, "y", {"spy": Spy()}, seeds=[0])
    pd.testing.assert_frame_equal(Spy.fitted_to[-1], seen)


@pytest.mark.parametrize("imputer", [TransductiveSpy(), FoundOutLate()])
def test_methods_that_cannot_impute_new_rows_get_all_features_and_say_so(data, imputer):
    frame, _, target = data
    scores = downstream_scores(frame, target, {"spy": imputer}, seeds=[0])
    spied = scores[scores["method"] == "spy"]
    assert set(spied["how"]) == {TRANSDUCTIVE}
    assert set(spied["status"]) == {"done"}
    assert len(Spy.fitted_to[-1]) == 240
    assert "y" not in Spy.fitted_to[-1].columns


def test_a_failure_is_a_row_with_its_reason(data):
    frame, _, target = data
    sources = {"broken": Broken(), "unimputed": frame.copy(), "naive": NaiveImputer()}
    scores = downstream_scores(frame, target, sources, seeds=[0]).set_index("method")
    assert (scores.loc["broken", "error"] == BROKEN).all()
    assert (scores.loc["unimputed", "error"] == "Cells are still missing in a, b and group.").all()
    assert scores.loc[["broken", "unimputed"], "score"].isna().all()
    assert (scores.loc["naive", "status"] == "done").all()


def test_too_few_complete_cases_say_so(data):
    frame, _, target = data
    frame = frame.assign(b=frame["b"].mask(np.arange(len(frame)) > 12))
    scores = downstream_scores(frame, target, ["naive"], seeds=[0]).set_index("method")
    assert scores.loc[COMPLETE_CASES, "error"].str.match(r"Only \d+ training and \d+ test").all()


def test_classes_are_scored_by_auroc(data):
    frame, truth, target = data
    two = pd.Series(np.where(target > target.median(), "yes", "no"))
    three = pd.Series(pd.cut(target, [-99, -1, 1, 99], labels=["low", "mid", "high"]))
    for label in (two, three, two == "yes"):
        scores = downstream_scores(frame, label, ["naive"], truth=truth, seeds=[0])
        assert set(scores["metric"]) == {"auroc"}
        mean = scores.groupby("method")["score"].mean()
        assert 0.6 < mean["naive"] < mean[TRUE_DATA] <= 1
    numbers = pd.Series(np.where(target > 0, 1, 0))
    scores = downstream_scores(frame, numbers, ["naive"], seeds=[0], task="classification")
    assert set(scores["metric"]) == {"auroc"}


def test_rows_without_a_target_and_unseen_categories_are_no_obstacle(data):
    frame, _, target = data
    frame = frame.assign(group=frame["group"].mask(frame.index == 5, "rare"))
    scores = downstream_scores(frame, target.mask(target.index % 10 == 0), ["naive"], seeds=[0, 1])
    naive = scores[scores["method"] == "naive"]
    assert (naive["n_train"] + naive["n_test"] == 216).all()
    assert set(naive["status"]) == {"done"}


def test_parameters_and_progress(data):
    frame, _, target = data
    events = []
    scores = downstream_scores(
        frame,
        target,
        ["knn"],
        method_params={"knn": {"n_neighbors": 1}},
        seeds=[0, 1],
        models=["linear"],
        callbacks=[events.append],
    )
    other = downstream_scores(frame, target, ["knn"], seeds=[0, 1], models=["linear"])
    assert (scores["score"] != other["score"])[scores["method"] == "knn"].all()
    assert [event.done for event in events] == [1, 2, 3, 4]
    with pytest.raises(Cancelled):
        downstream_scores(frame, target, ["naive"], cancel=lambda: True)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"target": "nothing"}, "no column 'nothing'"),
        ({"target": pd.Series(range(240), name="a")}, "Drop it: a model could read"),
        ({"target": pd.Series([1.0, 2.0])}, "target has 2 rows"),
        ({"target": pd.Series(["x"] * 240)}, "fewer than two classes"),
        ({"target": pd.Series(["x", "y"] * 120), "task": "regression"}, "are not numbers"),
        (
            {"target": pd.Series(pd.date_range("2024", periods=240))},
            "datetimes cannot be predicted",
        ),
        ({"methods": []}, "at least one method"),
        ({"methods": "naive"}, "must be a list"),
        ({"methods": ["magic"]}, "no method 'magic'"),
        ({"methods": {TRUE_DATA: "naive"}}, "reserved for a reference row"),
        ({"methods": {"short": pd.DataFrame({"a": [1.0]})}}, "not have the same rows"),
        ({"methods": {"odd": [1]}}, "not a int"),
        ({"models": ["deep"]}, "no model 'deep'"),
        ({"test_share": 1.0}, "between 0 and 1"),
    ],
)
def test_impossible_questions_are_refused_with_a_sentence(data, change, sentence):
    frame, _, target = data
    asked = {"target": target, "methods": ["naive"], **change}
    with pytest.raises((ScoringError, ImputationError), match=sentence):
        downstream_scores(frame, **asked)


@pytest.mark.parametrize(("fit_rows", "n_rows"), [("training", [168]), ("all", [])])
def test_a_method_is_fitted_again_to_training_rows_unless_all_are_wanted(data, fit_rows, n_rows):
    frame, truth, target = data
    frame, imputed = frame.drop(columns="row_id"), truth.drop(columns="row_id")
    asked = Downstream(target, "regression", fit_rows)
    scores = downstream_of_method(
        Spy(), frame, imputed, asked, Schema.infer(frame), 0, lambda: False
    )
    assert [len(seen) for seen in Spy.fitted_to] == n_rows
    assert scores["metric"] == "r2"
    assert scores["linear"] > 0.2
    assert scores["how"] == (INDUCTIVE if fit_rows == "training" else BEFORE_THE_SPLIT)
    assert scores["error"] == ""
    if fit_rows == "training":
        alone = downstream_scores(frame, target, {"spy": Spy()}, seeds=[0]).set_index("model")
        assert scores["linear"] == alone.loc["linear", "score"].iloc[0]


def test_a_table_that_still_has_missing_values_says_so(data):
    frame, _, target = data
    scores = downstream_of_method(
        Spy(),
        frame,
        frame,
        Downstream(target, "regression", "all"),
        Schema.infer(frame),
        0,
        lambda: False,
    )
    assert np.isnan(scores["linear"])
    assert scores["error"] == "Cells are still missing in a, b and group."


def test_a_target_among_the_features_is_refused_before_anything_is_fitted(data):
    frame, _, target = data
    with pytest.raises(ScoringError, match="'y in cents' is a one-to-one recoding of the target"):
        downstream_scores(frame.assign(**{"y in cents": 100 * target}), target, {"spy": Spy()})
    assert Spy.fitted_to == []
