"""Little's test against a published result, by hand, and under its null hypothesis."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kstest

from pmae_core.errors import TableError
from pmae_core.missingness import LITTLE_CAUTION, little_test
from pmae_core.table import Schema

# New York air quality, May to September 1973 (Chambers et al. 1983), as R ships it.
AIRQUALITY = Path(__file__).with_name("airquality.csv")


def correlated(n, d, rng):
    common = rng.normal(size=(n, 1))
    return pd.DataFrame(common + rng.normal(size=(n, d)), columns=[f"x{j}" for j in range(d)])


def test_air_quality_has_the_published_statistic():
    """The R package naniar finds 35.106 with 14 degrees of freedom, p = 0.00141778."""
    found = little_test(pd.read_csv(AIRQUALITY))
    assert found.statistic == pytest.approx(35.1061288689702, rel=1e-5)
    assert found.degrees_of_freedom == 14
    assert found.p_value == pytest.approx(0.00141778113856683, rel=1e-4)
    assert found.n_patterns == 4
    assert found.converged


def test_a_row_without_any_value_changes_nothing():
    df = pd.read_csv(AIRQUALITY)
    more = pd.concat([df, pd.DataFrame({"Ozone": [np.nan]})], ignore_index=True)
    found = little_test(more)
    assert found.statistic == pytest.approx(35.106, abs=1e-3)
    assert (found.n_rows, found.n_rows_table) == (153, 154)


def test_units_do_not_matter():
    df = pd.read_csv(AIRQUALITY)
    other = df * [1e-6, 1e6, 1, 1, 1, 1] + [0, 0, 1e4, 0, 0, 0]
    assert little_test(other).statistic == pytest.approx(little_test(df).statistic, rel=1e-6)


def test_p_values_are_uniform_if_cells_are_missing_completely_at_random():
    schema = Schema.infer(correlated(300, 4, np.random.default_rng(0)))
    p_values = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        df = correlated(300, 4, rng).mask(rng.random((300, 4)) < [0, 0.1, 0.2, 0.3])
        p_values.append(little_test(df, schema=schema).p_value)
    assert kstest(p_values, "uniform").pvalue > 0.01
    assert np.mean(np.array(p_values) < 0.05) < 0.11


def test_holes_that_depend_on_observed_values_are_found():
    rng = np.random.default_rng(0)
    df = correlated(500, 3, rng)
    df["x2"] = df["x2"].mask(df["x0"] + rng.normal(size=500) > 1)
    found = little_test(df)
    assert found.p_value < 1e-6
    assert "not missing completely at random" in found.sentence()
    assert "p below 0.001" in found.sentence()


def test_holes_that_depend_on_the_unseen_alone_are_not_found():
    """What the caution warns of: the values that decide are those nobody saw."""
    rng = np.random.default_rng(1)
    df = pd.DataFrame(rng.normal(size=(500, 2)), columns=["x", "y"])
    df["y"] = df["y"].mask(df["y"] > 0.5)
    found = little_test(df)
    assert found.p_value > 0.05
    assert "does not prove it" in found.sentence()
    assert "MNAR" in LITTLE_CAUTION
    assert "assumes normally distributed" in LITTLE_CAUTION


def test_columns_that_cannot_be_used_are_named():
    rng = np.random.default_rng(2)
    df = correlated(300, 3, rng).mask(rng.random((300, 3)) < 0.1)
    plain = little_test(df)
    df["label"] = rng.choice(list("uv"), size=300)
    df["constant"] = 7.0
    df["empty"] = np.nan
    df["waiting"] = pd.to_timedelta(np.arange(300), unit="h")
    found = little_test(df)
    assert found.statistic == pytest.approx(plain.statistic)
    assert set(found.left_out) == {"label", "constant", "empty", "waiting"}
    assert "do not vary" in found.left_out["constant"]
    assert "no observed values" in found.left_out["empty"]


def test_columns_that_others_determine_are_left_out():
    rng = np.random.default_rng(3)
    df = correlated(400, 3, rng)
    df["sum"] = df["x0"] + df["x1"]
    df = df.mask(rng.random(df.shape) < 0.1)
    found = little_test(df)
    assert found.left_out == {"sum": "other columns determine it"}
    assert found.columns == ("x0", "x1", "x2")
    assert found.p_value > 0.001


def test_rows_are_limited_and_it_is_said():
    rng = np.random.default_rng(4)
    df = correlated(600, 5, rng).mask(rng.random((600, 5)) < [0, 0.05, 0.1, 0.2, 0.3])
    found = little_test(df, max_rows=400, seed=1)
    assert (found.n_rows, found.n_rows_table, found.sampled) == (400, 600, True)
    assert found == little_test(df, max_rows=400, seed=1)
    assert not little_test(df, columns=["x0", "x4"]).sampled


def test_all_numerical_columns_are_used_by_default():
    """The complete columns tell: those with missing values are MCAR among themselves."""
    rng = np.random.default_rng(8)
    df = pd.DataFrame(rng.normal(size=(400, 40)), columns=[f"x{j}" for j in range(40)])
    df.loc[df["x0"] + rng.normal(size=400) > 1, ["x30", "x31"]] = np.nan
    found = little_test(df)
    assert found.columns == tuple(df.columns)
    assert (found.n_rows, found.left_out) == (400, {})
    assert found.p_value < 1e-6


def block_survey(n, rng):
    """A survey in which three blocks are skipped now and then, and single answers by few."""
    df = correlated(n, 12, rng)
    for block in range(3):
        df.loc[rng.random(n) < 0.2, df.columns[4 * block : 4 * block + 4]] = np.nan
    few = np.flatnonzero(rng.random(n) < 0.4)
    return df.mask(np.isin(np.arange(n), few)[:, None] & (rng.random((n, 12)) < 0.3))


def test_rows_of_rare_patterns_are_left_out_and_counted():
    df = block_survey(400, np.random.default_rng(9))
    found = little_test(df)
    assert found.n_rows_rare > 50
    empty = int(df.isna().all(axis=1).sum())
    assert found.n_rows + found.n_rows_rare + empty == 400
    assert found.columns == tuple(df.columns)


def test_p_values_are_uniform_without_the_rare_patterns():
    schema = Schema.infer(block_survey(400, np.random.default_rng(0)))
    p_values = np.array(
        [
            little_test(block_survey(400, np.random.default_rng(seed)), schema=schema).p_value
            for seed in range(60)
        ]
    )
    assert kstest(p_values, "uniform").pvalue > 0.01
    assert np.mean(p_values < 0.05) < 0.13


@pytest.mark.parametrize(
    ("df", "sentence"),
    [
        (pd.DataFrame({"x": [1.0, None, 3.0]}), "two numerical columns"),
        (pd.DataFrame({"x": [1.0, None, 3.0], "y": list("uvw")}), "two numerical columns"),
        (pd.DataFrame({"x": [1.0, None] * 9, "y": [5.0] * 18}), "two numerical columns"),
        (pd.DataFrame({"x": np.arange(9.0) ** 2, "y": np.arange(9.0)}), "same of the usable"),
        (pd.DataFrame({"x": [1.0, None], "y": [None, 2.0]}), "two numerical columns"),
    ],
)
def test_what_cannot_be_tested_is_refused_with_a_sentence(df, sentence):
    with pytest.raises(TableError, match=sentence):
        little_test(df)


def test_too_few_rows():
    rng = np.random.default_rng(5)
    with pytest.raises(TableError, match="more rows than columns"):
        little_test(pd.DataFrame(rng.normal(size=(5, 5))))
    scattered = correlated(100, 10, rng).mask(rng.random((100, 10)) < 0.4)
    with pytest.raises(TableError, match="too few rows each"):
        little_test(scattered)
