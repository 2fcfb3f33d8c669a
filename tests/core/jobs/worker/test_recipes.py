"""From a job to the recipe that fills its table again."""

import datetime

import pandas as pd
import pytest

from pmae_core.errors import JobError
from pmae_core.explain import Condition, StructuralMissingness
from pmae_core.export import Recipe
from pmae_core.jobs import JobSpec, Resources
from pmae_core.jobs.worker.recipes import MODEL_FILE, TABLE_FILE, recipe_of
from pmae_core.table import Schema

DIGEST = "0" * 64
TABLE = pd.DataFrame({"zip": [10115, 20095, 10115], "age": [31.0, None, 52.0]})


def spec_of(kind="impute", **params):
    schema = Schema.infer(TABLE, {"zip": "categorical"})
    given = {"table": DIGEST, "schema": schema, "seed": 4, "resources": Resources(threads=2)}
    return JobSpec.make(kind, params=params, **given)


def test_a_method_with_all_its_settings():
    structural = StructuralMissingness("age", Condition("zip", "is", (10115,)), 2)
    left_alone = [structural.to_dict()]
    spec = spec_of(method="em", params={"max_iter": 9}, imputations=3, left_alone=left_alone)

    recipe = recipe_of(spec, {"method": "em", "n_imputed": 1}, TABLE)

    assert (recipe.method, recipe.params, recipe.seed) == ("em", {"max_iter": 9}, 4)
    assert (recipe.n_imputations, recipe.threads, recipe.model) == (3, 2, None)
    assert recipe.roles == {"zip": "categorical"}
    assert recipe.left_alone == (structural,)
    assert recipe.table == TABLE_FILE
    assert recipe.versions == spec.versions
    assert Recipe.from_dict(recipe.to_dict()) == recipe


def test_a_training_is_repeated_and_a_model_is_loaded():
    trained = recipe_of(
        spec_of("train", method="pmae-mix", params={"preset": "fast"}),
        {"method": "pmae-mix", "n_imputed": 1},
        TABLE,
    )
    assert (trained.model, trained.params, trained.seed) == (None, {"preset": "fast"}, 4)

    result = {"method": "pmae-mix", "trained": {"params": {"a": 0.1}, "seed": 8}, "n_imputed": 1}
    loaded = recipe_of(spec_of(model="1" * 32), result, TABLE)

    assert (loaded.model, loaded.model_seed, loaded.seed) == (MODEL_FILE, 8, 4)
    assert loaded.params == {"a": 0.1}


def test_sentinels_of_any_type_are_words():
    day = datetime.date(1900, 1, 1)
    result = {"method": "naive", "n_imputed": 1}

    recipe = recipe_of(spec_of(method="naive"), result, TABLE, sentinels=["?", -999, day])

    assert recipe.sentinels == ["?", -999, "1900-01-01"]


def test_a_job_that_imputed_nothing_has_no_recipe():
    with pytest.raises(JobError, match="imputed no table"):
        recipe_of(spec_of("train", method="pmae-mix", impute=False), {"method": "pmae-mix"}, TABLE)
