"""The odds of a category shift from each row's own odds."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, logit

from pmae_core.errors import ScoringError
from pmae_core.inference import odds, shifted, tipping_point
from pmae_core.inference.odds import OddsShift
from pmae_core.table import Schema


def drawn_table(n=8000, *, seed=0, slope=2.0) -> tuple[pd.DataFrame, np.ndarray]:
    """Return a table whose categories are drawn from known odds, and the probability of b."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    p = expit(slope * x - 1)
    kind = np.where(rng.random(n) < p, "b", np.where(rng.random(n) < expit(x), "a", "c"))
    return pd.DataFrame({"x": x, "kind": kind}), p


def probabilities(table, p) -> pd.DataFrame:
    a = (1 - p) * expit(table["x"])
    return pd.DataFrame({"a": a, "b": p, "c": 1 - p - a}, index=table.index)


def missing_kind(table, share=1.0, seed=1) -> pd.DataFrame:
    moved = np.random.default_rng(seed).random(len(table)) < share
    return pd.DataFrame({"x": False, "kind": moved}, index=table.index)


def log_odds(cells) -> float:
    return float(logit((cells == "b").mean()))


@pytest.mark.parametrize("delta", [-1.5, 1.0])
@pytest.mark.parametrize("is_given", [True, False])
def test_rows_alike_move_by_delta_and_the_others_keep_their_proportion(delta, is_given):
    table, p = drawn_table(30_000)
    known = probabilities(table, p) if is_given else None

    moved = shifted(table, missing_kind(table), "kind", delta, category="b", probabilities=known)[
        "kind"
    ]

    for low in (-1.0, -0.2, 0.6):  # rows with nearly the same odds
        alike = table["x"].between(low, low + 0.4)
        before, after = table.loc[alike, "kind"], moved[alike]
        assert log_odds(after) - log_odds(before) == pytest.approx(delta, abs=0.2)
        shares = [(cells[cells != "b"] == "a").mean() for cells in (before, after)]
        assert shares[1] == pytest.approx(shares[0], abs=0.04)


def test_a_row_with_hardly_any_odds_rarely_enters():
    table, _ = drawn_table(slope=4.0)

    moved = shifted(table, missing_kind(table), "kind", 1.0, category="b")["kind"]

    outside = table["kind"] != "b"
    entered = outside & (moved == "b")
    unlikely, open_ = table["x"] < -1, table["x"].between(-0.2, 0.5)
    assert entered[unlikely & outside].mean() < 0.02
    assert entered[open_ & outside].mean() > 0.15


def test_estimated_odds_are_close_to_the_true_ones():
    table, p = drawn_table(5000)
    moved = missing_kind(table, 0.4)["kind"].to_numpy()

    fitted = OddsShift.fit(table, "kind", moved, "b").probabilities

    assert np.abs(fitted - p[moved]).mean() < 0.03


def test_imputed_cells_may_have_another_level_than_observed_ones():
    table, _ = drawn_table(4000, slope=0.0)
    moved = missing_kind(table, 0.5)["kind"].to_numpy()
    table.loc[moved, "kind"] = np.where(np.arange(moved.sum()) % 10 == 0, "b", "a")

    fitted = OddsShift.fit(table, "kind", moved, "b").probabilities

    assert fitted.mean() == pytest.approx(0.1, abs=0.02)


@given(
    deltas=st.lists(st.floats(-6, 6), min_size=2, max_size=5),
    seed=st.integers(0, 99),
    estimated=st.booleans(),
)
@settings(max_examples=25)
def test_cells_in_the_category_only_grow_with_delta(deltas, seed, estimated):
    table, p = drawn_table(120, seed=seed)
    moved = missing_kind(table, 0.5)["kind"].to_numpy()
    known = None if estimated else probabilities(table, p)
    shift = OddsShift.fit(table, "kind", moved, "b", probabilities=known, seed=seed)

    inside = [shift.at(delta) == "b" for delta in sorted(deltas)]

    assert all((more | ~less).all() for less, more in pairwise(inside))
    pd.testing.assert_series_equal(shift.at(0.0), table["kind"])
    pd.testing.assert_series_equal(shift.at(deltas[0])[~moved], table["kind"][~moved])


def test_a_seed_repeats_the_shift_and_another_changes_it():
    table, _ = drawn_table(500)
    arguments = (table, missing_kind(table), "kind", -1.0)

    first, again = (shifted(*arguments, category="b", seed=3) for _ in range(2))
    other = shifted(*arguments, category="b", seed=4)

    pd.testing.assert_frame_equal(first, again)
    assert (first["kind"] != other["kind"]).any()


