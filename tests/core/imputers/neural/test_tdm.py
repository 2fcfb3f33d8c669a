"""TDM: exact transport, and imputations that follow the dependence between columns."""

from itertools import permutations

import numpy as np
import pytest
import torch

from pmae_core.errors import ImputationError
from pmae_core.imputers.neural import _tdm_network
from pmae_core.imputers.neural._tdm_network import Coupling, WindowAverage, transport_cost
from pmae_core.imputers.neural.tdm import TDMImputer
from tests.support.correlated import correlated_table, r2


def test_the_transport_is_the_cheapest_of_all_pairings():
    generator = torch.Generator().manual_seed(0)
    first, second = torch.randn(2, 5, 3, generator=generator)
    pairings = (second[list(order)] for order in permutations(range(5)))
    cheapest = min(float((first - other).norm(dim=1).mean()) for other in pairings)
    assert float(transport_cost(first, second)) == pytest.approx(cheapest, rel=1e-6)


def test_equal_batches_cost_nothing_and_give_no_broken_gradient():
    batch = torch.randn(6, 2, generator=torch.Generator().manual_seed(0), requires_grad=True)
    cost = transport_cost(batch, batch.detach().flip(0))
    cost.backward()
    assert cost.item() == 0
    assert torch.isfinite(batch.grad).all()


def test_a_coupling_loses_nothing():
    torch.manual_seed(0)
    coupling = Coupling(5, 10)
    point = torch.randn(1, 5)
    jacobian = torch.autograd.functional.jacobian(coupling, point)[0, :, 0]
    assert abs(float(torch.linalg.det(jacobian))) > 1e-6


@pytest.mark.parametrize("seed", range(5))
def test_beats_the_mean(seed):
    truth, incomplete = correlated_table(seed, n=150)
    imputer = TDMImputer(iterations=600, random_state=seed)
    assert r2(truth, imputer.fit_transform(incomplete), incomplete) > 0.2


@pytest.mark.parametrize(("tolerance", "iterations"), [(10, 200), (0, 250)])
def test_ends_when_the_missing_cells_no_longer_move(monkeypatch, tolerance, iterations):
    monkeypatch.setattr(_tdm_network, "FEWEST_WINDOWS", 2)
    _, incomplete = correlated_table(0, n=60)
    imputer = TDMImputer(tolerance=tolerance, iterations=250, random_state=0)
    assert len(imputer.fit(incomplete).losses_) == iterations


def test_the_window_average_measures_the_move_of_missing_cells_alone(monkeypatch):
    monkeypatch.setattr(_tdm_network, "FEWEST_WINDOWS", 1)
    missing = torch.tensor([[True, False]])
    average = WindowAverage(torch.zeros(1, 2), missing, window=2)
    average.add(torch.tensor([[2.0, 50.0]]))
    assert not average.settled(100)
    np.testing.assert_allclose(average.value(), [[2.0, 50.0]])
    average.add(torch.tensor([[4.0, 50.0]]))
    assert average.move == pytest.approx(3)
    assert average.settled(3.1)
    assert not average.settled(2.9)
    np.testing.assert_allclose(average.value(), [[3.0, 50.0]])


def test_too_few_rows_are_refused():
    with pytest.raises(ImputationError, match="needs at least 4; this table has 3"):
        TDMImputer().fit(np.array([[1.0, 2.0], [2.0, np.nan], [3.0, 5.0]]))
