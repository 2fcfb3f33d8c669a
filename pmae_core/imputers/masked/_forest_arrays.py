"""Fitted forests as a few plain arrays, so that a model file needs no pickle.

Trees are grown depth first: the left child of a node is the next node, and the right child follows
the left child's branch. So one bit per node, whether it is a leaf, describes the shape of a tree,
and no array can describe a cycle. Inner nodes have an input, a threshold and a bit for missing
inputs. Leaves have a number, or a count per class.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.tree import ExtraTreeClassifier, ExtraTreeRegressor
from sklearn.tree._tree import TREE_LEAF, TREE_UNDEFINED, Tree

from pmae_core.errors import ImputationError
from pmae_core.imputers.masked._saved_arrays import (
    INTEGERS,
    damaged,
    saved_array,
    smallest_integers,
)

# Every tree is an object of its own: a small file of many tiny trees would need much memory.
_MOST_TREES = 100_000
_LARGEST_VALUE = np.finfo(np.float32).max


def forest_arrays(forest: ExtraTreesClassifier | ExtraTreesRegressor) -> dict[str, np.ndarray]:
    """Return a fitted forest as arrays.

    Parameters
    ----------
    forest : ExtraTreesClassifier or ExtraTreesRegressor
        A forest with one output, grown depth first and without weights; classes are whole numbers
        from 0.

    Returns
    -------
    dict of str to ndarray
        ``n_features`` (one number), ``nodes_per_tree``, then for all trees one after another
        ``is_leaf`` (bits), for their inner nodes ``feature``, ``threshold`` and ``missing_left``
        (bits), for their leaves ``value``; and ``classes`` for a classifier.

    Raises
    ------
    ImputationError
        If the arrays would not restore a forest with exactly the same predictions.
    """
    if forest.n_outputs_ != 1:
        raise _not_exact()
    nodes = [one.tree_.__getstate__()["nodes"] for one in forest.estimators_]
    every = np.concatenate(nodes)
    is_leaf = every["left_child"] == TREE_LEAF
    inner = every[~is_leaf]
    arrays: dict[str, np.ndarray] = {
        "n_features": np.array([forest.n_features_in_], dtype=np.int32),
        "nodes_per_tree": np.array([len(one) for one in nodes], dtype=np.int32),
        "is_leaf": np.packbits(is_leaf),
        "feature": smallest_integers(inner["feature"]),
        "threshold": _round_down(inner["threshold"]),
        "missing_left": np.packbits(inner["missing_go_to_left"]),
    }
    values = np.concatenate([one.tree_.value[:, 0] for one in forest.estimators_])[is_leaf]
    if isinstance(forest, ExtraTreesClassifier):
        counts = np.rint(values * every["weighted_n_node_samples"][is_leaf, None])
        arrays |= {"value": smallest_integers(counts), "classes": np.asarray(forest.classes_)}
    else:
        arrays["value"] = _smallest_floats(values[:, 0])
    _ensure_same_predictions(forest, arrays)
    return arrays


def forest_from_arrays(
    arrays: Mapping[str, np.ndarray], *, n_features: int
) -> ExtraTreesClassifier | ExtraTreesRegressor:
    """Restore a forest from what :func:`forest_arrays` returned.

    ``predict``, ``predict_proba``, ``apply`` and ``decision_path`` return exactly what they did
    before. What only growing needs is not restored: impurities, most numbers of samples, the values
    of inner nodes and parameters such as ``min_samples_leaf``.

    Parameters
    ----------
    arrays : mapping of str to ndarray
        The arrays; they may come from a damaged file. All are checked first, because
        scikit-learn's compiled code trusts them.
    n_features : int
        Number of inputs that the forest must take.

    Returns
    -------
    ExtraTreesClassifier or ExtraTreesRegressor
        A classifier if there are ``classes``.

    Raises
    ------
    ImputationError
        If the arrays do not describe a forest with that many inputs.
    """
    _check_n_features(arrays, n_features)
    classes = _checked_classes(arrays) if "classes" in arrays else None
    leaf_values = _checked_numbers(arrays) if classes is None else _checked_shares(arrays, classes)
    shape = _checked_shape(arrays, len(leaf_values))
    nodes = _checked_nodes(arrays, shape, n_features)
    values = np.zeros((len(nodes), leaf_values.shape[1]))
    values[shape.is_leaf] = leaf_values
    if classes is not None:  # so that the restored forest can be saved again
        counts = arrays["value"].sum(axis=1, dtype=np.int64)
        nodes["weighted_n_node_samples"][shape.is_leaf] = counts

    ends = np.cumsum(shape.nodes_per_tree)
    trees = [
        _tree(nodes[start:end], values[start:end], int(depth), n_features)
        for start, end, depth in zip(ends - shape.nodes_per_tree, ends, shape.depths(), strict=True)
    ]
    return _regressor(trees) if classes is None else _classifier(trees, classes)


@dataclass(frozen=True, eq=False)
class _Shape:
    """The shape of trees: their nodes one after another, numbered from 0 through all trees."""

    nodes_per_tree: np.ndarray
    is_leaf: np.ndarray
    left: np.ndarray
    right: np.ndarray

    def first_nodes(self) -> np.ndarray:
        """Return for each node the first node of its tree."""
        starts = np.cumsum(self.nodes_per_tree) - self.nodes_per_tree
        return np.repeat(starts, self.nodes_per_tree)

    def depths(self) -> np.ndarray:
        """Return the depth of each tree: scikit-learn reserves memory for decision paths by it."""
        inner = np.flatnonzero(~self.is_leaf)
        ancestor = np.arange(len(self.is_leaf))
        ancestor[self.left[inner]] = ancestor[self.right[inner]] = inner
        above = (ancestor != np.arange(len(ancestor))).astype(np.int64)
        # Each round doubles how far up an ancestor is, so even a very deep tree takes few rounds.
        while (further := above[ancestor]).any():
            above += further
            ancestor = ancestor[ancestor]
        return np.maximum.reduceat(above, np.cumsum(self.nodes_per_tree) - self.nodes_per_tree)


def _round_down(thresholds: np.ndarray) -> np.ndarray:
    """Return thresholds in half the bytes, with the same answers for all inputs.

    scikit-learn compares float32 inputs with a threshold. A float32 is at most the threshold
    exactly if it is at most the largest float32 that is.
    """
    rounded = thresholds.astype(np.float32)
    below = np.nextafter(rounded, np.float32(-np.inf))
    return np.where(rounded > thresholds, below, rounded)


def _smallest_floats(values: np.ndarray) -> np.ndarray:
    """Return numbers as float32 if that changes none of them."""
    with np.errstate(over="ignore"):
        small = values.astype(np.float32)
    return small if np.array_equal(small, values) else values


def _ensure_same_predictions(
    forest: ExtraTreesClassifier | ExtraTreesRegressor, arrays: dict[str, np.ndarray]
) -> None:
    """Refuse now a forest that would come back different, not when it is needed."""
    cause = None
    try:
        again = forest_from_arrays(arrays, n_features=forest.n_features_in_)
        pairs = zip(forest.estimators_, again.estimators_, strict=True)
        if all(_predict_the_same(one.tree_, other.tree_) for one, other in pairs):
            return
    except ImputationError as error:
        cause = error
    raise _not_exact() from cause


def _not_exact() -> ImputationError:
    return ImputationError(
        "This forest cannot be saved exactly.",
        advice="Grow it with one output, whole numbers from 0 as classes, no weights and no "
        "max_leaf_nodes.",
    )


def _predict_the_same(tree: Tree, restored: Tree) -> bool:
    is_leaf = tree.children_left == TREE_LEAF
    fields = ("left_child", "right_child", "feature")
    nodes, others = tree.__getstate__()["nodes"], restored.__getstate__()["nodes"]
    return (
        all(np.array_equal(nodes[field], others[field]) for field in fields)
        and np.array_equal(_round_down(tree.threshold), restored.threshold)
        and np.array_equal(
            nodes["missing_go_to_left"][~is_leaf], others["missing_go_to_left"][~is_leaf]
        )
        and np.array_equal(tree.value[is_leaf], restored.value[is_leaf])
    )


def _check_n_features(arrays: Mapping[str, np.ndarray], n_features: int) -> None:
    saved = saved_array(arrays, "n_features", (np.int32,))
    if saved.tolist() != [n_features]:
        raise damaged(f"its trees do not take {n_features} inputs")


def _checked_shape(arrays: Mapping[str, np.ndarray], n_leaves: int) -> _Shape:
    nodes_per_tree = saved_array(arrays, "nodes_per_tree", (np.int32,)).astype(np.int64)
    if not 1 <= len(nodes_per_tree) <= _MOST_TREES:
        raise damaged("it has no trees, or too many")
    if (nodes_per_tree < 1).any():
        raise damaged("a tree has no nodes")
    is_leaf = _bits(arrays, "is_leaf", int(nodes_per_tree.sum()))
    if np.count_nonzero(is_leaf) != n_leaves:
        raise damaged("it has more or fewer leaves than values")
    # How many branches are still to come before a node: an inner node opens one more, a leaf
    # closes one, and a tree is complete at the leaf that would close one too many.
    step = np.where(is_leaf, -1, 1)
    before = np.cumsum(step) - step + np.repeat(np.arange(len(nodes_per_tree)), nodes_per_tree)
    ends = np.cumsum(nodes_per_tree) - 1
    closed = before + step < 0
    if not closed[ends].all() or np.count_nonzero(closed) != len(ends):
        raise damaged("its nodes do not form trees")
    left, right = _children(is_leaf, before)
    return _Shape(nodes_per_tree, is_leaf, left, right)


def _children(is_leaf: np.ndarray, before: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the children of each node: the right one is the next with as many open branches."""
    left = np.arange(1, len(is_leaf) + 1)
    right = np.full(len(is_leaf), TREE_LEAF)
    order = np.argsort(smallest_integers(before), kind="stable")  # fast for short integers
    right[order[:-1]] = order[1:]
    left[is_leaf] = right[is_leaf] = TREE_LEAF
    return left, right


