"""Auto: the best method for each column."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest

from pmae_core.errors import Cancelled, ImputationError, ImputationWarning
from pmae_core.imputers import registry
from pmae_core.imputers.auto import AutoImputer
from pmae_core.imputers.base import BaseImputer
from pmae_core.imputers.transductive import TransductiveImputer


@pytest.fixture(autouse=True)
def _stubs(monkeypatch):
    """Register methods whose strengths are known; forget them after the test."""
    registry.list_imputers()
    monkeypatch.setattr(registry, "_REGISTRY", dict(registry._REGISTRY))
    about = {"title": "Stub", "explanation": "A stub.", "citation": "None."}
    for name, imputer in {
        "copies": Copies,
        "guesses": Guesses,
        "fails": Fails,
        "fails-late": FailsLate,
        "once": Once,
        "forgets": Forgets,
    }.items():
        registry.register_imputer(name=name, **about)(imputer)
    registry.register_imputer(name="draws", draws_samples=True, **about)(Draws)


class Stub(BaseImputer):
    def __init__(self, *, schema=None, random_state=None):
        self.schema = schema
        self.random_state = random_state

    def _fit_encoded(self, encoded, run):
        if run.cancel():
            raise Cancelled("Cancelled.")
        self.names = [column.name for column in encoded.columns]

    def _impute_encoded(self, encoded):
        return np.where(encoded.observed, encoded.values, 0.5)


class Copies(Stub):
    """Knows that "twin" equals "x", and nothing else."""

    def _impute_encoded(self, encoded):
        imputed = super()._impute_encoded(encoded)
        x, twin = self.names.index("x"), self.names.index("twin")
        lost = ~encoded.observed[:, twin]
        imputed[lost, twin] = imputed[lost, x]
        return imputed


class Guesses(Stub):
    """Knows the label from the sign of "x", and imputes numbers badly."""

    def _impute_encoded(self, encoded):
        imputed = np.where(encoded.observed, encoded.values, 0.0)
        label, x = self.names.index("label"), self.names.index("x")
        lost = ~encoded.observed[:, label]
        imputed[lost, label] = encoded.values[lost, x] > 0.5
        return imputed


class Draws(Copies):
    def _draw_encoded(self, encoded, n, rng):
        for _ in range(n):
            yield np.where(encoded.observed, encoded.values, rng.random(encoded.values.shape))


class Fails(Stub):
    def _fit_encoded(self, encoded, run):
        raise ImputationError("This table is too large.")


class FailsLate(Copies):
    """Imputes tables with held-out cells, but not the whole one."""

    def _fit_encoded(self, encoded, run):
        super()._fit_encoded(encoded, run)
        if encoded.observed[:, self.names.index("twin")].mean() > 0.69:
            raise MemoryError("no more")


class Forgets(Stub):
    def transform(self, X):
        return X


class Once(TransductiveImputer, Copies):
    def _fit_encoded(self, encoded, run):
        self.names = [column.name for column in encoded.columns]
        TransductiveImputer._fit_encoded(self, encoded, run)

    def _complete(self, encoded, run):
        return Copies._impute_encoded(self, encoded)

    _impute_encoded = TransductiveImputer._impute_encoded


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    n = 200
    x = rng.uniform(-1, 1, size=n)
    x[:2] = -1, 1
    frame = pd.DataFrame(
        {
            "x": x,
            "twin": x,
            "label": np.where(x > 0, "plus", "minus"),
            "count": rng.integers(0, 9, size=n),
        }
    )
    frame.loc[60:119, "twin"] = np.nan
    frame.loc[100:149, "label"] = None
    return frame


def test_each_column_is_imputed_by_the_method_that_suits_it(table):
    imputer = AutoImputer(methods=["guesses", "copies"], random_state=0)
    imputed = imputer.fit_transform(table)
    choices = imputer.choices_.set_index("column")
    assert choices.loc["twin", "method"] == "copies"
    assert choices.loc["label", "method"] == "guesses"
    np.testing.assert_allclose(imputed["twin"], table["x"], atol=1e-5)
    assert imputed["label"].tolist() == np.where(table["x"] > 0, "plus", "minus").tolist()
    pd.testing.assert_frame_equal(imputed.mask(table.isna()), table, check_exact=True)


def test_choices_explain_themselves(table):
    imputer = AutoImputer(methods=["guesses", "copies"], random_state=0).fit(table)
    twin = imputer.choices_.set_index("column").loc["twin"]
    assert twin["error"] == twin["error_copies"] == pytest.approx(0, abs=1e-3)
    assert twin["margin"] == pytest.approx(twin["error_guesses"], abs=1e-3)
    assert 0.5 < twin["mean_error"] < 2
    assert twin["n_rows"] >= 10
    assert twin["reason"].startswith("twin: copies, error 0.00 (the mean has ")
    assert list(imputer.overall_errors_) == sorted(
        imputer.overall_errors_, key=imputer.overall_errors_.get
    )
    assert json.loads(imputer.choices_.to_json(orient="records"))


def test_a_failing_method_is_left_out_and_named(table):
    imputer = AutoImputer(methods=["fails", "forgets", "copies"], random_state=0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        imputed = imputer.fit_transform(table)
    said = [str(w.message) for w in caught if w.category is ImputationWarning]
    assert said == [
        "auto continues without fails: This table is too large.",
        "auto continues without forgets: It left cells missing.",
    ]
    assert imputer.left_out_ == {
        "fails": "This table is too large.",
        "forgets": "It left cells missing.",
    }
    assert imputer.choices_["error_fails"].isna().all()
    assert set(imputer.choices_["method"]) == {"copies"}
    np.testing.assert_allclose(imputed["twin"], table["x"], atol=1e-5)


def test_a_winner_that_fails_in_the_end_is_replaced_by_the_next_best(table):
    imputer = AutoImputer(methods=["fails-late", "copies", "guesses"], random_state=0)
    with pytest.warns(ImputationWarning, match="without fails-late: MemoryError: no more"):
        imputer.fit(table)
    assert imputer.choices_.set_index("column").loc["twin", "method"] == "copies"
    assert "fails-late" not in imputer.imputers_


def test_if_all_fail_the_reasons_are_given(table):
    with (
        pytest.warns(ImputationWarning),
        pytest.raises(ImputationError, match=r"None of the methods .* fails: This table is too"),
    ):
        AutoImputer(methods=["fails", "forgets"]).fit(table)


def test_new_rows_where_the_winners_can(table):
    new = pd.DataFrame(
        {"x": [0.25, -0.5], "twin": [np.nan, -0.5], "label": ["plus", None], "count": [1, 2]}
    )
    imputed = AutoImputer(methods=["copies", "guesses"], random_state=0).fit(table).transform(new)
    assert imputed["twin"].round(4).tolist() == [0.25, -0.5]
    assert imputed["label"].tolist() == ["plus", "minus"]
    imputer = AutoImputer(methods=["once", "guesses"], random_state=0).fit(table)
    assert not imputer.transform(table).isna().any(axis=None)
    with pytest.raises(ImputationError, match=r"auto chose once for twin: .* fitted on"):
        imputer.transform(new)
    # Columns of the other methods are still served.
    assert imputer.transform(new.assign(twin=0.1))["label"].tolist() == ["plus", "minus"]


def test_draws_are_those_of_the_winner_or_spread_like_its_errors(table):
    imputer = AutoImputer(methods=["draws", "guesses"], random_state=0).fit(table)
    assert imputer.choices_.set_index("column").loc["twin", "method"] == "draws"
    first, second = imputer.sample(table, 2, random_state=5)
    lost = table["twin"].isna()
    assert (first["twin"] != second["twin"])[lost].all()
    # The label was never wrong on held-out cells, so every draw says the same.
    assert first["label"].equals(second["label"])
    pd.testing.assert_frame_equal(first.mask(table.isna()), table, check_exact=True)

    plain = AutoImputer(methods=["naive"], random_state=0).fit(table)
    with pytest.warns(ImputationWarning, match="'twin' is the same in every imputation"):
        plain.sample(table, 2)

    naive = AutoImputer(methods=["naive", "guesses"], random_state=0).fit(table)
    assert naive.choices_.set_index("column").loc["twin", "method"] == "naive"
    draws = np.concatenate([draw["twin"][lost] for draw in naive.sample(table, 20)])
    # The errors of the mean are spread like the column itself.
    assert draws.std() == pytest.approx(table["twin"].std(), rel=0.15)


def test_dtypes_that_cannot_miss_are_no_obstacle():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "whole": rng.integers(0, 5, 120),
            "flag": rng.random(120) < 0.4,
            "grade": pd.Categorical(rng.choice(["a", "b"], 120)),
            "x": rng.normal(size=120),
        }
    )
    table.loc[::5, "x"] = np.nan
    imputer = AutoImputer(methods=["naive", "knn"], random_state=0, holdout_share=0.5).fit(table)
    assert imputer.left_out_ == {}
    assert imputer.choices_["error_knn"].notna().sum() >= 1
    assert imputer.transform(table).dtypes.equals(table.dtypes)


def test_parameters_reach_their_method(table):
    imputer = AutoImputer(
        methods=["knn", "naive"], method_params={"knn": {"n_neighbors": 1}}, random_state=0
    ).fit(table)
    assert imputer.choices_.set_index("column").loc["twin", "method"] == "knn"
    assert imputer.imputers_["knn"].n_neighbors == 1


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"methods": []}, "methods must be a list of one or more names"),
        ({"methods": "copies"}, "methods must be a list of one or more names"),
        ({"methods": ["auto", "naive"]}, "cannot be one of its own"),
        ({"methods": ["naive", "naive"]}, "without repetition"),
        ({"methods": ["magic"]}, "no method 'magic'"),
        (
            {"methods": ["naive"], "method_params": {"knn": {}}},
            "for knn, but methods has only naive",
        ),
        ({"methods": ["knn"], "method_params": {"knn": {"k": 1}}}, "knn has no parameter k"),
        ({"n_repeats": 0}, "n_repeats must be at least 1"),
        ({"holdout_share": 0}, "holdout_share must be above 0 and at most 1, not 0"),
    ],
)
def test_impossible_settings(table, params, sentence):
    with pytest.raises(ImputationError, match=sentence):
        AutoImputer(**params).fit(table)


def test_too_small_a_table_goes_to_the_first_method_with_a_warning(table):
    small = table.iloc[54:66]
    imputer = AutoImputer(methods=["copies", "guesses"], random_state=0)
    with pytest.warns(ImputationWarning, match="auto compared nothing"):
        imputer.fit(small)
    assert set(imputer.choices_["method"]) == {"copies"}
    assert imputer.choices_["reason"].str.contains("too few cells").all()


def test_progress_counts_fits_and_cancel_is_heard(table):
    events = []
    AutoImputer(methods=["copies", "guesses"], n_repeats=2, random_state=0).fit(
        table, callbacks=[events.append]
    )
    assert [event.done for event in events] == [1, 2, 3, 4, 5, 6]
    assert {(event.total, event.unit) for event in events} == {(6, "fit")}
    asked = []

    def cancel():
        asked.append(1)
        return len(asked) > 4

    imputer = AutoImputer(methods=["copies", "guesses"], random_state=0)
    with pytest.raises(Cancelled):
        imputer.fit(table, cancel=cancel)
    assert imputer.left_out_ == {}


def test_the_blend_is_the_one_to_beat():
    first, *others = AutoImputer().methods
    assert first == "pmae" and "masked-trees" in others


def test_checkpoints_of_different_fits_do_not_meet(table, tmp_path, monkeypatch):
    folders = []

    def fit_encoded(self, encoded, run):
        folders.append(run.checkpoint_dir.relative_to(tmp_path).as_posix())
        self.names = [column.name for column in encoded.columns]

    monkeypatch.setattr(Stub, "_fit_encoded", fit_encoded)
    imputer = AutoImputer(methods=["copies", "guesses"], n_repeats=2, random_state=0)
    imputer.fit(table, checkpoint_dir=tmp_path)
    kinds = ("repeat-0", "repeat-1", "final")
    assert sorted(folders) == sorted(f"{k}/{m}" for k in kinds for m in imputer.methods)
