"""Lesson 5: uniform or proportional masking, on a table where it matters."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from dashboard.learn.lesson import Lesson, independent_numbers
from pmae_core.masking import MaskSampler, masking_probability
from pmae_core.words import percent

LESSON = Lesson(
    name="masking",
    title="Uniform or proportional masking?",
    story="A trader's `gain` is the `position` (negative for a bet on falling prices) times the "
    "`move` of the market. Position and move are observed on 98% of days, the gain on only 30%. "
    "Neither predictor says anything alone; **together** they nearly determine the gain. A masked "
    "autoencoder trains by masking observed cells and predicting them from the others. "
    "**Uniform** masking masks half of every column; **proportional** masking masks more of the "
    "columns that miss more.",
    question="Where `gain` is missing, both predictors are nearly always observed. Which masking "
    "trains the network on **this case** more often?",
    answers={
        "uniform": "Uniform masking",
        "alike": "Neither: both mask about half of `gain`",
        "proportional": "Proportional masking, about twice as often",
    },
    points=(
        "Masking half of **every** column also masks the predictors: both are visible in at most "
        "one of four training cases. The network trains on cases that it will rarely meet.",
        "Proportional masking spares the columns that are nearly always observed, so training "
        "cases resemble the missing cells. In a column observed in a share *p* of rows, it masks a "
        "share of a · ln((1 − p) / p) + b.",
        "If *a* is too large, the predictors are never masked, and the network never learns to "
        "impute **their** missing values. The paper uses a = 0.05 and b = 0.5.",
        "Here the network learns **faster** with proportional masking, not better: with enough "
        "training, uniform masking catches up. It matters here because the predictors work only "
        "together; where each is informative alone, the difference is small.",
    ),
)

TARGET = "gain"
PREDICTORS = ("position", "move")
P_TARGET, P_PREDICTOR = 0.3, 0.98
N_ROWS = 600
UNIFORM_RATE, USUAL_A, LARGEST_A = 0.5, 0.05, 0.2
_ROUNDS = 40

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results" / "lesson_masking.json"
"""Written by ``python -m benchmarks.accuracy.lesson_masking``."""


@dataclass(frozen=True, eq=False)
class Trader:
    """The table of the lesson: complete, and with missing values."""

    truth: pd.DataFrame
    incomplete: pd.DataFrame

    @property
    def observed(self) -> np.ndarray:
        """True where a cell is observed."""
        return self.incomplete.notna().to_numpy()


def make_trader(seed: int) -> Trader:
    """Make days of a trader; the gain is the product of both predictors plus a little noise."""
    rng = np.random.default_rng(seed)
    predictors = rng.normal(size=(N_ROWS, len(PREDICTORS)))
    gain = predictors.prod(axis=1) + rng.normal(0, 0.1, N_ROWS)
    truth = pd.DataFrame(np.column_stack([predictors, gain]), columns=[*PREDICTORS, TARGET])
    is_observed = rng.random(truth.shape) < np.array([P_PREDICTOR] * len(PREDICTORS) + [P_TARGET])
    return Trader(truth, truth.where(is_observed))


@dataclass(frozen=True, eq=False)
class TrainingCases:
    """How many predictors are visible where the target has to be predicted.

    Attributes
    ----------
    visible : DataFrame
        For 0, 1, ... visible ``predictors`` the share of cases: of cells with a ``missing`` target,
        and of training cases of ``uniform`` and ``proportional`` masking.
    weights : DataFrame
        ``column``, ``p_obs`` and ``M_j`` of proportional masking, least observed first.
    """

    visible: pd.DataFrame
    weights: pd.DataFrame

    def with_all_visible(self, kind: str) -> float:
        """Return the share of cases in which all predictors are visible."""
        return float(self.visible[kind].iloc[-1])

    @property
    def answer(self) -> str:
        """The answer to the question, by counting training cases."""
        uniform, proportional = map(self.with_all_visible, ("uniform", "proportional"))
        if proportional > 1.5 * uniform:
            return "proportional"
        return "uniform" if uniform > 1.5 * proportional else "alike"

    def sentence(self) -> str:
        """Say how closely training cases resemble the missing cells."""
        kinds = ("missing", "uniform", "proportional")
        missing, uniform, proportional = (percent(self.with_all_visible(kind)) for kind in kinds)
        return (
            f"Both predictors are observed in **{missing}** of the rows without `gain`. In "
            f"training, both are visible in **{uniform}** of the cases with uniform masking and in "
            f"**{proportional}** with proportional masking."
        )

    def warning(self) -> str | None:
        """Say what goes wrong if the predictors are never masked."""
        predictors = self.weights[self.weights["column"] != TARGET]
        if (predictors["M_j"] > 0.02).all():
            return None
        return (
            "With this a, the predictors are practically never masked: the network only "
            "reconstructs them and never learns to impute them."
        )


def training_cases(trader: Trader, a: float, seed: int) -> TrainingCases:
    """Sample training cases with both maskings, and count the visible predictors."""
    observed = trader.observed
    counts = {"missing": _count_visible(observed[~observed[:, -1]])}
    settings = {
        "uniform": ("constant", {"rate": UNIFORM_RATE}),
        "proportional": ("logit", {"a": a, "b": UNIFORM_RATE}),
    }
    for kind, (function, params) in settings.items():
        sampler = MaskSampler(function=function, params=params, p_obs="table").fit(observed)
        rng = independent_numbers(seed)
        total = np.zeros(len(PREDICTORS) + 1)
        for _ in range(_ROUNDS):
            masked = sampler.sample(observed, rng)
            total += _count_visible((observed & ~masked)[masked[:, -1]])
        counts[kind] = total
    shares = {kind: total / total.sum() for kind, total in counts.items()}
    p_obs = observed.mean(axis=0)
    weights = pd.DataFrame(
        {
            "column": trader.truth.columns,
            "p_obs": p_obs,
            "M_j": masking_probability(p_obs, "logit", a=a, b=UNIFORM_RATE),
        }
    )
    return TrainingCases(
        visible=pd.DataFrame({"predictors": np.arange(len(PREDICTORS) + 1), **shares}),
        weights=weights.sort_values("p_obs", ignore_index=True, kind="stable"),
    )


def _count_visible(visible: np.ndarray) -> np.ndarray:
    """Count rows by their number of visible predictors."""
    predictors = visible[:, : len(PREDICTORS)].sum(axis=1)
    return np.bincount(predictors, minlength=len(PREDICTORS) + 1).astype(float)


@dataclass(frozen=True, eq=False)
class Trained:
    """What networks reach with both maskings on the lesson's table, as measured.

    Attributes
    ----------
    runs : DataFrame
        ``steps`` of training, ``seed``, ``masking`` ("uniform", "proportional") and ``r2`` of the
        imputed gain.
    command : str
        How to repeat the measurement.
    """

    runs: pd.DataFrame
    command: str

    def sentences(self) -> list[str]:
        """Return one sentence per length of training with the R² of both maskings."""
        return [_comparison(steps, runs) for steps, runs in self.runs.groupby("steps")]


def _comparison(steps: int, runs: pd.DataFrame) -> str:
    by_seed = runs.pivot(index="seed", columns="masking", values="r2")
    better = int((by_seed["proportional"] > by_seed["uniform"]).sum())
    mean = by_seed.mean()
    return (
        f"After {steps:,} training steps, R² was {mean['uniform']:.2f} with uniform and "
        f"{mean['proportional']:.2f} with proportional masking on average; proportional masking "
        f"was ahead with {better} of {len(by_seed)} seeds."
    )


def read_trained(path: Path = RESULTS) -> Trained | None:
    """Return the measured comparison; None if it was not measured."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    return Trained(pd.DataFrame(content["runs"]), content["command"])
