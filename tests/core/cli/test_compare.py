"""``pmae compare``, from the command to the files."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pmae_core.table import write_table
from tests.support import shell


def run(*args: object, code: int = 0):
    return shell.run("compare", *args, code=code)


@pytest.fixture(scope="module")
def complete() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    x = rng.normal(size=120).round(3)
    noise = rng.normal(size=120).round(3)
    return pd.DataFrame({"x": x, "y": (2 * x + 0.1 * noise).round(3), "noise": noise[::-1]})


@pytest.fixture(scope="module")
def folder(tmp_path_factory, complete) -> Path:
    folder = tmp_path_factory.mktemp("tables")
    incomplete = complete.mask(np.random.default_rng(1).random(complete.shape) < 0.15)
    write_table(incomplete, folder / "survey.csv")
    write_table(complete, folder / "complete.csv")
    return folder


def test_prints_a_table_and_writes_the_files(folder, tmp_path):
    output = tmp_path / "out"
    args = (folder / "survey.csv", "--methods", "em,naive", "--seeds", 3, "--output", output)
    result = run(*args, "--budget", "10m")
    lines = [line.split() for line in result.stdout.splitlines()]
    ranks = {line[1]: line[0] for line in lines if len(line) > 1 and line[1] in ("em", "naive")}
    assert ranks == {"em": "1", "naive": "2"}
    assert "6 of 6: " in result.stderr
    assert "report.html" in result.stderr
    assert "No method is shown to beat the mean in noise." in result.stdout
    assert len(pd.read_csv(output / "results.csv")) == 6
    assert set(pd.read_csv(output / "per_column.csv")["column"]) == {"x", "y", "noise"}
    assert json.loads((output / "comparison.json").read_text())["settings"]["seeds"] == [0, 1, 2]
    assert (output / "report.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")

    again = run(*args, "--json")
    assert json.loads(again.stdout) == json.loads((output / "comparison.json").read_text())
    other = run(*args[:3], "--output", output, "--share", 0.3, code=1)
    assert "another comparison" in " ".join(other.stderr.split())


def test_options_reach_the_comparison(folder, monkeypatch):
    from pmae_core.evaluation import comparing

    seen = {}

    def spy(frame, methods, **kwargs):
        seen.update(kwargs, columns=list(frame.columns), methods=methods)
        raise comparing.ScoringError("Seen enough.")

    monkeypatch.setattr(comparing, "compare", spy)
    run(
        *(folder / "complete.csv", "--methods", "pmae-mix, naive", "--seeds", 2, "--jobs", 2),
        *("--pattern", "general", "--mechanism", "MAR", "--coupling", "independent"),
        *("--param", "pmae-mix.loss=paper", "--param", "pmae-mix.steps=7"),
        *("--budget", "1h30m", "--method-budget", "1.5m", "--target", "noise"),
        *("--role", "x=categorical", "--retry-failed", "--imputations", 7, "--i-score"),
        code=1,
    )
    del seen["callbacks"]
    assert seen == {
        "columns": ["x", "y", "noise"],
        "methods": ["pmae-mix", "naive"],
        "seeds": range(2),
        "schema": {"x": "categorical"},
        "amputation": {"pattern": "general", "mechanism": "MAR", "coupling": "independent"},
        "holdout_share": 0.1,
        "truth": None,
        "target": "noise",
        "method_params": {"pmae-mix": {"loss": "paper", "steps": 7}},
        "budget_seconds": 5400.0,
        "method_budget_seconds": 90.0,
        "results_dir": None,
        "retry_failed": True,
        "n_jobs": 2,
        "imputations": 7,
        "i_score": True,
    }


def test_a_known_truth_scores_the_missing_cells(folder):
    result = run(
        *(folder / "survey.csv", "--truth", folder / "complete.csv"),
        *("--methods", "naive", "--seeds", 1, "--json", "--quiet"),
    )
    assert result.stderr == ""
    settings = json.loads(result.stdout)["settings"]
    assert settings["holdout"] == "known-truth"


def test_failures_are_reported(folder, monkeypatch):
    from pmae_core.errors import ImputationError
    from pmae_core.imputers.base import BaseImputer

    def refuse(*_, **__):
        raise ImputationError("Not on a Sunday.")

    monkeypatch.setattr(BaseImputer, "fit", refuse)
    result = run(folder / "survey.csv", "--methods", "naive", "--seeds", 2, code=1)
    assert "Not on a Sunday." in result.stdout
    assert "No method gave a result" in result.stderr


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        (["--methods", "magic"], "magic"),
        (["--methods", "naive", "--param", "naive.magic=1"], "magic"),
        (["--methods", "naive", "--target", "magic"], "magic"),
        (["--methods", "naive", "--role", "magic=ignored"], "magic"),
    ],
)
def test_what_cannot_work_is_one_sentence(folder, args, reason):
    result = run(folder / "survey.csv", *args, code=1)
    assert result.stderr.startswith("Error: ")
    assert reason in result.stderr


@pytest.mark.parametrize(
    "args",
    [
        [],
        ["--methods", " , "],
        ["--methods", "naive", "--budget", "soon"],
        ["--methods", "naive", "--budget", "0s"],
        ["--methods", "naive", "--param", "steps=3"],
        ["--methods", "naive", "--role", "x"],
        ["--methods", "naive", "--share", "0.9"],
        ["--methods", "naive", "--share", "0.2", "--pattern", "general"],
        ["--methods", "naive", "--seeds", "0"],
    ],
)
def test_wrong_usage_exits_with_2(folder, args):
    run(folder / "survey.csv", *args, code=2)


def test_random_imputations_are_scored_and_can_rank(folder):
    args = (folder / "survey.csv", "--methods", "naive,em", "--seeds", 1)
    text = " ".join(run(*args, "--imputations", 4, "--rank-by", "crps").stdout.split())
    assert "crps" in text
    assert "intervals from 4 imputations; perfect ones reach 60%" in text
    assert "Scored as point masses: naive." in text
    silent = run(*args, "--imputations", 0).stdout
    assert "Coverage" not in silent
    assert "Skill" in silent


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--rank-by", "beauty"), "cannot be ranked by 'beauty'"),
        (("--rank-by", "crps", "--imputations", 0), "--imputations must be positive"),
        (("--rank-by", "i_score"), "add --i-score"),
    ],
)
def test_a_score_that_nothing_will_have_is_refused_at_once(folder, options, sentence):
    failed = run(folder / "survey.csv", "--methods", "naive", *options, code=1)
    assert sentence in " ".join(failed.stderr.split())
