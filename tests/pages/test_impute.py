"""The Impute page in every state an imputation can be in."""

import json

import numpy as np
import pandas as pd
import pytest

from dashboard.impute import cells
from dashboard.runs import estimates
from pmae_core.evaluation import compare
from pmae_core.explain import find_structural_missingness
from pmae_core.imputers import make_imputer
from pmae_core.jobs import JobProgress, JobState
from pmae_core.jobs.engines import LocalEngine
from pmae_core.jobs.worker.answers import AnswerKeeper
from tests.support.seen import buttons, press, questions, shown, without_errors
from tests.support.seen import text as words

PAGE = "impute.py"
EM = {"method": "em", "imputations": 4}
QUICK = {"preset": "fast", "steps": 5, "device": "cpu"}


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    x = rng.normal(size=120)
    smoker = rng.choice(["yes", "no"], 120)
    frame = pd.DataFrame({"x": x, "y": 2 * x + 0.1 * rng.normal(size=120)})
    frame["kind"] = np.where(x > 0, "a", "b")
    frame["smoker"] = smoker
    frame["packs"] = np.where(smoker == "yes", rng.gamma(2.0, size=120), np.nan)
    frame.loc[::5, "y"] = np.nan
    frame.loc[2::5, "kind"] = None
    return frame


def view(app, name):
    app.session_state["impute:view"] = name
    return without_errors(app.run())


def popovers(app):
    return {block.proto.popover.label for block in app.get("popover")}


def marked_table(app):
    """Say whether the imputed table is shown."""
    return any("packs" in frame.value.columns for frame in app.dataframe)


# Before any run


def test_a_newcomer_can_impute_the_sample(open_page, store):
    app = without_errors(open_page(PAGE))

    assert {"Start imputation", "How long will it take?"} <= buttons(app)
    assert "The imputed table appears here" in words(app)


def test_without_a_store_the_page_makes_no_job(open_page, workspace):
    assert "The imputed table appears here" in words(without_errors(open_page(PAGE)))


def test_a_complete_table_has_nothing_to_impute(fill, table, open_page, store):
    fill(table.dropna().reset_index(drop=True))

    app = without_errors(open_page(PAGE))

    assert "This table has no missing values" in words(app)
    assert "Start imputation" not in buttons(app)


def test_columns_that_no_method_imputes_are_named_first(fill, table, open_page, store):
    fill(table.assign(nothing=np.nan))

    app = without_errors(open_page(PAGE))

    assert "Not imputed: `nothing` (none of its cells is observed)" in words(app)
    assert "Start imputation" in buttons(app)


def test_a_table_without_a_cell_to_impute_says_so(fill, open_page, store):
    fill(pd.DataFrame({"x": [1.0, 2.0, 3.5], "nothing": [np.nan] * 3}))

    app = without_errors(open_page(PAGE))

    assert "No missing value of this table can be imputed" in words(app)
    assert "Start imputation" not in buttons(app)


# Starting


def test_start_hands_in_what_is_set(fill, table, open_page, store, workspace):
    fill(table, name="mine.csv")
    app = open_page(PAGE)
    app.selectbox(key="impute:source").select("em").run()
    app.number_input(key="impute:n_imputations").set_value(3)
    app.number_input(key="impute:seed").set_value(7).run()

    app = without_errors(press(app, "Start imputation"))

    (job,) = store.jobs(workspace.id)
    assert job.name == "Expectation maximization on mine.csv, 3 imputations, seed 7"
    assert job.spec.params == {"method": "em", "params": {}, "imputations": 3, "left_alone": []}
    assert job.spec.seed == 7
    pd.testing.assert_frame_equal(store.get_table(job.spec.table, workspace.id), table)
    assert "Next in the queue" in words(app)


def test_a_second_run_is_shown_instead_of_the_chosen_one(
    fill, table, open_page, add_imputation, store, workspace
):
    fill(table)
    first = add_imputation({"method": "naive"})
    app = open_page(PAGE)
    app.selectbox(key="impute:imputation").select(first.id).run()

    app = without_errors(press(app, "Start imputation"))

    assert "Next in the queue" in words(app)


def test_as_many_imputations_as_a_rule_may_ask_for(fill, table, open_page, store, workspace):
    fill(table)
    app = open_page(PAGE)
    app.selectbox(key="impute:source").select("em").run()
    app.number_input(key="impute:n_imputations").set_value(200).run()

    without_errors(press(app, "Start imputation"))

    (job,) = store.jobs(workspace.id)
    assert job.spec.params["imputations"] == 200


