import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pmae_core.masking import (
    list_masking_functions,
    masking_function,
    masking_probability,
    observed_proportion,
)
from pmae_core.masking.functions import _REGISTRY

NAMES = [
    "logit",
    "constant",
    "no_reconstruction",
    "no_prediction",
    "linear",
    "reversed",
    "piecewise",
    "sigmoid",
]
P = np.array([0.0, 0.1, 0.4, 0.5, 0.8, 1.0])


def test_the_eight_functions_of_the_paper_are_listed_in_order():
    listed = list_masking_functions()
    assert [function.name for function in listed] == NAMES
    assert all(f.title and f.formula and f.explanation for f in listed)
    assert listed[0].parameters == {"a": 0.05, "b": 0.5}
    assert [f.name for f in listed if f.skips_fully_observed] == ["logit", "constant"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("logit", [1.0, 0.05 * np.log(9) + 0.5, 0.05 * np.log(1.5) + 0.5, 0.5, 0.4306853, 0.0]),
        ("constant", [0.5, 0.5, 0.5, 0.5, 0.5, 0.0]),
        ("no_reconstruction", [1, 1, 1, 1, 1, 1]),
        ("no_prediction", [0, 0, 0, 0, 0, 0]),
        ("linear", [1.0, 0.9, 0.6, 0.5, 0.2, 0.0]),
        ("reversed", P),
        ("piecewise", [1.0, 0.9, 0.6, 0.5, 0.5, 0.5]),
        ("sigmoid", [1 / (np.exp(-10 * (0.5 - p)) + 1) for p in P]),
    ],
)
def test_values_of_table_3(name, expected):
    np.testing.assert_allclose(masking_probability(P, name), expected, atol=1e-7)


@pytest.mark.parametrize("name", NAMES)
@given(
    p_obs=arrays(
        np.float64, st.tuples(st.integers(0, 4), st.integers(0, 4)), elements=st.floats(0, 1)
    )
)
def test_probabilities_for_any_proportion(name, p_obs):
    probability = masking_probability(p_obs, name)
    assert probability.shape == p_obs.shape
    assert np.all((probability >= 0) & (probability <= 1))


@given(a=st.floats(-5, 5), b=st.floats(-5, 5))
def test_logit_is_a_probability_whatever_its_parameters(a, b):
    probability = masking_probability(P, a=a, b=b)
    assert np.all((probability >= 0) & (probability <= 1))
    assert probability[-1] == 0


def test_logit_keeps_the_papers_sense_of_b():
    # b is the masking rate at p_obs = 0.5 (a release that draws the kept cells has 1 - b there).
    assert masking_probability(0.5, b=0.3) == pytest.approx(0.3)
    assert masking_probability(0.1, b=0.3) > masking_probability(0.9, b=0.3)


def test_the_input_is_left_alone():
    p_obs = P.copy()
    masking_probability(p_obs, "reversed")[:] = -1
    np.testing.assert_array_equal(p_obs, P)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: masking_probability(0.5, "cosine"),
            "no masking function 'cosine'.*logit, constant",
        ),
        (lambda: masking_probability(0.5, "logit", c=1), "has no parameter c.*a, b"),
        (lambda: masking_probability(0.5, "linear", a=1), "Its parameters are: none"),
        (lambda: masking_probability(0.5, a=np.nan), "must be a finite number"),
        (lambda: masking_probability([0.5, 1.1]), "between 0 and 1"),
        (lambda: masking_probability([np.nan]), "between 0 and 1"),
        (lambda: observed_proportion(np.ones((0, 3), bool)), "at least one row"),
        (lambda: observed_proportion([True, False]), "two dimensions"),
    ],
)
def test_wrong_calls_are_answered_in_words(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()


def test_a_new_function_is_one_decorated_formula():
    words = {"title": "Square", "formula": "p_obs^2", "explanation": "For this test."}
    try:

        @masking_function(name="square", **words, skips_fully_observed=True)
        def square(p_obs, factor=2.0):
            return factor * p_obs**2

        np.testing.assert_allclose(masking_probability([0.5, 0.9, 1.0], "square"), [0.5, 1.0, 0.0])
        assert masking_probability(0.5, "square", factor=1.0) == 0.25
        with pytest.raises(ValueError, match="Choose another name"):
            masking_function(name="square", **words)(square)
    finally:
        _REGISTRY.pop("square", None)


def test_observed_proportion_is_the_mean_of_each_column():
    np.testing.assert_allclose(observed_proportion([[1, 0], [1, 0], [1, 1], [1, 0]]), [1.0, 0.25])
