"""What the blocks of a trained network do to the columns' representations."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor, nn

from pmae_core.errors import ImputationError
from pmae_core.imputers.masked.base import MaskedAutoencoderImputer
from pmae_core.model.blocks import MixerBlock

MOST_ROWS = 2000


def mixing_magnitudes(
    imputer: MaskedAutoencoderImputer, table: pd.DataFrame
) -> list[dict[str, Any]]:
    """Return how large each column's representation is before and after tokens are mixed.

    Magnitude is the mean of the absolute values over rows and channels, relative to its mean over
    the columns; the class token is left out.

    Parameters
    ----------
    imputer : MaskedAutoencoderImputer
        A fitted one.
    table : DataFrame
        Rows to look at, the first two thousand of them.

    Returns
    -------
    list of dict
        For each encoder ``block`` (from 1) and ``column``: ``before`` and ``after``.
    """
    if imputer.network_ is None:
        raise ImputationError("This imputer has no trained network to look into.")
    fitted = imputer.network_
    encoded = imputer.encoder_.transform(table.iloc[:MOST_ROWS])
    names = [str(column.name) for column in encoded.columns]
    blocks = list(fitted.network.encoder)
    with _recorded(blocks) as tokens:
        fitted.fill(encoded)
    rows = []
    for number, block in enumerate(blocks, start=1):
        before, after = (_relative(tokens[block, stage]) for stage in ("before", "after"))
        rows += [
            {"block": number, "column": name, "before": float(x), "after": float(y)}
            for name, x, y in zip(names, before, after, strict=True)
        ]
    return rows


@contextmanager
def _recorded(blocks: list[Any]) -> Iterator[dict[tuple[nn.Module, str], list[Tensor]]]:
    """Collect what goes into each block, and what its token mixing hands to its channels."""
    tokens: dict[tuple[nn.Module, str], list[Tensor]] = {}

    def keep(block: Any, inputs: tuple[Tensor, ...]) -> None:
        for stage, x in (("before", inputs[0]), ("after", block.mix_tokens(*inputs))):
            sizes = x.detach().abs().mean(dim=-1)
            rows_first = sizes.t() if isinstance(block, MixerBlock) else sizes
            tokens.setdefault((block, stage), []).append(rows_first)

    hooks = [block.register_forward_pre_hook(keep) for block in blocks]
    try:
        yield tokens
    finally:
        for hook in hooks:
            hook.remove()


def _relative(chunks: list[Tensor]) -> np.ndarray:
    by_column = torch.cat(chunks)[:, 1:].mean(dim=0).cpu().numpy()
    return np.asarray(by_column / by_column.mean())