def test_the_settings_fold_away_once_there_is_a_run(fill, table, open_page, add_imputation):
    fill(table)
    assert "Impute again" not in popovers(open_page(PAGE))

    add_imputation({"method": "naive"})

    assert "Impute again" in popovers(without_errors(open_page(PAGE)))


def test_a_method_with_a_single_imputation_makes_no_others(
    fill, table, open_page, store, workspace
):
    fill(table)
    app = open_page(PAGE)
    app.selectbox(key="impute:source").select("knn").run()

    assert "This method gives a single imputation" in words(app)
    without_errors(press(app, "Start imputation"))

    (job,) = store.jobs(workspace.id)
    assert job.spec.params["imputations"] == 0


def test_values_missing_by_design_can_be_left_missing(fill, table, open_page, store, workspace):
    fill(table)
    app = open_page(PAGE)
    (offer,) = app.checkbox
    assert "packs is missing in all" in offer.label.replace("\\", "")
    assert "where smoker is no" in offer.label.replace("\\", "")
    assert not offer.value
    app = offer.check().run()

    without_errors(press(app, "Start imputation"))

    (job,) = store.jobs(workspace.id)
    (left,) = job.spec.params["left_alone"]
    assert left["column"] == "packs"
    assert left["condition"]["column"] == "smoker"


def test_a_trained_model_of_this_table_comes_first(
    fill, table, open_page, add_imputation, store, workspace
):
    fill(table)
    trained = add_imputation({"method": "pmae-mix", "params": QUICK}, kind="train", name="my model")

    app = open_page(PAGE)
    assert app.selectbox(key="impute:source").options[0] == "Trained: my model"
    assert "already trained" in words(app)
    assert "How long will it take?" not in buttons(app)
    without_errors(press(app, "Start imputation"))

    job = store.jobs(workspace.id)[0]
    assert job.spec.params["model"] == trained.id


def test_a_model_of_another_table_is_not_offered(fill, table, open_page, add_job):
    fill(table)
    add_job("train", {"method": "pmae-mix"}, JobState.SUCCEEDED, name="of then", result={})
    fill(table.assign(x=table["x"] + 1))

    app = without_errors(open_page(PAGE))

    assert not any("of then" in name for name in app.selectbox(key="impute:source").options)


def test_the_cost_is_asked_for_the_method(fill, table, open_page, store, monkeypatch):
    asked = []
    monkeypatch.setattr(estimates, "start", asked.append)
    fill(table)
    app = open_page(PAGE)
    app.selectbox(key="impute:source").select("em").run()

    without_errors(press(app, "How long will it take?"))

    assert json.loads(asked[0].params) == {"method": "em"}


# Under way


def test_a_waiting_run(fill, table, open_page, add_job):
    fill(table)
    add_job("impute", EM, name="in the queue")

    app = without_errors(open_page(PAGE))

    assert "Next in the queue" in words(app)
    assert "Cancel" in buttons(app)
    assert not marked_table(app)


def test_a_running_imputation_can_be_cancelled(fill, table, open_page, add_job, store, monkeypatch):
    cancelled = []
    monkeypatch.setattr(LocalEngine, "cancel", lambda engine, job_id: cancelled.append(job_id))
    fill(table)
    progress = JobProgress(fraction=0.4, message="round 4 of 10", eta_seconds=12.0)
    job = add_job("impute", EM, JobState.RUNNING, progress=progress)

    app = without_errors(open_page(PAGE))
    assert "about 12 s left" in app.get("progress")[0].proto.text
    press(app, "Cancel")

    assert cancelled == [job.id]


@pytest.mark.parametrize("state", [JobState.CANCELLED, JobState.INTERRUPTED])
def test_what_was_broken_off_can_be_resumed(state, fill, table, open_page, add_job):
    fill(table)
    add_job("impute", EM, state)

    app = without_errors(open_page(PAGE))

    assert "Resume" in buttons(app)
    assert not marked_table(app)


def test_a_failed_run_says_why(fill, table, open_page, add_job):
    fill(table)
    add_job("impute", EM, JobState.FAILED, error="Too *few* rows.")

    app = open_page(PAGE)

    assert not app.exception
    assert "Too *few* rows." in words(app)
    assert "Resume" in buttons(app)


# Done: the table


def test_imputed_cells_are_marked_and_counted(fill, table, open_page, add_imputation):
    fill(table)
    add_imputation(EM)

    app = without_errors(open_page(PAGE))

    n_missing = int(table.isna().to_numpy().sum())
    assert f"**{n_missing} cells imputed by Expectation maximization** in" in words(app)
    assert "3 columns have imputed cells. 4 imputations are kept" in words(app)
    rows = shown(app, "packs")
    assert len(rows) == cells.ROWS_PER_PAGE
    assert rows.notna().all(axis=None)
    assert table.loc[rows.index].isna().any(axis=1).all()


