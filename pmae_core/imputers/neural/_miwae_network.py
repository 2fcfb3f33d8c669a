"""The network of MIWAE, its training and its use."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import softplus

from pmae_core.imputers.neural._common import (
    Standardizer,
    adam,
    dense_network,
    gradient_step,
    row_chunks,
    seeded,
    shuffled_batches,
)
from pmae_core.imputers.run import ProgressMeter
from pmae_core.table import EncodedTable
from pmae_core.training.device import choose_device, threads_for

SMALLEST_SCALE = 1e-3
FEWEST_DEGREES = 3.0


class WeightedSamples(NamedTuple):
    """Latent samples per row: their log weights, and the Student-t of each cell given a sample.

    ``log_weights`` has shape (samples, rows), the others (samples, rows, columns).
    """

    log_weights: Tensor
    location: Tensor
    scale: Tensor
    degrees: Tensor


class Autoencoder(nn.Module):
    """Encoder and decoder of MIWAE."""

    def __init__(self, width: int, hidden_width: int, latent_width: int) -> None:
        super().__init__()
        hidden = (hidden_width, hidden_width)
        self.encoder = dense_network(width, *hidden, 2 * latent_width, activation=nn.ReLU)
        self.decoder = dense_network(latent_width, *hidden, 3 * width, activation=nn.ReLU)

    def forward(self, cells: Tensor, observed: Tensor, n_samples: int) -> WeightedSamples:
        """Return ``n_samples`` latent samples per row, weighted by its observed cells."""
        center, raw_spread = self.encoder(cells).chunk(2, dim=-1)
        spread = softplus(raw_spread) + 1e-6
        noise = torch.randn(n_samples, *center.shape).to(cells.device)
        latent = center + spread * noise
        # The normal constants of prior and posterior cancel.
        log_prior_ratio = (noise**2 / 2 - latent**2 / 2 + spread.log()).sum(dim=-1)
        location, raw_scale, raw_degrees = self.decoder(latent).chunk(3, dim=-1)
        scale = softplus(raw_scale) + SMALLEST_SCALE
        degrees = softplus(raw_degrees) + FEWEST_DEGREES
        log_density = _student_log_density(cells, location, scale, degrees)
        log_weights = (log_density * observed).sum(dim=-1) + log_prior_ratio
        return WeightedSamples(log_weights, location, scale, degrees)


def _student_log_density(x: Tensor, location: Tensor, scale: Tensor, degrees: Tensor) -> Tensor:
    half = (degrees + 1) / 2
    normalizer = torch.lgamma(half) - torch.lgamma(degrees / 2) - torch.log(degrees * math.pi) / 2
    distance = ((x - location) / scale) ** 2 / degrees
    return normalizer - scale.log() - half * torch.log1p(distance)


@dataclass(frozen=True)
class FittedMIWAE:
    """A trained network with the standardization of its columns."""

    network: Autoencoder
    standardizer: Standardizer
    device: torch.device
    seed: int

    @classmethod
    def train(
        cls,
        encoded: EncodedTable,
        *,
        batch_size: int,
        hidden_width: int,
        latent_width: int,
        n_samples: int,
        learning_rate: float,
        device: str,
        seed: int,
        progress: ProgressMeter,
    ) -> tuple[FittedMIWAE, list[float]]:
        """Return a trained network, and the negative bound at each step."""
        where = choose_device(device)
        standardizer = Standardizer.fit(encoded)
        cells = standardizer.apply(encoded).to(where)
        observed = torch.from_numpy(encoded.observed).to(where)
        losses: list[Tensor] = []
        with seeded(seed), threads_for(min(batch_size, len(cells)) * cells.shape[1]):
            network = Autoencoder(cells.shape[1], hidden_width, latent_width).to(where)
            optimizer = adam(network.parameters(), learning_rate)
            while progress.done < progress.total:
                for batch in shuffled_batches(len(cells), batch_size):
                    rows = batch.to(where)
                    log_weights = network(cells[rows], observed[rows], n_samples).log_weights
                    loss = math.log(n_samples) - torch.logsumexp(log_weights, dim=0).mean()
                    gradient_step(optimizer, loss)
                    losses.append(loss.detach())
                    progress.advance()
                    if progress.done == progress.total:
                        break
        return cls(network, standardizer, where, seed), torch.stack(losses).tolist()

    def impute(self, encoded: EncodedTable, n_samples: int) -> np.ndarray:
        """Return encoded values: decoder means, weighted by how well they explain the row."""

        def weighted_mean(samples: WeightedSamples) -> Tensor:
            weights = torch.softmax(samples.log_weights, dim=0)
            return (weights.unsqueeze(-1) * samples.location).sum(dim=0)

        return self._predict(encoded, n_samples, self.seed, weighted_mean)

    def draw(self, encoded: EncodedTable, n_samples: int, rng: np.random.Generator) -> np.ndarray:
        """Return one random imputation by sampling importance resampling."""

        def resample(samples: WeightedSamples) -> Tensor:
            chances = torch.softmax(samples.log_weights, dim=0).T.cpu()
            chosen = torch.multinomial(chances, 1).view(1, -1, 1)
            index = chosen.expand(1, -1, samples.location.shape[-1])
            location, scale, degrees = (part.cpu().gather(0, index)[0] for part in samples[1:])
            return torch.distributions.StudentT(degrees, location, scale).sample()

        return self._predict(encoded, n_samples, int(rng.integers(2**31)), resample)

    @torch.no_grad()
    def _predict(
        self,
        encoded: EncodedTable,
        n_samples: int,
        seed: int,
        conclude: Callable[[WeightedSamples], Tensor],
    ) -> np.ndarray:
        cells = self.standardizer.apply(encoded).to(self.device)
        observed = torch.from_numpy(encoded.observed).to(self.device)

        def chunks() -> Iterator[Tensor]:
            for rows in row_chunks(len(cells), n_samples * cells.shape[1]):
                yield conclude(self.network(cells[rows], observed[rows], n_samples)).cpu()

        with seeded(seed):
            imputed = torch.cat(list(chunks()))
        return self.standardizer.undo(imputed, encoded)