def _bits(arrays: Mapping[str, np.ndarray], name: str, n: int) -> np.ndarray:
    packed = saved_array(arrays, name, (np.uint8,))
    if len(packed) != (n + 7) // 8:
        raise damaged(f"array {name!r} has a wrong length")
    return np.unpackbits(packed, count=n).astype(bool)


def _checked_nodes(arrays: Mapping[str, np.ndarray], shape: _Shape, n_features: int) -> np.ndarray:
    """Return nodes as scikit-learn keeps them, with children counted from their tree's root."""
    inner = ~shape.is_leaf
    n_inner = int(np.count_nonzero(inner))
    feature = saved_array(arrays, "feature", INTEGERS)
    threshold = saved_array(arrays, "threshold", (np.float32,))
    if len(feature) != n_inner or len(threshold) != n_inner:
        raise damaged("it has more or fewer inner nodes than thresholds")
    if ((feature < 0) | (feature >= n_features)).any():
        raise damaged("a tree uses an input that does not exist")
    if not np.isfinite(threshold).all():
        raise damaged("a threshold is not a finite number")
    nodes = _blank_nodes(len(inner))
    first = shape.first_nodes()[inner]
    nodes["left_child"][inner] = shape.left[inner] - first
    nodes["right_child"][inner] = shape.right[inner] - first
    nodes["feature"][inner] = feature
    nodes["threshold"][inner] = threshold
    nodes["missing_go_to_left"][inner] = _bits(arrays, "missing_left", n_inner)
    return nodes