def test_certain_rows_do_not_change():
    table = pd.DataFrame({"kind": ["a", "b", "a", "b"]})
    missing = pd.DataFrame({"kind": [True, True, False, False]})
    certain = pd.DataFrame({"a": [1.0, 0.0, np.nan, np.nan], "b": [0.0, 1.0, np.nan, np.nan]})

    for delta in (-2.0, 2.0):
        moved = shifted(table, missing, "kind", delta, category="b", probabilities=certain)
        pd.testing.assert_frame_equal(moved, table)


@pytest.mark.parametrize("delta", [-1e4, 1e4])
def test_huge_shifts_end_in_certainty(delta):
    table, _ = drawn_table(300)
    moved = shifted(table, missing_kind(table), "kind", delta, category="b")["kind"]
    assert ((moved == "b") == (delta > 0)).all()


def test_identifiers_and_ignored_columns_are_no_predictors(monkeypatch):
    table, _ = drawn_table(200)
    table["id"] = np.arange(200)
    table["copy"] = table["kind"]
    schema = Schema.infer(table, {"copy": "ignored"})
    used = []
    fit = odds._Features.fit

    def watched(others, schema):
        used.append([c.name for c in fit(others, schema).encoder.columns_])
        return fit(others, schema)

    monkeypatch.setattr(odds._Features, "fit", watched)
    moved = pd.DataFrame(True, index=table.index, columns=table.columns)
    shifted(table, moved, "kind", 1.0, category="b", schema=schema)

    assert used == [["x"]]


def test_many_categories_and_rows_are_capped(monkeypatch):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.normal(size=3000)})
    table["kind"] = pd.Categorical(rng.choice([f"k{n}" for n in range(60)], 3000))
    table.loc[::9, "x"] = np.nan
    monkeypatch.setattr(odds, "MOST_ROWS", 400)
    n_rows = []
    regression = odds._regression
    monkeypatch.setattr(
        odds, "_regression", lambda *data: n_rows.append(len(data[0])) or regression(*data)
    )

    moved = shifted(table, missing_kind(table), "kind", -9.0, category="k7")["kind"]

    assert n_rows == [400]
    assert moved.dtype == table["kind"].dtype
    left = table["kind"] == "k7"
    assert (moved[left] != "k7").all()
    assert moved[left].nunique() > odds.MOST_CLASSES


def test_the_regression_is_fitted_once_per_table(monkeypatch):
    table, _ = drawn_table(400)
    frame = table.assign(y=table["x"] + (table["kind"] == "b")).mask(
        missing_kind(table, 0.3).assign(y=False)
    )
    imputations = [frame.fillna({"kind": kind}) for kind in ("a", "b")]
    fits = []
    regression = odds._regression
    monkeypatch.setattr(odds, "_regression", lambda *data: fits.append(1) or regression(*data))

    tipping_point(frame, imputations, "kind", ("slope", "y", "x", "kind"), category="b")

    assert len(fits) == 2


def test_a_tipping_point_takes_the_callers_probabilities():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"smoker": pd.array(rng.random(200) < 0.3, dtype="boolean")})
    frame.loc[:99, "smoker"] = None
    imputed = frame.fillna(False)
    never = pd.DataFrame({True: np.zeros(200), False: np.ones(200)})

    curve = tipping_point(
        frame, imputed, "smoker", ("mean", "smoker"), category=True, probabilities=never
    )

    assert curve.table["estimate"].nunique() == 1
    with pytest.raises(ScoringError, match="1 imputed table, but probabilities for 2"):
        tipping_point(
            frame,
            imputed,
            "smoker",
            ("mean", "smoker"),
            category=True,
            probabilities=[never, never],
        )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda known: known.iloc[:-1], "must have the rows of the imputed table"),
        (lambda known: known.drop(columns="b"), "no column b of the categories"),
        (lambda known: known.assign(z=0.0), "z besides the categories"),
        (lambda known: known.assign(b=0.9), "add up to 1"),
        (lambda known: known * np.nan, "add up to 1"),
    ],
)
def test_probabilities_that_do_not_fit(change, message):
    table, p = drawn_table(50)
    known = change(probabilities(table, p))
    with pytest.raises(ScoringError, match=message):
        shifted(table, missing_kind(table), "kind", 1.0, category="b", probabilities=known)


def test_a_shift_must_be_finite():
    table, _ = drawn_table(50)
    with pytest.raises(ScoringError, match="delta must be a finite number"):
        shifted(table, missing_kind(table), "kind", np.nan, category="b")


def test_levels_of_other_columns_keep_their_declared_order():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"grade": rng.choice(["pass", "merit"], 40), "y": rng.choice(["a", "b"], 40)}
    )
    schema = Schema.infer(frame, {"grade": "ordinal"}, {"grade": {"levels": ["pass", "merit"]}})
    was_imputed = pd.DataFrame(False, index=frame.index, columns=frame.columns)
    was_imputed.loc[:9, "y"] = True
    moved = shifted(frame, was_imputed, "y", 50.0, category="a", schema=schema)
    assert set(moved["y"][:10]) == {"a"}
