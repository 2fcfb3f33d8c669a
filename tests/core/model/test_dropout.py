"""The pool of dropout factors."""

import pytest
import torch

from pmae_core.model.dropout import dropout_factors


def test_dropout_drops_its_share_and_keeps_the_mean():
    torch.manual_seed(0)
    factors = dropout_factors(0.25, 100_000)
    assert factors.unique().tolist() == [0.0, pytest.approx(1 / 0.75)]
    assert (factors == 0).float().mean() == pytest.approx(0.25, abs=0.01)
    assert not torch.equal(factors, dropout_factors(0.25, 100_000))


def test_dropout_serves_tensors_larger_than_its_first_pool():
    factors = dropout_factors(0.1, 2**20 + 5)
    assert (factors == 0).float().mean() == pytest.approx(0.1, abs=0.005)
