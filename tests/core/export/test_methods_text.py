"""The paragraph for a paper."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pmae_core.errors import ImputationError
from pmae_core.evaluation import compare
from pmae_core.explain import Condition, StructuralMissingness
from pmae_core.export import Recipe, escape_markdown, methods_paragraph
from pmae_core.imputers import imputer_info


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    table = pd.DataFrame(
        {"x": x, "y_1": x + 0.1 * rng.normal(size=200), "noise": rng.normal(size=200)}
    )
    table.loc[:49, "y_1"] = np.nan
    table.loc[150:169, "noise"] = np.nan
    return table


def test_all_that_a_reader_needs(frame):
    recipe = Recipe(
        table="t.csv",
        method="em",
        params={"max_iter": 9},
        seed=7,
        n_imputations=20,
        sentinels=["?", -999],
        versions={"pmae": "0.1.0", "numpy": "2.4"},
    )

    text = methods_paragraph(recipe, frame, frame.fillna(0.0))

    assert text.plain.startswith(
        "The table has 200 rows and 3 columns; 70 of its 600 cells (11.7%) were missing, "
        "in y_1 (25%) and noise (10%). 65% of the rows were complete. "
        "Treated as missing: ? and -999. Missing values were imputed with "
    )
    assert "(em) [1], with max_iter = 9, otherwise default settings, and seed 7" in text.plain
    assert "(pmae 0.1.0, numpy 2.4)" in text.plain
    assert "In addition, 20 imputations were drawn with seed 7;" in text.plain
    assert "Rubin's rules [2]" in text.plain
    assert "missing at random" in text.plain
    assert text.references[0].startswith("Dempster, Laird and Rubin")
    assert text.references[1].startswith("Rubin: Multiple Imputation")
    assert "[2] Rubin: Multiple" in text.to_text()
    assert "1. Dempster" in text.to_markdown()


def test_rules_are_reported(frame):
    rules = {
        "x": {"lower": 0, "whole": True},
        "y_1": {"lower": -1, "upper": 2},
        "noise": {"derived": "x * 2"},
    }
    text = methods_paragraph(Recipe(table="t", method="em", rules=rules), frame, frame.fillna(0.0))
    assert (
        "Imputed values were kept within limits: x (at least 0) and y_1 (-1 to 2). Imputed values "
        "of x were rounded to whole numbers. Missing values of derived columns were computed: "
        "noise = x * 2." in text.plain
    )
    assert "noise = x \\* 2" in text.markdown


@pytest.mark.parametrize("is_proper", [True, False])
def test_imputations_from_one_model_come_with_a_warning(frame, monkeypatch, is_proper):
    known = replace(imputer_info("em"), is_proper=is_proper)
    monkeypatch.setattr("pmae_core.export.methods_text.imputer_info", lambda _: known)
    recipe = Recipe(table="t", method="em", n_imputations=5)
    text = methods_paragraph(recipe, frame, frame.fillna(0.0)).plain
    assert ("pooled standard errors are too small" in text) == (not is_proper)


def test_a_single_imputation_comes_with_a_warning(frame):
    text = methods_paragraph(Recipe(table="t", method="em"), frame, frame.fillna(0.0))

    assert "standard errors computed from it are too small" in text.plain
    assert len(text.references) == 1
    assert "with default settings and seed 0" in text.plain


def test_what_stays_missing_is_said(frame):
    finding = StructuralMissingness("y_1", Condition("x", "<=", (9.5,)), 200)
    recipe = Recipe(table="t", method="em", left_alone=[finding], model="model.safetensors")

    text = methods_paragraph(recipe, frame, frame)

    assert (
        "Left missing on purpose: y_1 is missing in all 200 rows where x is at most 9.5"
        in text.plain
    )
    assert "The method left values of noise missing." in text.plain
    assert "using a previously trained model" in text.plain


def test_the_comparison_is_reported_with_its_rank_and_its_limits(frame):
    comparison = compare(frame, ["naive", "em"], seeds=[0, 1, 2])
    recipe = Recipe(table="t", method="em")
    row = comparison.summary().loc["em"]

    text = methods_paragraph(recipe, frame, frame.fillna(0.0), comparison=comparison)

    skill = f"{row['skill']:.3f} ± {row['skill_se']:.3f}"
    assert "In a comparison of 2 methods over 3 seeds on observed cells held out" in text.plain
    assert f"of {skill}, rank 1." in text.plain
    assert "In noise, no method was shown to beat the mean" in text.plain
    other = Recipe(table="t", method="knn")
    silent = methods_paragraph(other, frame, frame.fillna(0.0), comparison=comparison)
    assert "In a comparison" not in silent.plain


def test_names_are_escaped_in_markdown_only(frame):
    named = frame.rename(columns={"y_1": "*y_1* <script>\n# x"})

    text = methods_paragraph(Recipe(table="t", method="em"), named, named.fillna(0.0))

    assert "*y_1* <script>" in text.plain
    assert r"\*y\_1\* \<script\> \# x" in text.markdown
    assert "<script>" not in text.markdown
    assert "\n" not in text.markdown


@given(st.text())
@settings(max_examples=100)
def test_escaped_text_is_one_line_and_loses_only_blanks(text):
    escaped = escape_markdown(text)

    assert len(escaped.splitlines()) <= 1
    assert re.sub(r"\\(.)", r"\1", escaped) == " ".join(text.split())


def test_a_complete_table_and_an_unknown_method(frame):
    complete = frame.fillna(0.0)
    text = methods_paragraph(Recipe(table="t", method="em"), complete, complete)
    assert text.plain.startswith("The table has 200 rows and 3 columns; no value was missing.")
    with pytest.raises(ImputationError, match="no method 'magic'"):
        methods_paragraph(Recipe(table="t", method="magic"), frame, frame)


def test_a_trained_model_is_reported_with_its_own_seed(frame):
    recipe = Recipe(table="t", method="em", model="m", params={"max_iter": 9}, model_seed=5, seed=7)

    text = methods_paragraph(recipe, frame, frame.fillna(0.0)).plain

    assert "using a previously trained model, with max_iter = 9, otherwise default settings" in text
    assert "and seed 5" in text
    assert "seed 7" not in text


def test_levels_are_reported(frame):
    rules = {"x": {"levels": [1.5, 2]}, "y_1": {"levels": [1, 2]}}
    recipe = Recipe(table="t", method="em", roles={"x": "ordinal"}, rules=rules)
    text = methods_paragraph(recipe, frame, frame.fillna(0.0)).plain
    assert "Ordinal columns were imputed by the ranks of their levels: x (1.5 < 2)." in text
