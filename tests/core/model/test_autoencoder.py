"""The masked autoencoder: shapes, what it may see, and what it starts from."""

import pytest
import torch

from pmae_core.model import MaskedAutoencoder, NetworkConfig

CARDINALITIES = [0, 3, 0, 2]


def build(**settings) -> MaskedAutoencoder:
    torch.manual_seed(0)
    return MaskedAutoencoder(NetworkConfig(**settings), CARDINALITIES).eval()


def cells(n: int = 5) -> torch.Tensor:
    generator = torch.Generator().manual_seed(1)
    values = torch.rand(n, 4, generator=generator)
    values[:, 1] = torch.arange(n) % 3
    values[:, 3] = torch.arange(n) % 2
    return values


EVERY_KIND = [
    {"architecture": architecture, "categorical": categorical}
    for architecture in ("mixer", "transformer")
    for categorical in ("scalar", "softmax")
]


@pytest.mark.parametrize("settings", EVERY_KIND)
def test_prediction_has_a_value_per_cell_and_logits_per_category(settings):
    prediction = build(**settings)(cells(), torch.ones(5, 4, dtype=torch.bool))
    assert prediction.values.shape == (5, 4)
    if settings["categorical"] == "softmax":
        assert prediction.logits.shape == (5, 2, 3)
    else:
        assert prediction.logits is None
        assert ((prediction.values >= 0) & (prediction.values <= 1)).all()


@pytest.mark.parametrize("settings", [*EVERY_KIND, {"architecture": "transformer", "drop": True}])
def test_cells_that_are_not_kept_have_no_influence(settings):
    settings = dict(settings)
    network = build(drop_masked=settings.pop("drop", False), **settings)
    kept = torch.tensor([[True, False, True, False]]).expand(5, 4)
    values = cells()
    other = values.clone()
    other[:, 1] = (values[:, 1] + 1) % 3
    other[:, 3] = 1 - values[:, 3]
    torch.testing.assert_close(network(values, kept).values, network(other, kept).values)
    assert not torch.allclose(
        network(values, kept).values, network(values, torch.ones_like(kept)).values
    )


def test_dropping_masked_cells_equals_an_encoder_without_them():
    network = build(architecture="transformer", drop_masked=True)
    kept = torch.tensor([[True, False, True, False]])
    with_mask = network._encode(network.tokenizer(cells(1), kept), kept)[:, [0, 1, 3]]
    tokens = network.tokenizer(cells(1), kept)[:, [0, 2]]
    x = torch.cat([network.class_token.expand(1, 1, -1), tokens], dim=1)
    x = x + network.positions[[0, 1, 3]]
    for block in network.encoder:
        x = block(x)
    torch.testing.assert_close(with_mask, network.bridge(network.encoder_norm(x)))


def test_the_papers_network_has_the_papers_shape():
    mixer = build()
    assert (len(mixer.encoder), len(mixer.decoder)) == (6, 4)
    assert mixer.encoder[0].mlp_tokens.fc1.weight.shape == (20, 5)
    assert mixer.encoder[0].norm_tokens.weight.shape == (5,)
    assert mixer.encoder[0].mlp_channels.drop1.p == 0.1
    assert (mixer.positions[0] == 0).all()
    assert mixer.encoder[0].mlp_tokens.fc1.bias.abs().max() == 0


def test_softmax_errors_are_squares_in_deviations_and_cross_entropies():
    scale = torch.tensor([0.5, 1.0, 2.0, 1.0])
    network = MaskedAutoencoder(
        NetworkConfig(categorical="softmax"), CARDINALITIES, torch.zeros(4), scale
    ).eval()
    values = cells()
    prediction = network(values, torch.ones(5, 4, dtype=torch.bool))
    errors = network.cell_errors(prediction, values)
    expected = ((prediction.values[:, 0] - values[:, 0]) / 0.5) ** 2
    torch.testing.assert_close(errors[:, 0], expected)
    logs = prediction.logits[:, 0].log_softmax(dim=-1)
    torch.testing.assert_close(errors[:, 1], -logs[torch.arange(5), values[:, 1].long()])


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"width": 31}, "even"),
        ({"architecture": "transformer", "heads": 5}, "divide"),
        ({"architecture": "transformer", "heads": 0}, "heads must be at least 1, not 0"),
        ({"encoder_depth": -1}, "encoder_depth must be at least 0"),
        ({"mlp_ratio": -1.0}, "mlp_ratio must be positive"),
        ({"dropout": 1.0}, "dropout must be at least 0 and below 1"),
        ({"drop_masked": True}, "transformer"),
        ({"start": "gaussian"}, "softmax"),
        ({"start": "magic"}, "must be one of 'none', 'gaussian', not 'magic'"),
        ({"architecture": "rnn"}, "must be one of 'mixer', 'transformer'"),
        ({"categorical": "hash"}, "must be one of 'scalar', 'softmax'"),
    ],
)
def test_impossible_shapes_are_refused(settings, words):
    with pytest.raises(ValueError, match=words):
        NetworkConfig(**settings)
