"""Scripts and commands that impute a table again: they are run, and the tables compared."""

import ast
import contextlib
import json
import os
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from pmae_core.cli.app import app
from pmae_core.errors import ImputationError
from pmae_core.explain import (
    Condition,
    StructuralMissingness,
    find_structural_missingness,
    leave_alone,
)
from pmae_core.export import Recipe, changed_roles, command_line, reproduce_script
from pmae_core.imputers import make_imputer
from pmae_core.table import Schema, read_table
from tests.support.paths import ROOT


@pytest.fixture
def folder(tmp_path) -> Path:
    """A folder with a table whose file and columns have awkward names."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=120)
    smoker = rng.choice(["yes", "no"], 120)
    table = pd.DataFrame(
        {
            "x 'quoted'": x,
            "y=2x": np.where(rng.random(120) < 0.2, -999, (20 * x).round()).astype(int),
            "zip": rng.choice([101, 202, 303], 120).astype(float),
            "smoker": smoker,
            "packs": np.where(smoker == "yes", rng.gamma(2.0, size=120), np.nan),
        }
    )
    for name in ("x 'quoted'", "zip"):
        table.loc[rng.random(120) < 0.2, name] = np.nan
    table.to_csv(tmp_path / "my 'survey'.csv", index=False)
    return tmp_path


def run_script(recipe: Recipe, folder: Path) -> None:
    """Run the script as users do: in an interpreter of its own."""
    (folder / "reproduce.py").write_text(reproduce_script(recipe), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "reproduce.py"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr


def run_script_here(recipe: Recipe, folder: Path) -> None:
    """Run the script in this process, which has loaded all that it takes."""
    with contextlib.chdir(folder):
        exec(compile(reproduce_script(recipe), "reproduce.py", "exec"), {})


def run_command(recipe: Recipe, folder: Path) -> None:
    words = [word for word in shlex.split(command_line(recipe)) if "_NUM_THREADS=" not in word]
    assert words[0] == "pmae"
    with contextlib.chdir(folder):
        done = CliRunner().invoke(app, [*words[1:], "--force", "--quiet"])
    assert done.exit_code == 0, done.output


@pytest.fixture
def recipe() -> Recipe:
    return Recipe(
        table="my 'survey'.csv",
        sentinels=[-999],
        roles={"zip": "categorical", "x 'quoted'": "numerical"},
        method="em",
        params={"max_iter": 15},
        seed=3,
        n_imputations=2,
        output="imputed.parquet",
        was_imputed_output="was_imputed.csv",
        threads=1,
        versions={"pmae": "0.1.0", "numpy": "2"},
    )


def impute(recipe: Recipe, folder: Path) -> tuple[pd.DataFrame, pd.DataFrame, list[pd.DataFrame]]:
    """Return the table, the imputed one and the imputations, without any script."""
    frame = read_table(folder / recipe.table, sentinels=recipe.sentinels)
    schema = Schema.infer(frame, roles=recipe.roles, rules=recipe.rules)
    imputer = make_imputer(
        recipe.method, schema=schema, random_state=recipe.seed, **recipe.params
    ).fit(frame)
    n = recipe.n_imputations
    imputations = imputer.sample(frame, n, random_state=recipe.seed) if n else []
    return frame, imputer.transform(frame), imputations


def check_outputs(recipe: Recipe, folder: Path, imputed, was_imputed, imputations) -> None:
    pd.testing.assert_frame_equal(read_table(folder / recipe.output), imputed, check_exact=True)
    found = read_table(folder / recipe.was_imputed_output)
    assert (found.to_numpy() == was_imputed.to_numpy()).all()
    for name, table in zip(recipe.imputation_outputs, imputations, strict=True):
        pd.testing.assert_frame_equal(read_table(folder / name), table, check_exact=True)


def test_rules_are_kept_by_script_and_command(recipe, folder):
    rules = {
        "y=2x": {"lower": -10.5, "whole": True},
        "x 'quoted'": {"upper": 0.123},
        "packs": {"derived": "`y=2x` / 10"},
    }
    recipe = replace(recipe, rules=rules)
    frame, imputed, imputations = impute(recipe, folder)
    assert imputed["y=2x"][frame["y=2x"].isna()].min() >= -10
    computed = imputed["packs"] - imputed["y=2x"] / 10
    assert computed[frame["packs"].isna()].abs().max() < 1e-9

    for way in (run_script_here, run_command):
        way(recipe, folder)
        check_outputs(recipe, folder, imputed, frame.isna() & imputed.notna(), imputations)


def test_script_and_command_give_the_same_table_to_the_last_bit(recipe, folder):
    frame, imputed, imputations = impute(recipe, folder)
    assert changed_roles(frame, Schema.infer(frame, roles=recipe.roles)) == {"zip": "categorical"}

    for way in (run_script, run_command):
        way(recipe, folder)
        check_outputs(recipe, folder, imputed, frame.isna() & imputed.notna(), imputations)
        for name in (recipe.output, recipe.was_imputed_output, *recipe.imputation_outputs):
            (folder / name).unlink()


def test_a_trained_network_too_and_its_model(folder):
    params = {"preset": "fast", "steps": 4, "validation_share": 0.0}
    recipe = Recipe(
        table="my 'survey'.csv", method="pmae-mix", params=params, seed=1, output="f.parquet"
    )
    frame = read_table(folder / recipe.table)
    imputer = make_imputer("pmae-mix", random_state=1, **params).fit(frame)
    imputed = imputer.transform(frame)
    imputer.save(folder / "model.safetensors")

    run_script_here(recipe, folder)
    pd.testing.assert_frame_equal(read_table(folder / "f.parquet"), imputed, check_exact=True)

    loaded = Recipe(
        table=recipe.table, method="pmae-mix", model="model.safetensors", output="g.parquet"
    )
    for way in (run_script_here, run_command):
        way(loaded, folder)
        pd.testing.assert_frame_equal(read_table(folder / "g.parquet"), imputed, check_exact=True)


def test_cells_left_alone_are_missing_again(folder):
    plain = Recipe(table="my 'survey'.csv", method="naive", sentinels={"y=2x": [-999]})
    frame, imputed, _ = impute(plain, folder)
    findings = find_structural_missingness(frame)
    assert [finding.column for finding in findings] == ["packs"]
    recipe = Recipe(
        table=plain.table,
        method="naive",
        sentinels=plain.sentinels,
        left_alone=findings,
        output="imputed.parquet",
    )

    run_script_here(recipe, folder)

    found = read_table(folder / "imputed.parquet")
    pd.testing.assert_frame_equal(
        found, imputed.mask(leave_alone(frame, findings)), check_exact=True
    )
    assert found["packs"].isna().sum() == findings[0].n_rows
    assert "# packs is missing in all" in reproduce_script(recipe)


def test_a_sample_table_needs_no_file(tmp_path):
    recipe = Recipe(table="penguins", source="sample", method="naive", output="p.parquet")

    run_script_here(recipe, tmp_path)

    assert not read_table(tmp_path / "p.parquet").drop(columns="year").isna().any(axis=None)
    with pytest.raises(ImputationError, match="sample tables"):
        command_line(recipe)


NAMES = st.text(min_size=1, max_size=15)


@given(table=NAMES, column=NAMES, value=st.one_of(NAMES, st.integers(0), st.booleans()))
@settings(max_examples=80)
def test_names_never_become_code(table, column, value):
    finding = StructuralMissingness(column, Condition(table, "is", (value,)), 30)
    recipe = Recipe(
        table=table,
        method="em",
        sentinels=[value],
        roles={column: "categorical"},
        left_alone=[finding],
        n_imputations=1,
        output="{x}\n.csv",
        versions={"pmae": "1\nimport this"},
    )

    tree = ast.parse(reproduce_script(recipe))

    texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    assert {table, column, value} <= texts
    imported = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert imported == ["pmae_core.explain", "pmae_core.imputers", "pmae_core.table"]
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.Import)]


@given(table=NAMES, column=NAMES, word=NAMES)
@settings(max_examples=80)
def test_a_shell_reads_the_words_as_they_are(table, column, word):
    recipe = Recipe(
        table=table, method="em", roles={column: "ignored"}, params={"p": word}, sentinels=[word]
    )

    words = shlex.split(command_line(recipe))

    assert words[2] in (table, f"./{table}")
    assert not words[2].startswith("-")
    assert f"{column}=ignored" in words
    assert words[words.index("--sentinel") + 1] == word
    name, value = words[words.index("--param") + 1].split("=", 1)
    try:
        read = json.loads(value)
    except json.JSONDecodeError:
        read = value
    assert (name, read) == ("p", word)


def test_settings_in_the_command_keep_their_type():
    recipe = Recipe(
        table="-t.csv",
        method="m",
        params={"word": "fast", "number": "3", "none": None, "list": [1, 2.5], "yes": True},
        sentinels=["?", -999, -9.0],
    )
    assert shlex.split(command_line(recipe)) == [
        *("pmae", "impute", "./-t.csv", "-o", "imputed.csv"),
        *("--sentinel", "?", "--sentinel", "-999", "--sentinel", "-9"),
        *("--method", "m", "--param", "word=fast", "--param", 'number="3"'),
        *("--param", "none=null", "--param", "list=[1, 2.5]", "--param", "yes=true"),
        *("--seed", "0"),
    ]


@pytest.mark.parametrize(
    ("given_by_user", "word"),
    [
        ({"sentinels": {"a": ["?"]}}, "single columns"),
        ({"sentinels": [True]}, "these sentinels"),
        ({"read_options": {"sheet": 1}}, "option sheet"),
        ({"roles": {1: "categorical"}}, "not text"),
        ({"rules": {1: {"lower": 0}}}, "not text"),
        ({"rules": {"a": {"whole": False}}}, "need not be whole"),
        ({"rules": {"a=b": {"derived": "c"}}}, "= in their names"),
        (
            {"left_alone": [StructuralMissingness("a", Condition("b", "is missing"), 9)]},
            "left missing",
        ),
    ],
)
def test_what_the_command_cannot_say(given_by_user, word):
    recipe = Recipe(table="t.xlsx", method="em", **given_by_user)
    with pytest.raises(ImputationError, match=word):
        command_line(recipe)
    compile(reproduce_script(recipe), "script", "exec")


def test_long_settings_are_broken_into_lines():
    params = {f"parameter_{k}": "x" * 30 for k in range(5)}
    script = reproduce_script(Recipe(table="t.csv", method="em", params=params))

    assert max(map(len, script.splitlines())) < 100
    compile(script, "script", "exec")


def test_levels_are_kept_by_script_and_command(recipe, folder):
    grades = ["pass", "merit", "with distinction"]
    table = read_table(folder / recipe.table)
    table["grade"] = np.array(grades)[np.digitize(table["packs"].fillna(0.0), [0.5, 2.0])]
    table.loc[::6, "grade"] = None
    table.to_csv(folder / recipe.table, index=False)
    recipe = replace(
        recipe,
        roles={"grade": "ordinal", "zip": "ordinal"},
        rules={"grade": {"levels": grades}, "zip": {"levels": [303, 101, 202]}},
    )
    frame, imputed, imputations = impute(recipe, folder)
    assert set(imputed["grade"]) == set(grades)
    assert set(imputed["zip"]) == {101, 202, 303}

    for way in (run_script_here, run_command):
        way(recipe, folder)
        check_outputs(recipe, folder, imputed, frame.isna() & imputed.notna(), imputations)
    assert Recipe.from_dict(json.loads(json.dumps(recipe.to_dict()))) == recipe


@pytest.mark.parametrize("level", ["a<b", " a", True, {"date": "2024-02-29"}])
def test_levels_that_only_the_script_can_express(recipe, level):
    with pytest.raises(ImputationError, match="cannot express these levels"):
        command_line(replace(recipe, rules={"zip": {"levels": [level, "z"]}}))
