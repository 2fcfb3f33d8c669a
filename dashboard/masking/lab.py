"""The masking lab without its page: settings, their effect on a table, and both in words."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from dashboard.state.allowed_values import AllowedValues, Choice, NumberWithin, is_number
from pmae_core.masking import (
    UNIFORM_RATE,
    MaskingFunction,
    list_masking_functions,
    masking_probability,
    observed_proportion,
)
from pmae_core.table import Schema
from pmae_core.words import count, percent

UNIFORM_HELP = (
    f"Uniform masking masks {percent(UNIFORM_RATE)} of the observed cells in every column, "
    "including columns without missing values. It is drawn for comparison. The function Constant "
    "differs from it: it never masks columns without missing values."
)
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

# Limits at which the notes change; they depend on the curve alone, not on a table.
_FLAT_BELOW = 0.05  # difference of M_j between columns observed in 10% and in 90% of rows
_HARD_BELOW = 0.80  # width of the range of p_obs in which the network trains on both tasks


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
    """Instructive settings under a short name, and what they show."""

    title: str
    masking: Masking
    why: str


PRESETS = (
    Preset(
        "The paper's choice",
        Masking("logit", {"a": 0.05, "b": 0.5}),
        "a = 0.05 and b = 0.5, chosen by a grid search on validation data.",
    ),
    Preset(
        "Constant",
        Masking("constant", {"rate": 0.5}),
        "The same rate for every column with missing values, no matter how many it has.",
    ),
    Preset(
        "a too small",
        Masking("logit", {"a": 0.0, "b": 0.5}),
        "With a = 0, the logit masks all columns with missing values at the same rate.",
    ),
    Preset(
        "a too large",
        Masking("logit", {"a": 1.0, "b": 0.5}),
        "The curve becomes a step: sparse columns are always masked, fuller ones never.",
    ),
    Preset(
        "Negative a",
        Masking("logit", {"a": -0.1, "b": 0.5}),
        "With a below 0 the most complete columns are masked most.",
    ),
)

_SLIDERS: Mapping[str, tuple[float, float, float, str, str]] = {
    "a": (
        -0.2,
        1.0,
        0.01,
        "a: effect of missingness",
        "Slope of the curve. With 0, all columns are masked at the same rate; the larger a is, "
        "the more the columns with many missing values are masked. The paper uses 0.05.",
    ),
    "b": (
        0.0,
        1.0,
        0.01,
        "b: overall masking rate",
        "Share of observed cells masked in a column that is observed in half of the rows. It "
        "moves the whole curve up or down. The paper uses 0.5.",
    ),
    "rate": (
        0.0,
        1.0,
        0.01,
        "Rate: share of cells to mask",
        "Share of observed cells masked in every column with missing values. The paper uses 0.5.",
    ),
    "slope": (
        0.0,
        40.0,
        0.5,
        "Slope: steepness in the middle",
        "With 0, all columns are masked at the same rate; a large slope makes a step where half "
        "of the rows are observed. The paper uses 10.",
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


def lab_settings() -> dict[str, AllowedValues]:
    """Return the settings of the lab that links may carry, with the values that each may have."""
    ranges = {
        parameter: NumberWithin(*map(float, slider_range(parameter, default)[:2]))
        for parameter, default in _default_parameters().items()
    }
    return {"function": Choice([function.name for function in list_masking_functions()]), **ranges}


def parameter_values(settings: Mapping[str, Any]) -> dict[str, float]:
    """Return the parameters of all functions as remembered, within the ranges of their sliders."""
    return {
        parameter: _in_range(settings.get(parameter), parameter, default)
        for parameter, default in _default_parameters().items()
    }


def _default_parameters() -> dict[str, float]:
    return {
        parameter: default
        for function in list_masking_functions()
        for parameter, default in function.parameters.items()
    }


def masking_from(settings: Mapping[str, Any]) -> Masking:
    """Return the masking of remembered settings; what makes no sense is the paper's choice."""
    known = {function.name: function for function in list_masking_functions()}
    name = settings.get("function")
    function = known[name if isinstance(name, str) and name in known else Masking.function]
    values = parameter_values(settings)
    return Masking(
        function.name, {parameter: values[parameter] for parameter in function.parameters}
    )


def _in_range(value: object, parameter: str, default: float) -> float:
    if not is_number(value):
        return float(default)
    low, high, _ = slider_range(parameter, default)
    return float(min(max(value, low), high))


@dataclass(frozen=True)
class MaskingTable:
    """What the lab needs to know about a table, no matter how large the table is.

    Attributes
    ----------
    names : tuple of str
        The columns that a network learns, least observed first.
    p_obs : float array
        Their observed proportions in the whole table.
    n_rows : int
        Rows of the whole table.
    observed : bool array of shape (rows, columns)
        A random sample of at most 1,000 rows; the first 40, which are shown, in the table's
        order.
    random_numbers : float32 array like `observed`
        One random number between 0 and 1 per cell: the cell is masked where it is below ``M_j``.
        They are fixed, so that a slider flips only the cells whose number ``M_j`` passes.
    left_out : dict
        Columns that no network learns, and why.
    """

    names: tuple[str, ...]
    p_obs: np.ndarray
    n_rows: int
    observed: np.ndarray
    random_numbers: np.ndarray
    left_out: Mapping[str, str]

    def masked(self, probability: np.ndarray) -> np.ndarray:
        """Return the cells of the sampled rows that are masked in one training step."""
        return self.observed & (self.random_numbers < probability)


