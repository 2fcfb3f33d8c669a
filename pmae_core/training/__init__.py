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

__all__ = [
    "BatchReduced",
    "CheckpointSaved",
    "Event",
    "TrainingConfig",
    "TrainingFinished",
    "TrainingProgress",
    "TrainingResult",
    "TrainingStarted",
    "choose_device",
    "train",
]
