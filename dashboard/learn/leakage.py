"""Leakage: what imputing before the split does to the score on the test rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from dashboard.learn.least_squares import coefficients
from dashboard.learn.lesson import Lesson, independent_numbers

LESSON = Lesson(
    name="leakage",
    title="Impute before or after the split?",
    story="A model predicts blood pressure from age and body mass index (BMI). Of 400 patients, "
    "70% have no BMI. Missing values are imputed in **all** rows first; then the rows are split "
    "into 200 to train the model and 200 to test it. Choose **how** they are imputed.",
    question="How does the R² on the test rows compare with the R² on new patients?",
    answers={"lower": "Lower", "same": "About the same", "higher": "Clearly higher"},
    points=(
        "Imputing BMI **from the outcome** writes the outcome of the test rows into their "
        "predictors. New patients have no outcome yet, so the score is far too good. This is "
        "**leakage**.",
        "Imputing with the **mean**, or from the **other predictors**, hardly leaks here, although "
        "it uses the test rows: a few numbers estimated from 400 rows reveal almost nothing about "
        "the outcome of one of them.",
        "The safe order is always: split, fit the imputation on the training rows, apply it to the "
        "test rows, and never let it see their outcome.",
        "For **estimates** it is the other way round: to estimate how BMI relates to blood "
        "pressure, the imputation *should* use the outcome. Here the aim is to predict new "
        "patients.",
    ),
    simplified="Normal data, a straight-line model, and one incomplete predictor. With few rows, "
    "many columns or flexible methods such as nearest neighbors, imputing before the split can "
    "leak more, even without the outcome.",
    first_seed=3,
)

N_ROWS, N_TRAINING, SHARE_MISSING, N_REPETITIONS = 400, 200, 0.7, 200
CLEAR = 0.1
"""A difference in R² from which the test rows look clearly better."""
_REPETITIONS_SEED = 2**31  # beyond the seeds of readers

# Age and BMI are related, and each standard deviation of either adds as much to blood pressure.
_MEAN_PRESSURE, _PER_SD, _NOISE = 130.0, 7.0, 10.0
_CORRELATION = 0.4


@dataclass(frozen=True)
class Way:
    """How BMI is imputed before the split.

    Attributes
    ----------
    title
        As a choice.
    from_age, from_outcome
        What a regression imputes from; the mean is imputed if neither.
    right
        The key of the answer.
    """

    title: str
    from_age: bool
    from_outcome: bool
    right: str


WAYS: dict[str, Way] = {
    "outcome": Way(
        "From age and blood pressure",
        from_age=True,
        from_outcome=True,
        right="higher",
    ),
    "age": Way(
        "From age",
        from_age=True,
        from_outcome=False,
        right="same",
    ),
    "mean": Way(
        "With the mean",
        from_age=False,
        from_outcome=False,
        right="same",
    ),
}


@dataclass(frozen=True, eq=False)
class Rows:
    """Tables of patients, of shape (tables, rows); the first rows of each are for training."""

    age: np.ndarray
    bmi: np.ndarray
    pressure: np.ndarray
    observed: np.ndarray

    @property
    def training(self) -> np.ndarray:
        """True for the rows that the model is trained on."""
        return np.broadcast_to(np.arange(self.age.shape[1]) < N_TRAINING, self.age.shape)


@dataclass(frozen=True, eq=False)
class Predictions:
    """Predicted blood pressures, of shape (tables, rows).

    Attributes
    ----------
    before
        With BMI imputed before the split.
    as_new
        By the same model, with BMI imputed as for new patients: without the outcome, and by the
        training rows alone.
    after
        By a model whose training rows were imputed in that way, too: after the split.
    """

    before: np.ndarray
    as_new: np.ndarray
    after: np.ndarray


@dataclass(frozen=True, eq=False)
class Leak:
    """A model, its test score, and what it reaches on new patients.

    Attributes
    ----------
    way
        How BMI was imputed.
    rows, predictions
        The reader's table, as one of one.
    scores
        R² on the test rows by the names of :class:`Predictions`.
    repeated
        The same in other tables.
    """

    way: Way
    rows: Rows
    predictions: Predictions
    scores: dict[str, float]
    repeated: dict[str, np.ndarray]

    def sentence(self) -> str:
        """Return the result in numbers."""
        differences = self.repeated["before"] - self.repeated["as_new"]
        if self.way.right == "higher":
            n_agree = int((differences > CLEAR).sum())
            repeated = f"The first is higher than the second by more than {CLEAR}"
        else:
            n_agree = int((np.abs(differences) < CLEAR).sum())
            repeated = f"The first two differ by less than {CLEAR}"
        return (
            f"R² on the test rows: **{self.scores['before']:.2f}**. The same rows, treated as new "
            f"patients: **{self.scores['as_new']:.2f}**. Imputed after the split: "
            f"**{self.scores['after']:.2f}**. {repeated} in {n_agree} of {N_REPETITIONS} other "
            "tables."
        )


def leak(way_name: str, seed: int) -> Leak:
    """Impute before the split, and compare the test score with that on new patients.

    Parameters
    ----------
    way_name
        One of ``WAYS``.
    seed
        Makes the patients and their missing values.
    """
    way = WAYS[way_name]
    rows = make_rows(1, N_ROWS, seed)
    predictions = _predict(way, rows)
    scores = {name: float(score[0]) for name, score in _scores(rows, predictions).items()}
    return Leak(way, rows, predictions, scores, _repeated(way))


@cache
def _repeated(way: Way) -> dict[str, np.ndarray]:
    rows = make_rows(N_REPETITIONS, N_ROWS, _REPETITIONS_SEED)
    return _scores(rows, _predict(way, rows))


def make_rows(n_tables: int, n_rows: int, seed: int) -> Rows:
    """Make tables of patients whose BMI is missing by chance."""
    rng, shape = np.random.default_rng(seed), (n_tables, n_rows)
    age = rng.normal(size=shape)
    bmi = _CORRELATION * age + np.sqrt(1 - _CORRELATION**2) * rng.normal(size=shape)
    pressure = rng.normal(_MEAN_PRESSURE + _PER_SD * (age + bmi), _NOISE)
    observed = independent_numbers(seed).random(shape) >= SHARE_MISSING
    return Rows(age, bmi, pressure, observed)


def _predict(way: Way, rows: Rows) -> Predictions:
    known = [rows.age] if way.from_age else []
    leaked = [*known, rows.pressure] if way.from_outcome else known
    before = _imputed(rows, leaked, rows.observed)
    as_new = _imputed(rows, known, rows.observed & rows.training)
    model = coefficients(rows.pressure, rows.age, before, kept=rows.training)
    model_after = coefficients(rows.pressure, rows.age, as_new, kept=rows.training)
    return Predictions(
        before=_apply(model, [rows.age, before]),
        as_new=_apply(model, [rows.age, as_new]),
        after=_apply(model_after, [rows.age, as_new]),
    )


def _imputed(rows: Rows, known: list[np.ndarray], fitted_to: np.ndarray) -> np.ndarray:
    guess = _apply(coefficients(rows.bmi, *known, kept=fitted_to), known)
    return np.where(rows.observed, rows.bmi, guess)


def _apply(fitted: np.ndarray, columns: list[np.ndarray]) -> np.ndarray:
    """Return the predictions for all rows; one for all of them without columns."""
    slopes = fitted[:, 1:, None]
    return fitted[:, :1] + sum(slopes[:, at] * column for at, column in enumerate(columns))


def _scores(rows: Rows, predictions: Predictions) -> dict[str, np.ndarray]:
    test = ~rows.training[0]
    truth = rows.pressure[:, test]
    total = ((truth - truth.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    return {
        name: 1 - ((truth - values[:, test]) ** 2).sum(axis=1) / total
        for name, values in vars(predictions).items()
    }
