"""Answers say no more than the data allow."""

import re
from dataclasses import replace

import pytest

from dashboard.analyze import answers
from dashboard.analyze.fits import ModelRequest, fit_model
from dashboard.analyze.scales import EffectScale
from dashboard.text import spoken
from dashboard.widgets.methods import known_methods


def answer(completed, formula, family="ols", name="school"):
    return spoken(answers.answer(fit_model(completed, ModelRequest(formula, family)), name))


def test_a_logarithm_is_told_in_percent(completed):
    said = answer(completed, "log(pay) ~ school + sex")

    assert re.match(
        r"Each additional unit of school goes with [\d.]+% higher pay \(95% interval [\d.]+% to "
        r"[\d.]+%\), other predictors being equal; pooled over 5 imputations\. Complete cases "
        r"\(\d+ of 300 rows\) give [\d.]+% \([\d.]+% to [\d.]+%\)\.$",
        said,
    )


def test_a_category_is_compared_with_its_reference(completed):
    said = answer(completed, "log(pay) ~ school + sex", name="sex[Male]")

    assert re.match(r"sex Male goes with [\d.]+% higher pay than Female \(95% interval", said)


def test_an_interval_with_no_association_in_it_leaves_the_question_open(completed):
    said = answer(completed, "pay ~ noise", name="noise")

    assert said.startswith("The data leave open whether each additional unit of noise goes with ")
    assert "other predictors" not in said


@pytest.mark.parametrize(
    ("formula", "family", "words"),
    [
        ("pay ~ school", "ols", r"goes with [\d.]+ higher pay \("),
        ("rich ~ school", "logistic", r"goes with [\d.]+ times the odds of rich \("),
        ("rich ~ school", "poisson", r"goes with [\d.]+ times the rate of rich \("),
        ("Surv(pay, rich) ~ school", "cox", r"times the hazard of rich"),
        ("pay ** 2 ~ school", "ols", r"goes with [\d.]+ higher pay \*\* 2 \("),
    ],
)
def test_every_family_has_its_words(completed, formula, family, words):
    assert re.search(words, answer(completed, formula, family))


def test_the_odds_name_their_category(completed):
    said = answer(completed, "sex ~ pay", "logistic", "pay")

    assert "the odds of sex being Male" in said


def test_an_interaction_is_a_coefficient_and_no_more(completed):
    said = answer(completed, "pay ~ school * sex", name="school:sex[Male]")

    assert said.startswith("The coefficient of school:sex[Male] is ")
    assert "this coefficient alone does not describe them" in said
    ratio = answer(completed, "rich ~ school * sex", "logistic", "school:sex[Male]")
    assert ratio.startswith("The odds ratio of school:sex[Male] is ")


def test_without_an_intercept_a_category_is_compared_with_none(completed):
    said = answer(completed, "pay ~ 0 + sex", name="sex[Male]")

    assert said.startswith("The coefficient of sex[Male] is ")
    assert "Female" not in said


def test_a_comparison_is_told_against_its_opposite(completed):
    said = answer(completed, "pay ~ I(school > 12)", name="school > 12")

    assert "goes with" in said
    assert "than otherwise" in said


def test_markup_in_names_stays_text(completed):
    assert "`school`" in answers.answer(
        fit_model(completed, ModelRequest("pay ~ school")), "school"
    )


def test_large_ratios_do_not_overflow():
    assert EffectScale("ratio", "y").text(1e4) == "inf"


# What to know before trusting it


@pytest.fixture
def say_em_is_proper(monkeypatch):
    """Return a function that says whether one method alone is proper, whatever methods are."""

    def say(is_proper):
        known = {name: replace(info, is_proper=False) for name, info in known_methods().items()}
        known["em"] = replace(known["em"], is_proper=is_proper)
        monkeypatch.setattr(answers, "known_methods", lambda: known)

    return say


def test_imputations_without_the_uncertainty_of_the_model_are_named(completed, say_em_is_proper):
    say_em_is_proper(False)

    (said,) = answers.warnings(completed, fit_model(completed, ModelRequest("pay ~ school")))

    assert said.startswith("Imputations by Expectation maximization do not include")
    assert "Methods that include it" not in said


def test_proper_imputations_need_no_warning(completed, say_em_is_proper):
    say_em_is_proper(True)

    assert answers.warnings(completed, fit_model(completed, ModelRequest("pay ~ school"))) == []
    assert "Methods that include it: Expectation maximization" in answers.improper_sentence("knn")


def test_unknown_methods_are_not_judged():
    assert answers.improper_sentence(None) is None
    assert answers.improper_sentence("of another release") is None


def test_a_single_imputation_is_warned_of(make_completed):
    single = make_completed(0)

    assert answers.warnings(single, fit_model(single, ModelRequest("pay ~ school"))) == [
        answers.SINGLE
    ]


def test_columns_that_the_imputation_did_not_use_are_named(make_completed):
    run = make_completed(roles={"noise": "ignored"})

    said = answers.warnings(run, fit_model(run, ModelRequest("log(pay) ~ noise * school")))

    assert any("noise was not used by the imputation" in one for one in said)
    assert any("the interaction noise" in one for one in said)
    assert any("transforms columns" in one for one in said)
