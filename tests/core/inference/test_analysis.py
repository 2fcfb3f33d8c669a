"""Analyses of several imputations: what they refuse, say and write."""

import json

import numpy as np
import pandas as pd
import pytest

from pmae_core.errors import AnalysisError, Cancelled, ExpressionError
from pmae_core.inference import Analysis, analyze, pool_estimates
from pmae_core.table import Schema


@pytest.fixture
def original(frame) -> pd.DataFrame:
    return frame.rename_axis(None)


@pytest.fixture
def imputations(frame, imputed) -> list[pd.DataFrame]:
    rng = np.random.default_rng(0)
    tables = []
    for _ in range(4):
        table = imputed.copy()
        missing = frame["y"].isna()
        table.loc[missing, "y"] += rng.normal(0, 0.5, missing.sum())
        missing = frame["kind"].isna()
        table.loc[missing, "kind"] = rng.choice(["a", "b", "c"], missing.sum())
        table["smoker"] = frame["smoker"].fillna(pd.Series(rng.random(len(table)) < 0.4))
        tables.append(table)
    return tables


def test_each_coefficient_is_pooled(imputations):
    found = analyze(imputations, "y ~ x").table.set_index("term").loc["x"]
    slopes, variances = [], []
    for table in imputations:
        (slope, _), covariance = np.polyfit(table["x"], table["y"], 1, cov=True)
        slopes.append(slope)
        variances.append(covariance[0, 0])
    pooled = pool_estimates(slopes, variances, len(imputations[0]) - 2)

    assert found["estimate"] == pytest.approx(pooled.estimate)
    assert found["std_error"] == pytest.approx(pooled.std_error)
    assert found["df"] == pytest.approx(pooled.df)
    assert found["missing_information"] == pytest.approx(pooled.missing_information)
    assert found["monte_carlo_error"] == pytest.approx(pooled.monte_carlo_error)
    assert (found["n_rows"], found["n_imputations"]) == (120, 4)


def test_equal_imputations_add_no_variance(imputations):
    several = analyze([imputations[0]] * 3, "y ~ x + kind").table
    single = analyze(imputations[0], "y ~ x + kind").table

    np.testing.assert_allclose(several["std_error"], single["std_error"])
    assert (several["monte_carlo_error"] < 1e-12).all()
    assert single["missing_information"].isna().all()


def test_a_single_table_is_called_what_it_is(imputations):
    analysis = analyze(imputations[:1], "y ~ x + kind")

    assert any("ignore their uncertainty" in sentence for sentence in analysis.sentences)
    assert analysis.terms["df2"].tolist() == [116]


def test_complete_cases_stand_beside(imputations, original):
    analysis = analyze(imputations, "y ~ x", original=original)
    complete = original.dropna(subset=["x", "y"])

    assert analysis.complete_cases["n_rows"].tolist() == [len(complete)] * 2
    slope = np.polyfit(complete["x"], complete["y"], 1)[0]
    assert analysis.complete_cases["estimate"].iloc[1] == pytest.approx(slope)
    assert f"{len(complete)} of 120 rows" in analysis.sentences[-1]


def test_complete_cases_that_cannot_be_fitted_are_a_sentence(imputations, original):
    analysis = analyze(imputations, "y ~ x", original=original.assign(y=np.nan))

    assert analysis.complete_cases is None
    assert "cannot be analyzed: There are no rows" in analysis.sentences[-1]


def test_a_logistic_regression_takes_a_boolean_or_two_categories(imputations):
    by_boolean = analyze(imputations, "smoker ~ x", "logistic")
    by_comparison = analyze(imputations, "smoker == 1 ~ x", "logistic")
    texts = [t.assign(smoker=t["smoker"].map({True: "yes", False: "no"})) for t in imputations]
    by_text = analyze(texts, "smoker ~ x", "logistic")

    for other in (by_comparison, by_text):
        np.testing.assert_allclose(other.table["estimate"], by_boolean.table["estimate"])
    assert "The odds are those of smoker being True." in by_boolean.sentences
    assert "The odds are those of smoker being yes." in by_text.sentences


