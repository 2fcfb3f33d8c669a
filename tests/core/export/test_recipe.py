"""Recipes: how a table was imputed."""

import json

import pandas as pd
import pytest

from pmae_core.errors import ImputationError
from pmae_core.explain import Condition, StructuralMissingness
from pmae_core.export import Recipe


@pytest.mark.parametrize(
    "wrong",
    [
        {"params": {"random_state": 1}},
        {"params": {"x": object()}},
        {"params": {"x": float("nan")}},
        {"n_imputations": -1},
    ],
)
def test_recipes_that_no_script_could_follow(wrong):
    with pytest.raises(ImputationError):
        Recipe(table="t.csv", method="em", **wrong)


def test_recipe_as_json_and_back():
    finding = StructuralMissingness("b", Condition("when", "<=", (pd.Timestamp("2024-02-29"),)), 30)
    for one in (
        Recipe(
            table="t.csv",
            method="em",
            params={"max_iter": 15},
            n_imputations=2,
            was_imputed_output="was_imputed.csv",
            versions={"pmae": "0.1.0"},
        ),
        Recipe(table="t", method="em", sentinels={2: ["?"]}, roles={2: "ignored"}),
        Recipe(table="t", method="em", left_alone=[finding], read_options={"sheet": "a"}),
        Recipe(table="t", method="em", rules={2: {"lower": 0.5, "whole": False}}),
    ):
        assert Recipe.from_dict(json.loads(json.dumps(one.to_dict()))) == one
    old = {key: value for key, value in one.to_dict().items() if key != "rules"}
    assert Recipe.from_dict(old).rules == {}
    with pytest.raises(ImputationError, match="not a saved recipe"):
        Recipe.from_dict({"table": "t"})


def test_files_of_the_imputations_are_numbered_after_the_output():
    recipe = Recipe(table="t.csv", method="em", n_imputations=2, output="out/imputed.parquet")

    assert recipe.imputation_outputs == ["out/imputed-1.parquet", "out/imputed-2.parquet"]
