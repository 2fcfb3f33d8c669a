"""The hand-written gradient against torch's own."""

import torch
from torch import Tensor, nn

from pmae_core.model.blocks import MixerBlock


def mixer_block(dropout: float) -> MixerBlock:
    torch.manual_seed(0)
    block = MixerBlock(width=8, n_tokens=6, mlp_ratio=4.0, dropout=dropout)
    for parameter in block.parameters():
        nn.init.normal_(parameter, std=0.3)
    return block


def test_gradients_of_the_block_by_hand_are_right():
    block = mixer_block(dropout=0.3).double()
    x = torch.randn(6, 4, 8, dtype=torch.double, requires_grad=True)

    def with_the_same_dropout(*inputs: Tensor) -> Tensor:
        torch.manual_seed(0)
        return block(inputs[0])

    assert torch.autograd.gradcheck(with_the_same_dropout, (x, *block.parameters()))


def test_the_block_by_hand_equals_its_layers(monkeypatch):
    """The layers one after the other are what other devices and the compiler get."""
    block = mixer_block(dropout=0.0)
    x = torch.randn(6, 5, 8)
    by_hand = block(x)
    monkeypatch.setattr(torch.compiler, "is_compiling", lambda: True)
    torch.testing.assert_close(by_hand, block(x))
