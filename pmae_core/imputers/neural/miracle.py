"""MIRACLE: refine an imputation with one small network per column and a causal structure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from pmae_core.imputers.parameters import STRING, Constraints, Integer, Number
from pmae_core.imputers.registry import register_imputer
from pmae_core.imputers.run import FitRun
from pmae_core.imputers.transductive import TransductiveImputer
from pmae_core.table import EncodedTable, Schema


@register_imputer(
    name="miracle",
    title="MIRACLE",
    explanation="Starts from the mean and refines it by predicting every column from a few others, "
    "with arrows between columns that form no circle, as causes do.",
    citation="Kyono, Zhang, Bellot and van der Schaar: MIRACLE: Causally-Aware Imputation via "
    "Learning Missing Data Mechanisms. NeurIPS 2021.",
)
class MIRACLEImputer(TransductiveImputer):
    """Impute a table with MIRACLE.

    One small network per column predicts it from the others, and one per column with missing cells
    predicts whether a cell is missing; each has a first layer of its own, all share a hidden
    layer. The loss is the squared error on observed cells, the cross-entropy of missingness, and
    three penalties: few columns as inputs (group lasso), no circles among them (acyclicity), and
    predictions whose mean agrees with the observed mean weighted by inverse propensity. After
    ``window`` steps the missing cells are imputed again at every step with the mean of the newest
    predictions. It imputes the table it is fitted on and no other.

    Departures from the released code: a batch never has more rows than the table (the released
    loop does nothing on a table smaller than its batch and returns an untrained network); every row
    takes part in every step with its own missing cells; columns are standardized; propensities
    are probabilities between 5% and 100%; whatever the batch, lasso and acyclicity weigh as much
    as in the released code with its batches of 32 rows, where the squared error is a sum.

    Parameters
    ----------
    steps : int, default 400
        Passes over the table.
    batch_size : int, default 1024
        Rows per training step.
    hidden_width : int, default 32
        Width of the hidden layers.
    window : int, default 10
        How many of the newest predictions are averaged.
    sparsity_weight, acyclicity_weight, moment_weight : float, default 1
        Weights of the three penalties.
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
        The mean squared error on observed, standardized cells, one per step.
    """

    _parameter_constraints: ClassVar[Constraints] = {
        **TransductiveImputer._parameter_constraints,
        "steps": [Integer(least=1)],
        "batch_size": [Integer(least=1)],
        "hidden_width": [Integer(least=1)],
        "window": [Integer(least=1)],
        "sparsity_weight": [Number(least=0)],
        "acyclicity_weight": [Number(least=0)],
        "moment_weight": [Number(least=0)],
        "learning_rate": [Number(above=0)],
        "device": [STRING],
    }

    def __init__(
        self,
        *,
        steps: int = 400,
        batch_size: int = 1024,
        hidden_width: int = 32,
        window: int = 10,
        sparsity_weight: float = 1.0,
        acyclicity_weight: float = 1.0,
        moment_weight: float = 1.0,
        learning_rate: float = 1e-3,
        device: str = "auto",
        schema: Schema | Mapping[Any, str] | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.steps = steps
        self.batch_size = batch_size
        self.hidden_width = hidden_width
        self.window = window
        self.sparsity_weight = sparsity_weight
        self.acyclicity_weight = acyclicity_weight
        self.moment_weight = moment_weight
        self.learning_rate = learning_rate
        self.device = device
        self.schema = schema
        self.random_state = random_state

    def _complete(self, encoded: EncodedTable, run: FitRun) -> np.ndarray:
        from pmae_core.imputers.neural._miracle_network import PenaltyWeights, refine

        imputed, self.losses_ = refine(
            encoded,
            batch_size=self.batch_size,
            hidden_width=self.hidden_width,
            window=self.window,
            weights=PenaltyWeights(
                self.sparsity_weight, self.acyclicity_weight, self.moment_weight
            ),
            learning_rate=self.learning_rate,
            device=self.device,
            seed=run.seed,
            progress=run.progress(self.steps, "step", every=10),
        )
        return imputed
