"""The masking lab without its page: settings, what they do to a table, and that in words."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from dashboard.text import code
from pmae_core.masking import (
    MaskingFunction,
    list_masking_functions,
    masking_probability,
    observed_proportion,
)
from pmae_core.table import Schema
from pmae_core.words import count, percent

UNIFORM_RATE = 0.5
PICTURE_ROWS = 40
SAMPLE_ROWS = 1_000
NOTHING_TO_LEARN = (
    "No column of this table can be learned: all are identifiers, ignored, empty or constant. "
    "Change their roles on the Data page, or open another table."
)

# Table 3 of the paper: imputation accuracy × 100, average of shoppers, wine and diabetes.
PAPER_SCORES: Mapping[str, float] = {
    "logit": 35.4,
    "constant": 33.4,
    "no_reconstruction": 7.7,
    "no_prediction": 8.6,
    "linear": 34.8,
    "reversed": 31.9,
    "piecewise": 33.6,
    "sigmoid": 33.7,
}

# The figures below say when words change; they come from the curve alone, not from a table.
_FLAT_BELOW = 0.05  # difference of M_j between columns observed in 10% and in 90% of rows
_HARD_BELOW = 0.80  # width of the range of p_obs in which both tasks are practised


@dataclass(frozen=True)
class Masking:
    """A masking function and the values of its parameters."""

    function: str = "logit"
    params: Mapping[str, float] = field(default_factory=dict)

    @property
    def info(self) -> MaskingFunction:
        (found,) = [f for f in list_masking_functions() if f.name == self.function]
        return found

    def values(self) -> dict[str, float]:
        """Return all parameters, defaults included."""
        return {**self.info.parameters, **self.params}

    def probability(self, p_obs: npt.ArrayLike) -> np.ndarray:
        return masking_probability(p_obs, self.function, **self.params)

    def to_dict(self) -> dict[str, object]:
        """Return the settings by the names of the lab's controls."""
        return {"function": self.function, **self.values()}


@dataclass(frozen=True)
class Preset:
    """Settings worth seeing, by a short name, and why."""

    title: str
    masking: Masking
    why: str


PRESETS = (
    Preset(
        "The paper's choice",
        Masking("logit", {"a": 0.05, "b": 0.5}),
        "a = 0.05 and b = 0.5, found by a grid search on validation data.",
    ),
    Preset(
        "Uniform",
        Masking("constant", {"rate": UNIFORM_RATE}),
        "The same rate for every column with holes, however few of its cells are observed.",
    ),
    Preset(
        "a too small",
        Masking("logit", {"a": 0.0, "b": 0.5}),
        "Without a slope the logit is uniform masking.",
    ),
    Preset(
        "a too large",
        Masking("logit", {"a": 1.0, "b": 0.5}),
        "The curve becomes a step: always predict on one side, always copy on the other.",
    ),
    Preset(
        "Upside down",
        Masking("logit", {"a": -0.1, "b": 0.5}),
        "With a below 0 the columns with most data are predicted most.",
    ),
)

_SLIDERS: Mapping[str, tuple[float, float, float, str, str]] = {
    "a": (
        -0.2,
        1.0,
        0.01,
        "a: how strongly holes count",
        "Slope of the curve. 0 masks all columns alike; the larger a is, the more a column with "
        "many holes is masked. The paper uses 0.05.",
    ),
    "b": (
        0.0,
        1.0,
        0.01,
        "b: how much to mask at all",
        "Share of the observed cells that is masked in a column observed in half of the rows. "
        "It lifts or lowers the whole curve. The paper uses 0.5.",
    ),
    "rate": (
        0.0,
        1.0,
        0.01,
        "Rate: share of cells to mask",
        "Share of the observed cells that is masked in every column with holes. The paper "
        "uses 0.5.",
    ),
    "slope": (
        0.0,
        40.0,
        0.5,
        "Slope: how steep the middle is",
        "0 masks all columns alike; a large slope makes a step at half of the rows observed. "
        "The paper uses 10.",
    ),
}


def slider_range(parameter: str, default: float) -> tuple[float, float, float]:
    """Return the lowest, the highest value and the step of a parameter's slider."""
    if parameter in _SLIDERS:
        return _SLIDERS[parameter][:3]
    reach = max(1.0, abs(default))
    return default - reach, default + reach, reach / 50


def slider_words(parameter: str) -> tuple[str, str]:
    """Return the label and the help text of a parameter's slider."""
    if parameter in _SLIDERS:
        return _SLIDERS[parameter][3:]
    return parameter, f"The parameter {parameter} of this masking function."


