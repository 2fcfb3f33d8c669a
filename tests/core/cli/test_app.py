"""The command line as a whole: help, usage, errors and warnings."""

import subprocess
import sys

import pandas as pd
import pytest

import pmae_core
from pmae_core.table import read_table, write_table
from tests.support.paths import ROOT
from tests.support.shell import one_line, run

QUICK = ["--steps", "5", "--param", "n_trees=5"]


def test_help_names_every_command():
    output = run("--help").output
    for command in ("impute", "ampute", "score", "describe", "datasets"):
        assert command in output


def test_help_needs_no_slow_library():
    code = (
        "import sys; from typer.testing import CliRunner; from pmae_core.cli.app import app;"
        "assert CliRunner().invoke(app, ['jobs', 'submit', '--help']).exit_code == 0;"
        "print(*{'numpy', 'pandas', 'scipy', 'sklearn', 'torch'} & set(sys.modules))"
    )
    command = [sys.executable, "-c", code]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert result.stdout.split() == []


def test_version_is_that_of_the_package():
    assert run("--version").stdout.strip() == pmae_core.__version__


@pytest.mark.parametrize("command", ["impute", "ampute", "score", "describe", "datasets"])
def test_every_command_has_examples(command):
    assert f"pmae {command} " in run(command, "--help").output


def test_an_unknown_command_is_wrong_usage():
    run("nonsense", code=2)


def test_missing_file_is_one_sentence_on_stderr(tmp_path):
    result = run("describe", tmp_path / "nowhere.csv", code=1)
    assert result.stdout == ""
    assert "nowhere.csv" in one_line(result.stderr)
    assert result.stderr.startswith("Error: ")


def test_library_warnings_become_notes(tmp_path):
    frame = pd.DataFrame({"x": [1.0, 2.0, None, 4.0], "nothing": [None] * 4}).astype(float)
    write_table(frame, tmp_path / "t.parquet")
    result = run("impute", tmp_path / "t.parquet", "-o", tmp_path / "o.csv", *QUICK)
    assert "Note: Column 'nothing' keeps its missing cells" in one_line(result.stderr)
    assert "Warning" not in result.stderr


def test_module_runs_as_a_program(survey_csv, tmp_path):
    output = tmp_path / "imputed.csv"
    command = [sys.executable, "-m", "pmae_core", "impute", survey_csv, "-o", output, *QUICK]
    result = subprocess.run(
        [*map(str, command)], cwd=ROOT, capture_output=True, text=True, timeout=240, check=False
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout == ""
    assert "Imputed" in result.stderr
    assert not read_table(output).isna().any(axis=None)
