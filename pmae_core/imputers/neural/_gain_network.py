"""The networks of GAIN and their training."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, softplus

from pmae_core.imputers.neural._common import (
    adam,
    dense_network,
    gradient_step,
    random_rows,
    row_chunks,
    seeded,
)
from pmae_core.imputers.run import ProgressMeter
from pmae_core.table import EncodedTable, scalar_values, values_from_scalars
from pmae_core.training.device import choose_device, threads_for

LARGEST_NOISE = 0.01


class GainBatch(NamedTuple):
    """Rows of a step, each part of shape (rows, columns).

    ``cells`` has noise where a cell is missing, ``hint`` reveals some of the observed cells.
    """

    cells: Tensor
    is_observed: Tensor
    hint: Tensor


def train_generator(
    encoded: EncodedTable,
    *,
    batch_size: int,
    hint_rate: float,
    reconstruction_weight: float,
    learning_rate: float,
    device: str,
    seed: int,
    progress: ProgressMeter,
) -> tuple[nn.Module, list[float]]:
    """Return a trained generator, and its squared error on observed cells per iteration."""
    where = choose_device(device)
    values = torch.from_numpy(scalar_values(encoded)).to(where)
    observed = torch.from_numpy(encoded.observed).to(where, torch.float32)
    n_rows, width = values.shape

    def batch() -> GainBatch:
        rows = random_rows(n_rows, batch_size).to(where)
        is_observed = observed[rows]
        noise = LARGEST_NOISE * torch.rand(is_observed.shape).to(where)
        hint = is_observed * (torch.rand(is_observed.shape) < hint_rate).to(where)
        return GainBatch(torch.lerp(noise, values[rows], is_observed), is_observed, hint)

    with seeded(seed), threads_for(min(batch_size, n_rows) * width):
        generator = _network(width).append(nn.Sigmoid()).to(where)
        discriminator = _network(width).to(where)
        improve_generator = adam(generator.parameters(), learning_rate)
        improve_discriminator = adam(discriminator.parameters(), learning_rate)
        losses: list[Tensor] = []
        for _ in range(progress.total):
            loss = _discriminator_loss(generator, discriminator, batch())
            gradient_step(improve_discriminator, loss)
            adversarial, error = _generator_losses(generator, discriminator, batch())
            gradient_step(improve_generator, adversarial + reconstruction_weight * error)
            losses.append(error.detach())
            progress.advance()
    return generator, torch.stack(losses).tolist()


@torch.no_grad()
def impute(generator: nn.Module, encoded: EncodedTable) -> np.ndarray:
    """Return encoded values for every cell, with the mean of the noise in missing cells."""
    where = next(generator.parameters()).device
    imputed = scalar_values(encoded)
    for rows in row_chunks(*imputed.shape):
        is_observed = torch.from_numpy(encoded.observed[rows]).to(where, torch.float32)
        cells = torch.from_numpy(imputed[rows]).to(where)
        cells = torch.lerp(torch.full_like(cells, LARGEST_NOISE / 2), cells, is_observed)
        imputed[rows] = _generate(generator, cells, is_observed).cpu().numpy()
    return values_from_scalars(imputed, encoded.columns)


def _network(width: int) -> nn.Sequential:
    network = dense_network(2 * width, width, width, width, activation=nn.ReLU)
    for layer in network:
        if isinstance(layer, nn.Linear):
            nn.init.xavier_normal_(layer.weight)
            nn.init.zeros_(layer.bias)
    return network


def _discriminator_loss(generator: nn.Module, discriminator: nn.Module, batch: GainBatch) -> Tensor:
    """Return the cross-entropy of being observed."""
    with torch.no_grad():
        generated = _generate(generator, batch.cells, batch.is_observed)
        imputed = torch.lerp(generated, batch.cells, batch.is_observed)
    logits = _discriminate(discriminator, imputed, batch.hint)
    return binary_cross_entropy_with_logits(logits, batch.is_observed)


def _generator_losses(
    generator: nn.Module, discriminator: nn.Module, batch: GainBatch
) -> tuple[Tensor, Tensor]:
    """Return the adversarial loss on missing cells, and the squared error on observed ones."""
    cells, is_observed, hint = batch
    generated = _generate(generator, cells, is_observed)
    imputed = torch.lerp(generated, cells, is_observed)
    # softplus(-logit) is -log of the probability that a cell is observed.
    recognized = softplus(-_discriminate(discriminator, imputed, hint))
    adversarial = ((1 - is_observed) * recognized).mean()
    error = (is_observed * (generated - cells) ** 2).sum() / is_observed.sum().clamp(min=1)
    return adversarial, error


def _generate(generator: nn.Module, cells: Tensor, is_observed: Tensor) -> Tensor:
    generated: Tensor = generator(torch.cat([cells, is_observed], dim=1))
    return generated


def _discriminate(discriminator: nn.Module, imputed: Tensor, hint: Tensor) -> Tensor:
    logits: Tensor = discriminator(torch.cat([imputed, hint], dim=1))
    return logits
