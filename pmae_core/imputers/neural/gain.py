"""GAIN: a generator imputes cells, a discriminator learns to recognize them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from pmae_core.imputers.base import BaseImputer
from pmae_core.imputers.parameters import STRING, Constraints, Integer, Number
from pmae_core.imputers.registry import register_imputer
from pmae_core.imputers.run import FitRun
from pmae_core.table import EncodedTable, Schema


@register_imputer(
    name="gain",
    title="GAIN",
    explanation="Two neural networks compete: one imputes missing cells, the other learns to "
    "distinguish imputed cells from observed ones.",
    citation="Yoon, Jordon and van der Schaar: GAIN: Missing Data Imputation using Generative "
    "Adversarial Nets. ICML 2018.",
    limits="Unstable on small tables: another seed can give clearly worse imputations.",
)
class GAINImputer(BaseImputer):
    """Impute a table with generative adversarial imputation nets.

    The generator gets a row with small noise in its missing cells, and which cells are observed.
    The discriminator gets the imputed row, with a hint that reveals most of the observed cells, and
    predicts for each cell whether it is observed. The generator learns to reproduce observed cells
    and to impute cells that the discriminator takes for observed. New rows are imputed without
    another fit.

    Departures from the original: the loss is computed from logits, which is the same but does
    not overflow; for imputation the missing cells hold the mean of the noise instead of a sample,
    so that a row is always imputed in the same way. The noise is too small to show uncertainty,
    so that there is no ``sample``.

    Parameters
    ----------
    iterations : int, default 1000
        Training steps of each of the two networks.
    batch_size : int, default 256
        Rows per step.
    hint_rate : float, default 0.9
        Share of observed cells that the hint reveals to the discriminator.
    reconstruction_weight : float, default 10
        Weight of the squared error on observed cells, against the adversarial loss.
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
        The generator's squared error on observed cells, one per iteration.
    """

    _parameter_constraints: ClassVar[Constraints] = {
        **BaseImputer._parameter_constraints,
        "iterations": [Integer(least=1)],
        "batch_size": [Integer(least=1)],
        "hint_rate": [Number(least=0, most=1)],
        "reconstruction_weight": [Number(least=0)],
        "learning_rate": [Number(above=0)],
        "device": [STRING],
    }

    def __init__(
        self,
        *,
        iterations: int = 1000,
        batch_size: int = 256,
        hint_rate: float = 0.9,
        reconstruction_weight: float = 10.0,
        learning_rate: float = 1e-3,
        device: str = "auto",
        schema: Schema | Mapping[Any, str] | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.iterations = iterations
        self.batch_size = batch_size
        self.hint_rate = hint_rate
        self.reconstruction_weight = reconstruction_weight
        self.learning_rate = learning_rate
        self.device = device
        self.schema = schema
        self.random_state = random_state

    def _fit_encoded(self, encoded: EncodedTable, run: FitRun) -> None:
        from pmae_core.imputers.neural._gain_network import train_generator

        self._generator, self.losses_ = train_generator(
            encoded,
            batch_size=self.batch_size,
            hint_rate=self.hint_rate,
            reconstruction_weight=self.reconstruction_weight,
            learning_rate=self.learning_rate,
            device=self.device,
            seed=run.seed,
            progress=run.progress(self.iterations, "iteration", every=20),
        )

    def _impute_encoded(self, encoded: EncodedTable) -> np.ndarray:
        from pmae_core.imputers.neural._gain_network import impute

        return impute(self._generator, encoded)
