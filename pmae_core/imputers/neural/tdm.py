"""TDM: move the imputed cells until random batches of rows match after a learned flow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from pmae_core.errors import ImputationError
from pmae_core.imputers.parameters import STRING, Constraints, Integer, Number
from pmae_core.imputers.registry import register_imputer
from pmae_core.imputers.run import FitRun
from pmae_core.imputers.transductive import TransductiveImputer
from pmae_core.imputers.work import WorkProfile
from pmae_core.table import EncodedTable, Schema

_FEWEST_ROWS = 4


@register_imputer(
    name="tdm",
    title="TDM",
    explanation="Moves the imputed cells until any two random groups of rows have the same "
    "distribution after a transformation, which is learned at the same time.",
    citation="Zhao, Sun, Dezfouli and Bonilla: Transformed Distribution Matching for Missing "
    "Value Imputation. ICML 2023.",
    limits="Each step moves a few rows: increase batch_size on tables of many thousand rows.",
)
class TDMImputer(TransductiveImputer):
    """Impute a table by transformed distribution matching.

    The missing values are free parameters that start at the mean with some noise. Two
    random batches of rows go through an invertible network (three RealNVP coupling blocks); the
    loss is the cost of optimal transport between the two. Gradient steps move the missing
    values and the network. It imputes the table it is fitted on and no other.

    Departures from the original: transport between two uniform batches of equal size is an
    assignment problem, which ``scipy.optimize.linear_sum_assignment`` solves exactly, so that no
    transport library is needed, and only the matched pairs are differentiated; scale and shift
    of a coupling come from one network; the result is the mean of the imputed values over the last
    window of iterations, and the search ends before 10,000 iterations when that mean no longer
    moves.

    Parameters
    ----------
    iterations : int, default 10000
        Most iterations.
    batch_size : int, default 64
        Rows of each of the two batches; in a small table, the largest power of two within half of
        its rows.
    tolerance : float, default 0.05
        The search ends when the mean of the imputed values over a window of iterations moved by
        less than this share of the columns' standard deviation (root mean square over all missing
        cells) since the window before; 0 for never. A window is at least 100 iterations, and long
        enough that every row is drawn about 20 times; the first ten windows are always run.
    blocks : int, default 3
        Coupling blocks of the network.
    width_factor : int, default 2
        Width of the hidden layers, as a multiple of the number of columns.
    noise : float, default 0.1
        Standard deviation of the noise at the start.
    learning_rate : float, default 0.01
        Step size of RMSprop, for imputed values and network.
    device : str, default "auto"
        ``"auto"`` takes CUDA, MPS or CPU, whichever is available first.
    schema : Schema or mapping of column to role, optional
        Roles of the columns; inferred where not given.
    random_state : int, RandomState or None
        Seed of everything random.

    Attributes
    ----------
    losses_ : list of float
        The cost of transport, one per iteration.
    """

    _parameter_constraints: ClassVar[Constraints] = {
        **TransductiveImputer._parameter_constraints,
        "iterations": [Integer(least=1)],
        "batch_size": [Integer(least=1)],
        "tolerance": [Number(least=0)],
        "blocks": [Integer(least=0)],
        "width_factor": [Integer(least=1)],
        "noise": [Number(least=0)],
        "learning_rate": [Number(above=0)],
        "device": [STRING],
    }

    def __init__(
        self,
        *,
        iterations: int = 10_000,
        batch_size: int = 64,
        tolerance: float = 0.05,
        blocks: int = 3,
        width_factor: int = 2,
        noise: float = 0.1,
        learning_rate: float = 1e-2,
        device: str = "auto",
        schema: Schema | Mapping[Any, str] | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.iterations = iterations
        self.batch_size = batch_size
        self.tolerance = tolerance
        self.blocks = blocks
        self.width_factor = width_factor
        self.noise = noise
        self.learning_rate = learning_rate
        self.device = device
        self.schema = schema
        self.random_state = random_state

    def work_profile(self, n_rows: int) -> WorkProfile:
        """Say that the training usually ends early; see :meth:`BaseImputer.work_profile`."""
        return WorkProfile(usual_share=0.12)

    def _complete(self, encoded: EncodedTable, run: FitRun) -> np.ndarray:
        from pmae_core.imputers.neural._tdm_network import match_batches

        n_rows = len(encoded.values)
        if n_rows < _FEWEST_ROWS:
            raise ImputationError(
                f"TDM compares random batches of rows and needs at least {_FEWEST_ROWS}; "
                f"this table has {n_rows}. Choose another method for it."
            )
        imputed, self.losses_ = match_batches(
            encoded,
            batch_size=self.batch_size,
            tolerance=self.tolerance,
            blocks=self.blocks,
            width_factor=self.width_factor,
            noise=self.noise,
            learning_rate=self.learning_rate,
            device=self.device,
            seed=run.seed,
            progress=run.progress(self.iterations, "iteration", every=20),
        )
        return imputed
