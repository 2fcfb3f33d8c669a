import json

import pytest

from pmae_core.errors import (
    AmputationError,
    Cancelled,
    DatasetUnavailableError,
    ImputationError,
)
from pmae_core.evaluation.downstream import BEFORE_THE_SPLIT, INDUCTIVE
from pmae_core.imputers.classic.naive import NaiveImputer
from pmae_core.replication import EXPERIMENTS, Selection
from pmae_core.replication.run import Cell, RowsFinished, cells_of

NOT_ABLATIONS = ("downstream", "downstream-split", "mixing", "mechanisms")
ABLATION = [name for name in EXPERIMENTS if name not in NOT_ABLATIONS]


@pytest.mark.parametrize("name", ABLATION)
def test_an_experiment_gives_a_row_for_each_variant_and_seed(name, runner, plan_of):
    methods = {"table2": ["naive", "pmae-mix"], "grid": ["pmae-trf"]}.get(name)
    plan = plan_of(name, methods=methods, a=[0.0, 0.05], b=[0.5])
    table = runner.run(plan).table()
    assert table["status"].unique().tolist() == ["done"]
    assert len(table) == plan.n_tasks == len(plan.variants)
    assert set(table["variant"]) == {variant.label for variant in plan.variants}
    assert table["imputation_accuracy"].between(0, 1).all()
    assert table["n_rows"].unique().tolist() == table["max_rows"].unique().tolist() == [150]
    assert table["coupling"].unique().tolist() == ["nested"]


def test_mechanisms_share_the_cells_of_table_2(runner, plan_of):
    runner.run(plan_of("table2", methods=["naive"], patterns=["monotone"]))
    heard = []
    runner.callbacks = (heard.append,)
    table = runner.run(plan_of("mechanisms", methods=["naive"], patterns=["monotone"])).table()
    assert sorted(table["mechanism"]) == ["MAR", "MCAR", "MNAR"]
    assert {e.rows[0]["mechanism"]: e.from_disk for e in heard} == {
        "MCAR": False,
        "MAR": False,
        "MNAR": True,
    }


def test_downstream_predicts_labels_from_the_filled_table(runner, plan_of):
    plan = plan_of("downstream", methods=["naive", "em"], max_rows=None)
    table = runner.run(plan).table().set_index("method")
    assert table["downstream_metric"].unique().tolist() == ["r2"]
    means = table[["downstream_linear", "downstream_boosting"]].mean(axis=1)
    assert table["downstream"].tolist() == pytest.approx(means.tolist(), abs=1e-5)
    assert table.loc["em", "downstream"] > 0
    again = runner.run(plan).table().set_index("method")
    assert again["downstream"].tolist() == table["downstream"].tolist()
    assert set(table["downstream_how"]) == {BEFORE_THE_SPLIT}
    content = json.loads((runner.results_dir / "paper_downstream.json").read_text())
    assert "imputers see the features of test rows" in content["note"]


def test_labels_are_also_predicted_with_the_rows_split_first(runner, plan_of):
    plan = plan_of("downstream-split", methods=["naive", "em"], max_rows=None)
    table = runner.run(plan).table().set_index("method")
    assert set(table["downstream_how"]) == {INDUCTIVE}
    assert table.loc["em", "downstream"] > 0


def test_mixing_looks_at_each_column_before_and_after_each_block(runner, plan_of):
    plan = plan_of("mixing")
    table = runner.run(plan).table()
    assert set(table["architecture"]) == {"mixer", "transformer"}
    assert table.groupby(["architecture", "block"]).size().tolist() == [10, 10]
    for _, block in table.groupby(["architecture", "block"]):
        assert block["before"].mean() == pytest.approx(1, abs=1e-4)
        assert block["after"].mean() == pytest.approx(1, abs=1e-4)
        assert (block["before"] != block["after"]).any()
    heard = []
    runner.callbacks = (heard.append,)
    runner.run(plan)
    assert [event.from_disk for event in heard] == [True, True]


