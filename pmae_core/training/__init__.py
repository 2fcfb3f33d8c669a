"""One readable training loop, with its schedule, validation, checkpoints and events."""

from pmae_core.events import (
    BatchReduced,
    CheckpointSaved,
    Event,
    ReferencesScored,
    TrainingFinished,
    TrainingProgress,
    TrainingStarted,
    ValidationScored,
)
from pmae_core.training.batch import Batch, StepOutput
from pmae_core.training.config import TrainingConfig
from pmae_core.training.device import choose_device
from pmae_core.training.result import TrainingResult
from pmae_core.training.trainer import Trainer, train

__all__ = [
    "Batch",
    "BatchReduced",
    "CheckpointSaved",
    "Event",
    "ReferencesScored",
    "StepOutput",
    "Trainer",
    "TrainingConfig",
    "TrainingFinished",
    "TrainingProgress",
    "TrainingResult",
    "TrainingStarted",
    "ValidationScored",
    "choose_device",
    "train",
]
