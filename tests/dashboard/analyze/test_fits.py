"""Regressions on the imputations of a run."""

import pytest

from dashboard.analyze import fits
from dashboard.analyze.fits import ModelRequest, fit_model
from pmae_core.errors import AnalysisError, ExpressionError
from pmae_core.inference import analyze

REQUEST = ModelRequest("log(pay) ~ school + sex + town")


def test_the_result_is_that_of_the_library(completed, wages):
    fitted = fit_model(completed, REQUEST)

    expected = analyze(completed.imputations(wages.columns), REQUEST.formula, original=wages)
    assert fitted.analysis.table.equals(expected.table)
    assert fitted.analysis.complete_cases.equals(expected.complete_cases)


def test_a_regression_is_fitted_once(completed, monkeypatch):
    first = fit_model(completed, REQUEST)
    monkeypatch.setattr(fits, "analyze", None)

    assert fit_model(completed, REQUEST) is first


def test_other_options_are_another_regression(completed):
    usual, robust = (
        fit_model(completed, ModelRequest(REQUEST.formula, errors=errors))
        for errors in ("nonrobust", "HC1")
    )

    assert (usual.analysis.table["std_error"] != robust.analysis.table["std_error"]).all()


def test_weights_and_clusters_are_read_too(completed):
    fitted = fit_model(completed, ModelRequest("pay ~ school", errors="sex", weights="school"))

    assert fitted.names == ["school"]


def test_coefficients_know_what_they_are_about(completed):
    known = fit_model(completed, REQUEST).coefficients

    assert known["sex[Male]"].category == "Male"
    assert known["sex[Male]"].reference == "Female"
    assert known["sex[Male]"].spread == 1
    assert known["school"].category is None
    assert known["school"].spread == pytest.approx(completed.frame["school"].std(ddof=0))
    assert not known["Intercept"].term.factors
    assert all(one.is_alone for name, one in known.items() if name != "Intercept")


def test_columns_of_several_terms_are_not_alone(completed):
    known = fit_model(completed, ModelRequest("pay ~ school * sex + noise")).coefficients

    assert not known["school"].is_alone
    assert not known["school:sex[Male]"].is_alone
    assert known["noise"].is_alone


def test_a_dot_reads_all_columns(completed):
    fitted = fit_model(completed, ModelRequest("pay ~ . - noise - rich"))

    assert fitted.names == ["school", "sex[Male]", "town[Oslo]", "town[Rome]"]


def test_the_odds_are_of_the_second_category(completed):
    assert fit_model(completed, ModelRequest("sex ~ school", "logistic")).event == "Male"
    assert fit_model(completed, ModelRequest("rich ~ school", "logistic")).event is None


def test_a_single_imputation_is_taken_as_it_is(make_completed):
    single = make_completed(0)

    assert not fits.is_pooled(single)
    assert fit_model(single, REQUEST).analysis.n_imputations == 1


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        (ModelRequest("pay ~ ("), ExpressionError),
        (ModelRequest("pay ~ shool"), ExpressionError),
        (ModelRequest("pay ~ __class__.x"), ExpressionError),
        (ModelRequest("town ~ school", "logistic"), AnalysisError),
        (ModelRequest("pay ~ school", "cox"), AnalysisError),
        (ModelRequest("pay ~ school", weights="noise"), AnalysisError),
    ],
)
def test_what_cannot_be_fitted_is_a_sentence(completed, request_, error):
    with pytest.raises(error, match=r"[.?]$"):
        fit_model(completed, request_)
