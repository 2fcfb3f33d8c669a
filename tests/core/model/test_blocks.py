"""The blocks against plain ones, written as one would write them first."""

import torch
from torch import Tensor, nn

from benchmarks.plain_network import PlainMixerBlock, PlainMixerNetwork
from pmae_core.model import MaskedAutoencoder, NetworkConfig
from pmae_core.model.blocks import MixerBlock, TransformerBlock

SHAPE = {"width": 8, "n_tokens": 6, "mlp_ratio": 4.0}


def twins(dropout: float) -> tuple[MixerBlock, PlainMixerBlock]:
    torch.manual_seed(0)
    block = MixerBlock(**SHAPE, dropout=dropout)
    for parameter in block.parameters():
        nn.init.normal_(parameter, std=0.3)
    plain = PlainMixerBlock(**SHAPE, dropout=dropout)
    plain.load_state_dict(block.state_dict())
    return block, plain


def test_blocks_keep_the_shape_of_their_input():
    x = torch.randn(6, 6, 8)
    assert TransformerBlock(width=8, heads=2, mlp_ratio=4)(x).shape == x.shape
    assert MixerBlock(**SHAPE, dropout=0.1)(x).shape == x.shape


def test_mixer_and_its_gradients_equal_the_plain_one():
    block, plain = twins(dropout=0.0)
    x = torch.randn(5, 6, 8, requires_grad=True)
    y = x.detach().clone().requires_grad_()
    ours, theirs = block(x.transpose(0, 1)).transpose(0, 1), plain(y)
    torch.testing.assert_close(ours, theirs)
    weights = torch.randn_like(ours)
    (ours * weights).sum().backward()
    (theirs * weights).sum().backward()
    torch.testing.assert_close(x.grad, y.grad)
    for (name, mine), other in zip(block.named_parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(mine.grad, other.grad, msg=lambda text, n=name: f"{n}: {text}")


def test_the_network_equals_the_plain_one():
    config = NetworkConfig(dropout=0.0, encoder_depth=2, decoder_depth=1)
    network = MaskedAutoencoder(config, [0] * 5)
    plain = PlainMixerNetwork(config, [0] * 5)
    plain.load_state_dict(network.state_dict())
    values, kept = torch.rand(7, 5), torch.rand(7, 5) < 0.5
    torch.testing.assert_close(network(values, kept).values, plain(values, kept).values)


def test_gradients_with_dropout_are_the_same_in_expectation():
    """Means over many steps differ by no more than their standard errors allow."""
    block, plain = twins(dropout=0.2)
    x = torch.randn(40, 6, 8)

    def gradients(module: nn.Module, inputs: Tensor, n: int = 400) -> tuple[Tensor, Tensor]:
        found = []
        for _ in range(n):
            module.zero_grad()
            module(inputs).square().mean().backward()
            found.append(torch.cat([p.grad.flatten() for p in module.parameters()]))
        stacked = torch.stack(found)
        return stacked.mean(dim=0), stacked.std(dim=0) / n**0.5

    ours, our_error = gradients(block, x.transpose(0, 1).contiguous())
    theirs, their_error = gradients(plain, x)
    z = (ours - theirs) / (our_error.square() + their_error.square()).sqrt().clamp(min=1e-9)
    # Of several hundred standard normal numbers none is that large, and their square is about 1.
    assert z.abs().max() < 5
    assert z.square().mean() < 1.5


def test_dropout_repeats_with_the_seed_and_rests_in_evaluation():
    block, plain = twins(dropout=0.5)
    x = torch.randn(6, 5, 8)
    torch.manual_seed(3)
    first = block(x)
    torch.manual_seed(3)
    assert torch.equal(first, block(x))
    torch.testing.assert_close(block.eval()(x), plain.eval()(x.transpose(0, 1)).transpose(0, 1))
