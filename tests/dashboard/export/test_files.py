"""Files to export: what they hold, that they are made once, and that the script repeats them."""

import io
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import pytest

from dashboard import runs
from dashboard.export import files as exports
from dashboard.impute.completed_tables import CompletedTable
from pmae_core.explain import find_structural_missingness
from pmae_core.export import read_imputations
from pmae_core.jobs import JobSpec, JobState, JobStore, ProcessId
from pmae_core.jobs.worker.context import JobContext
from pmae_core.jobs.worker.results import read_frame
from pmae_core.jobs.worker.run import run_job
from pmae_core.table import Schema, read_table
from tests.support.paths import ROOT

QUICK = {"preset": "fast", "steps": 8, "device": "cpu"}


@pytest.fixture
def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    x = rng.normal(size=90)
    frame = pd.DataFrame({"x": x, "=y": 2 * x + 0.1 * rng.normal(size=90)})
    frame["town"] = rng.choice(["=Ulm()", "Bonn"], 90)
    frame["smoker"] = np.where(x > 0, "yes", "no")
    frame["packs"] = np.where(x > 0, rng.gamma(2.0, size=90), np.nan)
    frame["zip"] = rng.choice([10115, 20095, 80331], 90)
    frame.loc[::5, "=y"] = np.nan
    frame.loc[1::7, "town"] = None
    return frame


@pytest.fixture
def make(table, tmp_path, monkeypatch):
    """Return a function that imputes the table, and gives it as pages have it."""
    store = JobStore(tmp_path)
    origin = runs.Origin("my visits.csv", (-999,))
    monkeypatch.setattr(runs, "origin", lambda digest: origin)

    def impute(kind="impute", *, seed=3, **params):
        schema = Schema.infer(table, {"zip": "categorical"})
        digest = store.put_table(table)
        spec = JobSpec.make(kind, params=params, table=digest, schema=schema, seed=seed)
        store.submit(spec)
        me = ProcessId.current()
        record, token = store.claim_next("local", running_limit=9, gpu_limit=0, owner=me)
        context = JobContext(
            folder=record.folder,
            load_table=store.get_table,
            model_path=lambda model: store.job(model).folder / "result" / "model.safetensors",
            emit=lambda event: None,
            cancel=lambda: False,
        )
        store.finish(record.id, token, JobState.SUCCEEDED, result=run_job(spec, context))
        return opened(store.job(record.id), table, schema)

    return impute


def opened(record, table, schema) -> CompletedTable:
    result = record.folder / "result"
    was_imputed = read_frame(result / "was_imputed.parquet")
    imputed = read_frame(result / "imputed.parquet")
    return CompletedTable(record, table, schema, imputed, was_imputed, was_imputed.sum())


def unpacked(content: bytes, folder: Path) -> Path:
    zipfile.ZipFile(io.BytesIO(content)).extractall(folder)
    return folder


def run(command: list[str], folder: Path) -> None:
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr


def test_the_script_imputes_the_same_table(make, tmp_path):
    (finding,) = find_structural_missingness(make(method="naive").frame)
    completed = make(method="em", imputations=2, left_alone=[finding.to_dict()])
    folder = unpacked(
        exports.everything(completed, exports.recipe(completed), None, escaped=True),
        tmp_path / "bundle",
    )

    run([sys.executable, "reproduce.py"], folder)

    again = read_table(folder / "imputed-again.parquet")
    pd.testing.assert_frame_equal(again, completed.imputed_frame, check_exact=True)
    assert again["packs"].isna().any()
    mask = read_table(folder / "was-imputed-again.parquet")
    pd.testing.assert_frame_equal(mask, completed.was_imputed)
    for number, one in enumerate(
        completed.imputations(list(completed.imputed_frame.columns)), start=1
    ):
        again = read_table(folder / f"imputed-again-{number}.parquet")
        pd.testing.assert_frame_equal(again, one, check_exact=True)


def test_script_and_command_repeat_a_trained_model(make, tmp_path):
    trained = make("train", method="pmae-mix", params=QUICK, seed=5)
    completed = make(model=trained.record.id, imputations=1, seed=9)
    folder = unpacked(
        exports.everything(completed, exports.recipe(completed), None, escaped=False),
        tmp_path / "bundle",
    )
    assert exports.recipe(completed).model_seed == 5

    run([sys.executable, "reproduce.py"], folder)
    again = read_table(folder / "imputed-again.parquet")
    pd.testing.assert_frame_equal(again, completed.imputed_frame, check_exact=True)

    for made in folder.glob("*-again*.parquet"):
        made.unlink()
    command = (folder / "command.txt").read_text().split("pmae ", 1)[1].split()
    run([sys.executable, "-m", "pmae_core", *command], folder)
    again = read_table(folder / "imputed-again.parquet")
    pd.testing.assert_frame_equal(again, completed.imputed_frame, check_exact=True)


