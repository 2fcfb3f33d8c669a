"""MIWAE: a variational autoencoder trained on the observed cells alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

import numpy as np

from pmae_core.imputers.base import BaseImputer
from pmae_core.imputers.parameters import STRING, Constraints, Integer, Number
from pmae_core.imputers.registry import register_imputer
from pmae_core.imputers.run import FitRun
from pmae_core.table import EncodedTable, Schema


@register_imputer(
    name="miwae",
    title="MIWAE",
    explanation="A neural network describes each row by a few latent numbers and imputes its "
    "missing cells with the values that rows of that description usually have.",
    citation="Mattei and Frellsen: MIWAE: Deep Generative Modeling and Imputation of Incomplete "
    "Data Sets. ICML 2019.",
    draws_samples=True,
)
class MIWAEImputer(BaseImputer):
    """Impute a table with a missing-data importance-weighted autoencoder.

    An encoder turns a row, its missing cells set to the mean, into a normal distribution of latent
    numbers; a decoder turns latent numbers into a Student-t distribution for every cell. Both
    learn to make the observed cells likely (the importance-weighted bound). A missing cell gets
    the mean of the decoder's means, weighted by how well the latent numbers explain the row's
    observed cells; ``sample`` draws latent numbers by those weights (sampling importance
    resampling) and then the cells. New rows are imputed without another fit.

    Departures from the original: columns are standardized here and not by the caller, missing cells
    are imputed from decoder means and not from samples, and ``max_steps`` bounds the training
    on large tables (500 epochs are fewer steps up to about 10,000 rows).

    Parameters
    ----------
    epochs : int, default 500
        Passes over the table.
    max_steps : int, default 20000
        Most training steps, however many epochs they are.
    batch_size : int, default 256
        Rows per step.
    hidden_width, latent_width : int, default 32 and 16
        Width of the hidden layers, and how many latent numbers describe a row.
    training_samples, imputation_samples : int, default 20 and 100
        Latent numbers drawn per row, in training and in imputation.
    learning_rate : float, default 0.001
        Step size of Adam.
    device : str, default "auto"
        ``"auto"`` takes CUDA, MPS or CPU, whichever is available first.
    schema : Schema or mapping of column to role, optional
        Roles of the columns; inferred where not given.
    random_state : int, RandomState or None
        Seed of everything random.

    Attributes
    ----------
    losses_ : list of float
        The negative bound on the log-likelihood of a row's observed cells, one per step.
    """

    _parameter_constraints: ClassVar[Constraints] = {
        **BaseImputer._parameter_constraints,
        "epochs": [Integer(least=1)],
        "max_steps": [Integer(least=1)],
        "batch_size": [Integer(least=1)],
        "hidden_width": [Integer(least=1)],
        "latent_width": [Integer(least=1)],
        "training_samples": [Integer(least=1)],
        "imputation_samples": [Integer(least=1)],
        "learning_rate": [Number(above=0)],
        "device": [STRING],
    }

    def __init__(
        self,
        *,
        epochs: int = 500,
        max_steps: int = 20_000,
        batch_size: int = 256,
        hidden_width: int = 32,
        latent_width: int = 16,
        training_samples: int = 20,
        imputation_samples: int = 100,
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
        self.imputation_samples = imputation_samples
        self.learning_rate = learning_rate
        self.device = device
        self.schema = schema
        self.random_state = random_state

    def _fit_encoded(self, encoded: EncodedTable, run: FitRun) -> None:
        from pmae_core.imputers.neural._miwae_network import FittedMIWAE

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
        return self._model.impute(encoded, self.imputation_samples)

    def _draw_encoded(
        self, encoded: EncodedTable, n: int, rng: np.random.Generator
    ) -> Iterable[np.ndarray]:
        return (self._model.draw(encoded, self.imputation_samples, rng) for _ in range(n))
