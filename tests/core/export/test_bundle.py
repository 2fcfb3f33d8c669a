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
def imputed(frame) -> pd.DataFrame:
    return frame.fillna({"x": 0.5, "town": "Bonn"})


def test_a_folder_with_everything(frame, imputed, tmp_path):
    model = tmp_path / "somewhere.safetensors"
    model.write_bytes(b"weights")
    recipe = Recipe(table="t.csv", method="naive", n_imputations=2)
    comparison = compare(frame, ["naive"], seeds=[0])

    names = write_bundle(
        tmp_path / "out",
        recipe,
        frame,
        imputed,
        imputations=[imputed, imputed],
        comparison=comparison,
        model=model,
        escape_csv=False,
    )

    out = tmp_path / "out"
    assert names == [
        "command.txt",
        *(f"comparison/{name}" for name in ("comparison.json", "per_column.csv")),
        *(f"comparison/{name}" for name in ("report.html", "results.csv")),
        *("imputation-1-of-2.parquet", "imputation-2-of-2.parquet"),
        *("imputed.csv", "imputed.parquet", "imputed.xlsx"),
        *("methods.md", "methods.txt", "model.safetensors", "reproduce.py", "settings.json"),
        *("was_imputed.csv", "was_imputed.parquet"),
    ]
    assert all((out / name).is_file() for name in names)
    for name in ("imputed.csv", "imputed.xlsx", "imputed.parquet"):
        assert read_table(out / name)["town"].tolist() == imputed["town"].tolist()
    pd.testing.assert_frame_equal(read_table(out / "imputed.parquet"), imputed)
    assert read_table(out / "was_imputed.csv").to_numpy().sum() == 20
    sheet = openpyxl.load_workbook(out / "imputed.xlsx")["Table"]
    assert sheet["A2"].fill.fgColor.rgb == "00009E73"
    assert (out / "model.safetensors").read_bytes() == b"weights"
    assert (out / "reproduce.py").read_text() == reproduce_script(recipe)
    assert (out / "command.txt").read_text() == command_line(recipe) + "\n"
    assert Recipe.from_dict(json.loads((out / "settings.json").read_text())) == recipe
    assert (out / "methods.txt").read_text().startswith("The table has 60 rows")


def test_a_zip_file_with_what_was_asked_for(frame, imputed, tmp_path):
    target = tmp_path / "bundle.zip"
    recipe = Recipe(table="t.csv", method="naive")

    names = write_bundle(target, recipe, frame, imputed, formats=["csv"], escape_csv=True)

    with zipfile.ZipFile(target) as archive:
        assert archive.namelist() == names
        assert b"'=Ulm" in archive.read("imputed.csv")
        assert b"\n0.5," in archive.read("imputed.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["bundle.zip"]
    assert "imputed.xlsx" not in names


def test_if_the_command_cannot_express_the_recipe_its_file_says_why(frame, imputed, tmp_path):
    finding = StructuralMissingness("x", Condition("town", "is missing"), 10)
    recipe = Recipe(table="t.csv", method="naive", left_alone=[finding])

    write_bundle(tmp_path, recipe, frame, imputed, formats=["parquet"])

    assert (tmp_path / "command.txt").read_text().startswith("# pmae impute cannot express")


def test_requests_that_make_no_sense(frame, imputed, tmp_path):
    recipe = Recipe(table="t.csv", method="naive")
    with pytest.raises(TableError, match="Choose formats"):
        write_bundle(tmp_path, recipe, frame, imputed, formats=["docx"])
    with pytest.raises(ImputationError, match="0 imputations, but 1"):
        write_bundle(tmp_path, recipe, frame, imputed, imputations=[imputed])
    with pytest.raises(TableError, match="cannot be written"):
        write_bundle(tmp_path / "no" / "b.zip", recipe, frame, imputed, formats=["csv"])
    assert list(tmp_path.iterdir()) == []


def test_with_its_table_the_bundle_runs_by_itself(frame, imputed, tmp_path):
    recipe = Recipe(table="table.parquet", method="naive", sentinels={"x": [-999]})

    write_bundle(tmp_path / "out", recipe, frame, imputed, formats=["csv"], with_table=True)

    out = tmp_path / "out"
    pd.testing.assert_frame_equal(read_table(out / "table.parquet"), frame)
    assert "-999" not in (out / "reproduce.py").read_text()
    assert (out / "command.txt").read_text().startswith("pmae impute table.parquet")
    assert "Treated as missing: -999" in (out / "methods.txt").read_text()
