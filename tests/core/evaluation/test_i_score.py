from typing import ClassVar

import numpy as np
import pandas as pd
import pytest

from pmae_core.errors import ScoringError
from pmae_core.evaluation.i_score import FEW_MISSING, NO_PREDICTOR, energy_i_score
from pmae_core.imputers.base import BaseImputer
from pmae_core.table import Schema


class ByRegression(BaseImputer):
    """The last column from the first by least squares; with noise if it draws."""

    def __init__(self, *, noise=True, schema=None, random_state=None):
        self.noise = noise
        self.schema = schema
        self.random_state = random_state

    def _encoder_options(self):
        return {"numeric": "minmax"}

    def _fit_encoded(self, encoded, run):
        self.lines_ = {}
        for j in range(len(encoded.columns)):
            k = 1 - j
            rows = encoded.observed.all(axis=1)
            slope, start = np.polyfit(encoded.values[rows, k], encoded.values[rows, j], 1)
            rest = encoded.values[rows, j] - start - slope * encoded.values[rows, k]
            self.lines_[j] = (slope, start, rest.std())

    def _draw_encoded(self, encoded, n, rng):
        for _ in range(n):
            values = encoded.values.astype(float).copy()
            for j, (slope, start, spread) in self.lines_.items():
                expected = start + slope * encoded.values[:, 1 - j]
                noise = rng.normal(size=len(values)) * spread * self.noise
                values[:, j] = np.where(encoded.observed[:, j], values[:, j], expected + noise)
            yield values

    def _impute_encoded(self, encoded):
        return next(iter(self._draw_encoded(encoded, 1, np.random.default_rng(0))))


def pair(n=600, share=0.4, seed=0):
    """Two related columns, the second incomplete where the first is high: MAR."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    table = pd.DataFrame({"x": x, "y": x + 0.7 * rng.normal(size=n)})
    table.loc[rng.random(n) < 2 * share / (1 + np.exp(-2 * x)), "y"] = np.nan
    return table


def test_imputations_of_the_right_spread_beat_the_conditional_mean():
    table = pair()
    proper = energy_i_score(table, ByRegression(noise=True))
    point = energy_i_score(table, ByRegression(noise=False))
    mean = energy_i_score(table, "naive")
    assert proper.overall < point.overall < mean.overall
    # The CRPS of the true conditional distribution.
    spread = table["y"].dropna().quantile([0.25, 0.75]).diff().iloc[1] / 1.349
    assert proper.overall == pytest.approx(0.7 / np.sqrt(np.pi) / spread, rel=0.1)


def test_units_do_not_matter():
    table = pair()
    expected = energy_i_score(table, ByRegression()).overall
    assert energy_i_score(table * 1000 + 5, ByRegression()).overall == pytest.approx(expected)


def test_columns_are_weighted_by_what_is_observed_and_missing():
    table = pair()
    rng = np.random.default_rng(1)
    table["z"] = table["x"] + rng.normal(size=len(table))
    table.loc[rng.random(len(table)) < 0.1, "z"] = np.nan
    found = energy_i_score(table, "em", imputations=4)
    shares = table[found.per_column.index].isna().mean()
    np.testing.assert_allclose(found.per_column["weight"], shares * (1 - shares))
    expected = np.average(found.per_column["score"], weights=shares * (1 - shares))
    assert found.overall == pytest.approx(expected)
    assert found.per_column["n_predictors"].tolist() == [1, 1]
    assert len(energy_i_score(table, "em", imputations=2, max_columns=1).per_column) == 1


def test_without_a_complete_column_rows_are_left_out():
    table = pair()
    table.loc[table.index[:50], "x"] = np.nan
    found = energy_i_score(table, "em", imputations=2).per_column
    assert found.loc["y", "n_scored"] == (table["x"].notna() & table["y"].notna()).sum()
    assert found.loc["y", "n_predictors"] == 1


def test_categories_are_scored():
    rng = np.random.default_rng(0)
    kind = rng.choice(["a", "b"], 400)
    table = pd.DataFrame({"x": (kind == "a") + 0.1 * rng.normal(size=400), "kind": kind})
    table.loc[rng.random(400) < 0.3, "kind"] = None
    good, mode = (energy_i_score(table, name, imputations=3).overall for name in ("knn", "naive"))
    assert 0 <= good < 0.1 < mode < 1


def test_columns_that_cannot_be_scored_are_named():
    table = pair()
    table["rare"] = table["x"].where(np.arange(len(table)) >= 5) * 2
    apart = pd.DataFrame(
        {"a": [1.0, 2.0] * 20 + [np.nan] * 40, "b": [np.nan] * 40 + [3.0, 4.0] * 20}
    )
    assert energy_i_score(table, "em", imputations=2).skipped == {"rare": FEW_MISSING}
    found = energy_i_score(apart, "naive")
    assert found.skipped == {"a": NO_PREDICTOR, "b": NO_PREDICTOR}
    assert np.isnan(found.overall)


def test_nothing_missing_is_refused():
    with pytest.raises(ScoringError, match="no value of the table is missing"):
        energy_i_score(pair().dropna(), "naive")
    with pytest.raises(ScoringError, match="at least 1"):
        energy_i_score(pair(), "naive", imputations=0)


class KeepsLimits(ByRegression):
    """Records the rules of every table that it is fitted to."""

    seen: ClassVar[list] = []

    def fit(self, X, y=None, **options):
        self.seen.append(self.schema.rules)
        return super().fit(X, y, **options)


def test_rules_hold_in_every_fit():
    table = pair()
    rules = {"y": {"lower": -1.0}}
    energy_i_score(table, KeepsLimits(), schema=Schema.infer(table, rules=rules))
    assert KeepsLimits.seen == [rules, rules]


def test_levels_are_scored_by_their_ranks():
    table = pair()
    levels = ["no", "hardly", "much"]
    ranks = pd.cut(table["y"], [-9, -0.5, 0.5, 9], labels=False)
    in_words = table.assign(y=ranks.map(dict(enumerate(levels))).astype(object))
    schema = Schema.infer(in_words, {"y": "ordinal"}, {"y": {"levels": levels}})

    found = energy_i_score(in_words, ByRegression(), schema=schema)

    expected = energy_i_score(table.assign(y=ranks), ByRegression(), schema={"y": "numerical"})
    assert found.overall == pytest.approx(expected.overall)
