"""``pmae analyze``."""

import json

import pytest

from pmae_core.imputers import list_imputers
from pmae_core.imputers.classic.em import EMImputer
from pmae_core.inference import analyze
from pmae_core.table import read_table
from tests.support.shell import one_line, run


@pytest.fixture
def imputed(tmp_path, survey_csv):
    output = tmp_path / "imputed.csv"
    run("impute", survey_csv, "-o", output, "--method", "em", "--imputations", 3, "-q")
    return [tmp_path / f"imputed-{number}.csv" for number in (1, 2, 3)]


def test_files_of_imputations_are_pooled(survey_csv, imputed):
    result = run("analyze", "height ~ age + town", *imputed, "--original", survey_csv, "--json")
    found = json.loads(result.stdout)

    expected = analyze([read_table(path) for path in imputed], "height ~ age + town").table
    assert [row["term"] for row in found["coefficients"]] == ["Intercept", "age", "town[Ulm]"]
    assert [row["estimate"] for row in found["coefficients"]] == expected["estimate"].tolist()
    assert found["complete_cases"][0]["n_rows"] < 60


def test_a_table_is_imputed_first(survey_csv):
    options = ("--method", "em", "--imputations", 4, "--quiet")
    output = one_line(run("analyze", "height ~ age", survey_csv, *options).stdout)

    assert "pooled over 4 imputations" in output
    assert "Complete cases" in output
    assert "missing information" in output


def test_ratios_of_a_logistic_regression(imputed):
    output = run("analyze", "old ~ height", *imputed, "--family", "logistic", "--ratios").stdout

    assert "odds ratio" in output
    assert "The odds are those of old being True." in output


@pytest.mark.parametrize(("form", "start"), [("csv", "term,"), ("latex", r"\begin{tabular}")])
def test_other_forms_go_to_files(tmp_path, imputed, form, start):
    output = tmp_path / f"results.{form}"
    command = ("analyze", "height ~ age", *imputed, "--format", form, "--output", output)
    result = run(*command)

    assert output.read_text(encoding="utf-8").startswith(start)
    assert "missing information" in one_line(result.stderr)
    assert "already exists" in one_line(run(*command, code=1).stderr)
    run(*command, "--force")


def test_numbers_are_categories_only_by_their_role(imputed):
    plain = run("analyze", "height ~ age", *imputed, "--json").stdout
    by_role = run("analyze", "height ~ old", *imputed, "--role", "old=categorical", "--json").stdout

    assert json.loads(plain)["coefficients"][1]["term"] == "age"
    assert json.loads(by_role)["coefficients"][1]["term"] == "old[True]"


def test_a_column_that_the_method_does_not_use_is_noted(survey_csv):
    result = run(
        *("analyze", "height ~ age", survey_csv, "--method", "em", "--imputations", 2, "-q"),
        *("--role", "age=ignored"),
        code=1,
    )

    assert "age was not used by the imputation (its role is ignored)" in one_line(result.stderr)
    assert "Column age has" in one_line(result.stderr)


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["height ~ age +"], 1, "The text ends too early"),
        (["height ~ __import__('os')"], 1, "`__import__` is not a function"),
        (["height ~ agge"], 1, "There is no column `agge`. Did you mean age?"),
        (["height ~ age", "--family", "poisson"], 1, "height is not a count"),
        (["height ~ age", "--family", "probit"], 2, "--family"),
        (["height ~ age", "--method", "em"], 2, "A method imputes one table"),
        (["height ~ age", "--imputations", "5"], 2, "Name it with --method"),
        (["height ~ age", "--json", "--format", "csv"], 2, "Leave out --format"),
        (["height ~ age", "--output", "nowhere/a.txt"], 1, "does not exist"),
    ],
)
def test_what_cannot_be_done_is_a_sentence(imputed, arguments, code, sentence):
    formula, *options = arguments

    assert sentence in one_line(run("analyze", formula, *imputed, *options, code=code).output)


def test_one_imputation_cannot_be_pooled(survey_csv):
    result = run("analyze", "height ~ age", survey_csv, "--method", "knn", "-q", code=1)

    assert "knn gives only one imputation" in one_line(result.stderr)


def test_what_intervals_lack_is_noted(survey_csv):
    command = ("analyze", "height ~ age", survey_csv, "--method", "em", "--imputations", 2, "-q")
    (info,) = (info for info in list_imputers() if info.name == "em")

    is_noted = "intervals can be too narrow" in one_line(run(*command).stderr)

    assert is_noted != info.is_proper


def test_missing_values_without_a_method_are_named(survey_csv):
    result = run("analyze", "height ~ age", survey_csv, code=1)

    assert "missing values in the table" in one_line(result.stderr)


def test_the_help_shows_examples():
    assert "pmae analyze 'log(wage) ~ education" in run("analyze", "--help").output


def test_limits_hold_while_a_table_is_imputed_for_the_analysis(survey_csv, monkeypatch):
    schemas = []
    fit = EMImputer.fit
    monkeypatch.setattr(
        EMImputer, "fit", lambda self, *a, **k: schemas.append(self.schema) or fit(self, *a, **k)
    )
    options = ("--method", "em", "--imputations", 2, "--limits", "height=1.6..", "--quiet")
    run("analyze", "height ~ age", survey_csv, *options, "--levels", "town=Ulm<Bonn")
    assert schemas[0].rules == {"height": {"lower": 1.6}, "town": {"levels": ["Ulm", "Bonn"]}}
