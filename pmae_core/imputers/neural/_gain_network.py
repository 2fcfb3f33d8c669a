"""The networks of GAIN and their training."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, softplus

from pmae_core.imputers.neural._common import adam, dense_network, random_rows, row_chunks, seeded
from pmae_core.imputers.run import ProgressMeter
from pmae_core.table import EncodedTable, scalar_values, values_from_scalars
from pmae_core.training.device import choose_device, threads_for

LARGEST_NOISE = 0.01


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

    def batch() -> tuple[Tensor, Tensor, Tensor]:
        rows = random_rows(n_rows, batch_size).to(where)
        seen = observed[rows]
        noise = LARGEST_NOISE * torch.rand(seen.shape).to(where)
        hint = seen * (torch.rand(seen.shape) < hint_rate).to(where)
        return torch.lerp(noise, values[rows], seen), seen, hint

    with seeded(seed), threads_for(min(batch_size, n_rows) * width):
        generator = _network(width).append(nn.Sigmoid()).to(where)
        discriminator = _network(width).to(where)
        improve_generator = adam(generator.parameters(), learning_rate)
        improve_discriminator = adam(discriminator.parameters(), learning_rate)
        losses: list[Tensor] = []
        for _ in range(progress.total):
            cells, seen, hint = batch()
            with torch.no_grad():
                filled = torch.lerp(_generate(generator, cells, seen), cells, seen)
            loss = binary_cross_entropy_with_logits(_judge(discriminator, filled, hint), seen)
            improve_discriminator.zero_grad()
            loss.backward()
            improve_discriminator.step()

            cells, seen, hint = batch()
            generated = _generate(generator, cells, seen)
            filled = torch.lerp(generated, cells, seen)
            # softplus(-logit) is -log of the probability that a cell is real.
            unmasked = ((1 - seen) * softplus(-_judge(discriminator, filled, hint))).mean()
            error = (seen * (generated - cells) ** 2).sum() / seen.sum().clamp(min=1)
            improve_generator.zero_grad()
            (unmasked + reconstruction_weight * error).backward()
            improve_generator.step()
            losses.append(error.detach())
            progress.advance()
    return generator, torch.stack(losses).tolist()


@torch.no_grad()
def fill(generator: nn.Module, encoded: EncodedTable) -> np.ndarray:
    """Return encoded values for every cell, from the mean of the noise in the holes."""
    where = next(generator.parameters()).device
    filled = scalar_values(encoded)
    for rows in row_chunks(*filled.shape):
        seen = torch.from_numpy(encoded.observed[rows]).to(where, torch.float32)
        cells = torch.from_numpy(filled[rows]).to(where)
        cells = torch.lerp(torch.full_like(cells, LARGEST_NOISE / 2), cells, seen)
        filled[rows] = _generate(generator, cells, seen).cpu().numpy()
    return values_from_scalars(filled, encoded.columns)


def _network(width: int) -> nn.Sequential:
    network = dense_network(2 * width, width, width, width, activation=nn.ReLU)
    for layer in network:
        if isinstance(layer, nn.Linear):
            nn.init.xavier_normal_(layer.weight)
            nn.init.zeros_(layer.bias)
    return network


def _generate(generator: nn.Module, cells: Tensor, seen: Tensor) -> Tensor:
    generated: Tensor = generator(torch.cat([cells, seen], dim=1))
    return generated


def _judge(discriminator: nn.Module, filled: Tensor, hint: Tensor) -> Tensor:
    logits: Tensor = discriminator(torch.cat([filled, hint], dim=1))
    return logits
