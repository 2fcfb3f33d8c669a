"""Forests as plain arrays: the same predictions, and no trust in what a file says."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import load, save
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor

from pmae_core.errors import ImputationError
from pmae_core.imputers.masked._forest_arrays import forest_arrays, forest_from_arrays

N_FEATURES = 6


def inputs(n_rows, seed, missing=0.3):
    rng = np.random.default_rng(seed)
    # Few digits, so that inputs meet thresholds exactly now and then.
    numbers = rng.normal(size=(n_rows, N_FEATURES)).round(1).astype(np.float32)
    numbers[rng.random(numbers.shape) < missing] = np.nan
    return numbers


def grown(n_classes=None, *, n_rows=300, missing=0.3, **params):
    """Return a forest, grown in two steps; a regressor without a number of classes."""
    x = inputs(n_rows, 0, missing)
    signal = np.nan_to_num(x[:, 0] + x[:, 1] ** 2)
    forest_class = ExtraTreesRegressor if n_classes is None else ExtraTreesClassifier
    if n_classes is None:
        y = signal.astype(np.float32)
    else:
        bounds = np.quantile(signal, np.linspace(0, 1, n_classes + 1)[1:-1])
        y = 2 * np.digitize(signal, bounds).astype(np.float32)  # not every code occurs
    forest = forest_class(min_samples_leaf=3, random_state=0, warm_start=True, **params)
    for n_trees in (4, 7):
        forest.set_params(n_estimators=n_trees).fit(x, y)
    return forest, x, y


def restored(arrays):
    return forest_from_arrays(arrays, n_features=N_FEATURES)


def assert_same_predictions(forest, again):
    for x in (inputs(200, 1), inputs(200, 2, missing=0.0), inputs(5, 3, missing=1.0)):
        for method in ("predict", "apply", "predict_proba"):
            if hasattr(forest, method):
                expected, got = getattr(forest, method)(x), getattr(again, method)(x)
                assert got.dtype == expected.dtype
                np.testing.assert_array_equal(got, expected)
        paths, same_paths = forest.decision_path(x), again.decision_path(x)
        assert (paths[0] != same_paths[0]).nnz == 0
        np.testing.assert_array_equal(paths[1], same_paths[1])


@pytest.mark.parametrize("n_classes", [None, 1, 2, 5])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_a_forest_comes_back_from_a_file_with_the_same_predictions(n_classes, missing):
    forest, _, _ = grown(n_classes, missing=missing)
    again = restored(load(save(forest_arrays(forest))))
    assert type(again) is type(forest)
    assert_same_predictions(forest, again)
    for one, other in zip(forest.estimators_, again.estimators_, strict=True):
        assert one.get_depth() == other.get_depth()
        assert one.get_n_leaves() == other.get_n_leaves()


@pytest.mark.parametrize("n_classes", [None, 1, 5])
def test_a_restored_forest_can_be_saved_again(n_classes):
    arrays = forest_arrays(grown(n_classes)[0])
    again = forest_arrays(restored(arrays))
    assert again.keys() == arrays.keys()
    for name, array in arrays.items():
        assert again[name].dtype == array.dtype
        np.testing.assert_array_equal(again[name], array)


@pytest.mark.parametrize("side", [-np.inf, 0, np.inf])
def test_inputs_next_to_thresholds_go_the_same_way(side):
    forest, x, _ = grown()
    again = restored(forest_arrays(forest))
    tree = forest.estimators_[0].tree_
    inner = np.flatnonzero(tree.children_left != -1)
    rows = np.repeat(x[:1], len(inner), axis=0)
    near = tree.threshold[inner].astype(np.float32)
    rows[np.arange(len(inner)), tree.feature[inner]] = (
        near if side == 0 else np.nextafter(near, np.float32(side))
    )
    np.testing.assert_array_equal(again.apply(rows), forest.apply(rows))


@pytest.mark.parametrize("n_classes", [None, 3])
def test_one_leaf_is_a_tree(n_classes):
    forest, _, _ = grown(n_classes, max_depth=1, max_features=1)
    forest.set_params(n_estimators=8, max_depth=None, min_samples_leaf=200)
    forest.fit(*grown(n_classes)[1:])  # the last tree is a leaf
    assert forest.estimators_[-1].tree_.node_count == 1
    assert_same_predictions(forest, restored(forest_arrays(forest)))


def test_saving_keeps_the_forest_small():
    forest, _, _ = grown(5)
    arrays = forest_arrays(forest)
    n_nodes = sum(one.tree_.node_count for one in forest.estimators_)
    assert sum(array.nbytes for array in arrays.values()) < 6 * n_nodes
    assert arrays["value"].dtype == np.uint8


@pytest.mark.parametrize(
    "forest",
    [
        grown(max_leaf_nodes=20)[0],
        grown(3, class_weight={0: 0.3, 2: 1, 4: 1.7})[0],
        ExtraTreesRegressor(3).fit(inputs(50, 0), np.ones((50, 2))),
        ExtraTreesClassifier(3).fit(inputs(50, 0), ["a", "b"] * 25),
        ExtraTreesClassifier(3).fit(inputs(50, 0), [-1, 1] * 25),
        ExtraTreesRegressor(3).fit(inputs(50, 0), np.full(50, 1e300)),
    ],
    ids=["best first", "weights", "two outputs", "texts", "negative", "huge"],
)
def test_what_would_come_back_different_is_not_saved(forest):
    with pytest.raises(ImputationError, match="cannot be saved exactly"):
        forest_arrays(forest)


REGRESSOR, X, Y = grown(n_rows=60)
ARRAYS = {
    None: forest_arrays(REGRESSOR),
    3: forest_arrays(grown(3, n_rows=60)[0]),
}


def changed(n_classes=None, **arrays):
    return ARRAYS[n_classes] | {name: np.asarray(array) for name, array in arrays.items()}


def with_entry(n_classes, name, value, place=0):
    array = ARRAYS[n_classes][name].copy()
    array.flat[place] = value
    return ARRAYS[n_classes] | {name: array}


DAMAGED = {
    "no trees": changed(nodes_per_tree=np.zeros(0, dtype=np.int32)),
    "a tree without nodes": with_entry(None, "nodes_per_tree", 0),
    "a negative tree": with_entry(None, "nodes_per_tree", -5),
    "a huge tree": with_entry(None, "nodes_per_tree", 2**31 - 1),
    "nodes of another tree": changed(
        nodes_per_tree=ARRAYS[None]["nodes_per_tree"] + np.array([2, -2, 0, 0, 0, 0, 0], "i4")
    ),
    "only leaves": changed(is_leaf=np.full_like(ARRAYS[None]["is_leaf"], 255)),
    "no leaves": changed(is_leaf=np.zeros_like(ARRAYS[None]["is_leaf"])),
    "trees back to front": changed(is_leaf=ARRAYS[None]["is_leaf"][::-1]),
    "another type": changed(threshold=ARRAYS[None]["threshold"].astype(np.float64)),
    "another byte order": changed(value=ARRAYS[None]["value"].astype(">f8")),
    "another shape": changed(value=ARRAYS[None]["value"][:, None]),
    "a feature too far": with_entry(None, "feature", N_FEATURES),
    "a feature too low": changed(feature=ARRAYS[None]["feature"].astype(np.int16) - np.int16(9)),
    "fewer features": changed(feature=ARRAYS[None]["feature"][1:]),
    "fewer thresholds": changed(threshold=ARRAYS[None]["threshold"][1:]),
    "fewer bits": changed(missing_left=ARRAYS[None]["missing_left"][1:]),
    "fewer leaves": changed(value=ARRAYS[None]["value"][1:]),
    "a missing threshold": with_entry(None, "threshold", np.nan),
    "an infinite threshold": with_entry(None, "threshold", -np.inf),
    "a missing value": with_entry(None, "value", np.nan),
    "a huge value": with_entry(None, "value", 1e308),
    "other inputs": with_entry(None, "n_features", N_FEATURES + 1),
    "two numbers of inputs": changed(n_features=np.array([6, 6], dtype=np.int32)),
    "a leaf of nothing": changed(3, value=np.zeros_like(ARRAYS[3]["value"])),
    "fewer than no rows": changed(
        3, value=ARRAYS[3]["value"] * np.array([1, 1, -1], "i2") + np.array([9, 9, 0], "i2")
    ),
    "no classes": changed(3, classes=np.zeros(0), value=ARRAYS[3]["value"][:, :0]),
    "fewer classes": changed(3, classes=ARRAYS[3]["classes"][1:]),
    "half a class": with_entry(3, "classes", 0.5),
    "a class below 0": with_entry(3, "classes", -1),
    "a missing class": with_entry(3, "classes", np.nan, 2),
    "classes twice": with_entry(3, "classes", 2),
    "a classifier's leaves": changed(value=ARRAYS[3]["value"]),
}


@pytest.mark.parametrize("arrays", DAMAGED.values(), ids=DAMAGED.keys())
def test_a_damaged_forest_is_refused(arrays):
    with pytest.raises(ImputationError, match="The model file is damaged: "):
        restored(arrays)


@pytest.mark.parametrize(
    ("n_classes", "name"), [(n, name) for n in ARRAYS for name in ARRAYS[n] if name != "classes"]
)
def test_every_array_has_to_be_there(n_classes, name):
    arrays = {other: array for other, array in ARRAYS[n_classes].items() if other != name}
    with pytest.raises(ImputationError, match=f"it has no array '{name}'"):
        restored(arrays)


def test_too_many_trees_are_refused_before_they_take_memory():
    n = 200_000
    arrays = changed(
        nodes_per_tree=np.ones(n, dtype=np.int32),
        is_leaf=np.packbits(np.ones(n, dtype=bool)),
        value=np.ones(n, dtype=np.float32),
        **{name: ARRAYS[None][name][:0] for name in ("feature", "threshold", "missing_left")},
    )
    with pytest.raises(ImputationError, match="too many"):
        restored(arrays)


def test_a_very_deep_tree_is_read_quickly():
    n = 100_000
    is_leaf = np.append(np.arange(2 * n) % 2 == 1, True)  # every left child is a leaf
    arrays = {
        "n_features": np.array([N_FEATURES], dtype=np.int32),
        "nodes_per_tree": np.array([2 * n + 1], dtype=np.int32),
        "is_leaf": np.packbits(is_leaf),
        "feature": np.zeros(n, dtype=np.uint8),
        "threshold": np.arange(n, dtype=np.float32),
        "missing_left": np.packbits(np.zeros(n, dtype=bool)),
        "value": np.arange(n + 1, dtype=np.float32),
    }
    forest = restored(arrays)
    assert forest.estimators_[0].get_depth() == n
    assert forest.predict(np.full((1, N_FEATURES), 12.0)) == [12]
    assert forest.predict(np.full((1, N_FEATURES), np.nan)) == [n]


def corrupted(data, arrays):
    """Return arrays with some bytes of one entry replaced, as damage to a file would."""
    name = data.draw(st.sampled_from(sorted(arrays)))
    array = arrays[name].copy()
    place = data.draw(st.integers(0, array.nbytes - 1))
    n_bytes = data.draw(st.integers(1, array.itemsize))
    array.reshape(-1).view(np.uint8)[place : place + n_bytes] = data.draw(st.integers(0, 255))
    return arrays | {name: array}


@pytest.mark.parametrize("n_classes", ARRAYS)
@settings(max_examples=300)
@given(data=st.data())
def test_any_corrupted_entry_is_refused_or_harmless(n_classes, data):
    arrays = corrupted(data, ARRAYS[n_classes])
    try:
        forest = restored(arrays)
    except ImputationError:
        return
    x = inputs(50, 1)
    assert np.isfinite(forest.predict(x)).all()
    forest.decision_path(x)
    for leaves, one in zip(forest.apply(x).T, forest.estimators_, strict=True):
        assert (one.tree_.children_left[leaves] == -1).all()
    if n_classes:
        np.testing.assert_allclose(forest.predict_proba(x).sum(axis=1), 1)
