"""The command line, command by command."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import pmae_core
from pmae_core import imputers
from pmae_core.cli.app import app
from pmae_core.events import FitProgress
from pmae_core.table import read_table, write_table
from tests.support.paths import ROOT

QUICK = ["--preset", "fast", "--steps", "5"]


def run(*args: object, code: int = 0):
    """Run a command and check its exit code; only unforeseen errors show as tracebacks."""
    result = CliRunner().invoke(app, [str(arg) for arg in args])
    assert result.exit_code == code, result.output + repr(result.exception)
    assert "Traceback" not in result.output
    return result


def sentence(text: str) -> str:
    """Return text as one line, however it was wrapped."""
    return " ".join(text.split())


@pytest.fixture
def complete() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    age = rng.integers(20, 80, 60)
    return pd.DataFrame(
        {
            "age": age,
            "height": rng.normal(1.7, 0.1, 60).round(2),
            "town": rng.choice(["Ulm", "Bonn"], 60),
            "old": age > 50,
        }
    )


@pytest.fixture
def holes(complete) -> pd.DataFrame:
    missing = np.random.default_rng(1).random(complete.shape) < 0.2
    return complete.astype({"age": "Int64", "old": "boolean"}).mask(missing)


@pytest.fixture
def holes_csv(tmp_path, holes) -> Path:
    write_table(holes, tmp_path / "holes.csv")
    return tmp_path / "holes.csv"


@pytest.fixture
def complete_csv(tmp_path, complete) -> Path:
    write_table(complete, tmp_path / "complete.csv")
    return tmp_path / "complete.csv"


# ---------------------------------------------------------------- help and usage


def test_help_names_every_command():
    output = run("--help").output
    for command in ("impute", "ampute", "score", "describe", "datasets"):
        assert command in output


def test_version_is_that_of_the_package():
    assert run("--version").stdout.strip() == pmae_core.__version__


@pytest.mark.parametrize("command", ["impute", "ampute", "score", "describe", "datasets"])
def test_every_command_has_examples(command):
    assert f"pmae {command} " in run(command, "--help").output


@pytest.mark.parametrize(
    "args",
    [
        ["impute", "holes.csv"],
        ["impute"],
        ["nonsense"],
        ["impute", "a.csv", "-o", "b.csv", "--steps", "0"],
        ["impute", "a.csv", "-o", "b.csv", "--preset", "best"],
        ["impute", "a.csv", "-o", "b.csv", "--param", "width"],
        ["impute", "a.csv", "-o", "b.csv", "--model", "m", "--steps", "5"],
        ["ampute", "a.csv", "-o", "b.csv", "--mechanism", "magic"],
        ["ampute", "a.csv", "-o", "b.csv", "--like", "c.csv", "--mechanism", "MAR"],
        ["datasets", "--output", "b.csv"],
    ],
)
def test_wrong_usage_exits_with_2(args):
    run(*args, code=2)


def test_role_without_equals_sign_is_wrong_usage(holes_csv):
    run("describe", holes_csv, "--role", "age", code=2)


# ---------------------------------------------------------------- mistakes of the user


def test_missing_file_is_one_sentence_on_stderr(tmp_path):
    result = run("describe", tmp_path / "nowhere.csv", code=1)
    assert result.stdout == ""
    assert "nowhere.csv" in sentence(result.stderr)
    assert result.stderr.startswith("Error: ")


def test_library_warnings_become_notes(tmp_path):
    frame = pd.DataFrame({"x": [1.0, 2.0, None, 4.0], "nothing": [None] * 4}).astype(float)
    write_table(frame, tmp_path / "t.parquet")
    result = run("impute", tmp_path / "t.parquet", "-o", tmp_path / "o.csv", *QUICK)
    assert "Note: Column 'nothing' keeps its missing cells" in sentence(result.stderr)
    assert "Warning" not in result.stderr


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        (["--method", "magic"], "no method 'magic'"),
        (["--param", "magic=1"], "magic"),
        (["--param", "width=wide"], "wide"),
        (["--param", "name=pmae-trf"], "name"),
        (["--masking", "magic"], "magic"),
        (["--role", "magic=numerical"], "magic"),
        (["--role", "age=magic"], "magic"),
    ],
)
def test_unusable_settings_are_named(holes_csv, tmp_path, args, reason):
    output = tmp_path / "out.csv"
    result = run("impute", holes_csv, "-o", output, *QUICK, *args, code=1)
    assert reason in sentence(result.stderr)
    assert not output.exists()


def test_outputs_are_checked_before_the_input_is_read(tmp_path):
    there = tmp_path / "there.csv"
    there.write_text("precious")
    nowhere = tmp_path / "no" / "folder.csv"
    for outputs, reason in (
        (["-o", there], "use --force"),
        (["-o", tmp_path / "o.csv", "--mask-out", there], "use --force"),
        (["-o", tmp_path / "o.csv", "--save-model", there], "use --force"),
        (["-o", nowhere], "does not exist"),
        (["-o", tmp_path / "o.pickle"], "ending"),
        (["-o", tmp_path / "o.xls"], "ending"),
        (["-o", tmp_path / "o.csv", "--mask-out", tmp_path / "o.csv"], "two outputs"),
    ):
        result = run("impute", tmp_path / "unread.csv", *outputs, code=1)
        assert reason in sentence(result.stderr)
    assert there.read_text() == "precious"


def test_an_existing_draw_is_not_overwritten(holes_csv, tmp_path):
    (tmp_path / "o-draw2.csv").write_text("precious")
    result = run("impute", holes_csv, "-o", tmp_path / "o.csv", "--draws", 2, *QUICK, code=1)
    assert "o-draw2.csv exists already" in sentence(result.stderr)
    assert not (tmp_path / "o.csv").exists()


# ---------------------------------------------------------------- impute


def test_impute_fills_holes_and_leaves_the_rest(holes_csv, holes, tmp_path):
    result = run("impute", holes_csv, "-o", tmp_path / "filled.csv", *QUICK)

    filled = read_table(tmp_path / "filled.csv")
    assert not filled.isna().any(axis=None)
    assert list(filled.columns) == list(holes.columns)
    assert pd.api.types.is_integer_dtype(filled["age"])
    for name in holes:
        observed = holes[name].notna()
        assert filled.loc[observed, name].tolist() == holes.loc[observed, name].tolist()
    n_missing = int(holes.isna().sum().sum())
    assert f"Filled {n_missing} of {n_missing} missing cells in 4 columns" in sentence(
        result.stderr
    )


def test_impute_says_which_cells_it_imputed(holes_csv, holes, tmp_path):
    files = ["-o", tmp_path / "filled.parquet", "--mask-out", tmp_path / "imputed.csv"]
    run("impute", holes_csv, *files, *QUICK)
    imputed = read_table(tmp_path / "imputed.csv")
    assert (imputed.to_numpy() == holes.isna().to_numpy()).all()


def test_seed_decides_the_result(holes_csv, tmp_path):
    contents = []
    for number, seed in enumerate([3, 3, 4]):
        output = tmp_path / f"filled{number}.csv"
        run("impute", holes_csv, "-o", output, "--seed", seed, "--quiet", *QUICK)
        contents.append(output.read_bytes())
    assert contents[0] == contents[1] != contents[2]


def test_settings_reach_the_imputer(holes_csv, tmp_path, monkeypatch):
    made = {}
    make_imputer = imputers.make_imputer

    def spy(name, **params):
        made.update(params, method=name)
        return make_imputer(name, **params)

    monkeypatch.setattr(imputers, "make_imputer", spy)
    run(
        *("impute", holes_csv, "-o", tmp_path / "filled.csv", "--method", "pmae-trf"),
        *("--preset", "fast", "--masking", "logit", "--a", 0.1, "--b", 0.4, "--steps", 3),
        *("--param", "width=16", "--param", "loss=grouped", "--seed", 7, "--role", "age=ignored"),
    )
    assert made == {
        "method": "pmae-trf",
        "preset": "fast",
        "masking": "logit",
        "a": 0.1,
        "b": 0.4,
        "steps": 3,
        "width": 16,
        "loss": "grouped",
        "random_state": 7,
        "schema": {"age": "ignored"},
    }
    assert read_table(tmp_path / "filled.csv")["age"].isna().any()


def test_sentinels_are_filled(holes, tmp_path):
    write_table(holes.assign(age=holes["age"].fillna(-999)), tmp_path / "coded.csv")
    run("impute", tmp_path / "coded.csv", "-o", tmp_path / "o.csv", "--sentinel", -999, *QUICK)
    assert (read_table(tmp_path / "o.csv")["age"] >= 20).all()


def test_a_kept_model_fills_the_same_way(holes_csv, tmp_path):
    model = tmp_path / "model"
    run("impute", holes_csv, "-o", tmp_path / "first.csv", "--save-model", model, *QUICK)
    run("impute", holes_csv, "-o", tmp_path / "again.csv", "--model", model)
    assert (tmp_path / "first.csv").read_bytes() == (tmp_path / "again.csv").read_bytes()


def test_a_model_that_is_none_is_named(holes_csv, tmp_path):
    result = run("impute", holes_csv, "-o", tmp_path / "o.csv", "--model", holes_csv, code=1)
    assert "holes.csv" in sentence(result.stderr)


def test_draws_are_written_beside_the_output(holes_csv, holes, tmp_path):
    run("impute", holes_csv, "-o", tmp_path / "filled.csv", "--draws", 2, *QUICK)
    first, second = (read_table(tmp_path / f"filled-draw{k}.csv") for k in (1, 2))
    assert not first.equals(second)
    observed = holes["height"].notna()
    assert first.loc[observed, "height"].equals(second.loc[observed, "height"])


def test_force_overwrites(holes_csv, tmp_path):
    (tmp_path / "filled.csv").write_text("old")
    run("impute", holes_csv, "-o", tmp_path / "filled.csv", "--force", *QUICK)
    assert len(read_table(tmp_path / "filled.csv")) == 60


@pytest.mark.parametrize("ending", ["csv", "tsv", "xlsx", "parquet", "feather", "jsonl"])
def test_every_format_goes_in_and_out(complete, tmp_path, ending):
    write_table(complete, tmp_path / f"complete.{ending}")
    output = tmp_path / f"holes.{ending}"
    run("ampute", tmp_path / f"complete.{ending}", "-o", output)
    assert read_table(output).isna().any(axis=None)


class CountingImputer:
    """Fills with zeros after telling of two rounds out of four."""

    def fit(self, X, *, callbacks, cancel):
        for callback in callbacks:
            callback(FitProgress(done=2, total=4, unit="round", eta_seconds=61.0))

    def transform(self, X):
        return X.fillna(0)


@pytest.mark.parametrize("quiet", [False, True])
def test_progress_of_any_method_is_shown(tmp_path, monkeypatch, quiet):
    monkeypatch.setattr(imputers, "make_imputer", lambda name, **params: CountingImputer())
    write_table(pd.DataFrame({"x": [1.0, None, 3.0]}), tmp_path / "x.csv")
    result = run("impute", tmp_path / "x.csv", "-o", tmp_path / "o.csv", *["--quiet"] * quiet)
    assert ("2/4 rounds 0:01:01 left" in sentence(result.stderr)) is not quiet
    assert (result.stderr == "") is quiet


@pytest.mark.parametrize("option", ["--draws", "--save-model"])
def test_what_a_method_cannot_do_is_refused_before_the_work(tmp_path, monkeypatch, option):
    info = imputers.ImputerInfo(name="counting", title="", explanation="", citation="")
    monkeypatch.setattr(imputers, "list_imputers", lambda: [info])
    monkeypatch.setattr(imputers, "make_imputer", lambda name, **params: CountingImputer())
    write_table(pd.DataFrame({"x": [1.0, None, 3.0]}), tmp_path / "x.csv")
    files = ["impute", tmp_path / "x.csv", "-o", tmp_path / "o.csv", "--method", "counting"]
    result = run(*files, option, "3", code=1)
    assert f"leave out {option}" in sentence(result.stderr)
    assert "rounds" not in result.stderr


def test_ctrl_c_stops_cleanly(holes_csv, tmp_path):
    output = tmp_path / "filled.csv"
    command = [sys.executable, "-m", "pmae_core", "impute", holes_csv, "-o", output]
    process = subprocess.Popen(
        [*map(str, command), "--steps", "1000000", "--param", "patience=1000000"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "FORCE_COLOR": "1", "TERM": "xterm", "COLUMNS": "80"},
    )
    try:
        shown = ""
        while "Learning" not in shown:
            shown += (letter := process.stderr.read(1))
            assert letter, shown
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        _, rest = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130
    assert "Stopped." in rest
    assert "Traceback" not in rest
    assert not output.exists()


# ---------------------------------------------------------------- ampute and score


def test_ampute_writes_what_a_comparison_needs(complete_csv, tmp_path):
    from pmae_core.amputation import ampute

    files = {name: tmp_path / f"{name}.csv" for name in ("truth", "missing")}
    result = run(
        *("ampute", complete_csv, "-o", tmp_path / "holes.csv", "--seed", 5),
        *("--truth", files["truth"], "--missing", files["missing"]),
        *("--settings", tmp_path / "settings.json"),
    )

    incomplete = read_table(tmp_path / "holes.csv")
    truth, missing = read_table(files["truth"]), read_table(files["missing"])
    assert incomplete.shape == truth.shape == missing.shape
    assert (incomplete.isna().to_numpy() == missing.to_numpy()).all()
    settings = json.loads((tmp_path / "settings.json").read_text())
    again = ampute(read_table(complete_csv), **settings)
    assert (again.missing.to_numpy() == missing.to_numpy()).all()
    assert f"Removed {int(missing.to_numpy().sum())} of {truth.size} cells" in result.stderr


def test_ampute_options_reach_the_process(complete_csv, tmp_path):
    run(
        *("ampute", complete_csv, "-o", tmp_path / "holes.csv"),
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
    n_missing = read_table(tmp_path / "holes.csv").isna().sum()
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


@pytest.fixture
def scored(tmp_path):
    truth = pd.DataFrame({"x": [0.0, 1.0, 2.0, 3.0], "y": ["a", "b", "a", "b"]})
    imputed = truth.assign(x=[0.0, 1.0, 2.0, 2.0], y=["b", "b", "a", "b"])
    missing = pd.DataFrame({"x": [True, False, False, True], "y": [True, False, False, True]})
    write_table(truth, tmp_path / "truth.csv")
    write_table(imputed, tmp_path / "imputed.csv")
    write_table(missing, tmp_path / "missing.csv")
    write_table(truth.mask(missing), tmp_path / "holes.csv")
    return tmp_path


@pytest.mark.parametrize("missing", ["missing.csv", "holes.csv"])
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


def test_score_without_missing_counts_all_cells_and_says_so(scored):
    result = run("score", scored / "truth.csv", scored / "imputed.csv", "--json")
    assert "all cells count" in result.stderr
    assert json.loads(result.stdout)["overall"]["accuracy"] == pytest.approx(0.75)


def test_score_of_tables_that_do_not_fit_is_refused(scored, complete_csv):
    run("score", scored / "truth.csv", complete_csv, code=1)


# ---------------------------------------------------------------- describe and datasets


def test_describe_shows_columns_and_a_sentence(holes_csv, holes):
    output = run("describe", holes_csv).stdout
    rows = {line.split()[0]: line.split()[1:] for line in output.splitlines() if line.strip()}
    n_missing = str(holes["age"].isna().sum())
    assert rows["age"][:2] == ["numerical", n_missing]
    assert rows["town"][0] == "categorical"
    assert "60 rows and 4 columns" in output


def test_names_give_the_terminal_no_orders(tmp_path):
    clear_screen, red = "\x1b[2Jgone", "[red]a[/red]"
    path = tmp_path / "orders.csv"
    pd.DataFrame({clear_screen: [1, 2], red: [3, None]}).to_csv(path, index=False)

    output = run("describe", path).output

    assert "\x1b" not in output
    assert r"\x1b[2Jgone" in output
    assert red in output


def test_describe_as_json(holes_csv, holes):
    result = json.loads(run("describe", holes_csv, "--json", "--role", "age=ignored").stdout)
    by_name = {column["name"]: column for column in result["columns"]}
    assert by_name["age"]["role"] == "ignored"
    assert by_name["town"]["p_obs"] == pytest.approx(holes["town"].notna().mean())
    assert result["missingness"]["n_missing"] == int(holes.isna().sum().sum())
    assert result["sentence"].startswith("The table has 60 rows")


def test_describe_points_at_sentinels(complete, tmp_path):
    coded = complete.assign(height=complete["height"].mask(complete.index < 9, -999.0))
    write_table(coded, tmp_path / "coded.csv")
    result = run("describe", tmp_path / "coded.csv")
    assert "-999" in result.stderr
    declared = json.loads(
        run("describe", tmp_path / "coded.csv", "--sentinel", -999, "--json").stdout
    )
    assert declared["missingness"]["n_missing"] == 9
    assert declared["sentinel_suggestions"] == []


def test_datasets_lists_samples_and_benchmarks():
    output = run("datasets").stdout
    listed = json.loads(run("datasets", "--json").stdout)
    kinds = {info["name"]: info["kind"] for info in listed}
    assert kinds["penguins"] == "sample"
    assert "benchmark" in kinds.values()
    assert all(name in output for name in kinds)


def test_datasets_writes_one(tmp_path):
    run("datasets", "penguins", "--output", tmp_path / "penguins.csv")
    assert read_table(tmp_path / "penguins.csv").shape[0] == 344


def test_datasets_describes_one():
    assert "CC0" in run("datasets", "penguins").stdout


def test_unknown_dataset_is_refused_in_a_sentence():
    assert "magic" in run("datasets", "magic", code=1).stderr


# ---------------------------------------------------------------- the real thing


def test_module_runs_as_a_program(holes_csv, tmp_path):
    output = tmp_path / "filled.csv"
    command = [sys.executable, "-m", "pmae_core", "impute", holes_csv, "-o", output, *QUICK]
    result = subprocess.run(
        [*map(str, command)], cwd=ROOT, capture_output=True, text=True, timeout=240, check=False
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout == ""
    assert "Filled" in result.stderr
    assert not read_table(output).isna().any(axis=None)
