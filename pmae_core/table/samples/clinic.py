"""A synthetic teaching table whose missing values have known reasons."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import expit

EXPLANATIONS = {
    "bmi": (
        "MCAR: the scale was out of order on random days, so about 15% of the values are missing, "
        "regardless of the patient."
    ),
    "blood_pressure": (
        "MAR: it is measured less often in young patients. Missingness depends on age alone, which "
        "is always observed."
    ),
    "cholesterol": (
        "MAR: the test is ordered mainly for older patients and for smokers. Missingness depends "
        "on age and smoker alone, which are always observed."
    ),
    "insulin": (
        "MAR: the laboratory in the north rarely measures it. Missingness depends on region alone, "
        "which is always observed."
    ),
    "income": (
        "MNAR: people with a high income prefer not to report it. Missingness depends on the "
        "missing value itself, so the observed values are too low on average."
    ),
}
"""For each incomplete column, why values are missing: known, since they were removed by design."""


@dataclass(frozen=True, eq=False)
class Clinic:
    """The teaching table.

    Parameters
    ----------
    frame
        The incomplete table.
    truth
        The same table without them.
    p_missing
        For each incomplete column, the probability with which each cell was left out.
    """

    frame: pd.DataFrame
    truth: pd.DataFrame
    p_missing: pd.DataFrame


def make_clinic(n_rows: int = 600, seed: int = 0) -> Clinic:
    """Make the teaching table: patients of a clinic, some cells missing for known reasons.

    Parameters
    ----------
    n_rows
        Number of patients.
    seed
        The same seed gives the same table.

    Examples
    --------
    >>> clinic = make_clinic()
    >>> clinic.frame.shape, bool(clinic.truth.isna().any(axis=None))
    ((600, 11), False)
    """
    rng = np.random.default_rng(seed)
    truth = _make_patients(n_rows, rng)
    p_missing = _probabilities_of_missing(truth)
    frame = truth.copy()
    for name in p_missing:
        frame[name] = frame[name].mask(rng.random(n_rows) < p_missing[name])
    return Clinic(frame, truth, p_missing)


def _make_patients(n_rows: int, rng: np.random.Generator) -> pd.DataFrame:
    age = rng.triangular(18, 45, 91, n_rows).astype(np.int64)
    female = rng.random(n_rows) < 0.52
    region = rng.choice(["north", "east", "south", "west"], n_rows, p=[0.3, 0.2, 0.3, 0.2])
    smoker = rng.random(n_rows) < expit(-0.9 - 0.5 * female - 0.01 * (age - 45))
    bmi = 25.5 + 0.04 * (age - 45) - 1.5 * smoker + rng.normal(0, 3.8, n_rows)
    bmi = bmi.clip(16, 48)
    pressure = 122 + 0.45 * (age - 45) + 1.1 * (bmi - 25) + 5 * smoker + rng.normal(0, 9, n_rows)
    cholesterol = 195 + 0.7 * (age - 45) + 1.5 * (bmi - 25) - 6 * female + rng.normal(0, 24, n_rows)
    insulin = np.exp(2.1 + 0.07 * (bmi - 25) + rng.normal(0, 0.35, n_rows))
    income = np.exp(
        10.4 + 0.02 * np.minimum(age - 18, 40) + 0.15 * (region == "south") - 0.1 * female
        + rng.normal(0, 0.4, n_rows)
    )  # fmt: skip
    risk = -1.6 + 0.025 * (age - 45) + 0.03 * (pressure - 125) + 0.5 * smoker
    visit_day = rng.integers(0, 366, n_rows)
    return pd.DataFrame(
        {
            "age": age,
            "sex": pd.Categorical(np.where(female, "female", "male"), ["female", "male"]),
            "region": pd.Categorical(region, ["north", "east", "south", "west"]),
            "smoker": smoker,
            "bmi": bmi.round(1),
            "blood_pressure": pd.array(pressure.round().astype(np.int64), dtype="Int64"),
            "cholesterol": pd.array(cholesterol.clip(90).round().astype(np.int64), dtype="Int64"),
            "insulin": insulin.round(1),
            "visit_date": np.datetime64("2024-01-01", "s") + visit_day.astype("timedelta64[D]"),
            "income": pd.array((income / 100).round().astype(np.int64) * 100, dtype="Int64"),
            "readmitted": rng.random(n_rows) < expit(risk),
        }
    )


def _probabilities_of_missing(truth: pd.DataFrame) -> pd.DataFrame:
    log_income = np.log(truth["income"].to_numpy(dtype=np.float64))
    richness = (log_income - log_income.mean()) / log_income.std()
    return pd.DataFrame(
        {
            "bmi": np.full(len(truth), 0.15),
            "blood_pressure": expit(-1.3 - 0.07 * (truth["age"] - 45)),
            "cholesterol": expit(-0.1 - 0.06 * (truth["age"] - 45) - 1.2 * truth["smoker"]),
            "insulin": np.where(truth["region"] == "north", 0.75, 0.1),
            "income": expit(-1.3 + 1.5 * richness),
        }
    )
