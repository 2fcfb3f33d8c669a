"""``pmae impute``."""

import os
import signal
import subprocess
import sys
import time

import pandas as pd
import pytest

from pmae_core import imputers
from pmae_core.errors import ImputationError
from pmae_core.events import FitProgress
from pmae_core.export import read_imputations
from pmae_core.table import read_table, write_table
from tests.support.paths import ROOT
from tests.support.shell import one_line, run

ENDLESS = ["--steps", "1000000", "--param", "patience=1000000"]
QUICK = ["--steps", "5", "--param", "n_trees=5"]


@pytest.mark.parametrize(
    "args",
    [
        ["impute", "survey.csv"],
        ["impute"],
        ["impute", "a.csv", "-o", "b.csv", "--steps", "0"],
        ["impute", "a.csv", "-o", "b.csv", "--preset", "best"],
        ["impute", "a.csv", "-o", "b.csv", "--param", "width"],
        ["impute", "a.csv", "-o", "b.csv", "--model", "m", "--steps", "5"],
        ["impute", "a.csv", "-o", "b.csv", "--model", "m", "--whole", "x"],
        ["impute", "a.csv", "-o", "b.csv", "--limits", "age=0"],
        ["impute", "a.csv", "-o", "b.csv", "--steps", "5", "--param", "network_params={}"],
    ],
)
def test_wrong_usage_exits_with_2(args):
    run(*args, code=2)


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        (["--method", "magic"], "no method 'magic'"),
        (["--method", "auto"], "The method 'auto' was retired: use 'pmae'"),
        (["--param", "magic=1"], "magic"),
        (["--param", "n_jobs=wide"], "wide"),
        (["--preset", "paper"], "preset must be one of 'balanced', 'fast'"),
        (["--preset", "fast"], "--steps would have no effect"),
        (["--param", "name=pmae-trf"], "name"),
        (["--masking", "magic"], "magic"),
        (["--role", "magic=numerical"], "magic"),
        (["--role", "age=magic"], "magic"),
        (["--limits", "age=9..1"], "The lower limit 9 of column 'age' is above its upper limit 1."),
        (["--whole", "magic"], "A rule is given for 'magic'"),
        (["--derive", "age = 2 *"], "The expression of 'age'"),
    ],
)
def test_unusable_settings_are_named(survey_csv, tmp_path, args, reason):
    output = tmp_path / "out.csv"
    result = run("impute", survey_csv, "-o", output, *QUICK, *args, code=1)
    assert reason in one_line(result.stderr)
    assert not output.exists()


def test_an_existing_imputation_is_not_overwritten(survey_csv, tmp_path):
    (tmp_path / "o-2.csv").write_text("precious")
    result = run("impute", survey_csv, "-o", tmp_path / "o.csv", "--imputations", 2, *QUICK, code=1)
    assert "o-2.csv already exists" in one_line(result.stderr)
    assert not (tmp_path / "o.csv").exists()


@pytest.mark.parametrize(("ending", "code"), [(".csv", ".R"), (".dta", ".do"), (".zip", ".py")])
def test_imputations_go_into_one_file(survey_csv, incomplete, tmp_path, ending, code):
    out = tmp_path / f"all{ending}"
    options = ["--method", "em", "--seed", 3, "--imputations", 2, "--imputations-out", out]

    result = run("impute", survey_csv, "-o", tmp_path / "o.csv", *options)

    assert "Wrote 2 imputations to" in one_line(result.stderr)
    assert "all" in out.with_suffix(code).read_text()
    assert not (tmp_path / "o-1.csv").exists()
    if ending == ".zip":
        saved = read_imputations(out)
        assert saved.manifest.read_recipe().seed == 3
        assert saved.manifest.recipe["method"] == "em"
        assert saved.manifest.is_proper is not None
        assert len(saved.imputations) == 2
        assert saved.was_imputed.equals(incomplete.isna())