def masking_table(frame: pd.DataFrame, schema: Schema, *, seed: int = 0) -> MaskingTable:
    """Return what the masking lab needs to know about a table."""
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
        random_numbers=rng.random(sample.shape, dtype=np.float32),
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


@dataclass(frozen=True)
class Note:
    """A remark on the settings: worth knowing, or worth changing; its head says it in short."""

    level: Literal["good", "warning"]
    head: str
    text: str


def notes(table: MaskingTable, masking: Masking) -> list[Note]:
    """Return what is worth knowing about these settings on this table."""
    warnings = [*_warnings_of_curve(masking), *_warnings_of_table(table, masking)]
    if warnings:
        return [Note("warning", head, text) for head, text in warnings]
    few, many = masking.probability([0.1, 0.9])
    return [
        Note(
            "good",
            "The network trains on both tasks",
            f": a column observed in 10% of rows has {percent(few)} of its cells masked, one "
            f"observed in 90% has {percent(many)}.",
        )
    ]


def _warnings_of_curve(masking: Masking) -> Iterator[tuple[str, str]]:
    """Yield the drawbacks of the function, whatever the table."""
    if masking.function in ("no_reconstruction", "no_prediction"):
        return  # the notes on the table's columns say what they lack
    values = masking.values()
    steepness = {"logit": "a", "sigmoid": "slope"}.get(masking.function)
    few, many = masking.probability([0.1, 0.9])
    if few - many < -_FLAT_BELOW:
        yield (
            "The curve rises",
            ": the most complete columns are masked most. Columns with many missing values, which "
            "have to be predicted most often, are masked least.",
        )
    elif few - many < _FLAT_BELOW and steepness:
        yield (
            f"{steepness} = {values[steepness]:g} is too small to matter",
            f": a column observed in 10% of rows has {percent(few)} of its cells masked, one "
            f"observed in 90% has {percent(many)}.",
        )
    elif few - many < _FLAT_BELOW:
        yield (
            "All columns with missing values are masked at the same rate",
            ", no matter how many values they miss.",
        )
    elif steepness == "a":
        low, high = mixed_range(values["a"], values["b"])
        if high - low < _HARD_BELOW:
            yield (
                f"a = {values['a']:g} turns the curve into a step",
                f": columns observed in less than {percent(low)} of rows are always masked, those "
                f"observed in more than {percent(high)} never. Each then trains on one task only.",
            )


def mixed_range(a: float, b: float) -> tuple[float, float]:
    """Return between which observed proportions the logit lies strictly inside (0, 1), a > 0.

    Columns in this range are partly predicted and partly reconstructed.
    """
    # a·ln((1 − p)/p) + b = m  ⇔  p = 1 / (1 + exp((m − b)/a))
    low = 1.0 / (1.0 + math.exp(min((1.0 - b) / a, 700.0)))
    high = 1.0 / (1.0 + math.exp(max(-b / a, -700.0)))
    return low, high


def _warnings_of_table(table: MaskingTable, masking: Masking) -> Iterator[tuple[str, str]]:
    """Yield what the function does to the columns of this table."""
    probability = masking.probability(table.p_obs)
    is_incomplete = table.p_obs < 1.0
    complete = probability[~is_incomplete]
    if not is_incomplete.any():
        yield (
            "This table has no missing values",
            ", so there is nothing to impute. Simulate missing values in the Amputation lab, save "
            "them as a scenario, and choose it here.",
        )
    if complete.any():
        columns = count(
            complete.size, "column without missing values is", "columns without missing values are"
        )
        yield (
            f"{columns} also masked",
            f", in up to {percent(float(complete.max()))} of the rows. Nothing has to be imputed "
            "there, and masked values cannot help other columns.",
        )
    if never := int((probability[is_incomplete] == 0).sum()):
        columns = count(never, "column with missing values is", "columns with missing values are")
        yield (
            f"{columns} never masked",
            ": the network only reconstructs observed values there and never learns to predict "
            "missing ones.",
        )
    if always := int((probability[is_incomplete] == 1).sum()):
        columns = count(always, "column is", "columns are")
        yield (
            f"{columns} always masked",
            ": these values are never an input, so they cannot help to predict other columns.",
        )
    if (blind := blind_rows(table, probability)) >= 0.01:
        yield (
            f"{percent(blind)} of rows have no input",
            ": every cell is missing or masked, so the network can only predict averages.",
        )


def blind_rows(table: MaskingTable, probability: np.ndarray) -> float:
    """Return the expected share of rows in which every observed cell is masked."""
    if not table.observed.size:
        return 0.0
    return float(np.where(table.observed, probability, 1.0).prod(axis=1).mean())


def paper_sentence(function: str) -> str:
    """Say how the function scores in the paper beside the logit; nothing if it is not there."""
    score = PAPER_SCORES.get(function)
    if score is None:
        return ""
    if function == "logit":
        return f"It is the best of eight in the paper's Table 3 (imputation accuracy {score})."
    return (
        f"Its imputation accuracy in the paper's Table 3 is {score}; the logit reaches "
        f"{PAPER_SCORES['logit']}."
    )
