"""Everything together."""

import json
import zipfile

import numpy as np
import openpyxl
import pandas as pd
import pytest

from pmae_core.errors import ImputationError, TableError
from pmae_core.evaluation import compare
from pmae_core.explain import Condition, StructuralMissingness
from pmae_core.export import Recipe, command_line, reproduce_script, write_bundle
from pmae_core.table import read_table


@pytest.fixture
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.normal(size=60), "town": rng.choice(["=Ulm", "Bonn"], 60)})
    table.loc[:9, "x"] = np.nan
    table.loc[5:14, "town"] = None
    return table


@pytest.fixture
def filled(frame) -> pd.DataFrame:
    return frame.fillna({"x": 0.5, "town": "Bonn"})


def test_a_folder_with_everything(frame, filled, tmp_path):
    model = tmp_path / "somewhere.safetensors"
    model.write_bytes(b"weights")
    recipe = Recipe(table="t.csv", method="naive", draws=2)
    comparison = compare(frame, ["naive"], seeds=[0])

    names = write_bundle(
        tmp_path / "out",
        recipe,
        frame,
        filled,
        draws=[filled, filled],
        comparison=comparison,
        model=model,
    )

    out = tmp_path / "out"
    assert names == [
        "command.txt",
        *(f"comparison/{name}" for name in ("comparison.json", "per_column.csv")),
        *(f"comparison/{name}" for name in ("report.html", "results.csv")),
        *("filled-draw1.parquet", "filled-draw2.parquet"),
        *("filled.csv", "filled.parquet", "filled.xlsx"),
        *("imputed.csv", "imputed.parquet", "methods.md", "methods.txt", "model.safetensors"),
        *("reproduce.py", "settings.json"),
    ]
    assert all((out / name).is_file() for name in names)
    for name in ("filled.csv", "filled.xlsx", "filled.parquet"):
        assert read_table(out / name)["town"].tolist() == filled["town"].tolist()
    pd.testing.assert_frame_equal(read_table(out / "filled.parquet"), filled)
    assert read_table(out / "imputed.csv").to_numpy().sum() == 20
    sheet = openpyxl.load_workbook(out / "filled.xlsx")["Table"]
    assert sheet["A2"].fill.fgColor.rgb == "00009E73"
    assert (out / "model.safetensors").read_bytes() == b"weights"
    assert (out / "reproduce.py").read_text() == reproduce_script(recipe)
    assert (out / "command.txt").read_text() == command_line(recipe) + "\n"
    assert Recipe.from_dict(json.loads((out / "settings.json").read_text())) == recipe
    assert (out / "methods.txt").read_text().startswith("The table has 60 rows")


def test_a_zip_file_with_what_was_asked_for(frame, filled, tmp_path):
    target = tmp_path / "bundle.zip"
    recipe = Recipe(table="t.csv", method="naive")

    names = write_bundle(target, recipe, frame, filled, formats=["csv"], escape_csv=True)

    with zipfile.ZipFile(target) as archive:
        assert archive.namelist() == names
        assert b"'=Ulm" in archive.read("filled.csv")
        assert b"\n0.5," in archive.read("filled.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["bundle.zip"]
    assert "filled.xlsx" not in names


def test_where_the_command_has_no_words_its_file_says_why(frame, filled, tmp_path):
    hole = StructuralMissingness("x", Condition("town", "is missing"), 10)
    recipe = Recipe(table="t.csv", method="naive", left_alone=[hole])

    write_bundle(tmp_path, recipe, frame, filled, formats=["parquet"])

    assert (tmp_path / "command.txt").read_text().startswith("# pmae impute has no words for")


def test_requests_that_make_no_sense(frame, filled, tmp_path):
    recipe = Recipe(table="t.csv", method="naive")
    with pytest.raises(TableError, match="Choose formats"):
        write_bundle(tmp_path, recipe, frame, filled, formats=["docx"])
    with pytest.raises(ImputationError, match="0 draws, but 1"):
        write_bundle(tmp_path, recipe, frame, filled, draws=[filled])
    with pytest.raises(TableError, match="cannot be written"):
        write_bundle(tmp_path / "no" / "b.zip", recipe, frame, filled, formats=["csv"])
    assert list(tmp_path.iterdir()) == []


def test_with_its_table_the_bundle_runs_by_itself(frame, filled, tmp_path):
    recipe = Recipe(table="table.parquet", method="naive", sentinels={"x": [-999]})

    write_bundle(tmp_path / "out", recipe, frame, filled, formats=["csv"], with_table=True)

    out = tmp_path / "out"
    pd.testing.assert_frame_equal(read_table(out / "table.parquet"), frame)
    assert "-999" not in (out / "reproduce.py").read_text()
    assert (out / "command.txt").read_text().startswith("pmae impute table.parquet")
    assert "-999 counted as missing" in (out / "methods.txt").read_text()