def test_all_rows_can_be_paged_through(fill, table, open_page, add_imputation):
    fill(table)
    add_imputation({"method": "naive"})
    app = open_page(PAGE)

    app = app.toggle(key="impute:only_imputed").set_value(False).run()
    app = without_errors(app.number_input(key="impute:page").set_value(3).run())

    assert list(shown(app, "packs").index) == list(range(100, 120))


def test_the_details_of_a_cell(fill, table, open_page, add_imputation):
    fill(table)
    add_imputation({"method": "naive"})
    add_imputation(EM)
    app = open_page(PAGE)

    app.number_input(key="impute:row").set_value(5)
    app = without_errors(app.selectbox(key="impute:column").select("y").run())

    said = words(app)
    assert "y in row 5 is missing; Expectation maximization imputes" in said
    assert ", Mean / mode imputes" in said
    assert "of 4 imputations" in said
    assert "The most similar rows have" in said
    assert "Which values are plausible?" in questions(app)
    assert len(shown(app, "Distance")) == 5


def test_thin_support_is_a_warning(fill, open_page, add_imputation):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 8)), columns=list("abcdefgh"))
    frame.loc[0, list("abcdefg")] = np.nan
    frame.loc[:5, "a"] = np.nan
    fill(frame)
    add_imputation({"method": "naive"})
    app = open_page(PAGE)

    app.number_input(key="impute:row").set_value(0)
    app = without_errors(app.selectbox(key="impute:column").select("a").run())

    assert any("Little information here" in warning.value for warning in app.warning)


def test_a_chosen_cell_and_view_survive_a_reload(fill, table, open_page, add_imputation):
    fill(table)
    add_imputation(EM)
    app = open_page(PAGE)
    app.number_input(key="impute:row").set_value(12).run()
    app.selectbox(key="impute:column").select("kind").run()

    again = without_errors(open_page(PAGE))

    assert "kind in row 12 is missing" in words(again)


def test_what_stays_missing_is_told(fill, table, open_page, add_imputation):
    fill(table.assign(nothing=np.nan))
    (finding,) = find_structural_missingness(table)
    add_imputation({"method": "naive", "left_alone": [finding.to_dict()]})

    app = without_errors(open_page(PAGE))

    assert "cells left missing, as you chose" in words(app)
    assert "because they cannot be learned: `nothing`" in words(app)


def test_a_run_that_imputed_nothing_marks_nothing(fill, table, open_page, add_imputation):
    fill(table.dropna().reset_index(drop=True))
    add_imputation({"method": "naive"})

    app = without_errors(open_page(PAGE))

    assert "No cell was imputed" in words(app)


def test_a_training_that_imputed_its_table_is_an_imputation(fill, table, open_page, add_imputation):
    fill(table)
    add_imputation({"method": "pmae-mix", "params": QUICK}, kind="train", name="my training")

    app = without_errors(open_page(PAGE))

    (option,) = app.selectbox(key="impute:imputation").options
    assert option.startswith("my training")
    assert "imputed by PMAE" in words(app)


def test_files_that_are_gone_are_a_sentence(fill, table, open_page, add_imputation):
    fill(table)
    job = add_imputation(EM)
    (job.folder / "result" / "imputed.parquet").unlink()

    app = open_page(PAGE)

    assert not app.exception
    assert "There is no result imputed.parquet" in words(app)


# Which table


def test_imputations_are_not_mixed_up(fill, table, open_page, add_imputation):
    fill(table)
    first = add_imputation({"method": "naive"}, name="the same name")
    second = add_imputation(EM, name="the same name")
    app = open_page(PAGE)
    choice = app.selectbox(key="impute:imputation")
    assert choice.value == second.id
    assert len(set(choice.options)) == 2

    app = without_errors(choice.select(first.id).run())

    assert "imputed by Mean / mode" in words(app)
    assert "kept in addition" not in words(app)


def test_other_roles_since_are_noticed(fill, table, open_page, add_imputation, workspace):
    fill(table)
    add_imputation({"method": "naive"})
    workspace.set_roles({"packs": "ignored"})

    app = without_errors(open_page(PAGE))

    assert "The role of `packs` has changed since this run" in words(app)


