"""Lesson 5: uniform against proportional masking, on a table where it matters."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from dashboard.learn.lesson import Lesson, luck
from pmae_core.masking import MaskSampler, masking_probability
from pmae_core.words import percent

LESSON = Lesson(
    name="masking",
    title="Uniform or proportional masking?",
    story="A trader's `gain` on a day is the `position` (above 0 for a bet on rising prices, below "
    "0 for one on falling prices) times the `move` of the market. Position and move are known on "
    "98 of 100 days, but the gain on 30 only: the rest must be filled. Neither helper says "
    "anything alone; **both together** say it all. A masked autoencoder learns this by practice: "
    "it hides cells that it knows and predicts them from those in sight. **Uniform** masking hides "
    "half of the cells of every column; **proportional** masking hides more of a column that "
    "misses much, and less of one that misses little.",
    question="On nearly all days that lack `gain`, both helpers are there. How often does the "
    "network **practise** just that, when it must predict `gain`?",
    answers={
        "uniform": "More often with uniform masking",
        "alike": "Equally often: both hide about half of the cells of `gain`",
        "proportional": "More often with proportional masking, about twice as often",
    },
    takeaways=(
        "Hiding half of **every** column hides the helpers, too: both are in sight in one of four "
        "exercises at best. The network practises what it will hardly ever meet.",
        "Proportional masking spares the columns that are nearly always there, so that practice "
        "looks more like the holes. Of a column that is observed in the share *p* of rows, it "
        "masks the share a · ln((1 − p) / p) + b.",
        "Too much of it (a large *a*) never hides the helpers at all, and nobody practises to "
        "fill **their** holes. The paper takes a = 0.05 and b = 0.5.",
        "The network learns **faster** with proportional masking here, not better: trained long "
        "enough, uniform masking catches up. And it matters here because the helpers work only "
        "together; where each says something by itself, the difference is small.",
    ),
)

TARGET = "gain"
HELPERS = ("position", "move")
P_TARGET, P_HELPER = 0.3, 0.98
N_ROWS = 600
UNIFORM_RATE, USUAL_A, LARGEST_A = 0.5, 0.05, 0.2
_ROUNDS = 40

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results" / "lesson_masking.json"
"""Written by ``python -m benchmarks.accuracy.lesson_masking``."""


@dataclass(frozen=True, eq=False)
class Trader:
    """The table of the lesson: complete, and with its holes."""

    truth: pd.DataFrame
    incomplete: pd.DataFrame

    @property
    def observed(self) -> np.ndarray:
        """True where a cell is seen."""
        return self.incomplete.notna().to_numpy()


def make_trader(seed: int) -> Trader:
    """Make days of a trader; the gain is the product of both helpers but for a little noise."""
    rng = np.random.default_rng(seed)
    helpers = rng.normal(size=(N_ROWS, len(HELPERS)))
    gain = helpers.prod(axis=1) + rng.normal(0, 0.1, N_ROWS)
    truth = pd.DataFrame(np.column_stack([helpers, gain]), columns=[*HELPERS, TARGET])
    stays = rng.random(truth.shape) < np.array([P_HELPER] * len(HELPERS) + [P_TARGET])
    return Trader(truth, truth.where(stays))


@dataclass(frozen=True, eq=False)
class Practice:
    """How many helpers are in sight where the target has to be filled.

    Attributes
    ----------
    in_sight : DataFrame
        For 0, 1, ... helpers the share of cases: of the ``holes``, and of the exercises of
        ``uniform`` and of ``proportional`` masking.
    weights : DataFrame
        ``column``, ``p_obs`` and ``M_j`` of proportional masking, most holes first.
    """

    in_sight: pd.DataFrame
    weights: pd.DataFrame

    def with_all_helpers(self, kind: str) -> float:
        """Return in which share of cases all helpers are in sight."""
        return float(self.in_sight[kind].iloc[-1])

    @property
    def answer(self) -> str:
        """What the question's answer is, by the exercises counted."""
        uniform, proportional = map(self.with_all_helpers, ("uniform", "proportional"))
        if proportional > 1.5 * uniform:
            return "proportional"
        return "uniform" if uniform > 1.5 * proportional else "alike"

    def sentence(self) -> str:
        """Say how much practice looks like the holes."""
        return (
            f"Both helpers are in sight in **{percent(self.with_all_helpers('holes'))}** of "
            f"the holes in `gain`. In practice they are in "
            f"**{percent(self.with_all_helpers('uniform'))}** of the exercises of uniform masking "
            f"and in **{percent(self.with_all_helpers('proportional'))}** of those of proportional "
            "masking."
        )

    def warning(self) -> str | None:
        """Say what is lost if the helpers are never hidden."""
        helpers = self.weights[self.weights["column"] != TARGET]
        if (helpers["M_j"] > 0.02).all():
            return None
        return (
            "Now the helpers are practically never hidden: the network never practises to fill "
            "their own holes, and only copies them."
        )


def practise(trader: Trader, a: float, seed: int) -> Practice:
    """Let both maskings draw exercises, and count the helpers in sight."""
    observed = trader.observed
    counts = {"holes": _in_sight(observed[~observed[:, -1]])}
    settings = {
        "uniform": ("constant", {"rate": UNIFORM_RATE}),
        "proportional": ("logit", {"a": a, "b": UNIFORM_RATE}),
    }
    for kind, (function, params) in settings.items():
        sampler = MaskSampler(function=function, params=params, p_obs="table").fit(observed)
        rng = luck(seed)
        total = np.zeros(len(HELPERS) + 1)
        for _ in range(_ROUNDS):
            masked = sampler.sample(observed, rng)
            total += _in_sight((observed & ~masked)[masked[:, -1]])
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
    return Practice(
        in_sight=pd.DataFrame({"helpers": np.arange(len(HELPERS) + 1), **shares}),
        weights=weights.sort_values("p_obs", ignore_index=True, kind="stable"),
    )


def _in_sight(visible: np.ndarray) -> np.ndarray:
    """Count rows by their number of visible helpers."""
    helpers = visible[:, : len(HELPERS)].sum(axis=1)
    return np.bincount(helpers, minlength=len(HELPERS) + 1).astype(float)


@dataclass(frozen=True, eq=False)
class Trained:
    """What networks of both kinds reached on the lesson's table; measured, not typed.

    Attributes
    ----------
    runs : DataFrame
        ``steps`` of training, ``seed``, ``masking`` ("uniform", "proportional") and ``r2`` of the
        filled gain.
    command : str
        How to measure again.
    """

    runs: pd.DataFrame
    command: str

    def sentences(self) -> list[str]:
        """Say for each length of training how far each masking came, and in how many seeds."""
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
    """Return the measured comparison; None where it was not measured."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    return Trained(pd.DataFrame(content["runs"]), content["command"])
