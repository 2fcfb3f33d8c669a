"""``pmae score``."""

import json

import pandas as pd
import pytest

from pmae_core.table import write_table
from tests.support.shell import run


@pytest.fixture
def scored(tmp_path):
    truth = pd.DataFrame({"x": [0.0, 1.0, 2.0, 3.0], "y": ["a", "b", "a", "b"]})
    imputed = truth.assign(x=[0.0, 1.0, 2.0, 2.0], y=["b", "b", "a", "b"])
    missing = pd.DataFrame({"x": [True, False, False, True], "y": [True, False, False, True]})
    write_table(truth, tmp_path / "truth.csv")
    write_table(imputed, tmp_path / "imputed.csv")
    write_table(missing, tmp_path / "missing.csv")
    write_table(truth.mask(missing), tmp_path / "incomplete.csv")
    return tmp_path


@pytest.mark.parametrize("missing", ["missing.csv", "incomplete.csv"])
def test_score_as_json(scored, missing):
    result = run(
        "score",
        *(scored / "truth.csv", scored / "imputed.csv"),
        "--missing",
        scored / missing,
        "--json",
    )
    score = json.loads(result.stdout)
    assert score["overall"]["r2"] == pytest.approx(1 - 1 / 4.5)
    assert score["overall"]["accuracy"] == pytest.approx(0.5)
    assert score["per_column"]["y"]["rmse"] is None


def test_score_as_a_table(scored):
    files = (scored / "truth.csv", scored / "imputed.csv", "--missing", scored / "missing.csv")
    output = run("score", *files).stdout
    (line,) = [line.split() for line in output.splitlines() if line.split()[:1] == ["x"]]
    assert line[:4] == ["x", "numerical", "2", "0.778"]


def test_score_without_missing_scores_all_cells_and_says_so(scored):
    result = run("score", scored / "truth.csv", scored / "imputed.csv", "--json")
    assert "all cells are scored" in result.stderr
    assert json.loads(result.stdout)["overall"]["accuracy"] == pytest.approx(0.75)


def test_score_of_tables_that_do_not_fit_is_refused(scored, complete_csv):
    run("score", scored / "truth.csv", complete_csv, code=1)


def test_levels_are_scored_by_their_ranks(scored):
    files = (scored / "truth.csv", scored / "imputed.csv", "--missing", scored / "missing.csv")
    score = json.loads(run("score", *files, "--levels", "y=b<a", "--json").stdout)
    assert score["per_column"]["y"]["role"] == "ordinal"
    assert score["per_column"]["y"]["mae"] == score["per_column"]["y"]["accuracy"] == 0.5
