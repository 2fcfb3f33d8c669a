import json
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score, r2_score

from pmae_core.errors import ScoringError
from pmae_core.evaluation import METRICS, score_imputation
from pmae_core.table import NotLearned, Role, Schema


def one_column(truth, imputed, missing=None, role=None):
    truth, imputed = pd.DataFrame({"x": truth}), pd.DataFrame({"x": imputed})
    missing = [True] * len(truth) if missing is None else missing
    schema = Schema.infer(truth, roles={"x": role} if role else None)
    return score_imputation(truth, imputed, pd.DataFrame({"x": missing}), schema)


def mixed_tables():
    truth = pd.DataFrame(
        {
            "length": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
            "color": pd.Categorical(list("rrgbgb")),
            "alive": [True, False, True, True, False, False],
            "born": pd.date_range("2020-01-01", periods=6, tz="Europe/Berlin"),
            "whole": [1, 2, 3, 4, 5, 6.5],
        },
        index=list("uvwxyz"),
    )
    missing = pd.DataFrame(False, index=truth.index, columns=truth.columns)
    missing.iloc[1:5, :4] = True
    return truth, missing


def test_a_perfect_imputation_scores_one_and_errs_by_zero():
    truth, missing = mixed_tables()
    overall = score_imputation(truth, truth.copy(), missing).overall
    assert tuple(overall) == METRICS
    for metric in ("imputation_accuracy", "r2", "r2_unclipped", "accuracy"):
        assert overall[metric] == 1.0
    for metric in ("rmse", "mae", "wasserstein"):
        assert overall[metric] == 0.0


def test_each_figure_against_hand_computation():
    truth, missing = mixed_tables()
    imputed = truth.copy()
    imputed["length"] = [9.0, 2.5, 3.0, 4.0, 4.0, 9.0]  # cells that are not missing do not count
    imputed["color"] = pd.Categorical(list("bggbrr"))
    imputed["alive"] = [False, False, False, True, False, True]
    imputed["born"] += pd.Timedelta(days=1)
    score = score_imputation(truth, imputed, missing)
    table = score.per_column
    assert list(table.index) == ["length", "color", "alive", "born"]
    assert score.skipped == {"whole": "nothing is missing"}
    assert (table["n_missing"] == 4).all() and (table["n_scored"] == 4).all()

    length = table.loc["length"]
    assert length["r2"] == length["r2_unclipped"] == pytest.approx(1 - 1.25 / 5)
    assert length["rmse"] == pytest.approx(math.sqrt(1.25 / 4) / 5)
    assert length["mae"] == pytest.approx(1.5 / 4 / 5)
    assert length["wasserstein"] == pytest.approx(1.5 / 4 / 5)
    assert table.loc["color", "accuracy"] == 0.5
    assert table.loc["alive", "accuracy"] == 0.75
    born = table.loc["born"]
    assert born["r2_unclipped"] == pytest.approx(1 - 4 / 5)
    assert born["mae"] == born["rmse"] == born["wasserstein"] == pytest.approx(1 / 5)

    assert score.overall["r2"] == pytest.approx((0.75 + 0.2) / 2)
    assert score.overall["accuracy"] == pytest.approx((0.5 + 0.75) / 2)
    assert score.overall["imputation_accuracy"] == pytest.approx((0.75 + 0.5 + 0.75 + 0.2) / 4)
    assert table.loc["length"].isna()["accuracy"] and table.loc["alive"].isna()["rmse"]


def test_negative_r2_becomes_zero_but_stays_visible():
    score = one_column([0.0, 1.0, 2.0], [2.0, 1.0, 0.0])
    assert score.overall["r2"] == score.overall["imputation_accuracy"] == 0.0
    assert score.overall["r2_unclipped"] == pytest.approx(-3.0)


@given(
    st.lists(st.tuples(st.integers(-50, 50), st.integers(-50, 50)), min_size=2, max_size=20).filter(
        lambda pairs: len({truth for truth, _ in pairs}) > 1
    )
)
def test_r2_is_that_of_scikit_learn_on_the_missing_cells(pairs):
    truth, imputed = (list(map(float, side)) for side in zip(*pairs, strict=True))
    score = one_column([*truth, 999.5], [*imputed, 999.5], [True] * len(truth) + [False])
    assert score.overall["r2_unclipped"] == pytest.approx(r2_score(truth, imputed))