def test_a_network_without_time_is_a_row_that_says_so(runner, plan_of):
    table = runner.run(plan_of("mixing", methods=["pmae-trf"], budget_seconds=1e-9)).table()
    assert table["status"].tolist() == ["stopped"]
    assert "time budget" in table["error"][0]


def test_the_same_plan_goes_on_where_it_was_stopped(runner, plan_of):
    plan = plan_of("table2", methods=["naive", "em"], patterns=["general", "monotone"])
    heard = []
    runner.callbacks = (heard.append,)
    runner.cancel = lambda: len(heard) >= 3
    with pytest.raises(Cancelled):
        runner.run(plan)
    saved = json.loads((runner.results_dir / "paper_table2.json").read_text())
    assert len(saved["rows"]) == 3
    runner.cancel = lambda: False
    heard.clear()
    assert len(runner.run(plan).table()) == 4
    assert [event.from_disk for event in heard] == [True, True, True, False]


def test_progress_counts_and_guesses_the_rest(runner, plan_of):
    heard = []
    runner.callbacks = (heard.append,)
    runner.run(plan_of("table2", methods=["naive", "em"], seeds=2))
    assert all(isinstance(event, RowsFinished) for event in heard)
    assert [event.n_done for event in heard] == [1, 2, 3, 4]
    assert heard[0].eta_seconds > 0
    assert heard[-1].eta_seconds == 0


def test_a_method_that_fails_is_a_row_with_its_reason(runner, plan_of, monkeypatch):
    def refuse(*_, **__):
        raise ImputationError("Not on a Sunday.")

    plan = plan_of("table2", methods=["naive", "em"])
    with monkeypatch.context() as patched:
        patched.setattr(NaiveImputer, "fit", refuse)
        table = runner.run(plan).table().set_index("method")
    assert table["status"].to_dict() == {"naive": "failed", "em": "done"}
    assert table.loc["naive", "error"] == "Not on a Sunday."
    assert runner.run(plan).table()["status"].tolist() == ["done", "failed"]
    runner.retry_failed = True
    assert runner.run(plan).table()["status"].tolist() == ["done", "done"]


def test_a_table_that_is_not_there_is_a_row_for_each_task(runner, plan_of, monkeypatch):
    def nowhere(*_, **__):
        raise DatasetUnavailableError("The server does not answer.")

    monkeypatch.setattr("pmae_core.replication.run.benchmark_table", nowhere)
    table = runner.run(plan_of("table2", methods=["naive", "em"])).table()
    assert table["status"].tolist() == ["failed", "failed"]
    assert table["error"].unique().tolist() == ["The server does not answer."]


def test_holes_that_cannot_be_made_are_rows_with_the_reason(runner, plan_of, monkeypatch):
    def refuse(*_, **__):
        raise AmputationError("No column can have holes.")

    monkeypatch.setattr("pmae_core.evaluation.holdout.ampute", refuse)
    (row,) = runner.run(plan_of("table2", methods=["naive"])).table().to_dict(orient="records")
    assert (row["status"], row["error"]) == ("failed", "No column can have holes.")
    assert row["n_rows"] == 150


def test_a_cap_counts_only_for_larger_tables():
    def caps(max_rows):
        plan = EXPERIMENTS["table2"].plan(
            Selection(datasets=["diabetes", "adult"], patterns=["general"], max_rows=max_rows)
        )
        return {cell.name for cell in cells_of(plan)}

    assert caps(10_000) == {"diabetes-general", "adult-general-rows10000"}
    assert caps(None) == {"diabetes-general", "adult-general"}
    assert Cell("wine", "monotone", "MAR", 100).name == "wine-monotone-MAR-rows100"


def test_tasks_run_in_processes_of_their_own_give_the_same(runner, plan_of, tmp_path):
    plan = plan_of("table2", methods=["naive", "em"])
    here = runner.run(plan).table()
    runner.tasks_dir, runner.results_dir = tmp_path / "other", tmp_path / "others"
    runner.n_jobs = 2
    there = runner.run(plan).table()
    names = ["variant", "imputation_accuracy", "energy_distance"]
    assert here[names].equals(there[names])
