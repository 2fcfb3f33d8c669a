"""How a training ended."""

from dataclasses import dataclass


@dataclass(frozen=True)
class TrainingResult:
    """How a training ended; the network itself holds the chosen weights.

    Attributes
    ----------
    reason : {"completed", "early", "cancelled"}
        Why it ended.
    step, best_step : int
        The last step, and the one whose weights were chosen.
    best_score : float or None
        Validation score of the chosen weights, ``None`` without validation.
    seconds : float
        Duration, not counting what came before a resume.
    """

    reason: str
    step: int
    best_step: int
    best_score: float | None
    seconds: float
