"""MIRACLE really trains, and its networks and penalties are what they claim."""

import numpy as np
import pytest
import torch

from pmae_core.imputers.neural._miracle_network import ColumnNetworks, _moment_gap
from pmae_core.imputers.neural.miracle import MIRACLEImputer
from tests.support.correlated import correlated_table, r2


@pytest.mark.parametrize("seed", range(5))
def test_trains_on_fewer_rows_than_a_batch_and_beats_the_mean(seed):
    truth, incomplete = correlated_table(seed, n=150)
    imputer = MIRACLEImputer(random_state=seed)
    assert len(incomplete) < imputer.batch_size
    imputed = imputer.fit_transform(incomplete)
    assert imputer.losses_[-1] < 0.5 * imputer.losses_[0]
    assert r2(truth, imputed, incomplete) > 0.3


def test_trains_in_several_batches_too():
    truth, incomplete = correlated_table(0, n=150)
    imputer = MIRACLEImputer(steps=80, batch_size=40, random_state=0)
    assert r2(truth, imputer.fit_transform(incomplete), incomplete) > 0.3


def test_a_column_is_no_input_to_its_own_network():
    torch.manual_seed(0)
    networks = ColumnNetworks(width=4, n_indicators=2, hidden_width=5)
    cells = torch.randn(3, 4, requires_grad=True)
    predicted, logits = networks(cells)
    assert (predicted.shape, logits.shape) == ((3, 4), (3, 2))
    for j in range(4):
        (gradient,) = torch.autograd.grad(predicted[:, j].sum(), cells, retain_graph=True)
        assert (gradient[:, j] == 0).all()
        assert (gradient[:, np.arange(4) != j] != 0).all()


def test_the_acyclicity_penalty_is_zero_exactly_without_circles():
    networks = ColumnNetworks(width=3, n_indicators=0, hidden_width=2)
    with torch.no_grad():
        networks.first.zero_()
        networks.first[1, 0] = 1.0
        networks.first[2, 1] = 1.0
        lasso, circles = networks.penalties()
        assert float(circles) == pytest.approx(0, abs=1e-5)
        assert float(lasso) == pytest.approx(2 * 2**0.5, abs=1e-4)
        networks.first[0, 2] = 1.0
        assert float(networks.penalties()[1]) > 0.1


def test_the_moment_weighs_by_inverse_propensity():
    truth = torch.tensor([[1.0], [1.0], [4.0], [0.0]])
    seen = torch.tensor([[1.0], [1.0], [1.0], [0.0]])
    logits = torch.logit(torch.tensor([[0.8], [0.8], [0.4], [0.4]]))
    mean = (1 / 0.8 + 1 / 0.8 + 4 / 0.4) / (2 / 0.8 + 1 / 0.4)
    predicted = torch.full((4, 1), 2.0)
    assert float(_moment_gap(predicted, truth, seen, logits)) == pytest.approx((2 - mean) ** 2)
