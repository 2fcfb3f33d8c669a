"""HyperImpute: chained equations with a learner picked for each column."""

import sys
import types
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from pmae_core.errors import Cancelled, ImputationError
from pmae_core.imputers.classic.hyperimpute import HyperImputeImputer


def correlated(seed: int, n: int = 150) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return a table with related columns, and the same with missing cells."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    truth = pd.DataFrame(
        {
            "a": x,
            "b": 2 * x + 0.3 * rng.normal(size=n),
            "c": x**2 + 0.2 * rng.normal(size=n),
            "kind": np.where(x > 0.6, "high", np.where(x < -0.6, "low", "middle")),
        }
    )
    return truth, truth.mask(rng.random(truth.shape) < 0.2)


@pytest.mark.parametrize("seed", range(5))
def test_better_than_mean_and_mode_on_correlated_columns(seed):
    truth, table = correlated(seed)
    imputed = HyperImputeImputer(n_trees=10, n_boosting_rounds=10, random_state=0).fit_transform(
        table
    )
    missing = table.isna()
    for name in ("a", "b", "c"):
        error = (imputed[name] - truth[name])[missing[name]].pow(2).mean()
        assert error < 0.6 * (table[name].mean() - truth[name])[missing[name]].pow(2).mean()
    hits = (imputed["kind"] == truth["kind"])[missing["kind"]].mean()
    assert hits > (truth["kind"] == table["kind"].mode()[0])[missing["kind"]].mean()


def test_one_linear_column_is_ridge_regression():
    truth, table = correlated(0)
    table = truth[["a", "b", "c"]].assign(b=table["b"])
    seen = table["b"].notna()
    imputed = HyperImputeImputer(learners=["linear"]).fit_transform(table)
    ridge = make_pipeline(StandardScaler(), Ridge())
    scaler = MinMaxScaler().fit(table[["b"]][seen].to_numpy())
    scaled = scaler.transform(table[["b"]][seen].to_numpy()).ravel()
    ridge.fit(table.loc[seen, ["a", "c"]].to_numpy(), scaled)
    predicted = ridge.predict(table.loc[~seen, ["a", "c"]].to_numpy()).clip(0, 1)
    expected = scaler.inverse_transform(predicted[:, None]).ravel()
    np.testing.assert_allclose(imputed.loc[~seen, "b"], expected, atol=1e-4)


def test_each_column_gets_the_learner_that_suits_it():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 400))
    table = pd.DataFrame(
        {
            "a": a,
            "b": b,
            "sum": a + b + 0.1 * rng.normal(size=400),
            "steps": np.sign(a) * np.sign(b) + 0.1 * rng.normal(size=400),
        }
    )
    table.loc[::9, "sum"] = np.nan
    table.loc[4::9, "steps"] = np.nan
    imputer = HyperImputeImputer(random_state=0).fit(table)
    choices = imputer.choices_.set_index("column")
    assert choices.loc["sum", "learner"] == "linear"
    assert choices.loc["steps", "learner"] in ("forest", "boosting")
    for _, row in choices.iterrows():
        assert row[row["learner"]] == row[["linear", "forest", "boosting"]].min()
    assert choices.loc["steps", "linear"] > 0.9
    assert choices.loc["sum", "linear"] < 0.05


def test_rounds_end_when_nothing_changes():
    truth, table = correlated(0)
    one_hole_column = truth[["a", "b"]].assign(b=table["b"])
    imputer = HyperImputeImputer(learners=["linear"]).fit(one_hole_column)
    # The second round repeats the first exactly.
    assert imputer.n_rounds_ == 2
    assert HyperImputeImputer(learners=["linear"], n_rounds=1).fit(table).n_rounds_ == 1


def test_new_rows_are_imputed_each_by_itself():
    truth, table = correlated(0)
    table = table.assign(a=truth["a"])
    imputer = HyperImputeImputer(n_trees=10, n_boosting_rounds=10, random_state=0).fit(table)
    new_truth, new = correlated(7, n=60)
    assert new["a"].isna().any()
    imputed = imputer.transform(new)
    assert not imputed.isna().any(axis=None)
    missing = new["a"].isna()
    error = (imputed["a"] - new_truth["a"])[missing].pow(2).mean()
    assert error < 0.6 * new_truth["a"][missing].pow(2).mean()
    alone = pd.concat([imputer.transform(new.iloc[[i]]) for i in range(5)])
    pd.testing.assert_frame_equal(alone, imputed.iloc[:5])


