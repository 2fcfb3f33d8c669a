"""The rule that an amputation reports is the one that removed its cells."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, logit, ndtri

from pmae_core.amputation import ampute
from pmae_core.amputation.patterns import COUPLINGS, MECHANISMS, PATTERNS

RNG = np.random.default_rng(0)
# Every mechanism with every coupling that it has.
RULES = [
    (mechanism, coupling)
    for mechanism in MECHANISMS
    for coupling in COUPLINGS
    if (mechanism, coupling) != ("self-masking", "nested")
]


def numbers(n_rows=400, n_columns=5, seed=0):
    rng = np.random.default_rng(seed)
    common = rng.normal(size=(n_rows, 1))
    values = 0.6 * common + rng.normal(size=(n_rows, n_columns))
    return pd.DataFrame(values, columns=[f"x{j}" for j in range(n_columns)])


def with_categories(n_rows=600, seed=0):
    rng = np.random.default_rng(seed)
    return numbers(n_rows, 3, seed).assign(
        code=rng.integers(1, 4, n_rows).astype(float), town=rng.choice(["Ulm", "Bonn"], n_rows)
    )


def normal_scores(column):
    scores = ndtri((column.rank() - 0.5) / len(column))
    return (scores - scores.mean()) / scores.std(ddof=0)


@settings(max_examples=60)
@given(
    pattern=st.sampled_from(PATTERNS),
    rule=st.sampled_from(RULES),
    n_columns=st.integers(2, 6),
    seed=st.integers(0, 10_000),
)
def test_the_weights_give_the_propensities_again(pattern, rule, n_columns, seed):
    df = numbers(60, n_columns, seed).round(1)  # with ties
    made = ampute(df, pattern, *rule, seed=seed, drop_empty_rows=False)
    standardized = df.apply(normal_scores)

    for name, weights in made.rule.weights.items():
        log_odds = standardized[weights.index] @ weights - made.rule.intercepts[name]
        np.testing.assert_allclose(expit(-log_odds), made.propensity[name], atol=1e-9)

    losing = set(made.rule.weights.columns)
    assert (made.propensity[[name for name in df if name not in losing]] == 1).all(axis=None)


@pytest.mark.parametrize(("mechanism", "coupling"), RULES)
def test_who_drives_whom(mechanism, coupling):
    made = ampute(numbers(), "general", mechanism, coupling, seed=1)
    weights = made.rule.weights
    losing = list(weights.columns)

    if mechanism == "MCAR":
        assert weights.empty
    elif mechanism == "MAR":
        assert set(weights.index).isdisjoint(losing)
    elif mechanism == "MNAR":
        assert list(weights.index) == losing == list(made.truth.columns)
    else:
        assert list(weights.index) == losing
        assert (weights.to_numpy() != 0).tolist() == np.eye(len(losing), dtype=bool).tolist()
    if coupling == "nested":
        assert (weights.nunique(axis=1) == 1).all()


def test_categories_weigh_as_much_as_they_spread_the_log_odds():
    df = with_categories()
    made = ampute(df, "monotone", "MAR", columns=["x0"], seed=2, drop_empty_rows=False)
    rule = made.rule

    added = rule.category_weights("town", "x0")
    by_row = df["town"].map(added).to_numpy(dtype=float)
    np.testing.assert_allclose(rule.contribution("town", "x0"), by_row, atol=1e-12)
    assert rule.weights.loc["town", "x0"] == pytest.approx(by_row.std())
    assert by_row.mean() == pytest.approx(0, abs=1e-12)

    total = sum(rule.contribution(driver, "x0") for driver in rule.weights.index)
    log_odds = -logit(made.propensity["x0"].to_numpy())
    assert np.ptp(log_odds - total) < 1e-9
    assert log_odds.std() == pytest.approx(1)


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize(("mechanism", "coupling"), RULES)
def test_chances_agree_with_the_share_that_is_missing(pattern, mechanism, coupling):
    """Also where many rows lost every cell, and were dropped with their missing cells."""
    df = numbers(20_000, 3)
    made = ampute(df, pattern, mechanism, coupling, seed=3)
    chance = made.chance_missing

    assert chance.to_numpy().min() >= 0 and chance.to_numpy().max() <= 1
    noise = np.sqrt((chance * (1 - chance)).sum()) / len(chance)
    difference = (chance.mean() - made.missing.mean()).abs()
    assert (difference <= 4 * noise + 1e-12).all()
    for name in made.rule.scores:
        np.testing.assert_allclose(made.rule.chance_missing(name), chance[name], atol=1e-12)


def test_before_rows_are_dropped_the_share_is_another():
    """The rows that are dropped are those that miss most."""
    made = ampute(numbers(20_000, 3), "general", "MNAR", "independent", proportions=0.4, seed=3)

    assert len(made.truth) < 20_000
    assert (1 - made.propensity.mean() > made.missing.mean() + 0.05).all()


def test_nested_missing_values_leave_one_column_complete():
    made = ampute(
        numbers(2000, 3), "general", "MCAR", proportions={"x0": 0.2, "x1": 0.5, "x2": 0.8}
    )

    assert made.chance_missing.iloc[0].tolist() == pytest.approx([0.75, 0.375, 0.0])
    assert not made.missing["x2"].any()


def test_rows_that_are_not_dropped_have_the_propensity_as_their_chance():
    df = numbers(500, 3)

    for made in (
        ampute(df, "general", "MNAR", drop_empty_rows=False),
        ampute(df, "monotone", "MAR", columns=["x0"]),
    ):
        assert (made.p_kept == 1).all()
        pd.testing.assert_frame_equal(made.chance_missing, 1 - made.propensity)


@pytest.mark.parametrize(("mechanism", "coupling"), RULES)
def test_cells_that_were_missing_before_cannot_be_removed(mechanism, coupling):
    df = numbers(20_000, 3)
    already = np.random.default_rng(1).random(df.shape) < 0.3
    made = ampute(df.mask(already).dropna(how="all"), "general", mechanism, coupling, seed=5)
    chance = made.chance_missing

    assert (chance.to_numpy()[made.truth.isna().to_numpy()] == 0).all()
    noise = np.sqrt((chance * (1 - chance)).sum()) / len(chance)
    assert ((chance.mean() - made.missing.mean()).abs() <= 4 * noise + 1e-12).all()


def test_only_the_own_value_changes_a_chance_under_self_masking():
    df = numbers(200, 3)
    made = ampute(df, "general", "self-masking", seed=0, drop_empty_rows=False)
    rule = made.rule

    as_first = rule.p_observed("x0", given=("x0", 0))
    np.testing.assert_allclose(as_first, made.propensity["x0"].iloc[0])
    np.testing.assert_allclose(rule.p_observed("x0", given=("x1", 0)), made.propensity["x0"])


def test_a_changed_value_gives_the_chance_of_a_row_with_that_value():
    """Row 1 with the town of row 0 has the chance of the same row in another table."""
    df = with_categories()
    df.loc[1] = df.loc[0]
    df.loc[1, "town"] = {"Ulm": "Bonn", "Bonn": "Ulm"}[df.loc[0, "town"]]
    rule = ampute(df, "general", "MNAR", "independent", seed=4, drop_empty_rows=False).rule

    for column in df:
        changed = rule.chance_missing(column, given=("town", 1))
        assert changed[0] == pytest.approx(changed[1])
        assert changed[0] != pytest.approx(rule.chance_missing(column)[0])


def test_a_rule_for_some_rows_keeps_its_weights():
    made = ampute(with_categories(), "general", "MNAR", "independent", seed=4)
    every_third = np.arange(0, len(made.truth), 3)
    part = made.rule.of_rows(every_third)

    pd.testing.assert_frame_equal(part.weights, made.rule.weights)
    np.testing.assert_allclose(
        part.chance_missing("town"), made.rule.chance_missing("town")[every_third]
    )