def _blank_nodes(n: int) -> np.ndarray:
    """Return leaves, with all the fields that the installed scikit-learn has."""
    one_class = np.array([1], dtype=np.intp)
    nodes = np.zeros(n, dtype=Tree(1, one_class, 1).__getstate__()["nodes"].dtype)
    nodes["left_child"] = nodes["right_child"] = TREE_LEAF
    nodes["feature"] = nodes["threshold"] = TREE_UNDEFINED
    nodes["n_node_samples"] = nodes["weighted_n_node_samples"] = 1
    return nodes


def _checked_classes(arrays: Mapping[str, np.ndarray]) -> np.ndarray:
    classes = saved_array(arrays, "classes", (np.int32, np.int64, np.float32, np.float64))
    if not len(classes) or not np.isfinite(classes).all():
        raise damaged("its classes are not finite numbers")
    if classes[0] < 0 or (classes != np.floor(classes)).any() or (np.diff(classes) <= 0).any():
        raise damaged("its classes are not ascending whole numbers from 0")
    return classes


def _checked_numbers(arrays: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return the number of each leaf, as a column."""
    value = saved_array(arrays, "value", (np.float32, np.float64))
    # Targets are float32. This also keeps sums over trees finite.
    if not (np.abs(value) <= _LARGEST_VALUE).all():
        raise damaged("the number of a leaf is not finite, or too large")
    return value[:, None]


def _checked_shares(arrays: Mapping[str, np.ndarray], classes: np.ndarray) -> np.ndarray:
    """Return the share of each class in each leaf, divided as scikit-learn does it."""
    counts = saved_array(arrays, "value", INTEGERS, n_dims=2)
    if counts.shape[1] != len(classes):
        raise damaged("its leaves do not count the classes that it has")
    totals = counts.sum(axis=1, dtype=np.int64)
    if (counts < 0).any() or (totals < 1).any():
        raise damaged("a leaf has no rows, or a negative number of them")
    return counts / totals[:, None]


def _tree(nodes: np.ndarray, values: np.ndarray, depth: int, n_features: int) -> Tree:
    tree = Tree(n_features, np.array([values.shape[1]], dtype=np.intp), 1)
    state = {"max_depth": depth, "node_count": len(nodes), "nodes": nodes}
    tree.__setstate__(state | {"values": values[:, None, :]})
    return tree


def _regressor(trees: list[Tree]) -> ExtraTreesRegressor:
    forest = ExtraTreesRegressor(n_estimators=len(trees))
    forest.estimators_ = [_with_tree(ExtraTreeRegressor(), tree) for tree in trees]
    forest.n_features_in_, forest.n_outputs_ = trees[0].n_features, 1
    return forest


def _classifier(trees: list[Tree], classes: np.ndarray) -> ExtraTreesClassifier:
    forest = ExtraTreesClassifier(n_estimators=len(trees))
    forest.estimators_ = [_with_tree(ExtraTreeClassifier(), tree) for tree in trees]
    forest.n_features_in_, forest.n_outputs_ = trees[0].n_features, 1
    forest.classes_, forest.n_classes_ = classes.copy(), len(classes)
    for one in forest.estimators_:
        # Inside a forest, trees learn the places of classes, not the classes themselves.
        one.classes_, one.n_classes_ = np.arange(float(len(classes))), len(classes)
    return forest


def _with_tree(
    estimator: ExtraTreeClassifier | ExtraTreeRegressor, tree: Tree
) -> ExtraTreeClassifier | ExtraTreeRegressor:
    estimator.tree_ = tree
    estimator.n_features_in_, estimator.n_outputs_ = tree.n_features, 1
    return estimator
