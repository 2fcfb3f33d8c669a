"""A target left among the features is found."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pmae_core.errors import LeakageWarning, ScoringError
from pmae_core.evaluation.leakage import check_leaks, find_leaks
from pmae_core.evaluation.prediction import pose_problem

N = 200
RNG = np.random.default_rng(0)
NUMBERS = pd.Series(RNG.lognormal(size=N), name="y")
LABELS = pd.Series(RNG.choice(["ill", "well", "dead"], N, p=[0.5, 0.4, 0.1]), name="y")
SOME_MISSING = RNG.random(N) < 0.3


def leaks_of(columns, target):
    table = pd.DataFrame({"other": RNG.normal(size=N), **columns})
    return find_leaks(pose_problem(table, target, None, None, None))


@pytest.mark.parametrize(
    ("target", "column", "leak"),
    [
        (NUMBERS, NUMBERS, "copy"),
        (NUMBERS, NUMBERS.mask(SOME_MISSING), "copy"),
        (NUMBERS, np.log(NUMBERS), "recoding"),
        (NUMBERS, -3 * NUMBERS + 1, "recoding"),
        (NUMBERS, NUMBERS + 0.001 * RNG.normal(size=N), "near-perfect"),
        (NUMBERS.round(), NUMBERS.round().astype(int).astype(str) + " EUR", "recoding"),
        (LABELS, LABELS, "copy"),
        (LABELS, LABELS.astype("category"), "copy"),
        (LABELS, LABELS.map({"ill": 2, "well": 1, "dead": 7}).mask(SOME_MISSING), "recoding"),
        (LABELS == "ill", LABELS.map({"ill": 1, "well": 0, "dead": 0}), "copy"),
        (LABELS == "ill", LABELS, "near-perfect"),
    ],
)
def test_copies_recodings_and_near_copies_are_found(target, column, leak):
    assert leaks_of({"suspect": column}, target) == {"suspect": leak}


@pytest.mark.parametrize(
    ("target", "column"),
    [
        (NUMBERS, NUMBERS + RNG.normal(size=N)),
        (NUMBERS, RNG.permutation(N).astype(float)),  # distinct, as is the target
        (LABELS, [f"patient {i}" for i in range(N)]),
        (LABELS, np.where(RNG.random(N) < 0.9, LABELS, "ill")),
        (pd.Series(np.arange(N) == 7), np.arange(N) == 7),  # one row proves nothing
        (NUMBERS, np.ones(N)),
        (NUMBERS, NUMBERS.where(np.arange(N) < 4)),
    ],
)
def test_what_may_be_chance_or_merit_is_no_leak(target, column):
    assert leaks_of({"suspect": column}, target) == {}


@settings(max_examples=40)
@given(st.integers(0, 10_000), st.integers(2, 6))
def test_independent_columns_are_never_refused(seed, n_values):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"a": rng.integers(n_values, size=60), "b": rng.normal(size=60)})
    target = pd.Series(rng.integers(n_values, size=60)).astype(str)
    if target.nunique() > 1:
        assert find_leaks(pose_problem(table, target, None, None, None)) == {}


def test_the_same_is_refused_and_the_nearly_same_warned_of():
    def check(column):
        check_leaks(pose_problem(pd.DataFrame({"twin": column}), NUMBERS, None, None, None))

    with pytest.raises(ScoringError, match=r"'twin' is a copy of the target.* Leave out 'twin'"):
        check(NUMBERS)
    with pytest.warns(LeakageWarning, match="'twin' alone predicts the target almost perfectly"):
        check(NUMBERS + 0.001 * RNG.normal(size=N))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check(RNG.normal(size=N))
