"""Settings of the training loop and the learning-rate schedule they describe."""

import math
from dataclasses import dataclass
from typing import Literal

from pmae_core.checks import check_at_least, check_choices


@dataclass(frozen=True, kw_only=True)
class TrainingConfig:
    """How long, how fast and on which device a network is trained.

    Parameters
    ----------
    steps, epochs : int, optional
        Length of the training; give exactly one of the two.
    batch_size : int
        Rows per step.
    learning_rate, final_learning_rate : float
        Peak of the schedule, and where its half cosine ends.
    warmup_steps, warmup_epochs : int
        Length of the linear warm-up; the two are added. With ``warmup_epochs`` it starts at 0, as
        in the paper's release; with ``warmup_steps`` alone, the first step learns already.
    weight_decay, betas
        Settings of AdamW.
    loss : {"paper", "grouped", "remasker"}
        How cell errors become one number.
    average_decay : float, optional
        Decay of an exponential moving average of the weights; ``None`` for no averaging.
    validate_every : int
        Steps between two validations, when there are held-out cells.
    patience : int, optional
        Validations without improvement after which training stops; ``None`` for never.
    device : str
        ``"auto"`` (CUDA, then MPS, then CPU) or a torch device.
    precision : {"auto", "float32", "bfloat16"}
        ``"auto"`` takes bfloat16 only on hardware that is faster with it.
    compiled : bool
        Whether torch compiles the step. Compiling takes about a minute and pays off in long
        trainings on a GPU.
    seed : int
        Seed of all random numbers of the loop.
    log_every, checkpoint_every : int
        Steps between two progress events, and between two checkpoints.
    """

    steps: int | None = None
    epochs: int | None = None
    batch_size: int = 64
    learning_rate: float = 1e-3
    final_learning_rate: float = 1e-5
    warmup_steps: int = 0
    warmup_epochs: int = 0
    weight_decay: float = 0.01
    betas: tuple[float, float] = (0.9, 0.95)
    loss: Literal["paper", "grouped", "remasker"] = "paper"
    average_decay: float | None = None
    validate_every: int = 25
    patience: int | None = None
    device: str = "auto"
    precision: Literal["auto", "float32", "bfloat16"] = "auto"
    compiled: bool = False
    seed: int = 0
    log_every: int = 10
    checkpoint_every: int = 200

    def __post_init__(self) -> None:
        """Raise ``ValueError`` for settings that describe no training."""
        check_choices(self)
        if (self.steps is None) == (self.epochs is None):
            raise ValueError("Give exactly one of steps and epochs.")
        if self.learning_rate <= 0:
            raise ValueError(f"learning_rate must be positive, got {self.learning_rate}.")
        check_at_least(self, steps=0, epochs=0, warmup_steps=0, warmup_epochs=0)
        check_at_least(self, batch_size=1, validate_every=1, patience=1)
        check_at_least(self, log_every=1, checkpoint_every=1)

    def batches_per_epoch(self, n_rows: int) -> int:
        """Return the number of batches that contain every row once."""
        return max(1, math.ceil(n_rows / self.batch_size))

    def total_steps(self, n_rows: int) -> int:
        """Return the number of steps of a whole training."""
        if self.steps is not None:
            return int(self.steps)
        return (self.epochs or 0) * self.batches_per_epoch(n_rows)

    def learning_rate_at(self, step: int, n_rows: int) -> float:
        """Return the learning rate of a step: linear warm-up, then half a cosine.

        A warm-up in epochs starts at 0, as in the paper's release. A warm-up in steps starts above
        0, so that the first step learns.
        """
        warmup = self.warmup_steps + self.warmup_epochs * self.batches_per_epoch(n_rows)
        if step < warmup and self.warmup_epochs:
            return self.learning_rate * step / warmup
        if step < warmup:
            return self.learning_rate * (step + 1) / (warmup + 1)
        done = (step - warmup) / max(1, self.total_steps(n_rows) - warmup)
        span = self.learning_rate - self.final_learning_rate
        return self.final_learning_rate + span * 0.5 * (1 + math.cos(math.pi * min(1.0, done)))