def test_the_zip_holds_everything(make, tmp_path):
    completed = make(method="em", imputations=1)

    folder = unpacked(
        exports.everything(completed, exports.recipe(completed), None, escaped=True),
        tmp_path / "bundle",
    )

    assert {path.name for path in folder.iterdir()} == {
        *("imputed.csv", "imputed.xlsx", "imputed.parquet", "was_imputed.csv"),
        *("was_imputed.parquet", "imputation-1-of-1.parquet", "table.parquet"),
        *("reproduce.py", "command.txt"),
        *("methods.txt", "methods.md", "settings.json"),
    }
    words = (folder / "methods.txt").read_text()
    assert "Treated as missing: -999." in words
    assert "seed 3" in words
    assert "-999" not in (folder / "reproduce.py").read_text()


def test_tables_are_safe_for_spreadsheets(make):
    completed = make(method="naive")

    safe = exports.csv_file(completed, escaped=True).decode()
    exact = exports.csv_file(completed, escaped=False)

    assert "\n=" not in safe and ",=" not in safe
    assert ",'=Ulm()," in safe and ",'=y," in safe
    pd.testing.assert_frame_equal(
        read_table(io.BytesIO(exact), format="csv"), completed.imputed_frame
    )
    book = openpyxl.load_workbook(
        io.BytesIO(exports.excel_file(completed, exports.recipe(completed)))
    )
    cell = book.worksheets[0]["B2"]  # "=y" of row 0, which was imputed
    assert cell.fill.fgColor.rgb.endswith("009E73")
    assert book.worksheets[0]["A2"].fill.fgColor.rgb == "00000000"
    assert all(c.data_type != "f" for row in book.worksheets[0] for c in row)


def test_masks_are_true_where_a_cell_was_imputed(make):
    completed = make(method="naive")

    for ending, escaped in (("csv", {"=y": "'=y"}), ("parquet", {})):
        mask = read_table(io.BytesIO(exports.mask_file(completed, ending)), format=ending)
        expected = completed.frame.isna().rename(columns=escaped)
        pd.testing.assert_frame_equal(mask, expected, check_dtype=False)


def test_imputations_for_other_programs(make, tmp_path):
    completed = make(method="em", imputations=2)
    how = exports.recipe(completed)

    for format, ending in (("mice", "csv"), ("stata", "dta"), ("bundle", "zip")):
        path = tmp_path / f"i.{ending}"
        path.write_bytes(exports.imputations_file(completed, how, format))
        assert exports.imputations_name(completed, format) == f"my-visits-imputations.{ending}"
        reading = exports.imputations_reading(completed, format)
        assert f"my-visits-imputations.{ending}" in reading.code

    assert pd.read_csv(tmp_path / "i.csv")[".imp"].tolist() == [0] * 90 + [1] * 90 + [2] * 90
    assert len(pd.read_stata(tmp_path / "i.dta")) == 270
    saved = read_imputations(tmp_path / "i.zip")
    pd.testing.assert_frame_equal(saved.imputations[1], completed.imputation(1))
    assert saved.manifest.read_recipe() == how
    assert saved.schema.role("zip") == "categorical"


def test_a_file_is_made_once(make, monkeypatch):
    completed = make(method="naive")
    first = exports.parquet_file(completed)
    monkeypatch.setattr(exports, "write_table", lambda *_: pytest.fail("made twice"))

    assert exports.parquet_file(completed) == first


def test_what_breaks_leaves_no_half_file(make, monkeypatch):
    completed = make(method="naive")

    def breaks(*_):
        raise OSError("no space left")

    monkeypatch.setattr(exports, "write_table", breaks)
    with pytest.raises(OSError, match="no space"):
        exports.parquet_file(completed)
    monkeypatch.undo()

    pd.testing.assert_frame_equal(
        read_table(io.BytesIO(exports.parquet_file(completed)), format="parquet"),
        completed.imputed_frame,
    )


def test_names_of_files_come_from_the_table(make, monkeypatch):
    completed = make(method="naive")
    assert exports.stem_of(completed) == "my-visits"

    monkeypatch.setattr(runs, "origin", lambda digest: runs.Origin("<>"))

    assert exports.stem_of(completed) == "table"


def test_files_are_made_without_a_session(make, monkeypatch):
    completed = make(method="naive")
    how = exports.recipe(completed)
    exports._recipe.clear()
    monkeypatch.setattr(runs, "origin", lambda digest: pytest.fail("no session is at hand"))

    made = [
        exports.everything(completed, how, None, escaped=True),
        exports.csv_file(completed, escaped=True),
        exports.excel_file(completed, how),
        exports.parquet_file(completed),
        exports.mask_file(completed, "csv"),
        exports.incomplete_file(completed),
    ]

    assert all(made)
