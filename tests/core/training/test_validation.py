"""Validation on held-out cells."""

import numpy as np
import torch

from pmae_core.masking import HeldOut
from pmae_core.model import MaskedAutoencoder, NetworkConfig
from pmae_core.training.validation import (
    CELLS_TO_COUNT_FULLY,
    BestWeights,
    HeldOutErrors,
    Validator,
)


def test_columns_with_enough_cells_count_alike():
    counts = np.array([40, 4000, 0])
    errors = np.array([[40 * 1.0, 4000 * 3.0, 0.0]])
    assert np.isclose(HeldOutErrors(errors, counts).score, 2.0)


def test_columns_with_few_cells_count_by_their_number():
    enough = 10 * CELLS_TO_COUNT_FULLY
    errors = HeldOutErrors(np.array([[enough * 1.0, 3 * 9.0]]), np.array([enough, 3]))
    share = 3 / CELLS_TO_COUNT_FULLY
    assert np.isclose(errors.score, (1.0 + share * 9.0) / (1.0 + share))
    assert errors.columns() == [1.0, 9.0]


def test_a_score_without_cells_is_zero():
    assert HeldOutErrors(np.zeros((2, 2)), np.zeros(2, dtype=int)).score == 0.0


def test_score_is_the_mean_error_where_all_columns_have_few_cells():
    network = MaskedAutoencoder(NetworkConfig(encoder_depth=1, decoder_depth=1), [0, 0, 0]).eval()
    values = np.random.default_rng(0).random((3, 3)).astype("float32")
    cells = np.array([[True, False, False], [True, True, False]])
    held_out = HeldOut(rows=np.array([0, 2]), kept=~cells, cells=cells)
    predicted = network(torch.from_numpy(values[[0, 2]]), torch.from_numpy(~cells)).values
    squares = (predicted.detach().numpy() - values[[0, 2]]) ** 2
    expected = np.mean([squares[0, 0], squares[1, 0], squares[1, 1]])
    errors = Validator(held_out, values, torch.device("cpu")).errors(network)
    assert np.isclose(errors.score, expected)
    np.testing.assert_allclose(errors.columns()[:2], [squares[:, 0].mean(), squares[1, 1]], 1e-4)
    assert errors.columns()[2] is None
    assert not network.training


def test_references_are_scored_in_the_units_of_the_network():
    rng = np.random.default_rng(1)
    values = np.stack([rng.random(60), rng.integers(0, 3, 60)], axis=1).astype("float32")
    cells = rng.random(values.shape) < 0.4
    cells[cells.all(axis=1), 1] = False
    held_out = HeldOut(rows=np.arange(60), kept=~cells, cells=cells)
    center, scale = torch.tensor([0.5, 0.0]), torch.tensor([0.3, 1.0])
    config = NetworkConfig(categorical="softmax", start="gaussian")
    network = MaskedAutoencoder(config, [0, 3], center, scale).eval()
    validator = Validator(held_out, values, torch.device("cpu"))

    found = validator.reference_errors(network, values, ~cells)

    number, code = values[:, 0], values[:, 1].astype(int)
    deviations = number[cells[:, 0]] - number[~cells[:, 0]].mean()
    counts = np.bincount(code[~cells[:, 1]], minlength=3) + 0.5
    surprise = -np.log(counts / counts.sum())[code[cells[:, 1]]]
    expected = [np.mean((deviations / 0.3) ** 2), surprise.mean()]
    np.testing.assert_allclose(found["mean"].columns(), expected, rtol=1e-3)
    # The untrained network predicts what its start does.
    assert np.isclose(found["gaussian"].score, validator.errors(network).score)


def test_the_noise_of_a_difference_is_that_of_rows():
    rng = np.random.default_rng(0)
    counts = np.array([400, 400])
    base = rng.normal(1, 1, (400, 1))
    same_row = HeldOutErrors(np.hstack([base, base]), counts)
    zero = HeldOutErrors(np.zeros((400, 2)), counts)

    assert same_row.noise_against(same_row) == 0
    # Two columns with the same errors tell no more than one.
    assert np.isclose(same_row.noise_against(zero), base.std(ddof=1) / 20)


def test_the_best_weights_are_a_copy_of_those_with_the_lowest_score():
    network = MaskedAutoencoder(NetworkConfig(encoder_depth=0, decoder_depth=0), [0, 0])
    best = BestWeights()
    for step, score in enumerate([3.0, 1.0, 2.0, 1.0]):
        torch.nn.init.constant_(network.mask_token, step)
        assert best.offer(score, step, network) is (step in (0, 1))
    assert best.weights["mask_token"].unique().item() == 1
    assert best.state() == {"step": 1, "score": 1.0, "last_score": 1.0, "validations_since": 2}