@pytest.mark.parametrize(
    ("args", "reason", "code"),
    [
        (["--imputations-out", "all.dta"], "Say how many imputations", 2),
        (["--imputations", 2, "--imputations-out", "all.sav"], "Use .csv for R", 1),
        (["--imputations", 2, "--imputations-out", "survey.csv"], "already exists", 1),
    ],
)
def test_one_file_that_cannot_be_written(survey_csv, tmp_path, monkeypatch, args, reason, code):
    monkeypatch.chdir(tmp_path)
    result = run("impute", survey_csv, "-o", "o.csv", "--method", "em", *args, code=code)
    assert reason in one_line(result.stderr)
    assert not (tmp_path / "o.csv").exists()


def test_missing_cells_are_imputed_and_the_others_stay(survey_csv, incomplete, tmp_path):
    result = run("impute", survey_csv, "-o", tmp_path / "imputed.csv", *QUICK)

    imputed = read_table(tmp_path / "imputed.csv")
    assert not imputed.isna().any(axis=None)
    assert list(imputed.columns) == list(incomplete.columns)
    assert pd.api.types.is_integer_dtype(imputed["age"])
    for name in incomplete:
        observed = incomplete[name].notna()
        assert imputed.loc[observed, name].tolist() == incomplete.loc[observed, name].tolist()
    n_missing = int(incomplete.isna().sum().sum())
    assert f"Imputed {n_missing} of {n_missing} missing cells in 4 columns" in one_line(
        result.stderr
    )


def test_impute_writes_which_cells_it_imputed(survey_csv, incomplete, tmp_path):
    files = ["-o", tmp_path / "imputed.parquet", "--mask-out", tmp_path / "was_imputed.csv"]
    run("impute", survey_csv, *files, *QUICK)
    was_imputed = read_table(tmp_path / "was_imputed.csv")
    assert (was_imputed.to_numpy() == incomplete.isna().to_numpy()).all()


def test_seed_decides_the_result(survey_csv, tmp_path):
    contents = []
    for number, seed in enumerate([3, 3, 4]):
        output = tmp_path / f"imputed{number}.csv"
        run("impute", survey_csv, "-o", output, "--seed", seed, "--quiet", *QUICK)
        contents.append(output.read_bytes())
    assert contents[0] == contents[1] != contents[2]