def test_a_category_seen_once_is_no_obstacle():
    truth, table = correlated(0)
    table = truth.assign(kind=np.where(truth["a"] > 0, "x", "y"))
    table.loc[3, "kind"] = "rare"
    table.loc[10:30, "kind"] = None
    table["b"] = table["b"].mask(truth["c"] > 1)
    imputed = HyperImputeImputer(n_trees=5, n_boosting_rounds=5, random_state=0).fit_transform(
        table
    )
    assert not imputed.isna().any(axis=None)


def test_two_classes_of_which_a_fold_sees_one():
    truth, _ = correlated(0, n=40)
    table = truth[["a", "b"]].assign(flag=["no"] * 39 + ["yes"])
    table.loc[5:9, "flag"] = None
    imputed = HyperImputeImputer(n_trees=5, n_boosting_rounds=5, random_state=0).fit_transform(
        table
    )
    assert set(imputed["flag"]) == {"no", "yes"}


def test_cancelled_between_columns():
    _, table = correlated(0)
    asked = []

    def cancel() -> bool:
        asked.append(1)
        return len(asked) > 3

    with pytest.raises(Cancelled, match="after 0 of 40 rounds"):
        HyperImputeImputer(learners=["linear"]).fit(table, cancel=cancel)


@pytest.mark.parametrize("package", ["xgboost", "catboost"])
def test_a_missing_package_is_named(package, monkeypatch):
    _, table = correlated(0)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImputationError, match=f"pip install {package}"):
        HyperImputeImputer(boosting=package).fit(table)
    # Nobody needs a package that is not used.
    HyperImputeImputer(boosting=package, learners=["linear"]).fit(table)


class FakeBoosting:
    """Predicts what it has seen most or on average, and notes what it was given."""

    made: ClassVar[list]

    def __init__(self, **params):
        self.params = params
        self.made.append(self)

    def fit(self, features, target):
        self.n_rows, self.n_features = features.shape
        self.target = target

    def predict(self, features):
        return np.full((len(features), 1), self.guess())


@pytest.mark.parametrize(
    ("package", "prefix", "rounds"),
    [("xgboost", "XGB", "n_estimators"), ("catboost", "CatBoost", "iterations")],
)
def test_the_chosen_package_does_the_boosting(package, prefix, rounds, monkeypatch):
    class Regressor(FakeBoosting):
        made: ClassVar = []

        def guess(self):
            return self.target.mean()

    class Classifier(FakeBoosting):
        made: ClassVar = []

        def guess(self):
            # Labels are 0, 1, 2, ... whatever the categories.
            assert set(self.target) == set(range(len(set(self.target))))
            return 1

    module = types.ModuleType(package)
    setattr(module, f"{prefix}Regressor", Regressor)
    setattr(module, f"{prefix}Classifier", Classifier)
    monkeypatch.setitem(sys.modules, package, module)
    truth, table = correlated(0)
    table = truth.assign(b=table["b"], kind=table["kind"])
    imputed = HyperImputeImputer(
        boosting=package, learners=["boosting"], n_boosting_rounds=7, random_state=0
    ).fit_transform(table)
    np.testing.assert_allclose(imputed["b"][table["b"].isna()], table["b"].mean(), rtol=1e-5)
    assert imputed["kind"][table["kind"].isna()].nunique() == 1
    assert Regressor.made[0].params[rounds] == 7
    # Categories reach a foreign package as 0/1 columns.
    assert Regressor.made[0].n_features == 2 + 3


def test_the_contest_takes_few_rows(monkeypatch):
    class Regressor(FakeBoosting):
        made: ClassVar = []

        def guess(self):
            return self.target.mean()

    module = types.ModuleType("xgboost")
    module.XGBRegressor = Regressor
    monkeypatch.setitem(sys.modules, "xgboost", module)
    truth, table = correlated(0)
    table = truth[["a", "b"]].assign(b=table["b"])
    imputer = HyperImputeImputer(boosting="xgboost", learners=["boosting", "linear"])
    imputer.set_params(comparison_rows=50).fit(table)
    assert [model.n_rows for model in Regressor.made] == [25, 25]
    assert imputer.choices_["learner"].tolist() == ["linear"]


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        (
            {"learners": ["magic"]},
            "list of one or more of .linear., .forest., .boosting.",
        ),
        ({"learners": []}, "learners must be a list of one or more of"),
        ({"boosting": "own"}, "boosting must be one of .sklearn., .xgboost., .catboost."),
        ({"n_rounds": 0}, "n_rounds must be at least 1"),
    ],
)
def test_impossible_settings(params, sentence):
    with pytest.raises(ImputationError, match=sentence):
        HyperImputeImputer(**params).fit(correlated(0)[1])


def test_one_column_has_nothing_to_be_predicted_from():
    with pytest.raises(ImputationError, match="at least two columns"):
        HyperImputeImputer().fit(pd.DataFrame({"a": [1.0, 2.0, np.nan, 4.0]}))
