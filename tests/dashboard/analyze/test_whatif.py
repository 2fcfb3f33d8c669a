"""A regression on shifted imputations."""

import numpy as np
import pytest

from dashboard.analyze import whatif
from dashboard.analyze.fits import ModelRequest, fit_model
from pmae_core.expressions import parse_formula


def fitted(completed, formula, family="ols"):
    return fit_model(completed, ModelRequest(formula, family))


def shifts(completed, model):
    return {one.column: one for one in whatif.column_shifts(completed, model.analysis.formula)}


def test_imputed_columns_of_the_formula_can_be_shifted_the_most_missing_first(completed):
    model = fitted(completed, "pay ~ school + town")

    known = shifts(completed, model)

    assert list(known) == ["pay", "town"]
    assert (known["pay"].kind, known["town"].kind) == ("sd", "odds")
    assert known["pay"].unit == pytest.approx(completed.frame["pay"].std())


def test_a_column_with_a_logarithm_is_shifted_by_a_factor(completed):
    known = shifts(completed, fitted(completed, "log(pay) ~ school"))

    assert known["pay"].kind == "factor"
    assert known["pay"].label(1.0) == f"+{100 * np.expm1(known['pay'].unit):.0f}%"
    assert known["pay"].label(0.0) == "0"


def test_a_column_that_is_also_there_as_it_is_is_shifted_by_an_amount(completed):
    known = shifts(completed, fitted(completed, "school ~ log(pay) + pay"))

    assert known["pay"].kind == "sd"


def test_without_a_shift_the_estimates_stay(completed):
    model = fitted(completed, "pay ~ school")
    (pay,) = shifts(completed, model).values()

    assert whatif.coefficients_at(completed, model, {pay: 0.0}) is model.analysis.table


@pytest.mark.parametrize("formula", ["pay ~ 1", "log(pay) ~ 1"])
def test_the_mean_moves_by_the_share_of_missing_values(completed, formula):
    model = fitted(completed, formula)
    (pay,) = shifts(completed, model).values()

    moved = whatif.coefficients_at(completed, model, {pay: 1.0})

    change = moved["estimate"] - model.analysis.table["estimate"]
    share = completed.frame["pay"].isna().mean()
    # Units are of the observed cells; in `shifted` of those of each imputation, which are the same.
    assert change.iloc[0] == pytest.approx(share * pay.unit, rel=1e-3)


def test_odds_of_a_category_can_be_shifted(completed):
    model = fitted(completed, "pay ~ town")
    town = shifts(completed, model)["town"]

    moved = whatif.coefficients_at(completed, model, {town: 2.0})

    assert not np.allclose(moved["estimate"], model.analysis.table["estimate"])
    assert "times as high as imputed" in town.words(0.7)


def test_a_conclusion_tips_where_its_interval_meets_no_association(completed):
    model = fitted(completed, "pay ~ sex")
    (pay,) = shifts(completed, model).values()

    found = whatif.shift_curve(completed, model, "sex[Male]", pay, {})

    assert found.failed is None
    assert found.curve.table["delta"].tolist() == list(whatif.DELTAS)
    assert found.curve.null == 0
    assert "The interval of `sex[Male]` lies above 0" in found.curve.sentence


def test_shifts_that_cannot_be_fitted_are_left_out(completed):
    # Both the pay and its logarithm: an amount is subtracted, and some become negative.
    model = fitted(completed, "school ~ log(pay) + pay")
    (pay,) = shifts(completed, model).values()

    found = whatif.shift_curve(completed, model, "pay", pay, {})

    assert found.failed
    assert 0.0 in set(found.curve.table["delta"])
    assert -2.0 not in set(found.curve.table["delta"])


def test_nothing_that_can_be_fitted_is_said(completed, monkeypatch):
    model = fitted(completed, "pay ~ school")
    (pay,) = shifts(completed, model).values()

    def fail(*_):
        raise whatif.AnalysisError("It cannot be fitted.")

    monkeypatch.setattr(whatif, "coefficients_at", fail)
    found = whatif.shift_curve(completed, model, "school", pay, {})

    assert found.curve.table.empty
    assert "Move the sliders back" in found.curve.sentence


def row(delta, low, high):
    told = whatif.conclusion({"low": low, "high": high})
    return {"delta": delta, "low": low, "high": high, "conclusion": told}


@pytest.mark.parametrize(
    ("near", "far", "tipping"),
    [
        ((1.0, 3.0), (-1.0, 1.0), 0.5),  # above, then open: the lower end meets 0
        ((-3.0, -1.0), (-1.0, 1.0), 0.5),  # below, then open: the upper end
        ((-1.0, 2.0), (1.0, 4.0), 0.5),  # open, then above
        ((-4.0, 1.0), (-6.0, -1.0), 0.5),  # open, then below
        ((-3.0, -1.0), (1.0, 3.0), 0.25),  # from below to above: it opens first
        ((1.0, 3.0), (2.0, 4.0), None),
    ],
)
def test_the_tipping_point_lies_between_shifts(near, far, tipping):
    assert whatif._tipping([row(0.0, *near), row(1.0, *far)]) == tipping


def test_where_the_sliders_are_is_told(completed):
    model = fitted(completed, "log(pay) ~ school")
    (pay,) = shifts(completed, model).values()

    said = whatif.here_sentence(completed, model, "school", {pay: -0.5})

    assert said.startswith("If the missing values of `pay` are ")
    assert "% lower than imputed, the estimate is " in said
    assert whatif.here_sentence(completed, model, "school", {pay: 0.0}) is None


def test_constant_columns_have_no_shift(make_completed, wages):
    wages["same"] = np.where(wages["pay"].isna(), np.nan, 1.0)
    run = make_completed()
    run.n_imputed["same"] = 1

    assert whatif.column_shifts(run, parse_formula("school ~ same")) == []
