"""``pmae ampute``."""

import json

import pandas as pd
import pytest

from pmae_core.amputation import ampute
from pmae_core.table import read_table, write_table
from tests.support.shell import run


@pytest.mark.parametrize(
    "args",
    [
        ["ampute", "a.csv", "-o", "b.csv", "--mechanism", "magic"],
        ["ampute", "a.csv", "-o", "b.csv", "--like", "c.csv", "--mechanism", "MAR"],
    ],
)
def test_wrong_usage_exits_with_2(args):
    run(*args, code=2)


def test_ampute_writes_what_a_comparison_needs(complete_csv, tmp_path):
    files = {name: tmp_path / f"{name}.csv" for name in ("truth", "missing")}
    result = run(
        *("ampute", complete_csv, "-o", tmp_path / "incomplete.csv", "--seed", 5),
        *("--truth", files["truth"], "--missing", files["missing"]),
        *("--settings", tmp_path / "settings.json"),
    )

    incomplete = read_table(tmp_path / "incomplete.csv")
    truth, missing = read_table(files["truth"]), read_table(files["missing"])
    assert incomplete.shape == truth.shape == missing.shape
    assert (incomplete.isna().to_numpy() == missing.to_numpy()).all()
    settings = json.loads((tmp_path / "settings.json").read_text())
    again = ampute(read_table(complete_csv), **settings)
    assert (again.missing.to_numpy() == missing.to_numpy()).all()
    assert f"Removed {int(missing.to_numpy().sum())} of {truth.size} cells" in result.stderr


def test_ampute_options_reach_the_process(complete_csv, tmp_path):
    run(
        *("ampute", complete_csv, "-o", tmp_path / "incomplete.csv"),
        *("--pattern", "monotone", "--mechanism", "MAR", "--coupling", "independent"),
        *("--column", "age", "--column", "town", "--proportion", 0.5),
        *("--settings", tmp_path / "settings.json", "--role", "age=categorical"),
    )
    settings = json.loads((tmp_path / "settings.json").read_text())
    expected = {
        "pattern": "monotone",
        "mechanism": "MAR",
        "coupling": "independent",
        "columns": ["age", "town"],
        "proportions": 0.5,
    }
    assert settings | expected == settings
    n_missing = read_table(tmp_path / "incomplete.csv").isna().sum()
    assert n_missing[["age", "town"]].min() > 0
    assert n_missing[["height", "old"]].max() == 0


def test_ampute_like_replays_patterns(complete_csv, tmp_path):
    pattern = pd.DataFrame({"age": [1.0, None], "town": ["a", "b"]})
    write_table(pattern, tmp_path / "like.csv")
    run("ampute", complete_csv, "-o", tmp_path / "o.csv", "--like", tmp_path / "like.csv")
    assert read_table(tmp_path / "o.csv").isna().sum().tolist() == [30, 0, 0, 0]


def test_ampute_refuses_in_a_sentence(complete_csv, tmp_path):
    result = run("ampute", complete_csv, "-o", tmp_path / "o.csv", "--column", "magic", code=1)
    assert "magic" in result.stderr
