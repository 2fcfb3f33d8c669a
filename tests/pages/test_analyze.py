"""The Analyze page in every state that imputations can be in."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from dashboard.widgets.methods import known_methods
from pmae_core.jobs import JobState
from tests.support.seen import questions, shown, without_errors
from tests.support.seen import text as words

PAGE = "analyze.py"
EM = {"method": "em", "imputations": 4}


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    n_rows = 200
    school = rng.integers(8, 18, n_rows).astype(float)
    sex = rng.choice(["Female", "Male"], n_rows)
    pay = np.exp(1 + 0.08 * school + 0.2 * (sex == "Male") + 0.2 * rng.normal(size=n_rows))
    frame = pd.DataFrame({"pay": pay, "school": school, "sex": sex})
    frame["town"] = rng.choice(["Lima", "Oslo", "Rome"], n_rows)
    frame.loc[rng.random(n_rows) < 0.3, "pay"] = np.nan
    frame.loc[rng.random(n_rows) < 0.1, "town"] = None
    return frame


@pytest.fixture
def imputed(fill, table, add_imputation):
    """Give a workspace whose table has four imputations."""
    workspace = fill(table, name="wages.csv")
    add_imputation(EM)
    return workspace


def formula(app):
    (field,) = [field for field in app.text_input if field.label == "Formula"]
    return field


def box(widgets, label):
    (found,) = [one for one in widgets if one.label == label]
    return found


def type_formula(app, text):
    return formula(app).set_value(text).run()


def view(app, name):
    app.session_state["analyze:view"] = name
    return without_errors(app.run())


# Before there is anything to analyze


def test_a_newcomer_is_sent_to_impute(open_page, store):
    app = without_errors(open_page(PAGE))

    assert "There are no imputations of this table yet" in words(app)
    assert "Go to Impute" in words(app)


def test_a_run_under_way_is_waited_for(fill, table, open_page, add_job):
    fill(table)
    add_job("impute", EM, JobState.RUNNING)

    assert "A run is in progress" in words(without_errors(open_page(PAGE)))


def test_imputations_of_another_table_do_not_count(imputed, fill, table, open_page):
    fill(table.drop(columns="town"), name="other.csv")

    assert "There are no imputations of this table yet" in words(without_errors(open_page(PAGE)))


def test_a_single_imputation_is_warned_of(fill, table, open_page, add_imputation):
    fill(table)
    add_imputation({"method": "knn"})

    app = without_errors(open_page(PAGE))

    assert "intervals ignore imputation uncertainty and are too narrow" in words(app)
    assert "from a single imputation" in words(app)


def test_several_imputations_come_before_a_newer_single_one(imputed, add_imputation, open_page):
    add_imputation({"method": "knn"})

    assert "pooled over 4 imputations" in words(without_errors(open_page(PAGE)))


# The answer


def test_the_page_opens_with_an_answer(imputed, open_page):
    app = without_errors(open_page(PAGE))

    assert formula(app).value == "pay ~ school + sex + town"
    assert "**Each additional unit of `school` goes with" in words(app)
    assert "Complete cases (" in words(app)
    assert questions(app) == ["What goes with `pay`?"]
    table = shown(app, "Missing information")
    assert table["Term"].tolist() == [
        *("Intercept", "school", "sex[Male]", "town[Oslo]", "town[Rome]"),
    ]
    assert shown(app, "Degrees of freedom")["Term"].tolist() == ["town"]


def test_a_typed_formula_moves_the_boxes(imputed, open_page):
    app = without_errors(type_formula(open_page(PAGE), "log(pay) ~ school * sex"))

    assert box(app.selectbox, "Outcome").value == "pay"
    assert box(app.multiselect, "Predictors").value == ["school", "sex"]
    assert "school:sex[Male]" in shown(app, "p").to_string()


def test_boxes_write_into_the_formula(imputed, open_page):
    app = type_formula(open_page(PAGE), "log(pay) ~ school")

    app = without_errors(box(app.multiselect, "Predictors").select("sex").run())
    assert formula(app).value == "log(pay) ~ school + sex"

    app = without_errors(box(app.selectbox, "Outcome").select("school").run())
    assert formula(app).value == "school ~ sex"


def test_the_question_chooses_the_coefficient(imputed, open_page):
    app = open_page(PAGE)

    app = without_errors(box(app.selectbox, "Your question is about").select("sex[Male]").run())

    assert "`sex` Male goes with" in words(app)
    assert "than Female" in words(app)


def test_the_family_is_suggested_and_can_be_changed(imputed, open_page):
    app = without_errors(type_formula(open_page(PAGE), "sex ~ pay"))
    assert "times the odds of `sex` being Male" in words(app)
    assert "Odds ratio" in shown(app, "p").columns

    app = box(app.selectbox, "Regression").select("ols").run()
    assert not app.exception
    assert len(app.error) == 1


def test_options_change_the_intervals(imputed, open_page):
    app = open_page(PAGE)
    before = shown(app, "Missing information")["95% interval"].tolist()

    app = without_errors(box(app.selectbox, "Standard errors").select("HC3").run())

    assert shown(app, "Missing information")["95% interval"].tolist() != before


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("pay ~ shool", "Did you mean school?"),
        ("pay ~ (school", "expected"),
        ("pay ~ __import__('os').system('true')", "is not"),
        ("town ~ school", "a logistic regression needs two"),
        ("log(school - 12) ~ pay", "log(school - 12)"),
    ],
)
def test_what_cannot_be_fitted_is_a_sentence_beside_the_formula(imputed, open_page, typed, said):
    app = type_formula(open_page(PAGE), typed)

    assert not app.exception
    (error,) = app.error
    assert said.lower() in error.value.replace("\\", "").replace("\u2060", "").lower()
    assert formula(app).value == typed
    assert not questions(app)

    assert without_errors(type_formula(app, "pay ~ school"))


def test_an_empty_formula_asks_for_one(imputed, open_page):
    app = without_errors(type_formula(open_page(PAGE), ""))

    assert "Pick an outcome, or type a formula." in words(app)
    app = without_errors(box(app.selectbox, "Outcome").select("pay").run())
    assert formula(app).value == "pay ~ 1"


def test_settings_stay_across_visits(imputed, open_page, restart_server):
    app = type_formula(open_page(PAGE), "log(pay) ~ school")
    box(app.selectbox, "Standard errors").select("HC3").run()
    restart_server()

    again = without_errors(open_page(PAGE))

    assert formula(again).value == "log(pay) ~ school"
    assert box(again.selectbox, "Standard errors").value == "HC3"


# Details


def test_checks_say_what_the_intervals_lack(imputed, open_page, monkeypatch):
    improper = {"em": replace(known_methods()["em"], is_proper=False)}
    monkeypatch.setattr("dashboard.analyze.answers.known_methods", lambda: improper)

    app = view(type_formula(open_page(PAGE), "log(pay) ~ school"), "Checks")

    assert "do not include the uncertainty of the fitted imputation model" in words(app)
    assert "The formula transforms columns: log(pay)" in words(app)
    assert "imputations" in words(app)
    assert "missing at random (MAR)" in words(app)


def test_what_if_finds_where_the_conclusion_tips(imputed, open_page):
    app = view(type_formula(open_page(PAGE), "log(pay) ~ school + town"), "What if")

    assert "When does the conclusion change?" in questions(app)
    assert "The interval of `school` lies above 0" in words(app)
    assert len(app.select_slider) == 2

    app = without_errors(app.select_slider[0].set_value(-0.5).run())
    assert "If the missing values of `pay` are" in words(app)


def test_nothing_imputed_is_nothing_to_shift(imputed, open_page):
    app = view(type_formula(open_page(PAGE), "school ~ sex"), "What if")

    assert "there is nothing to shift" in words(app)


def test_a_long_curve_waits_for_a_click(imputed, open_page, monkeypatch):
    monkeypatch.setattr("dashboard.analyze.whatif.PATIENCE_SECONDS", 0.0)

    app = view(open_page(PAGE), "What if")
    assert "When does the conclusion change?" not in questions(app)

    app = without_errors(box(app.toggle, "Compute the curve").set_value(True).run())
    assert "When does the conclusion change?" in questions(app)


def test_results_can_be_copied(imputed, open_page):
    app = view(open_page(PAGE), "Copy")

    text, latex, csv = (code.value for code in app.code)
    assert "pay ~ school + sex + town" in text
    assert latex.startswith(r"\begin{tabular}")
    assert csv.startswith("term,estimate")
    assert len(app.get("download_button")) == 3
