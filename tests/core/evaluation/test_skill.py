import math

import numpy as np
import pandas as pd

from pmae_core.evaluation import score_imputation
from pmae_core.evaluation.skill import impute_with_mean, skill_over_mean
from pmae_core.table import Schema


def skill(truth, imputed, incomplete):
    schema = Schema.infer(truth)
    missing = incomplete.isna()
    by_mean = impute_with_mean(incomplete, schema)
    return skill_over_mean(
        score_imputation(truth, imputed, missing, schema),
        score_imputation(truth, by_mean, missing, schema),
    )


def test_the_filling_is_mean_and_mode(complete, incomplete):
    imputed = impute_with_mean(incomplete, Schema.infer(incomplete))
    missing = incomplete["y"].isna()
    np.testing.assert_allclose(imputed.loc[missing, "y"], incomplete["y"].mean(), rtol=1e-5)
    assert set(imputed.loc[incomplete["kind"].isna(), "kind"]) == {"a"}


def test_the_mean_of_whole_numbers_is_not_rounded():
    """Arms 1 and 2 of a randomized trial: rounded, the mean errs by half a unit."""
    rng = np.random.default_rng(0)
    truth = pd.DataFrame({"trt": rng.integers(1, 3, size=400), "x": rng.normal(size=400)})
    schema = Schema.infer(truth, roles={"trt": "numerical"})
    incomplete = truth.astype({"trt": "Int64"})
    incomplete.loc[rng.random(400) < 0.3, "trt"] = pd.NA
    missing = incomplete.isna()
    by_mean = impute_with_mean(incomplete, schema)
    mean = float(incomplete["trt"].mean())
    assert set(by_mean.loc[missing["trt"], "trt"]) == {mean}
    score = score_imputation(truth, by_mean, missing, schema)
    assert score.per_column.loc["trt", "r2_unclipped"] > -0.05


def test_dates_have_a_mean_too():
    days = pd.Series(pd.to_datetime(["2024-01-01", "2024-01-03", None]))
    imputed = impute_with_mean(days.to_frame("day"), Schema.infer(days.to_frame("day")))
    assert imputed["day"].tolist()[2] == pd.Timestamp("2024-01-02")


def test_rare_categories_are_themselves():
    labels = [*"abcdefgh", "h", None]
    table = pd.DataFrame({"kind": pd.Categorical(labels), "x": range(10)})
    assert impute_with_mean(table, Schema.infer(table))["kind"].iloc[-1] == "h"


def test_perfect_is_one_and_the_mean_is_zero(complete, incomplete):
    schema = Schema.infer(complete)
    np.testing.assert_allclose(skill(complete, complete, incomplete), 1.0)
    np.testing.assert_allclose(
        skill(complete, impute_with_mean(incomplete, schema), incomplete), 0.0
    )


def test_skill_is_the_share_of_error_avoided():
    truth = pd.DataFrame({"x": [0.0, 4.0, 1.0, 5.0], "k": ["a", "b", "a", "b"]})
    incomplete = truth.copy()
    incomplete.loc[2:, "x"] = np.nan
    incomplete.loc[[0, 1, 3], "k"] = None
    imputed = truth.assign(x=[0.0, 4.0, 2.0, 4.0], k=["a", "b", "a", "a"])
    # The mean, 2, errs by 1 and 9 (squared); the mode, a, errs twice.
    expected = [1 - (1 + 1) / (1 + 9), 1 - 1 / 2]
    np.testing.assert_allclose(skill(truth, imputed, incomplete), expected, rtol=1e-6)


def test_where_the_mean_is_perfect_there_is_nothing_to_win():
    truth = pd.DataFrame({"k": ["a", "a", "b", "a"]})
    incomplete = truth.mask(pd.DataFrame({"k": [False, False, False, True]}))
    assert skill(truth, truth, incomplete)["k"] == 0
    wrong = truth.assign(k=["a", "a", "b", "b"])
    assert math.isnan(skill(truth, wrong, incomplete)["k"])


def test_an_empty_column_stays_empty():
    table = pd.DataFrame({"x": [1.0, 2.0, None], "nothing": [np.nan] * 3})
    imputed = impute_with_mean(table, Schema.infer(table))
    assert imputed["nothing"].isna().all()
    assert imputed["x"].notna().all()


def test_the_skill_of_levels_counts_how_far_off_they_are():
    truth = pd.DataFrame({"size": ["small", "medium", "large", "large"] * 5})
    missing = pd.DataFrame({"size": [True, False, False, True] * 5})
    schema = Schema.infer(truth, {"size": "ordinal"})
    by_mean = impute_with_mean(truth.mask(missing), schema)
    assert set(by_mean["size"][missing["size"]]) == {"large"}  # the rank nearest to 1.5
    of_mean = score_imputation(truth, by_mean, missing, schema)
    near = truth.mask(missing & (truth == "small"), "medium")

    skill = skill_over_mean(score_imputation(truth, near, missing, schema), of_mean)

    assert skill["size"] == 1 - (1 / 2) / (4 / 2)
