"""What the blocks of a trained network do to the columns' representations.

Torch is imported on use, as the modules of this package are imported to list the methods.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pmae_core.errors import ImputationError
from pmae_core.imputers.masked.base import MaskedAutoencoderImputer

if TYPE_CHECKING:
    from torch import Tensor, nn

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
        Rows to measure on; the first two thousand are used.

    Returns
    -------
    list of dict
        For each encoder ``block`` (from 1) and ``column``: ``before`` and ``after``.
    """
    if imputer.network_ is None:
        raise ImputationError("This imputer has no trained network.")
    fitted = imputer.network_
    encoded = imputer.encoder_.transform(table.iloc[:MOST_ROWS])
    names = [str(column.name) for column in encoded.columns]
    blocks = list(fitted.network.encoder)
    with _recorded(blocks) as tokens:
        fitted.impute(encoded)
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
    """Record the tokens that enter each block, and those that its token mixing passes on."""
    from pmae_core.model.blocks import MixerBlock

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
    import torch

    by_column = torch.cat(chunks)[:, 1:].mean(dim=0).cpu().numpy()
    return np.asarray(by_column / by_column.mean())
