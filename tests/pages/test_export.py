"""The Export page in every state an imputed table can be in."""

import numpy as np
import pandas as pd
import pytest

from pmae_core.evaluation import compare
from pmae_core.explain import find_structural_missingness
from pmae_core.jobs import JobState
from tests.support.seen import text as words
from tests.support.seen import without_errors

PAGE = "export.py"
EM = {"method": "em", "imputations": 3}
QUICK = {"preset": "fast", "steps": 5, "device": "cpu"}


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    x = rng.normal(size=80)
    frame = pd.DataFrame({"x": x, "y": 2 * x + 0.1 * rng.normal(size=80)})
    frame["smoker"] = np.where(x > 0, "yes", "no")
    frame["packs"] = np.where(x > 0, rng.gamma(2.0, size=80), np.nan)
    frame.loc[::5, "y"] = np.nan
    return frame


def codes(app):
    return [code.value for code in app.code]


def downloads(app):
    """Return the download buttons by what they export."""
    return {button.proto.id.split(":")[-1]: button.proto for button in app.get("download_button")}


def formats(app):
    """Return the formats to choose from by what they are of."""
    return {
        control.key.removeprefix("export:").removesuffix("_format"): list(control.options)
        for control in app.segmented_control
    }


def test_a_newcomer_is_sent_to_impute(open_page, store):
    app = without_errors(open_page(PAGE))

    assert "Nothing is imputed yet. Impute your table first" in words(app)


def test_without_a_store_the_page_makes_no_job(open_page, workspace):
    assert "Nothing is imputed yet" in words(without_errors(open_page(PAGE)))


@pytest.mark.parametrize(
    ("state", "said"),
    [
        (JobState.QUEUED, "Next in the queue"),
        (JobState.RUNNING, "Starting"),
        (JobState.FAILED, "Failed"),
        (JobState.CANCELLED, "Cancelled"),
        (JobState.INTERRUPTED, "Interrupted"),
    ],
)
def test_an_unfinished_run_has_nothing_to_export(state, said, fill, table, open_page, add_job):
    fill(table)
    add_job("impute", EM, state)

    app = open_page(PAGE)

    assert not app.exception
    progress = " ".join(bar.proto.text for bar in app.get("progress"))
    assert said in words(app) + progress
    assert "This imputation has nothing to export yet" in words(app)
    assert not downloads(app)


def test_a_finished_run_can_be_exported_in_every_form(fill, table, open_page, add_imputation):
    fill(table, name="visits.csv")
    add_imputation(EM, seed=7)

    app = without_errors(open_page(PAGE))

    assert list(downloads(app)) == [
        *("table", "imputations", "script", "methods", "mask", "everything")
    ]
    assert formats(app) == {
        "table": ["CSV", "Excel", "Parquet"],
        "imputations": ["R", "Stata", "Python"],
        "script": ["Python", "Input table"],
        "methods": ["Text", "Markdown"],
        "mask": ["CSV", "Parquet"],
    }
    script, command, r_code = codes(app)
    assert '-imputations.csv", na.strings = ""' in r_code
    assert "make_imputer('em', random_state=7)" in script
    assert "--method em --seed 7 --imputations 3" in command
    assert "Missing values were imputed with Expectation maximization" in words(app)
    assert "Dempster, Laird and Rubin" in words(app)


@pytest.mark.parametrize(
    ("program", "read"),
    [("R", ".csv"), ("Stata", "imputed(y packs)"), ("Python", "-imputations.zip')")],
)
def test_imputations_come_with_code_that_reads_them(
    program, read, fill, table, open_page, add_imputation
):
    fill(table)
    add_imputation(EM)
    app = open_page(PAGE)

    app.session_state["export:imputations_format"] = program
    app = without_errors(app.run())

    assert read in codes(app)[-1]


def test_names_that_other_programs_do_not_allow_are_told(fill, table, open_page, add_imputation):
    fill(table.rename(columns={"y": "body mass"}))
    add_imputation(EM)

    app = open_page(PAGE)
    app.session_state["export:imputations_format"] = "Stata"
    app = without_errors(app.run())

    assert "`body mass` is `body_mass`" in words(app)


def test_a_trained_model_can_be_exported(fill, table, open_page, add_imputation):
    fill(table)
    trained = add_imputation({"method": "pmae-mix", "params": QUICK}, kind="train", seed=5)
    assert "model" in downloads(without_errors(open_page(PAGE)))

    add_imputation({"model": trained.id}, seed=9)
    app = without_errors(open_page(PAGE))

    assert "model" in downloads(app)
    script, command = codes(app)
    assert "load_imputer('model.safetensors')" in script
    assert "--model model.safetensors" in command
    assert "default settings, and seed 5" in words(app)


def test_cells_left_missing_are_in_text_and_script(fill, table, open_page, add_imputation):
    fill(table)
    (finding,) = find_structural_missingness(table)
    add_imputation({"method": "em", "left_alone": [finding.to_dict()]})

    app = without_errors(open_page(PAGE))

    assert "Left missing on purpose: packs is missing in all" in words(app)
    (script,) = codes(app)
    assert "leave_alone(frame, findings)" in script
    assert "pmae impute cannot express cells that are left missing" in words(app)


def test_a_comparison_is_in_the_paragraph(fill, table, open_page, add_imputation, add_job):
    fill(table)
    add_imputation({"method": "em"})
    assert "Compare methods on this table" in words(open_page(PAGE))
    job = add_job("compare", {"methods": ["naive", "em"]}, JobState.SUCCEEDED, result={})
    comparison = compare(table, ["naive", "em"], seeds=[0, 1, 2])
    (job.folder / "result").mkdir()
    (job.folder / "result" / "comparison.json").write_text(comparison.to_json())

    app = without_errors(open_page(PAGE))

    assert "In a comparison of 2 methods over 3 seeds" in words(app)
    assert "the report of your comparison" in words(app)


def test_a_table_that_excel_cannot_hold(fill, table, open_page, add_imputation, monkeypatch):
    monkeypatch.setattr("dashboard.export.files.MOST_EXCEL_CELLS", 10)
    fill(table)
    add_imputation({"method": "naive"})

    app = without_errors(open_page(PAGE))
    assert not downloads(app)["table"].disabled

    app.session_state["export:table_format"] = "Excel"
    app = without_errors(app.run())

    assert downloads(app)["table"].disabled
    assert "takes many minutes to write" in words(app)


def test_other_roles_since_are_noticed(fill, table, open_page, add_imputation, workspace):
    fill(table)
    add_imputation({"method": "naive"})
    workspace.set_roles({"packs": "ignored"})

    assert "The role of `packs` has changed" in words(without_errors(open_page(PAGE)))


def test_the_choice_is_that_of_impute(fill, table, open_page, add_imputation):
    fill(table)
    first = add_imputation({"method": "naive"})
    add_imputation(EM)
    open_page("impute.py").selectbox(key="impute:imputation").select(first.id).run()

    app = without_errors(open_page(PAGE))

    assert app.selectbox(key="impute:imputation").value == first.id
    assert "make_imputer('naive'" in codes(app)[0]
