"""Chances against the own value and against drivers tell the mechanisms apart."""

import numpy as np
import pandas as pd
import pytest

from dashboard.amputation.chances import (
    ACTUAL,
    CHANGED,
    MOST_CATEGORIES,
    MOST_CHANGED_ROWS,
    MOST_GROUPS,
    STRATA,
    chances_sentence,
    driver_curve,
    drivers_first,
    has_other_drivers,
    own_curve,
    score_curve,
)
from pmae_core.amputation import ampute
from pmae_core.amputation.patterns import COUPLINGS, MECHANISMS
from pmae_core.table import Schema


def related(n_rows=3000, seed=0):
    """Columns that go together: without that, a slope under MAR would not be seen."""
    rng = np.random.default_rng(seed)
    common = rng.normal(size=n_rows)
    numbers = {name: common + 0.5 * rng.normal(size=n_rows) for name in "abc"}
    town = np.where(common + rng.normal(size=n_rows) > 0, "Ulm", "Bonn")
    return pd.DataFrame({**numbers, "town": town})


TABLE = related()
SCHEMA = Schema.infer(TABLE)
RULES = [
    (mechanism, coupling)
    for mechanism in MECHANISMS
    for coupling in COUPLINGS
    if (mechanism, coupling) != ("self-masking", "nested")
]


def amputed(mechanism, coupling=None, columns=("a", "town"), seed=1, **options):
    return ampute(
        TABLE,
        "monotone",
        mechanism,
        coupling,
        columns=list(columns),
        seed=seed,
        **options,
    )


def chances(curve, rows):
    return curve.points.loc[curve.points["rows"] == rows, "chance"].to_numpy()


def slopes(curve):
    """Return how far the chance changes along each line and along the dots."""
    return {rows: np.ptp(chances(curve, rows)) for rows in curve.points["rows"].unique()}


@pytest.mark.parametrize("coupling", COUPLINGS)
@pytest.mark.parametrize("column", ["a", "town"])
def test_under_mar_the_dots_differ_but_no_line_does(coupling, column):
    made = amputed("MAR", coupling)
    along = slopes(own_curve(made, column, SCHEMA))

    assert set(along) == {ACTUAL, *STRATA}
    assert along[ACTUAL] > 0.03
    assert max(along[rows] for rows in STRATA) < 1e-9
    strongest = drivers_first(made, column, list(TABLE))[0]
    assert slopes(driver_curve(made, column, strongest, SCHEMA))[CHANGED] > 0.05
    assert slopes(score_curve(made, column))[ACTUAL] > 0.3


@pytest.mark.parametrize("coupling", COUPLINGS)
@pytest.mark.parametrize("column", ["a", "town"])
def test_under_mnar_every_line_differs(coupling, column):
    made = amputed("MNAR", coupling)
    curve = own_curve(made, column, SCHEMA)

    # A chance of one half changes by a quarter of the log-odds, others by less.
    at_least = 0.05 * abs(made.rule.weights.loc[column, column])
    assert all(slopes(curve)[rows] > at_least > 0.001 for rows in STRATA)
    low, middle, high = (chances(curve, rows).mean() for rows in STRATA)
    assert low < middle < high


@pytest.mark.parametrize("column", ["a", "town"])
def test_under_self_masking_only_the_own_value_matters(column):
    made = amputed("self-masking")
    own = slopes(own_curve(made, column, SCHEMA))
    other = slopes(driver_curve(made, column, "b", SCHEMA))

    assert set(own) == {ACTUAL, CHANGED}
    assert own[CHANGED] > 0.2
    assert other[CHANGED] < 1e-9
    assert other[ACTUAL] > 0.05
    assert not has_other_drivers(made, column)


@pytest.mark.parametrize("coupling", COUPLINGS)
def test_under_mcar_everything_is_flat(coupling):
    made = amputed("MCAR", coupling)

    for curve in (own_curve(made, "a", SCHEMA), driver_curve(made, "a", "b", SCHEMA)):
        assert set(curve.points["rows"]) == {ACTUAL, CHANGED}
        assert np.ptp(curve.points["chance"]) < 1e-9


