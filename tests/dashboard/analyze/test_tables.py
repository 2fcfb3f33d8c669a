"""Tables of the page."""

import numpy as np
import pytest

from dashboard.analyze import tables
from dashboard.analyze.fits import ModelRequest, fit_model


def test_the_table_has_what_a_reader_looks_for(completed):
    analysis = fit_model(completed, ModelRequest("pay ~ school + town")).analysis

    shown = tables.coefficient_table(analysis)

    assert list(shown) == [
        *("Term", "Estimate", "95% interval", "p", "Missing information", "Complete cases"),
    ]
    assert shown["Missing information"].between(0, 100).all()
    assert shown.loc[1, "p"] == "<0.001"


def test_terms_in_a_csv_file_are_not_run_by_a_spreadsheet(completed):
    analysis = fit_model(completed, ModelRequest("pay ~ school")).analysis
    analysis.table.loc[1, "term"] = "=1+1"

    assert "\n'=1+1," in tables.csv_text(analysis)


def test_a_single_imputation_has_no_missing_information(make_completed):
    analysis = fit_model(make_completed(0), ModelRequest("pay ~ school")).analysis

    assert "Missing information" not in tables.coefficient_table(analysis)


def test_ratios_are_shown_where_there_are_some(completed):
    analysis = fit_model(completed, ModelRequest("rich ~ school", "logistic")).analysis

    shown = tables.coefficient_table(analysis)

    assert np.allclose(np.log(shown["Odds ratio"]), analysis.table["estimate"])


def test_terms_with_several_coefficients_are_tested_together(completed):
    analysis = fit_model(completed, ModelRequest("pay ~ school + town")).analysis

    assert tables.term_table(analysis)["Term"].tolist() == ["town"]
    assert tables.term_table(fit_model(completed, ModelRequest("pay ~ school")).analysis).empty


@pytest.mark.parametrize("per_spread", [True, False])
def test_the_figure_has_numbers_per_standard_deviation_if_asked(completed, per_spread):
    fitted = fit_model(completed, ModelRequest("pay ~ school + sex"))

    data = tables.forest_data(fitted, per_spread=per_spread).set_index(["term", "source"])

    table = fitted.analysis.table.set_index("term")
    factor = fitted.coefficients["school"].spread if per_spread else 1
    drawn = data.loc[("school", tables.POOLED), "estimate"]
    assert drawn == pytest.approx(factor * table.loc["school", "estimate"])
    male = data.loc[("sex[Male]", tables.POOLED), "estimate"]
    assert male == pytest.approx(table.loc["sex[Male]", "estimate"])
    assert "Intercept" not in data.index.get_level_values("term")
    shares = data.xs(tables.POOLED, level="source")["missing_information"]
    assert shares["school"] == table.loc["school", "missing_information"]
    assert data.xs(tables.COMPLETE, level="source")["missing_information"].isna().all()
