"""MIWAE: a variational autoencoder trained on the observed cells alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from pmae_core.imputers.base import BaseImputer
from pmae_core.imputers.parameters import check_positive
from pmae_core.imputers.registry import register_imputer
from pmae_core.imputers.run import FitRun
from pmae_core.table import EncodedTable, Schema


@register_imputer(
    name="miwae",
    title="MIWAE",
    explanation="A neural network describes each row by a few hidden numbers and fills its holes "
    "with what rows of that description usually have.",
    citation="Mattei and Frellsen: MIWAE: Deep Generative Modeling and Imputation of Incomplete "
    "Data Sets. ICML 2019.",
    draws_samples=True,
)
class MIWAEImputer(BaseImputer):
    """Fill a table with a missing-data importance-weighted autoencoder.

    An encoder turns a row, its holes set to the mean, into a normal distribution of hidden
    numbers; a decoder turns hidden numbers into a Student-t distribution for every cell. Both
    learn to make the observed cells likely (the importance-weighted bound). A hole gets
    the mean of the decoder's means, weighted by how well the hidden numbers explain the row's
    observed cells; ``sample`` draws hidden numbers by those weights (sampling importance
    resampling) and then the cells. New rows are filled without another fit.

    Departures from the original: columns are standardized here and not by the caller, holes are
    filled from decoder means and not from draws of them, and ``max_steps`` bounds the training
    on large tables (500 epochs are fewer steps up to about 10,000 rows).

    Parameters
    ----------
    epochs : int, default 500
        Passes over the table.
    max_steps : int, default 20000
        Training steps after which it ends even so.
    batch_size : int, default 256
        Rows of a step.
    hidden_width, latent_width : int, default 32 and 16
        Width of the hidden layers, and how many hidden numbers describe a row.
    training_samples, filling_samples : int, default 20 and 100
        Hidden numbers drawn per row, in training and in filling.
    learning_rate : float, default 0.001
        Step size of Adam.
    device : str, default "auto"
        ``"auto"`` takes CUDA, MPS or CPU, whichever is there first.
    schema : Schema or mapping of column to role, optional
        Roles of the columns; inferred where not given.
    random_state : int, RandomState or None
        Seed of everything random.

    Attributes
    ----------
    losses_ : list of float
        The negative bound on the log-likelihood of a row's observed cells, one per step.
    """

    def __init__(
        self,
        *,
        epochs: int = 500,
        max_steps: int = 20_000,
        batch_size: int = 256,
        hidden_width: int = 32,
        latent_width: int = 16,
        training_samples: int = 20,
        filling_samples: int = 100,
        learning_rate: float = 1e-3,
        device: str = "auto",
        schema: Schema | Mapping[Any, str] | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.epochs = epochs
        self.max_steps = max_steps
        self.batch_size = batch_size
        self.hidden_width = hidden_width
        self.latent_width = latent_width
        self.training_samples = training_samples
        self.filling_samples = filling_samples
        self.learning_rate = learning_rate
        self.device = device
        self.schema = schema
        self.random_state = random_state

    def _fit_encoded(self, encoded: EncodedTable, run: FitRun) -> None:
        from pmae_core.imputers.neural._miwae_network import FittedMIWAE

        check_positive(self, "epochs", "max_steps", "batch_size", "hidden_width", "latent_width")
        check_positive(self, "training_samples", "filling_samples", "learning_rate")
        steps = self.epochs * -(-len(encoded.values) // self.batch_size)
        self._model, self.losses_ = FittedMIWAE.train(
            encoded,
            batch_size=self.batch_size,
            hidden_width=self.hidden_width,
            latent_width=self.latent_width,
            n_samples=self.training_samples,
            learning_rate=self.learning_rate,
            device=self.device,
            seed=run.seed,
            progress=run.progress(min(steps, self.max_steps), "step", every=20),
        )

    def _impute_encoded(self, encoded: EncodedTable) -> np.ndarray:
        return self._model.fill(encoded, self.filling_samples)

    def _draw_encoded(
        self, encoded: EncodedTable, n: int, rng: np.random.Generator
    ) -> Iterable[np.ndarray]:
        return (self._model.draw(encoded, self.filling_samples, rng) for _ in range(n))
