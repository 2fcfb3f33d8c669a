"""Every figure equals what R's mice, survival and sandwich find in the same imputations."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from pmae_core.inference import analyze
from tests.support.r_oracle.make import FIGURES, IMPUTATIONS

# Name in the figures: formula, family and settings.
MODELS = {
    "ols": ("y ~ x * sex + kind", "ols", {}),
    "ols_weighted": ("y ~ x + kind", "ols", {"weights": "weight"}),
    "ols_without_intercept": ("y ~ 0 + kind + sex + kind:x", "ols", {}),
    "ols_crossed": ("log(age) ~ (x + kind + sex) ^ 2", "ols", {}),
    "ols_separate_slopes": ("y ~ x:sex + I(age ** 2 / 100)", "ols", {}),
    "logistic": ("died ~ x + age + kind", "logistic", {}),
    "poisson": ("visits ~ x + log(age) + sex", "poisson", {}),
    "cox": ("Surv(time, event) ~ x + kind + age", "cox", {}),
    "cox_ties": ("Surv(whole_time, event) ~ x * sex", "cox", {"weights": "weight"}),
}
TESTS = {
    "ols_kind": ("ols", ["kind"]),
    "ols_kind_and_interaction": ("ols", ["C(kind)", "sex:x"]),
    "logistic_kind": ("logistic", ["kind"]),
    "poisson_x_and_sex": ("poisson", ["x + sex"]),
    "cox_kind": ("cox", ["kind"]),
}
ERRORS = {
    **{name: ("ols", name) for name in ("HC0", "HC1", "HC2", "HC3")},
    "cluster": ("ols", "town"),
    "logistic_HC3": ("logistic", "HC3"),
    "logistic_cluster": ("logistic", "town"),
    "poisson_HC2": ("poisson", "HC2"),
}
SIX_DIGITS = {"rtol": 1e-6, "atol": 1e-9}


@pytest.fixture(scope="module")
def figures() -> dict:
    return json.loads(FIGURES.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def imputations() -> list[pd.DataFrame]:
    every = pd.read_csv(IMPUTATIONS).assign(whole_time=lambda table: np.ceil(table["time"]))
    return [table.reset_index(drop=True) for _, table in every.groupby("imputation")]


def r_name(term: str) -> str:
    return term.replace("[", "").replace("]", "").replace("Intercept", "(Intercept)")


@pytest.mark.parametrize("name", MODELS)
def test_coefficients(figures, imputations, name):
    formula, family, settings = MODELS[name]
    found = analyze(imputations, formula, family, **settings).table
    expected = pd.DataFrame(figures["coefficients"][name])

    if name != "ols_separate_slopes":  # R writes the arithmetic of I() without blanks
        assert [r_name(term) for term in found["term"]] == expected["term"].tolist()
    for column in expected.columns.drop("term"):
        np.testing.assert_allclose(found[column], expected[column], **SIX_DIGITS, err_msg=column)


@pytest.mark.parametrize("name", TESTS)
def test_tests_of_several_terms(figures, imputations, name):
    model, terms = TESTS[name]
    formula, family, settings = MODELS[model]
    found = analyze(imputations, formula, family, **settings).test_terms(terms)

    for field, expected in figures["tests"][name].items():
        np.testing.assert_allclose(getattr(found, field), expected, **SIX_DIGITS, err_msg=field)


def test_terms_with_several_coefficients_are_tested_unasked(figures, imputations):
    (row,) = analyze(imputations, *MODELS["ols"][:2]).terms.to_dict("records")

    assert row["term"] == "kind"
    assert row["p_value"] == pytest.approx(figures["tests"]["ols_kind"]["p_value"], rel=1e-6)


@pytest.mark.parametrize("name", ERRORS)
def test_robust_and_clustered_errors(figures, imputations, name):
    model, errors = ERRORS[name]
    found = analyze(imputations, *MODELS[model][:2], errors=errors).table
    expected = pd.DataFrame(figures["errors"][name])

    for column in ("estimate", "std_error", "df"):
        np.testing.assert_allclose(found[column], expected[column], **SIX_DIGITS, err_msg=column)


@pytest.mark.parametrize("name", ["ols", "logistic", "poisson"])
def test_predictions(figures, imputations, name):
    links = {
        "ols": lambda mean: mean,
        "logistic": lambda mean: np.log(mean / (1 - mean)),
        "poisson": np.log,
    }
    analysis = analyze(imputations, *MODELS[name][:2], confidence=0.5)
    found = analysis.predict(imputations[0].head(4)).map(links[name])
    expected = pd.DataFrame(figures["predictions"][name])

    np.testing.assert_allclose(found["prediction"], expected["estimate"], **SIX_DIGITS)
    reach = expected["std_error"] * stats.t.ppf(0.75, expected["df"])
    np.testing.assert_allclose(found["high"] - found["prediction"], reach, **SIX_DIGITS)
    np.testing.assert_allclose(found["prediction"] - found["low"], reach, **SIX_DIGITS)