def test_other_sentinels_since_are_noticed(fill, table, open_page, add_imputation, workspace):
    fill(table)
    add_imputation({"method": "naive"})
    workspace.set_sentinels({"smoker": ["no"]})

    app = without_errors(open_page(PAGE))

    assert "Other cells count as missing since this run" in words(app)
    assert shown(app, "packs")["smoker"].isin(["yes", "no"]).all()


def test_an_imputation_of_another_table_is_called_so(fill, table, open_page, add_imputation):
    fill(table)
    add_imputation({"method": "naive"})
    fill(table.drop(columns="x"))

    app = without_errors(open_page(PAGE))

    assert "This run used a different table" in words(app)
    assert "x" in shown(app, "packs").columns


# Columns


def test_without_a_comparison_the_page_says_where_to_get_one(
    fill, table, open_page, add_imputation
):
    fill(table)
    add_imputation(EM)

    app = view(open_page(PAGE), "Columns to trust")

    assert "No method is scored on held-out cells of this table yet" in words(app)
    notes = shown(app, "Note")
    assert list(notes["Column"]) == ["y", "kind", "packs"]
    assert set(notes["Note"]) == {"Not scored yet."}
    assert "Do imputed values look like observed ones?" in questions(view(app, "Distribution"))


def test_a_comparison_says_what_not_to_trust(fill, table, open_page, add_imputation, add_job):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"x": table["x"], "y": table["y"], "noise": rng.normal(size=120)})
    frame.loc[1::5, "noise"] = np.nan
    fill(frame)
    add_imputation(EM)
    params = {"methods": ["naive", "em"], "seeds": [0, 1, 2]}
    job = add_job("compare", params, JobState.SUCCEEDED, result={})
    comparison = compare(frame, ["naive", "em"], seeds=[0, 1, 2])
    (job.folder / "result").mkdir()
    (job.folder / "result" / "comparison.json").write_text(comparison.to_json())

    app = view(open_page(PAGE), "Columns to trust")

    notes = shown(app, "Note").set_index("Column")["Note"]
    assert notes["noise"] == "Caution: no method is shown to beat the mean on held-out cells."
    assert "1 column needs care" in words(app)
    assert "No method is scored" not in words(app)
    assert "**1 column to read with care**" in words(app)
    assert not any("Caution" in warning.value for warning in app.warning)
    app.number_input(key="impute:row").set_value(1)
    app = without_errors(app.selectbox(key="impute:column").select("noise").run())
    assert any("`noise`: Caution" in warning.value for warning in app.warning)


@pytest.mark.parametrize(("column", "is_category"), [("y", False), ("kind", True), ("vip", True)])
def test_only_categories_can_be_confused(
    column, is_category, fill, table, open_page, add_imputation
):
    fill(table.assign(vip=pd.array([True, False, None] * 40, dtype="boolean")))
    add_imputation({"method": "naive"})
    app = view(open_page(PAGE), "Distribution")

    app = without_errors(app.selectbox(key="impute:looked_at").select(column).run())

    assert ("Which categories are confused?" in questions(app)) == is_category


def test_held_out_categories_against_imputed_ones(fill, table, open_page, add_imputation, add_job):
    fill(table)
    add_imputation(EM)
    app = view(open_page(PAGE), "Distribution")
    app = without_errors(app.selectbox(key="impute:looked_at").select("kind").run())
    assert "Which categories are confused?" in questions(app)
    assert "No method is scored on held-out cells" in words(app)

    job = add_job("compare", {"methods": ["naive", "em"]}, JobState.SUCCEEDED, result={})
    (job.folder / "result").mkdir()
    comparison = compare(table, ["naive", "em"], seeds=[0, 1]).to_json()
    (job.folder / "result" / "comparison.json").write_text(comparison)
    app = view(open_page(PAGE), "Distribution")

    assert "Expectation maximization imputed the true category in" in words(app)
    counts = shown(app, "a")
    assert set(counts.index) == set(counts.columns) == {"a", "b"}


# What if


def test_a_shift_of_the_missing_ones(fill, table, open_page, add_imputation):
    fill(table)
    add_imputation(EM)
    app = view(open_page(PAGE), "What-if shift")

    assert "How far may imputed values be off before the conclusion changes?" in questions(app)
    assert "confidence interval of the mean of y" in words(app)
    assert "pooled over 4 imputations by Rubin's rules" in words(app)
    assert "too narrow" not in words(app)  # those of this method are proper
    before = words(app)

    app = without_errors(app.slider(key="impute:delta").set_value(2.0).run())

    assert "Shifted by +2.0 standard deviations" in words(app)
    assert words(app) != before


