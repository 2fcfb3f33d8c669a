"""IGRM: its graph operations, its early end, and its limits."""

import numpy as np
import pandas as pd
import pytest
import torch
from torch.nn.functional import normalize

from pmae_core.errors import ImputationError
from pmae_core.imputers.neural._igrm_network import SimilarRows, mean_by, nearest
from pmae_core.imputers.neural.igrm import IGRMImputer
from tests.support.correlated import correlated_table, r2


@pytest.mark.parametrize("seed", range(5))
def test_beats_the_mean(seed):
    truth, incomplete = correlated_table(seed, n=150)
    imputer = IGRMImputer(epochs=120, width=32, random_state=seed)
    assert r2(truth, imputer.fit_transform(incomplete), incomplete) > 0.3
    assert imputer.losses_[-1] < 0.5 * imputer.losses_[0]


def test_messages_are_averaged_by_node():
    index = torch.tensor([2, 0, 2, 2])
    messages = torch.randn(4, 3, generator=torch.Generator().manual_seed(0))
    expected = pd.DataFrame(messages.numpy()).groupby(index.numpy()).mean()
    got = mean_by(index, messages, 4).numpy()
    np.testing.assert_allclose(got[[0, 2]], expected, rtol=1e-5)
    assert (got[[1, 3]] == 0).all()


def test_similar_rows_are_the_nearest_and_never_the_row_itself():
    points = normalize(torch.randn(30, 4, generator=torch.Generator().manual_seed(0)), dim=1)
    cosine = (points @ points.T).fill_diagonal_(-2)
    found = nearest(points, 3)
    expected = cosine.argsort(dim=1, descending=True)[:, :3]
    assert torch.equal(found, expected)
    assert nearest(points[:2], 3).tolist() == [[1], [0]]


def test_renewed_similar_rows_come_from_the_same_group():
    torch.manual_seed(0)
    group = torch.arange(40) % 2
    states = normalize(torch.eye(2)[group] + 0.1 * torch.randn(40, 2), dim=1)
    similar = SimilarRows(states, 5, width=2)
    asked = []
    similar.renew(states, learning_rate=0.01, check=lambda: asked.append(1))
    assert len(asked) > 10
    same = group[similar.of_row] == group.unsqueeze(1)
    assert same.all()
    assert ((similar.weight > 0.5) & (similar.weight < 1)).all()


def test_ends_when_held_out_cells_no_longer_improve():
    noise = np.random.default_rng(0).normal(size=(60, 4))
    noise[:20, 0] = np.nan
    imputer = IGRMImputer(epochs=300, patience=2, width=8, random_state=0).fit(noise)
    assert len(imputer.losses_) < 300
    assert len(imputer.losses_) % 10 == 0


@pytest.mark.parametrize("limit", [{"max_rows": 50}, {"max_cells": 200}])
def test_large_tables_are_refused(limit):
    _, incomplete = correlated_table(0, n=60)
    with pytest.raises(ImputationError, match=r"accepts at most .* this table has 60 and"):
        IGRMImputer(**limit).fit(incomplete)
