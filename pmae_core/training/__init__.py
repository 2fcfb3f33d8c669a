"""One readable training loop, with its schedule, validation, checkpoints and events."""

from pmae_core.events import (
    BatchReduced,
    CheckpointSaved,
    Event,
    TrainingFinished,
    TrainingProgress,
    TrainingStarted,
)
from pmae_core.training.config import TrainingConfig
from pmae_core.training.device import choose_device
from pmae_core.training.loop import TrainingResult, train
from pmae_core.training.validation import HeldOut, hold_out_cells

__all__ = [
    "BatchReduced",
    "CheckpointSaved",
    "Event",
    "HeldOut",
    "TrainingConfig",
    "TrainingFinished",
    "TrainingProgress",
    "TrainingResult",
    "TrainingStarted",
    "choose_device",
    "hold_out_cells",
    "train",
]