@dataclass(frozen=True)
class MaskingTable:
    """What the lab needs to know of a table, however large the table is.

    Attributes
    ----------
    names : tuple of str
        The columns that a network learns, least observed first.
    p_obs : float array
        Their observed proportions in the whole table.
    n_rows : int
        Rows of the whole table.
    observed : bool array of shape (rows, columns)
        Some rows of the table, at most 1,000, drawn at random; the first 40, which are shown,
        in the table's order.
    draws : float array like `observed`
        One uniform number a cell: the cell is masked where it is below ``M_j``. They are drawn
        once, so that a slider moves only the cells whose fate it changes.
    left_out : dict
        Columns that no network learns, and why.
    """

    names: tuple[str, ...]
    p_obs: np.ndarray
    n_rows: int
    observed: np.ndarray
    draws: np.ndarray
    left_out: Mapping[str, str]

    @property
    def n_full(self) -> int:
        """Number of columns without a hole."""
        return int((self.p_obs == 1.0).sum())

    def masked(self, probability: np.ndarray) -> np.ndarray:
        """Return the cells of the sampled rows that are masked in one training step."""
        return self.observed & (self.draws < probability)


def masking_table(frame: pd.DataFrame, schema: Schema, *, seed: int = 0) -> MaskingTable:
    """Look at a table as the masking lab sees it."""
    left_out = {str(name): reason.clause for name, reason in schema.not_learned().items()}
    learned = schema.learned()
    rng = np.random.default_rng(seed)
    observed = frame[learned].notna().to_numpy()
    n_rows = len(frame)
    p_obs = observed_proportion(observed) if n_rows else np.ones(len(learned))
    order = np.argsort(p_obs, kind="stable")
    rows = rng.choice(n_rows, size=min(n_rows, SAMPLE_ROWS), replace=False)
    rows[:PICTURE_ROWS].sort()
    sample = observed[rows][:, order]
    return MaskingTable(
        names=tuple(str(learned[j]) for j in order),
        p_obs=p_obs[order],
        n_rows=n_rows,
        observed=sample,
        draws=rng.random(sample.shape),
        left_out=left_out,
    )


def column_weights(table: MaskingTable, masking: Masking) -> pd.DataFrame:
    """Return for each column how its cells are used: the numbers behind the lab's figures.

    ``M_j`` is also the expected weight of prediction in the column's loss, and ``1 − M_j`` that
    of reconstruction; the shares below are of all rows.
    """
    probability = masking.probability(table.p_obs)
    return pd.DataFrame(
        {
            "column": table.names,
            "p_obs": table.p_obs,
            "M_j": probability,
            "M_j_uniform": np.full(len(table.names), UNIFORM_RATE),
            "share_missing": 1.0 - table.p_obs,
            "share_predicted": table.p_obs * probability,
            "share_reconstructed": table.p_obs * (1.0 - probability),
        }
    )


def column_sentence(column: str, p_obs: float, probability: float) -> str:
    """Say in words what happens to one column."""
    name = f"Column {code(column)}"
    if p_obs == 1.0:
        seen = f"{name} has no holes"
        if probability == 0.0:
            return f"{seen}: none of its cells is masked, so it always helps to predict the others."
        return (
            f"{seen}, and still {percent(probability)} of its cells will be masked: in these rows "
            "it cannot help to predict the others."
        )
    seen = f"{name} is observed in {percent(p_obs)} of rows"
    if probability == 0.0:
        return f"{seen}: none of its cells will be masked, so filling its holes is never practised."
    if probability == 1.0:
        return f"{seen}: all of its cells will be masked and must be predicted; none is ever seen."
    return (
        f"{seen}: {percent(probability)} of its cells will be masked and must be predicted, "
        f"the other {percent(1.0 - probability)} are seen and given back."
    )


def table_sentence(table: MaskingTable, masking: Masking) -> str:
    """Say in words how much of the whole table is masked, beside uniform masking."""
    n_observed = table.p_obs.sum() * table.n_rows
    ours = float((table.p_obs * masking.probability(table.p_obs)).sum() * table.n_rows)
    uniform = UNIFORM_RATE * n_observed
    return (
        f"Of {count(round(n_observed))} observed cells about {count(round(ours))} "
        f"({percent(ours / n_observed if n_observed else 0.0)}) are masked in each pass over the "
        f"table; uniform masking hides {count(round(uniform))} "
        f"({percent(UNIFORM_RATE)})."
    )


@dataclass(frozen=True)
class Note:
    """A remark on the settings: worth knowing, or worth changing."""

    level: Literal["good", "warning"]
    text: str


