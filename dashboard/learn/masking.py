"""Lesson 5: uniform or proportional masking, on a table where it matters."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from dashboard.learn.lesson import LARGEST_SEED, Lesson, independent_numbers
from pmae_core.masking import MaskSampler, masking_probability
from pmae_core.words import percent

LESSON = Lesson(
    name="masking",
    title="Uniform or proportional masking?",
    story="A trader's `gain` is `position` times `move`: neither predicts it alone, **together** "
    "they do. Both are observed on 98% of days, the gain on 30%. A masked autoencoder trains by "
    "predicting observed cells that it masks. **Uniform** masking masks half of every column, "
    "**proportional** masking more of the columns that miss more.",
    question="Where `gain` is missing, both predictors are nearly always observed. How often does "
    "proportional masking train the network on **this case**, compared with uniform masking?",
    answers={
        "uniform": "Less often",
        "alike": "Equally often",
        "proportional": "At least one and a half times as often",
    },
    points=(
        "Masking half of **every** column also masks the predictors: both are visible in at most "
        "one of four training cases. The network trains on cases that it will rarely meet.",
        "Proportional masking spares the columns that are nearly always observed, so training "
        "cases resemble the missing cells. In a column observed in a share *p* of rows, it masks a "
        "share of a · ln((1 − p) / p) + b.",
        "If *a* is too large, the predictors are never masked, and the network never learns to "
        "impute **their** missing values. The paper uses a = 0.05 and b = 0.5.",
        "Here the network learns **faster** with proportional masking, not better: with ten times "
        "as many training steps, uniform masking catches up.",
    ),
    simplified="This table is built so that masking matters: the predictors work only together. "
    "Where each is informative alone, the difference is small. The networks are small and trained "
    "without dropout on five tables, with a = 0.05. A real run stops when held-out cells get no "
    "better.",
)

MASKINGS = ("uniform", "proportional")
TARGET = "gain"
PREDICTORS = ("position", "move")
P_TARGET, P_PREDICTOR = 0.3, 0.98
N_ROWS = 600
UNIFORM_RATE, USUAL_A = 0.5, 0.05
A_WORDS: dict[float, str] = {0.0: "0", USUAL_A: "0.05 (paper)", 0.15: "0.15"}
N_REPETITIONS = 200
_ROUNDS = 40
_FIRST_REPETITION = LARGEST_SEED + 1  # no reader's table is among the repetitions

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
        ``column``, ``p_obs`` and ``M_j`` of proportional masking.
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
        missing, uniform, proportional = (
            percent(self.with_all_visible(kind)) for kind in ("missing", *MASKINGS)
        )
        counted = (
            f"Both predictors are observed in **{missing}** of the rows without `gain`. In "
            f"training, both are visible in **{uniform}** of the cases with uniform masking and in "
            f"**{proportional}** with proportional masking."
        )
        return f"{counted} {self._warning()}".strip()

    def _warning(self) -> str:
        """Say what goes wrong if the predictors are never masked."""
        predictors = self.weights[self.weights["column"] != TARGET]
        if (predictors["M_j"] > 0.02).all():
            return ""
        return (
            "With this a, the predictors are practically never masked: the network only "
            "reconstructs them and never learns to impute them."
        )


def _sampler(masking: str, a: float) -> MaskSampler:
    if masking == "uniform":
        return MaskSampler(function="constant", params={"rate": UNIFORM_RATE}, p_obs="table")
    return MaskSampler(function="logit", params={"a": a, "b": UNIFORM_RATE}, p_obs="table")


def training_cases(trader: Trader, a: float, seed: int) -> TrainingCases:
    """Sample training cases with both maskings, and count the visible predictors."""
    observed = trader.observed
    shares = {
        "missing": _shares_visible(observed[~observed[:, -1]]),
        **{masking: _in_training(observed, masking, a, seed, _ROUNDS) for masking in MASKINGS},
    }
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
        weights=weights,
    )


def repeated_shares(a: float) -> dict[str, np.ndarray]:
    """Return in other tables, by masking, how often all predictors are visible in one epoch."""
    seeds = range(_FIRST_REPETITION, _FIRST_REPETITION + N_REPETITIONS)
    observed = {seed: make_trader(seed).observed for seed in seeds}
    return {
        masking: np.array(
            [_in_training(cells, masking, a, seed, 1)[-1] for seed, cells in observed.items()]
        )
        for masking in MASKINGS
    }


def _in_training(
    observed: np.ndarray, masking: str, a: float, seed: int, rounds: int
) -> np.ndarray:
    """Return the shares of training cases with 0, 1, ... visible predictors."""
    sampler = _sampler(masking, a).fit(observed)
    rng = independent_numbers(seed)
    cases = []
    for _ in range(rounds):
        masked = sampler.sample(observed, rng)
        cases.append((observed & ~masked)[masked[:, -1]])
    return _shares_visible(np.concatenate(cases))


def _shares_visible(visible: np.ndarray) -> np.ndarray:
    """Return the shares of rows with 0, 1, ... visible predictors."""
    predictors = visible[:, : len(PREDICTORS)].sum(axis=1)
    return np.bincount(predictors, minlength=len(PREDICTORS) + 1) / len(visible)


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

    @property
    def lengths(self) -> list[int]:
        """The lengths of training in steps, rising."""
        return sorted(int(steps) for steps in self.runs["steps"].unique())

    def r2(self, masking: str, steps: int) -> np.ndarray:
        """Return the R² of all seeds with a masking after a number of steps, in their order."""
        chosen = self.runs[(self.runs["masking"] == masking) & (self.runs["steps"] == steps)]
        return chosen.sort_values("seed")["r2"].to_numpy()

    def sentence(self, steps: int) -> str:
        """Compare both maskings after a number of training steps."""
        uniform, proportional = (self.r2(masking, steps) for masking in MASKINGS)
        ahead = int((proportional > uniform).sum())
        return (
            f"After {steps:,} training steps, R² was {uniform.mean():.2f} with uniform and "
            f"{proportional.mean():.2f} with proportional masking on average; proportional masking "
            f"was ahead with {ahead} of {len(uniform)} seeds."
        )


def read_trained(path: Path = RESULTS) -> Trained | None:
    """Return the measured comparison; None if it was not measured."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    return Trained(pd.DataFrame(content["runs"]), content["command"])
