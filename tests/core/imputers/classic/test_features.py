"""Columns as features, and how closely they are related."""

import numpy as np
import pytest

from pmae_core.imputers.classic._features import FeatureLayout, column_relations
from pmae_core.table import EncodedColumn

COLUMNS = [
    EncodedColumn("x", "numerical", 0),
    EncodedColumn("same", "categorical", 1),
    EncodedColumn("g", "categorical", 3),
    EncodedColumn("y", "numerical", 0),
]


def test_every_column_has_its_block():
    layout = FeatureLayout(COLUMNS)
    assert layout.widths == [1, 0, 2, 1]
    assert layout.blocks == [slice(0, 1), slice(1, 1), slice(1, 3), slice(3, 4)]
    features = layout.features(np.array([[0.2, 0, 1, 0.7], [0.3, 0, 2, 0.8]]))
    np.testing.assert_array_equal(features, [[0.2, 1, 0, 0.7], [0.3, 0, 1, 0.8]])


def test_relations_are_the_largest_correlations():
    rng = np.random.default_rng(0)
    g = rng.integers(3, size=500)
    x = (g == 1) + 0.1 * rng.normal(size=500)
    values = np.column_stack([x, np.zeros(500), g, rng.normal(size=500)])
    observed = np.ones((500, 4), dtype=bool)
    relations = column_relations(FeatureLayout(COLUMNS), values, observed)
    # Linearly in its codes, the category is hardly related to x.
    assert relations[0, 2] == relations[2, 0] > 0.9
    assert relations[0, 3] < 0.15
    assert (relations[1] == 0).all()


def test_missing_cells_are_no_evidence_of_a_relation():
    values = np.column_stack([np.arange(10.0), np.zeros(10), np.arange(10) % 3, np.arange(10.0)])
    observed = np.ones((10, 4), dtype=bool)
    layout = FeatureLayout(COLUMNS)
    assert column_relations(layout, values, observed)[0, 3] == pytest.approx(1)
    observed[:5, 0] = observed[5:, 3] = False
    assert column_relations(layout, values, observed)[0, 3] == 0
