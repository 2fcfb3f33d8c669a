"""Positions, tokenizers and heads."""

import math

import torch

from pmae_core.model.tokens import (
    CategoryHeads,
    ColumnTokenizer,
    SharedTokenizer,
    sincos_positions,
)


def test_positions_are_sines_then_cosines():
    positions = sincos_positions(5, 32)
    assert positions.shape == (5, 32)
    assert positions[3, 0].item() == torch.tensor(math.sin(3.0)).item()
    slow = 3 * 10000 ** (-15 / 16)
    torch.testing.assert_close(positions[3, 31], torch.tensor(math.cos(slow)))


def test_shared_tokenizer_treats_cells_that_are_not_kept_as_zero():
    tokenizer = SharedTokenizer(width=8)
    values = torch.tensor([[0.3, 0.9]])
    without = tokenizer(values, torch.tensor([[True, False]]))
    zero = tokenizer(torch.tensor([[0.3, 0.0]]), torch.tensor([[True, True]]))
    torch.testing.assert_close(without, zero)


def test_column_tokenizer_separates_columns_categories_and_missing_cells():
    tokenizer = ColumnTokenizer(n_categories=[0, 3, 2], width=8)
    kept = torch.ones(1, 3, dtype=torch.bool)
    first = tokenizer(torch.tensor([[0.5, 0.0, 1.0]]), kept)
    second = tokenizer(torch.tensor([[0.5, 2.0, 1.0]]), kept)
    assert torch.equal(first[:, [0, 2]], second[:, [0, 2]])
    assert not torch.allclose(first[:, 1], second[:, 1])
    without = tokenizer(torch.tensor([[0.5, 2.0, 1.0]]), torch.zeros_like(kept))
    torch.testing.assert_close(without[0], tokenizer.missing)


def test_column_tokenizer_gives_every_category_its_own_row():
    tokenizer = ColumnTokenizer(n_categories=[2, 3], width=4)
    assert tokenizer.categories.num_embeddings == 5
    assert tokenizer.offsets.tolist() == [0, 2]


def test_category_heads_never_choose_padding():
    heads = CategoryHeads(n_categories=[2, 5], width=4)
    probabilities = heads(torch.randn(7, 2, 4)).softmax(dim=-1)
    assert probabilities.shape == (7, 2, 5)
    assert (probabilities[:, 0, 2:] == 0).all()
    torch.testing.assert_close(probabilities.sum(dim=-1), torch.ones(7, 2))