def test_errors_are_scaled_by_the_truth_whatever_was_imputed():
    missing = [False, False, True, True]
    near = one_column([0.0, 10.0, 4.0, 6.0], [0.0, 10.0, 5.0, 5.0], missing)
    far = one_column([0.0, 10.0, 4.0, 6.0], [0.0, 10.0, 14.0, 16.0], missing)
    assert near.overall["rmse"] == pytest.approx(0.1)
    assert far.overall["rmse"] == far.overall["wasserstein"] == pytest.approx(1.0)


def test_wasserstein_sees_the_distribution_and_not_the_cells():
    score = one_column([0.0, 1.0, 2.0], [2.0, 0.0, 1.0])
    assert score.overall["wasserstein"] == pytest.approx(0.0)
    assert score.overall["mae"] > 0.5


@pytest.mark.parametrize(("imputed", "r2"), [([3.5, 3.5], 1.0), ([3.5, 3.6], 0.0)])
def test_equal_missing_truths_are_either_hit_or_not(imputed, r2):
    score = one_column([3.5, 3.5, 1.5], [*imputed, 1.5], [True, True, False])
    assert score.overall["r2"] == score.overall["r2_unclipped"] == r2


def test_a_constant_column_is_scaled_by_one():
    score = one_column([3.5, 3.5], [3.5, 4.0])
    assert score.overall["mae"] == pytest.approx(0.25)


@pytest.mark.parametrize(
    ("truth", "imputed"),
    [
        (pd.array([1, 2, 4, None], dtype="Int64"), [1.0, 2.0, 4.0, 9.0]),
        (pd.to_timedelta([1, 2, 4, None], unit="D"), pd.to_timedelta([1, 2, 4, 9], unit="D")),
        (
            pd.to_datetime(["2001-02-03", "2001-02-04", "2001-02-08", None]),
            pd.Series(["2001-02-03", "2001-02-04", "2001-02-08", "2001-03-01"], dtype=object),
        ),
        (pd.array([True, False, True, None], dtype="boolean"), [1.0, 0.0, 1.0, 1.0]),
        (pd.Categorical(["a", "b", "c", None]), pd.Series(list("abcd"), dtype=object)),
        (pd.Series([1, "b", 2.5, None], dtype=object), pd.Series([1, "b", 2.5, 0], dtype=object)),
    ],
)
def test_values_count_and_not_dtypes_and_unknown_truths_do_not_count(truth, imputed):
    score = one_column(truth, imputed)
    assert score.overall["imputation_accuracy"] == 1.0
    row = score.per_column.loc["x"]
    assert (row["n_missing"], row["n_scored"]) == (4, 3)


def test_one_nanosecond_of_a_date_is_not_lost():
    truth = pd.to_datetime([1_700_000_000_000_000_000, 1_700_000_000_000_000_004])
    score = one_column(truth, truth + pd.Timedelta(1, unit="ns"))
    assert score.overall["mae"] == pytest.approx(0.25)


def test_infinite_truths_are_unknown():
    score = one_column([np.inf, 1.0, 2.0], [5.0, 1.0, 2.0])
    assert score.per_column.loc["x", "n_scored"] == 2
    assert score.overall["r2"] == 1.0
    with pytest.raises(ScoringError, match="nothing to score"):
        one_column([np.inf, 1.0], [5.0, 1.0], [True, False])


def test_roles_decide_how_a_column_is_scored():
    truth, imputed = [1, 2, 3, 3], [1, 2, 3, 2]
    assert one_column(truth, imputed, role=Role.CATEGORICAL).overall["accuracy"] == 0.75
    numerical = one_column(truth, imputed, role=Role.NUMERICAL).overall
    assert math.isnan(numerical["accuracy"]) and 0 < numerical["r2"] < 1


@pytest.mark.parametrize("role", [Role.IDENTIFIER, Role.IGNORED])
def test_columns_that_nobody_imputes_are_skipped(role):
    truth = pd.DataFrame({"key": ["a", "b"], "x": [1.0, 2.0]})
    imputed = pd.DataFrame({"key": [None, None], "x": [1.0, 2.0]})
    schema = Schema.infer(truth, roles={"key": role})
    score = score_imputation(truth, imputed, np.ones((2, 2), dtype=bool), schema)
    assert list(score.per_column.index) == ["x"]
    assert score.skipped == {"key": NotLearned(role.value).clause}


def test_column_order_and_further_columns_do_not_matter():
    truth, missing = mixed_tables()
    imputed = truth[truth.columns[::-1]].assign(extra=1)
    missing = missing[["color", "length"]]
    score = score_imputation(truth, imputed, missing)
    assert list(score.per_column.index) == ["color", "length"]
    assert score.overall["imputation_accuracy"] == 1.0