def test_a_dot_is_every_column_but_the_names_of_rows(imputations):
    tables = [t.assign(row_id=range(len(t)), w=1.0) for t in imputations]

    analysis = analyze(tables, "y ~ .", weights="w")

    assert str(analysis.formula) == "y ~ x + n + kind + smoker"


def test_exponentiated_coefficients_are_ratios(imputations):
    analysis = analyze(imputations, "smoker ~ x", "logistic")
    ratios = analysis.exponentiated()

    np.testing.assert_allclose(np.log(ratios["high"]), analysis.table["high"])
    np.testing.assert_allclose(ratios["p_value"], analysis.table["p_value"])
    assert analysis.effect == "odds ratio"
    with pytest.raises(AnalysisError, match="cannot be exponentiated"):
        analyze(imputations, "y ~ x").to_text(exponentiated=True)


def test_a_cox_prediction_is_relative_to_the_mean(imputations):
    rng = np.random.default_rng(0)
    tables = [t.assign(time=rng.exponential(size=120), event=True) for t in imputations]
    analysis = analyze(tables, "Surv(time, event) ~ x", "cox")

    found = analysis.predict(pd.DataFrame({"x": [tables[0]["x"].mean()]}, index=["mean"]))

    assert found.loc["mean"].tolist() == pytest.approx([1, 1, 1])


def test_terms_of_the_formula_alone_can_be_tested(imputations):
    analysis = analyze(imputations, "y ~ x + C(kind)")

    assert analysis.test_terms(["kind"]) == analysis.test_terms(["C(kind)"])
    assert analysis.test_terms(["x + kind"]).df1 == 3
    with pytest.raises(AnalysisError, match=r"no term n. Its terms are x, C\(kind\)"):
        analysis.test_terms(["n"])
    with pytest.raises(AnalysisError, match="at least one term"):
        analysis.test_terms(["1"])
    with pytest.raises(ExpressionError):
        analysis.test_terms(["__import__('os')"])


def test_exports_say_the_same(imputations, original):
    analysis = analyze(imputations, "smoker ~ x + kind", "logistic", original=original)
    text = analysis.to_text(exponentiated=True)
    data = analysis.to_dict(exponentiated=True)

    assert "odds ratio" in text
    assert "Complete cases" in text
    assert "Tests of terms with several coefficients" in text
    assert json.loads(json.dumps(data))["coefficients"][1]["term"] == "x"
    assert len(data["complete_cases"]) == 4
    csv = analysis.to_csv().splitlines()
    assert csv[0].startswith("term,estimate,std_error")
    assert len(csv) == 5


@pytest.mark.parametrize(
    ("formula", "family", "settings", "sentence"),
    [
        ("y ~ x", "probit", {}, "no family 'probit'. Choose ols, logistic, poisson or cox"),
        ("y ~ x", "cox", {}, r"needs the outcome Surv\(time, event\)"),
        ("Surv(x, smoker) ~ y", "ols", {}, r"Surv\(time, event\)"),
        ("Surv(x, smoker) ~ n", "cox", {}, "x is negative in imputation 1"),
        ("Surv(n, n) ~ x", "cox", {}, "n is neither 0 nor 1 .*as in n == 2"),
        ("Surv(n, smoker) ~ x", "cox", {"errors": "HC1"}, "not available for a Cox"),
        ("y ~ x", "logistic", {}, "y is neither 0 nor 1"),
        ("kind ~ x", "logistic", {}, r"has 3 categories \(a, b and c\).*as in kind == \"a\""),
        ("y ~ x", "poisson", {}, "y is not a count"),
        ("y ~ 0", "ols", {}, "has no terms"),
        ("x * 0 ~ y", "ols", {}, "has the same value in every row"),
        ("y ~ x", "ols", {"weights": "x"}, "The weights in x are not positive"),
        ("y ~ x", "ols", {"confidence": 1}, "confidence must be between 0 and 1"),
        ("y ~ x + I(x * 2)", "ols", {}, "Imputation 1: .*is determined by"),
    ],
)
def test_what_cannot_be_fitted_is_refused(imputations, formula, family, settings, sentence):
    with pytest.raises(AnalysisError, match=sentence):
        analyze(imputations, formula, family, **settings)


