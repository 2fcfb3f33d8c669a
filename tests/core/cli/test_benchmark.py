"""``pmae benchmark``, from the command to the files."""

import json

import pytest
from typer.testing import CliRunner

from pmae_core.cli.app import app
from pmae_core.errors import ImputationError
from pmae_core.imputers.classic.naive import NaiveImputer

SMALL = ["--datasets", "diabetes", "--patterns", "general", "--seeds", "1", "--max-rows", "150"]


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PMAE_ENGINE", raising=False)

    def invoke(*arguments):
        return CliRunner().invoke(app, ["benchmark", *arguments], terminal_width=100)

    return invoke


def results(tmp_path, name="table2"):
    return json.loads((tmp_path / "benchmarks" / "results" / f"paper_{name}.json").read_text())


def test_results_have_rows_and_how_they_came_about(run, tmp_path):
    outcome = run("table2", *SMALL, "--methods", "naive,em", "--tasks-dir", str(tmp_path / "t"))
    assert outcome.exit_code == 0, outcome.output
    assert "diabetes, general, em, seed 0: " in outcome.stderr
    assert "2 of 2 tasks gave a result" in outcome.stderr
    content = results(tmp_path)
    (made,) = content["runs"]
    assert made["command"] == (
        "pmae benchmark table2 --datasets diabetes --patterns general --methods naive,em "
        "--seeds 1 --max-rows 150"
    )
    assert made["settings"]["max_rows"] == 150
    assert made["settings"]["budget_seconds"] == 900
    assert {"pmae", "python", "torch"} <= set(made["versions"])
    assert [row["method"] for row in content["rows"]] == ["em", "naive"]


def test_the_second_time_nothing_is_run(run, tmp_path):
    arguments = ["table2", *SMALL, "--methods", "naive"]
    assert "seed 0" in run(*arguments).stderr
    again = run(*arguments)
    assert "seed 0" not in again.stderr
    assert "1 of 1 task gave a result" in again.stderr


def test_several_experiments_and_settings_of_methods(run, tmp_path):
    tiny = [f"--param=pmae-trf.{name}" for name in ("steps=2", "encoder_depth=1", "width=8")]
    outcome = run("grid", "mixing", *SMALL, "--methods", "pmae-trf", "--a", "0.1", "--b=0.4", *tiny)
    assert outcome.exit_code == 0, outcome.output
    (row,) = results(tmp_path, "grid")["rows"]
    assert (row["a"], row["b"], row["preset"]) == (0.1, 0.4, "paper-steps")
    assert results(tmp_path, "mixing")["rows"][0]["block"] == 1


@pytest.mark.parametrize(
    ("arguments", "exit_code", "words"),
    [
        (["table9"], 2, "no experiment 'table9'"),
        (["table2", "--full", "--max-rows", "200"], 2, "no limit on rows"),
        (["grid", "--a", "much"], 2, "is not a list of numbers"),
        (["table2", "--budget", "soon"], 2, "is not a time"),
        (["table2", "--datasets", "titanic"], 1, "no dataset 'titanic'"),
    ],
)
def test_wrong_usage_is_refused_before_anything_runs(run, tmp_path, arguments, exit_code, words):
    outcome = run(*arguments)
    assert outcome.exit_code == exit_code
    assert words in " ".join(outcome.stderr.replace("│", " ").split())
    assert not list(tmp_path.iterdir())


def test_no_result_at_all_is_an_error(run, tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise ImputationError("Not on a Sunday.")

    monkeypatch.setattr(NaiveImputer, "fit", refuse)
    outcome = run("table2", *SMALL, "--methods", "naive")
    assert outcome.exit_code == 1
    assert "naive, seed 0: Not on a Sunday." in outcome.stderr
    assert "No task gave a result" in outcome.stderr
    assert results(tmp_path)["rows"][0]["status"] == "failed"


def test_ray_is_asked_for_a_pool(run, monkeypatch):
    from contextlib import contextmanager

    from pmae_core.evaluation.tasks import run_task
    from pmae_core.jobs.engines import ray_cluster, ray_tasks

    class Here:
        def run(self, next_task):
            while (task := next_task()) is not None:
                yield run_task(task)

    connections = []

    @contextmanager
    def connect():
        connections.append("ray")
        yield

    monkeypatch.setattr(ray_cluster, "connected", connect)
    monkeypatch.setattr(ray_tasks, "RayTaskPool", Here)
    outcome = run("table2", *SMALL, "--methods", "naive", "--engine", "ray")
    assert outcome.exit_code == 0, outcome.output
    assert connections == ["ray"]