@pytest.mark.parametrize("kind", ["correlation", "slope"])
def test_conclusions_of_two_columns(kind, fill, table, open_page, add_imputation):
    fill(table)
    add_imputation({"method": "naive"})
    app = view(open_page(PAGE), "What-if shift")

    app = without_errors(app.selectbox(key="impute:conclusion").select(kind).run())

    assert f"confidence interval of the {kind} of y" in words(app)
    assert "so it is too narrow" in words(app)


def test_a_table_of_texts_has_nothing_to_shift(fill, open_page, add_imputation):
    fill(pd.DataFrame({"a": ["x", "y", None] * 20, "b": ["u", "v", "u"] * 20}))
    add_imputation({"method": "naive"})

    app = view(open_page(PAGE), "What-if shift")

    assert "No numerical column has imputed cells" in words(app)


# Text of users stays text


def test_markup_in_names_and_cells_is_shown_as_text(fill, table, open_page, add_imputation):
    nasty = "<b>**y**</b> $x$"
    fill(table.rename(columns={"y": nasty}), name="*my* table")
    add_imputation(EM)
    app = open_page(PAGE)

    app.number_input(key="impute:row").set_value(5)
    app = without_errors(app.selectbox(key="impute:column").select(nasty).run())

    said = "\n".join(element.value for element in app.markdown)
    assert "**y**" not in said
    assert nasty in words(app)
    view(app, "What-if shift")
    view(app, "Columns to trust")


# A blend


BLEND = {"method": "pmae", "params": {"preset": "fast", "n_trees": 5}}


def test_a_blend_says_which_member_counts(fill, table, open_page, add_imputation):
    fill(table)
    add_imputation(BLEND)

    app = view(open_page(PAGE), "Members")

    assert "Which member counts in each column?" in questions(app)
    assert "The figure shows" not in words(app)


def test_a_blend_of_a_wide_table_shows_the_columns_with_most_missing_cells(
    fill, open_page, add_imputation
):
    rng = np.random.default_rng(0)
    wide = pd.DataFrame(rng.normal(size=(60, 34))).rename(columns="c{}".format)
    fill(wide.mask(rng.random(wide.shape) < 0.1))
    add_imputation({"method": "pmae", "params": {"members": ["gaussian"]}})

    app = view(open_page(PAGE), "Members")

    assert "The figure shows the 30 of 34 columns with the most missing cells" in words(app)


def test_other_methods_have_no_members(fill, table, open_page, add_imputation):
    fill(table)
    add_imputation(EM)

    app = without_errors(open_page(PAGE))

    assert "Members" not in app.segmented_control(key="impute:view").options


def leave_answer(job, frame, members=("gaussian",)):
    """Write the answer of a run that goes on into its folder, as a worker does."""
    imputer = make_imputer("pmae", members=list(members), n_trees=3, random_state=0)
    keep = AnswerKeeper(imputer, frame, None, job.folder)
    imputer.fit(frame, callbacks=[keep])


def test_a_first_answer_is_offered_while_the_run_goes_on(fill, table, open_page, add_job):
    table = pd.concat([table] * 4, ignore_index=True)  # enough cells to hold some out
    fill(table)
    job = add_job("impute", BLEND, JobState.RUNNING)
    leave_answer(job, table)

    app = without_errors(open_page(PAGE))
    assert "A first answer is ready: Gaussian, skill " in words(app)
    assert not marked_table(app)

    app = without_errors(press(app, "Show it"))
    assert "imputed by an early answer** (Gaussian, skill " in words(app)
    assert marked_table(app)
    assert "is ready" not in words(app)

    leave_answer(job, table, ("gaussian", "trees"))
    app = without_errors(app.run())
    assert "imputed by an early answer** (Gaussian and trees, skill " in words(app)
    assert "is ready" not in words(app)


def test_a_cancelled_run_offers_its_last_answer(fill, table, open_page, add_job):
    fill(table)
    job = add_job("impute", BLEND, JobState.CANCELLED)
    leave_answer(job, table, ("gaussian", "trees"))

    app = without_errors(open_page(PAGE))
    assert "The run was cancelled. Its last answer is available: Gaussian and trees." in words(app)

    app = without_errors(press(app, "Use its last answer"))
    assert "imputed by an early answer** (Gaussian and trees)" in words(app)
    assert "Use its last answer" not in buttons(app)
    assert "Which member counts in each column?" in questions(view(app, "Members"))


def test_a_cancelled_run_without_an_answer_offers_none(fill, table, open_page, add_job):
    fill(table)
    add_job("impute", BLEND, JobState.CANCELLED)

    assert "Use its last answer" not in buttons(without_errors(open_page(PAGE)))