def notes(table: MaskingTable, masking: Masking) -> list[Note]:
    """Return what a teacher would say about these settings on this table."""
    warnings = [*_warnings_of_curve(masking), *_warnings_of_table(table, masking)]
    if warnings:
        return [Note("warning", text) for text in warnings]
    few, many = masking.probability([0.1, 0.9])
    return [
        Note(
            "good",
            "**Both tasks are practised**: a column observed in 10% of rows is predicted in "
            f"{percent(few)} of its cells, one observed in 90% in {percent(many)}.",
        )
    ]


def _warnings_of_curve(masking: Masking) -> Iterator[str]:
    """Yield what is wrong with the function whatever the table."""
    if masking.function in ("no_reconstruction", "no_prediction"):
        return  # what they lack is said of the table's columns
    values = masking.values()
    steepness = {"logit": "a", "sigmoid": "slope"}.get(masking.function)
    few, many = masking.probability([0.1, 0.9])
    if few - many < -_FLAT_BELOW:
        yield (
            "**The curve rises**: columns with most data are predicted most, and those with many "
            "holes, which will need it, practise it least."
        )
    elif few - many < _FLAT_BELOW and steepness:
        yield (
            f"**{steepness} = {values[steepness]:g} is too small to matter**: a column observed "
            f"in 10% of rows is masked in {percent(few)} of its cells, one observed in 90% in "
            f"{percent(many)}. This is uniform masking."
        )
    elif few - many < _FLAT_BELOW:
        yield (
            "**All columns with holes are masked alike**: one with many holes practises "
            "prediction no more than one with few."
        )
    elif steepness == "a":
        always_predict, always_copy = practised_range(values["a"], values["b"])
        if always_copy - always_predict < _HARD_BELOW:
            yield (
                f"**a = {values['a']:g} is so large that the curve becomes a rule**: columns "
                f"observed in less than {percent(always_predict)} of rows are always predicted and "
                f"never seen, those observed in more than {percent(always_copy)} always copied "
                "and never practised."
            )


def practised_range(a: float, b: float) -> tuple[float, float]:
    """Return between which observed proportions the logit lies strictly inside (0, 1), a > 0."""
    # a·ln((1 − p)/p) + b = m  ⇔  p = 1 / (1 + exp((m − b)/a))
    always_predict = 1.0 / (1.0 + math.exp(min((1.0 - b) / a, 700.0)))
    always_copy = 1.0 / (1.0 + math.exp(max(-b / a, -700.0)))
    return always_predict, always_copy


def _warnings_of_table(table: MaskingTable, masking: Masking) -> Iterator[str]:
    """Yield what the function does to the columns of this table."""
    probability = masking.probability(table.p_obs)
    with_holes = table.p_obs < 1.0
    full = probability[~with_holes]
    if not with_holes.any():
        yield (
            "**The table has no holes**, so there is nothing to fill. Make holes in the "
            "Amputation lab, keep them as a scenario, and choose it here to see masking at work."
        )
    if full.any():
        columns = count(full.size, "column without holes is", "columns without holes are")
        yield (
            f"**{columns} masked, too**, up to {percent(float(full.max()))} of the cells: clues "
            "are hidden that nobody needs to predict."
        )
    if never := int((probability[with_holes] == 0).sum()):
        columns = count(never, "column with holes is", "columns with holes are")
        yield (
            f"**{columns} never masked**: the network only copies what it sees there and never "
            "practises to fill a hole."
        )
    if always := int((probability[with_holes] == 1).sum()):
        columns = count(always, "column is", "columns are")
        yield (
            f"**{columns} always masked**: the network never sees these values, so they help no "
            "other column."
        )
    if (blind := blind_rows(table, probability)) >= 0.01:
        yield (
            f"**In {percent(blind)} of rows nothing is left to see**: every cell is missing or "
            "masked, and the network can only guess the average."
        )


def blind_rows(table: MaskingTable, probability: np.ndarray) -> float:
    """Return the expected share of rows of which every observed cell is masked."""
    if not table.observed.size:
        return 0.0
    return float(np.where(table.observed, probability, 1.0).prod(axis=1).mean())


def paper_sentence(function: str) -> str:
    """Say how the function does in the paper, next to the paper's own; nothing if it is new."""
    score = PAPER_SCORES.get(function)
    if score is None:
        return ""
    if function == "logit":
        return f"The best of eight in the paper's Table 3: {score} imputation accuracy."
    return (
        f"In the paper's Table 3: {score} imputation accuracy, against "
        f"{PAPER_SCORES['logit']} of the logit."
    )