def test_repeated_index_labels_and_array_masks_are_fine():
    truth = pd.DataFrame({"x": [1.0, 2.0, 4.0]}, index=[7, 7, 7])
    assert score_imputation(truth, truth, np.ones((3, 1), dtype=bool)).overall["r2"] == 1.0


def test_the_score_becomes_json():
    truth, missing = mixed_tables()
    score = score_imputation(truth[["color"]], truth[["color"]], missing[["color"]])
    content = json.loads(json.dumps(score.to_dict(), allow_nan=False))
    assert content["overall"]["r2"] is None
    assert content["per_column"]["color"]["accuracy"] == 1.0
    assert content["per_column"]["color"]["role"] == "categorical"


def test_the_inputs_are_left_alone():
    truth, missing = mixed_tables()
    copies = truth.copy(deep=True), missing.copy(deep=True)
    score_imputation(truth, truth, missing)
    pd.testing.assert_frame_equal(truth, copies[0])
    pd.testing.assert_frame_equal(missing, copies[1])


def frame(**columns):
    return pd.DataFrame(columns)


X = frame(x=[1.0, 2.0, 3.0], y=["a", "b", "a"])
ALL = pd.DataFrame(True, index=X.index, columns=X.columns)


@pytest.mark.parametrize(
    ("truth", "imputed", "missing", "sentence"),
    [
        (X, frame(x=[np.nan, 2, 3], y=["a", None, "b"]), ALL, "still missing.*in x and y"),
        (X, frame(x=[np.inf, 2, 3], y=["a", "b", "b"]), ALL, "in x"),
        (X, X, ~ALL, "nothing to score"),
        (X.where(~ALL), X, ALL, "nothing to score"),
        (X, X[["x"]], ALL, r"imputed table lacks the column\(s\) y"),
        (X[["x"]], X, ALL, r"truth lacks the column\(s\) y"),
        (X, X.iloc[:2], ALL, "different rows"),
        (X, X, ALL.iloc[:2], "different rows"),
        (X, X.set_axis([3, 4, 5]), ALL, "different rows"),
        (X, X, np.ones((3, 3), dtype=bool), "has the shape"),
        (X, X, ALL.astype(object).replace(True, "yes"), "only True"),
        (X, X.set_axis(["x", "x"], axis=1), ALL, "several columns of the same name"),
        (X, frame(x=["one", "two", "three"], y=X["y"]), ALL, "cannot be compared as numbers"),
        (
            frame(t=pd.to_datetime(["2020-01-01", "2020-01-02"])),
            frame(t=pd.to_datetime(["2020-01-01", "2020-01-02"], utc=True)),
            np.ones((2, 1), dtype=bool),
            "The column t cannot be compared",
        ),
    ],
)
def test_tables_that_do_not_fit_are_refused_in_words(truth, imputed, missing, sentence):
    with pytest.raises(ScoringError, match=sentence):
        score_imputation(truth, imputed, missing)


def test_a_rare_category_is_missed_by_the_mode_and_balanced_accuracy_says_so():
    truth = pd.DataFrame({"ill": ["no"] * 97 + ["yes"] * 3})
    score = score_imputation(truth, truth.assign(ill="no"), truth.notna()).overall
    assert score["accuracy"] == pytest.approx(0.97)
    assert score["balanced_accuracy"] == pytest.approx(0.5)


def test_balanced_accuracy_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    truth = pd.DataFrame({"kind": rng.choice(["a", "b", "c"], 200, p=[0.7, 0.2, 0.1])})
    imputed = pd.DataFrame({"kind": rng.choice(["a", "b", "c"], 200)})
    score = score_imputation(truth, imputed, truth.notna()).overall["balanced_accuracy"]
    assert score == pytest.approx(balanced_accuracy_score(truth["kind"], imputed["kind"]))


def test_levels_have_the_errors_of_their_ranks_and_an_accuracy():
    truth = pd.DataFrame({"size": ["small", "medium", "large", "medium"]})
    imputed = pd.DataFrame({"size": ["medium", "medium", "large", "medium"]})
    missing = pd.DataFrame({"size": [True, True, True, False]})
    schema = Schema.infer(truth, {"size": "ordinal"})

    found = score_imputation(truth, imputed, missing, schema).per_column.loc["size"]

    assert found["role"] == "ordinal"
    assert found["rmse"] == pytest.approx(math.sqrt(0.5**2 / 3))
    assert found["r2"] == found["imputation_accuracy"] == pytest.approx(1 - 1 / 2)
    assert found["accuracy"] == pytest.approx(2 / 3)