def test_columns_that_do_not_exist_are_refused(imputations):
    with pytest.raises(ExpressionError, match=r"There is no column `knid`\. Did you mean kind"):
        analyze(imputations, "y ~ knid")
    with pytest.raises(ExpressionError, match="There is no column `weight`"):
        analyze(imputations, "y ~ x", weights="weight")
    with pytest.raises(AnalysisError, match="'HC5' is neither a kind of standard errors nor a"):
        analyze(imputations, "y ~ x", errors="HC5")


def test_a_category_that_vanishes_in_one_imputation_is_named(imputations):
    imputations[2]["kind"] = imputations[2]["kind"].replace("c", "a")

    with pytest.raises(AnalysisError, match=r"Imputation 3: kind\[c\] is 0 in every row"):
        analyze(imputations, "y ~ kind")


def test_missing_values_left_are_named(imputations):
    imputations[1].loc[:4, "y"] = np.nan

    with pytest.raises(AnalysisError, match="Column y has 5 missing values in imputation 2"):
        analyze(imputations, "y ~ x")


@pytest.mark.parametrize(
    ("change", "error", "sentence"),
    [
        (lambda tables: [], AnalysisError, "no imputations"),
        (lambda tables: [tables[0], tables[1].head(5)], AnalysisError, "numbers of rows: 120 and"),
        (lambda tables: [tables[0], tables[1].drop(columns="n")], ExpressionError, "no column `n`"),
        (
            lambda tables: [t.assign(**{"7": 1}).rename(columns={"n": 7}) for t in tables],
            AnalysisError,
            "Two columns are named 7",
        ),
        (lambda tables: [tables[0], 3], AnalysisError, "not int"),
        (lambda tables: [tables[0].head(2)] * 2, AnalysisError, "cannot be estimated from 2 rows"),
        (lambda tables: [tables[0].head(0)] * 2, AnalysisError, "no rows"),
    ],
)
def test_imputations_that_do_not_belong_together(imputations, change, error, sentence):
    with pytest.raises(error, match=sentence):
        analyze(change(imputations), "y ~ x")


def test_predictions_need_known_categories_without_missing_values(imputations):
    analysis = analyze(imputations, "y ~ kind")

    with pytest.raises(AnalysisError, match="has no category 'z'"):
        analysis.predict(pd.DataFrame({"kind": ["z"]}))
    with pytest.raises(AnalysisError, match="1 missing value in the rows to predict"):
        analysis.predict(pd.DataFrame({"kind": ["a", None]}))


def test_codes_are_categories_by_their_role(imputations):
    schema = Schema.infer(imputations[0], roles={"n": "categorical"})
    analysis = analyze(imputations, "y ~ n", schema=schema)

    assert analysis.terms["term"].tolist() == ["n"]


def test_progress_is_shown_and_work_can_be_cancelled(imputations):
    events = []
    analyze(imputations, "y ~ x", callbacks=[events.append])

    assert [event.done for event in events][-1] == 4
    with pytest.raises(Cancelled):
        analyze(imputations, "y ~ x", cancel=lambda: True)


def test_the_advice_on_imputations_names_a_number(imputations):
    sentences = " ".join(analyze(imputations, "y ~ x + kind").sentences)

    assert "imputations instead of 4" in sentences
    none_missing: Analysis = analyze([imputations[0]] * 2, "y ~ x")
    assert "2 imputations are enough" in " ".join(none_missing.sentences)


def test_the_higher_of_two_levels_is_the_event():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.normal(size=80)})
    table["risk"] = np.where(table["x"] + rng.normal(size=80) > 0, "high", "low")
    by_role = analyze(
        [table], "risk ~ x", family="logistic", schema=Schema.infer(table, {"risk": "ordinal"})
    )
    plain = analyze([table], "risk ~ x", family="logistic")
    estimate, opposite = (one.table.set_index("term")["estimate"]["x"] for one in (by_role, plain))
    assert estimate == pytest.approx(-opposite)
    assert estimate > 0