@pytest.mark.parametrize(("mechanism", "coupling"), RULES)
def test_the_mean_of_the_dots_is_the_share_that_is_missing(mechanism, coupling):
    """Also where rows that lost every cell were dropped."""
    made = ampute(TABLE, "general", mechanism, coupling, proportions=0.5, seed=2)
    if mechanism != "MAR":  # some columns stay complete
        assert len(made.truth) < len(TABLE)
    for column in made.rule.scores:
        dots = chances(own_curve(made, column, SCHEMA), ACTUAL)
        if column == "town":
            dots = np.repeat(dots, made.truth["town"].value_counts())
        noise = np.sqrt(0.25 / len(made.truth))
        assert dots.mean() == pytest.approx(made.missing[column].mean(), abs=4 * noise)


def test_lines_of_many_rows_are_means_of_some():
    table = related(3 * MOST_CHANGED_ROWS)
    made = ampute(table, "monotone", "MNAR", columns=["a", "b"], seed=1)
    curve = own_curve(made, "a", SCHEMA)

    by_hand = made.rule.chance_missing("a", given=("a", 0)).mean()
    at_first = np.interp(
        table["a"][0], curve.points["value"][:MOST_GROUPS].astype(float), _mean_of_lines(curve)
    )
    assert at_first == pytest.approx(by_hand, abs=0.02)


def _mean_of_lines(curve):
    return np.mean([chances(curve, rows) for rows in STRATA], axis=0)


def test_few_values_are_groups_of_their_own_and_rare_categories_are_left_out():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "code": rng.integers(1, 4, 500).astype(float),
            "x": rng.normal(size=500),
            "label": rng.choice([f"label {i}" for i in range(30)], 500),
        }
    )
    made = ampute(table, "monotone", "MNAR", columns=["code", "label"], seed=0)
    schema = Schema.infer(table, {"code": "numerical"})

    codes = own_curve(made, "code", schema).points
    assert sorted(set(codes["value"])) == [1, 2, 3]
    labels = own_curve(made, "label", schema).points
    assert labels["value"].nunique() == MOST_CATEGORIES


def test_dates_can_be_an_axis():
    day = pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(400), unit="D")
    table = related(400).assign(day=day)
    made = ampute(table, "monotone", "MNAR", columns=["a", "day"])

    curve = own_curve(made, "day", Schema.infer(table))

    assert curve.scale == "time"
    assert curve.points["value"].between(18_262, 18_662).all()


def test_the_strongest_driver_is_offered_first():
    made = amputed("MAR", "independent")
    weights = made.rule.weights["a"].abs()

    assert drivers_first(made, "a", list(TABLE)) == [
        *weights.sort_values(ascending=False).index,
        "town",
    ]


def words(mechanism, column="a", **options):
    made = amputed(mechanism, **options)
    other = driver_curve(made, column, "b", SCHEMA)
    return chances_sentence(made, column, own_curve(made, column, SCHEMA), other)


def test_what_the_curves_show_in_words():
    assert "Every curve is flat" in words("MCAR")
    assert "the value of `a` does not matter (MAR). The dots differ because" in words("MAR")
    assert "even if no other column changes (MNAR)" in words("MNAR")
    assert "no other column drives `a` (self-masking)" in words("self-masking")
    assert "differs between its categories" in words("self-masking", "town")


def test_the_direction_of_the_lines_is_that_of_the_weight():
    for seed in range(4):
        made = amputed("self-masking", seed=seed)
        line = chances(own_curve(made, "a", SCHEMA), CHANGED)
        rises = "rises with the value itself" in words("self-masking", seed=seed)
        assert rises == (line[-1] > line[0])


def test_dots_that_do_not_differ_are_not_explained():
    rng = np.random.default_rng(0)
    alone = pd.DataFrame({"x": rng.normal(size=4000)})
    alone["y"] = alone["x"].rank() % 2  # as often 0 as 1 wherever x is
    made = ampute(alone, "monotone", "MAR", columns=["y"])
    schema = Schema.infer(alone, {"y": "numerical"})
    curve = own_curve(made, "y", schema)

    assert np.ptp(chances(curve, ACTUAL)) < 0.01
    assert "The dots differ" not in chances_sentence(made, "y", curve, None)


def test_dropped_rows_that_bend_a_line_are_mentioned():
    made = ampute(TABLE[["a", "b"]], "general", "self-masking", proportions=0.3, seed=1)
    other = driver_curve(made, "a", "b", SCHEMA)

    sentence = chances_sentence(made, "a", own_curve(made, "a", SCHEMA), other)

    assert np.ptp(chances(other, CHANGED)) > 0.01
    assert "Dropping rows that lost every value bends the line" in sentence
