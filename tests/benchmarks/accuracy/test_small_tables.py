import json

import pandas as pd
import pytest

from benchmarks.accuracy import small_tables
from benchmarks.accuracy.small_tables import far_from_paper, main, mean_ranks, parse
from pmae_core.errors import ImputationError


@pytest.fixture
def tidy():
    rows = [
        # dataset, method, done, rank, ours, paper
        ("a", "good", 3, 1, 30.0, 31.0),
        ("a", "tied", 3, 1, 29.0, 20.0),
        ("a", "failing", 2, 3, 99.0, None),
        ("b", "good", 3, 1, 40.0, 38.0),
        ("b", "tied", 3, 2, 30.0, 25.0),
        ("b", "failing", 0, None, None, None),
    ]
    columns = [
        *("dataset", "method", "n_done", "rank", "imputation_accuracy_x100", "paper_x100"),
    ]
    return pd.DataFrame(rows, columns=columns).assign(pattern="general", n_seeds=3)


def test_mean_ranks_with_and_without_ties(tidy):
    good, tied, failing = mean_ranks(tidy)
    assert (good["method"], good["mean_rank"], good["mean_rank_with_ties"]) == ("good", 1, 1)
    assert (tied["method"], tied["mean_rank"], tied["mean_rank_with_ties"]) == ("tied", 2, 1.5)
    assert (failing["method"], failing["mean_rank"], failing["n_tables"]) == ("failing", 3, 0)


def test_methods_far_from_the_paper_are_named(tidy):
    (far,) = far_from_paper(tidy)
    assert (far["method"], far["difference"], far["why"]) == ("tied", 7.0, "Not known.")


def test_a_quick_run_writes_figures_beside_the_papers_and_resumes(tmp_path, capsys):
    arguments = [
        *("--quick", "--methods", "naive,em", "--results-dir", str(tmp_path / "tasks")),
        *("--output", str(tmp_path / "out.csv")),
    ]
    assert main(arguments) == 0
    assert "diabetes, general, em, seed 0" in capsys.readouterr().out
    rows = pd.read_csv(tmp_path / "out.csv").set_index("method")
    assert rows.loc["naive", "paper_x100"] == 6.2
    assert (
        rows.loc["em", "imputation_accuracy_x100"] > rows.loc["naive", "imputation_accuracy_x100"]
    )
    result = json.loads((tmp_path / "out.json").read_text())
    assert "--quick" in result["command"]
    assert [row["method"] for row in result["mean_ranks"]] == ["em", "naive"]
    assert main(arguments) == 0
    assert "seed 0" not in capsys.readouterr().out


def test_tasks_kept_beside_the_results_are_not_run_again(tmp_path, capsys):
    def arguments(folder: str, *more: str) -> list[str]:
        output = ("--output", str(tmp_path / "out.csv"))
        tasks = ("--results-dir", str(tmp_path / folder))
        return ["--quick", "--methods", "naive,em", *tasks, *output, *more]

    assert main(arguments("here")) == 0
    before = pd.read_csv(tmp_path / "out.csv")
    capsys.readouterr()
    assert main(arguments("elsewhere", "--anew", "em")) == 0
    told = capsys.readouterr().out
    assert "em, seed 0" in told
    assert "naive, seed 0" not in told
    after = pd.read_csv(tmp_path / "out.csv")
    scores = ["method", "rank", "tie_group", "imputation_accuracy_x100", "rmse"]
    pd.testing.assert_frame_equal(before[scores], after[scores])


def test_a_method_without_a_result_keeps_its_row(tmp_path, monkeypatch):
    from pmae_core.imputers.classic.naive import NaiveImputer

    def refuse(*_, **__):
        raise ImputationError("Not on a Sunday.")

    monkeypatch.setattr(NaiveImputer, "fit", refuse)
    output = tmp_path / "out.csv"
    arguments = ["--quick", "--results-dir", str(tmp_path / "tasks"), "--output", str(output)]
    assert main([*arguments, "--methods", "naive,em"]) == 0
    rows = pd.read_csv(output).set_index("method")
    assert "Not on a Sunday." in rows.loc["naive", "remark"]
    ranks = json.loads(output.with_suffix(".json").read_text())["mean_ranks"]
    assert [(row["method"], row["mean_rank"]) for row in ranks] == [("em", 1), ("naive", 2)]
    assert main([*arguments, "--methods", "naive"]) == 1


def test_a_smoke_run_does_not_touch_the_results():
    assert parse(["--quick"]).output.parent != parse([]).output.parent
    assert parse([]).output == small_tables.ROOT / "benchmarks" / "results" / "small_tables.csv"
