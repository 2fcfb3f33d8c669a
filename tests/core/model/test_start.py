"""The Gaussian that a network starts from, against formulas written out."""

import pytest
import torch

from pmae_core.model import MaskedAutoencoder, NetworkConfig
from pmae_core.model.start import RIDGE, Expansion, GaussianStart, log_probabilities

CARDINALITIES = [0, 3, 0]


@pytest.fixture
def gaussian() -> GaussianStart:
    generator = torch.Generator().manual_seed(0)
    root = torch.rand(4, 4, generator=generator)
    return GaussianStart(
        CARDINALITIES, torch.tensor([0.1, 0.3, 0.2, -0.1]), root @ root.T + torch.eye(4)
    )


VALUES = torch.tensor([[0.5, 2.0, -1.0], [0.2, 0.0, 0.7], [1.5, 1.0, 0.0]])


def test_categories_expand_to_indicators_but_for_the_first():
    expected = [[0.5, 0, 1, -1.0], [0.2, 0, 0, 0.7], [1.5, 1, 0, 0.0]]
    torch.testing.assert_close(Expansion(CARDINALITIES).expand(VALUES), torch.tensor(expected))


def test_masked_cells_get_their_conditional_mean(gaussian):
    kept = torch.tensor([[True, True, False]]).expand(3, 3)
    covariance, mean = gaussian.covariance, gaussian.mean
    given = covariance[:3, :3] + RIDGE * torch.diag(covariance.diagonal()[:3])
    coordinates = Expansion(CARDINALITIES).expand(VALUES)[:, :3]
    expected = mean[3] + (coordinates - mean[:3]) @ torch.linalg.solve(given, covariance[:3, 3])
    start = gaussian(VALUES, kept)
    torch.testing.assert_close(start.values[:, 2], expected)
    torch.testing.assert_close(start.values[:, 0], VALUES[:, 0])


def test_probabilities_are_probabilities(gaussian):
    start = gaussian(VALUES, torch.tensor([[True, False, True]]).expand(3, 3))
    assert start.probabilities.shape == (3, 1, 3)
    assert (start.probabilities >= 0).all()
    torch.testing.assert_close(start.probabilities.sum(dim=-1), torch.ones(3, 1))
    kept = gaussian(VALUES, torch.ones(3, 3, dtype=torch.bool)).probabilities
    assert kept.argmax(dim=-1).flatten().tolist() == [2, 0, 1]
    assert torch.isfinite(log_probabilities(kept)).all()


def test_nothing_kept_gives_the_mean(gaussian):
    start = gaussian(VALUES, torch.zeros(3, 3, dtype=torch.bool))
    torch.testing.assert_close(start.values[:, 0], torch.full((3,), 0.1))
    torch.testing.assert_close(start.probabilities[0, 0], torch.tensor([0.5, 0.3, 0.2]))


def test_rows_with_different_kept_cells_are_solved_as_one_by_one():
    """Close to a direct solve, with fewer iterations than columns."""
    torch.manual_seed(0)
    size = 60
    root = torch.randn(size, 8)
    covariance = root @ root.T + 0.5 * torch.eye(size)
    start = GaussianStart([0] * size, torch.randn(size), covariance)
    values = start.mean + torch.randn(20, 8) @ root.T + 0.7 * torch.randn(20, size)
    kept = torch.rand(20, size) < torch.rand(20, 1)
    kept[:, 0] = False
    found = start(values, kept).values
    given = covariance + RIDGE * torch.diag(covariance.diagonal())
    for row, k in enumerate(kept):
        weights = torch.linalg.solve(given[k][:, k], (values[row] - start.mean)[k])
        expected = (start.mean + covariance[:, k] @ weights)[~k]
        error = (found[row, ~k] - expected) / covariance.diagonal()[~k].sqrt()
        assert error.abs().max() < 0.05


def test_an_untrained_network_is_the_gaussian(gaussian):
    network = MaskedAutoencoder(
        NetworkConfig(categorical="softmax", start="gaussian"), CARDINALITIES
    ).eval()
    network.start.load_state_dict(gaussian.state_dict())
    kept = torch.tensor([[True, False, False]]).expand(3, 3)
    start, prediction = gaussian(VALUES, kept), network(VALUES, kept)
    torch.testing.assert_close(prediction.values[:, [0, 2]], start.values[:, [0, 2]])
    torch.testing.assert_close(prediction.logits, log_probabilities(start.probabilities))


def test_tables_without_categories_or_numbers():
    for cardinalities, values in (([0, 0], [[0.1, 0.2]]), ([2, 3], [[1.0, 2.0]])):
        start = GaussianStart(cardinalities)(torch.tensor(values), torch.tensor([[True, False]]))
        assert torch.isfinite(start.values).all()
        assert len(start.probabilities) == 1


def test_mixed_precision_leaves_the_gaussian_exact(gaussian):
    kept = torch.tensor([[True, False, False]]).expand(3, 3)
    exact = gaussian(VALUES, kept)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        mixed = gaussian(VALUES, kept)
    assert torch.equal(exact.values, mixed.values)