def test_settings_reach_the_imputer(survey_csv, tmp_path, monkeypatch):
    made = {}
    make_imputer = imputers.make_imputer

    def spy(name, **params):
        made.update(params, method=name)
        return make_imputer(name, **params)

    monkeypatch.setattr(imputers, "make_imputer", spy)
    run(
        *("impute", survey_csv, "-o", tmp_path / "imputed.csv", "--method", "pmae-trf"),
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
    assert read_table(tmp_path / "imputed.csv")["age"].isna().any()


def test_the_blend_hands_settings_of_the_network_on(survey_csv, tmp_path, monkeypatch):
    made = {}

    def spy(name, **params):
        made.update(params, method=name)
        raise ImputationError("seen")

    monkeypatch.setattr(imputers, "make_imputer", spy)
    options = ["--masking", "linear", "--steps", 3, "--param", "n_trees=7"]
    run("impute", survey_csv, "-o", tmp_path / "imputed.csv", *options, code=1)
    assert made == {
        "method": "pmae",
        "network_params": {"masking": "linear", "steps": 3},
        "n_trees": 7,
        "random_state": 0,
    }


def test_sentinels_are_imputed(incomplete, tmp_path):
    write_table(incomplete.assign(age=incomplete["age"].fillna(-999)), tmp_path / "coded.csv")
    run("impute", tmp_path / "coded.csv", "-o", tmp_path / "o.csv", "--sentinel", -999, *QUICK)
    assert (read_table(tmp_path / "o.csv")["age"] >= 20).all()


def test_a_saved_model_gives_the_same_imputation(survey_csv, tmp_path):
    model = tmp_path / "model"
    run("impute", survey_csv, "-o", tmp_path / "first.csv", "--save-model", model, *QUICK)
    run("impute", survey_csv, "-o", tmp_path / "again.csv", "--model", model)
    assert (tmp_path / "first.csv").read_bytes() == (tmp_path / "again.csv").read_bytes()


def test_a_file_that_is_no_model_is_named(survey_csv, tmp_path):
    result = run("impute", survey_csv, "-o", tmp_path / "o.csv", "--model", survey_csv, code=1)
    assert "survey.csv" in one_line(result.stderr)


def test_imputations_are_written_beside_the_output(survey_csv, incomplete, tmp_path):
    run("impute", survey_csv, "-o", tmp_path / "imputed.csv", "--imputations", 2, *QUICK)
    first, second = (read_table(tmp_path / f"imputed-{k}.csv") for k in (1, 2))
    assert not first.equals(second)
    observed = incomplete["height"].notna()
    assert first.loc[observed, "height"].equals(second.loc[observed, "height"])


def test_force_overwrites(survey_csv, tmp_path):
    (tmp_path / "imputed.csv").write_text("old")
    run("impute", survey_csv, "-o", tmp_path / "imputed.csv", "--force", *QUICK)
    assert len(read_table(tmp_path / "imputed.csv")) == 60


class CountingImputer:
    """Imputes zeros after reporting two rounds out of four."""

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
    assert ("2/4 rounds 1 min 1 s left" in one_line(result.stderr)) is not quiet
    assert (result.stderr == "") is quiet


@pytest.mark.parametrize("option", ["--imputations", "--save-model"])
def test_what_a_method_cannot_do_is_refused_before_the_work(tmp_path, monkeypatch, option):
    info = imputers.ImputerInfo(name="counting", title="", explanation="", citation="")
    monkeypatch.setattr(imputers, "imputer_info", lambda name: info)
    monkeypatch.setattr(imputers, "make_imputer", lambda name, **params: CountingImputer())
    write_table(pd.DataFrame({"x": [1.0, None, 3.0]}), tmp_path / "x.csv")
    files = ["impute", tmp_path / "x.csv", "-o", tmp_path / "o.csv", "--method", "counting"]
    result = run(*files, option, "3", code=1)
    assert f"Leave out {option}" in one_line(result.stderr)
    assert "rounds" not in result.stderr


def test_ctrl_c_stops_cleanly(survey_csv, tmp_path):
    output = tmp_path / "imputed.csv"
    command = [sys.executable, "-m", "pmae_core", "impute", survey_csv, "-o", output]
    process = subprocess.Popen(
        [*map(str, command), "--method", "pmae-mix", *ENDLESS],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "FORCE_COLOR": "1", "TERM": "xterm", "COLUMNS": "80"},
    )
    try:
        shown = ""
        while "Fitting" not in shown:
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


def test_limits_whole_numbers_and_derived_columns(tmp_path):
    frame = pd.DataFrame({"x": [0.5, 1.5, 9.5, None, 3.5], "y": [1.0, 3.0, 19.0, None, 7.0]})
    write_table(frame, tmp_path / "in.csv")
    rules = ["--limits", "x=2..", "--whole", "x", "--derive", "y = 2 * x"]
    output = tmp_path / "out.csv"
    result = run("impute", tmp_path / "in.csv", "-o", output, "--method", "naive", *rules)
    assert "2 observed values of 'x' lie outside its limits" in one_line(result.stderr)
    imputed = read_table(output)
    assert imputed.loc[3].tolist() == [4, 8]


def test_levels_make_a_column_ordinal_and_are_kept_with_the_imputations(survey_csv, tmp_path):
    out = tmp_path / "all.zip"
    run(
        *("impute", survey_csv, "-o", tmp_path / "o.csv", "--method", "em", "--imputations", 2),
        *("--levels", "town=Ulm < Bonn", "--limits", "height=1.6..", "--imputations-out", out),
    )
    saved = read_imputations(out)
    assert saved.schema.role("town") == "ordinal"
    assert saved.schema.rules == {"height": {"lower": 1.6}, "town": {"levels": ["Ulm", "Bonn"]}}
    assert saved.manifest.read_recipe().rules["height"] == {"lower": 1.6}
    assert set(read_table(tmp_path / "o.csv")["town"]) == {"Ulm", "Bonn"}
