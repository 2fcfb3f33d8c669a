"""Files of fitted imputers."""

import json

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import save_file

from pmae_core.errors import ImputationError
from pmae_core.imputers import PMAEImputer, PMAENetworkImputer, load_imputer, make_imputer
from pmae_core.imputers.masked.trees import MaskedTreesImputer
from pmae_core.storage.arrays import FORMAT_VERSION, read_arrays, write_arrays
from pmae_core.table import Schema
from tests.support.fast_params import FAST_PARAMS
from tests.support.mixed_tables import mixed_table


@pytest.fixture
def incomplete() -> pd.DataFrame:
    return mixed_table(60)[1]


@pytest.mark.parametrize("name", ["masked-trees", "pmae"])
def test_a_loaded_imputer_can_be_saved_again(name, incomplete, tmp_path):
    params = {"preset": "fast"} if name == "pmae" else {}
    imputer = make_imputer(name, n_trees=5, random_state=0, **params).fit(incomplete)
    imputer.save(tmp_path / "first")

    load_imputer(tmp_path / "first").save(tmp_path / "second")

    assert (tmp_path / "second").read_bytes() == (tmp_path / "first").read_bytes()


def test_a_class_loads_its_own_files_alone(incomplete, tmp_path):
    path = tmp_path / "model"
    MaskedTreesImputer(n_trees=5, random_state=0).fit(incomplete).save(path)

    assert isinstance(MaskedTreesImputer.load(path), MaskedTreesImputer)
    for other in (PMAEImputer, PMAENetworkImputer):
        with pytest.raises(
            ImputationError, match=f"holds a MaskedTreesImputer, not a {other.__name__}"
        ):
            other.load(path)


def test_a_class_that_this_release_lacks_is_refused(incomplete, tmp_path):
    path = tmp_path / "model"
    MaskedTreesImputer(n_trees=5, random_state=0).fit(incomplete).save(path)
    groups, state = read_arrays(path)
    write_arrays(path, groups, state | {"class": "OracleImputer"})

    with pytest.raises(ImputationError, match="OracleImputer, which this release does not have"):
        load_imputer(path)


@pytest.mark.parametrize("state", [{}, {"class": "PMAEImputer"}, {"imputer": {}}])
def test_other_safetensors_are_no_imputers(tmp_path, state):
    metadata = {"state": json.dumps({"version": FORMAT_VERSION, **state})}
    save_file({"a/x": np.zeros(1)}, tmp_path / "model", metadata=metadata)

    with pytest.raises(ImputationError, match="is not a saved imputer"):
        load_imputer(tmp_path / "model")


def test_roles_and_columns_come_back(incomplete, tmp_path):
    imputer = MaskedTreesImputer(n_trees=5, schema={"side": "ignored"}, random_state=0)
    with pytest.warns(UserWarning, match="'side' keeps its missing cells"):
        imputer.fit(incomplete)
    imputer.save(tmp_path / "model")

    loaded = load_imputer(tmp_path / "model")

    assert list(loaded.feature_names_in_) == list(incomplete.columns)
    pd.testing.assert_frame_equal(
        loaded.transform(incomplete), imputer.transform(incomplete), check_exact=True
    )


def test_an_imputer_that_is_not_fitted_is_not_saved(tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        MaskedTreesImputer().save(tmp_path / "model")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["masked-trees", "pmae", "pmae-mix"])
def test_levels_are_saved_with_the_model(name, incomplete, tmp_path):
    levels = ["much", "little", "none"]
    frame = incomplete.assign(pain=np.resize([*levels, None], len(incomplete)))
    schema = Schema.infer(frame, {"pain": "ordinal"}, {"pain": {"levels": levels}})
    imputer = make_imputer(name, schema=schema, random_state=0, **FAST_PARAMS[name]).fit(frame)
    imputer.save(tmp_path / "model")

    loaded = load_imputer(tmp_path / "model")

    assert loaded.encoder_.schema_["pain"].rules.levels == tuple(levels)
    pd.testing.assert_frame_equal(loaded.transform(frame), imputer.transform(frame))
