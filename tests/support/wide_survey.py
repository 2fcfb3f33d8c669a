"""A survey of 90 columns, as wide tables are met: sections, filters, dropouts, item nonresponse."""

import numpy as np
import pandas as pd

N_COLUMNS = 90
# Questions per section, and the share of people whom a filter question leads past all of them.
SECTIONS = {
    "work": (14, 0.35),
    "health": (16, 0.0),
    "family": (12, 0.25),
    "media": (12, 0.0),
    "car": (10, 0.45),
}
# Two halves of the questionnaire, of which each person answered one.
VERSIONS = {"form_a": 6, "form_b": 6}
# The second wave, which those who had left the study did not answer: the last rows of the file.
SECOND_WAVE, SHARE_LEFT = 9, 0.2


def wide_survey(n_rows: int = 1500, *, seed: int = 0, nonresponse: float = 0.01) -> pd.DataFrame:
    """Return a survey with 90 columns and four kinds of missing values.

    Sections that a filter skips as a whole, a questionnaire in two versions that nobody answered
    both of, a second wave that the people in the last rows left before, and single questions that
    were not answered, more often by older people.

    Parameters
    ----------
    n_rows : int
        People.
    seed : int
        Seed of all values.
    nonresponse : float
        Share of answers that are missing one by one, in filtered sections.
    """
    rng = np.random.default_rng(seed)
    attitude = rng.normal(size=n_rows)
    age = rng.integers(18, 90, n_rows)
    survey = pd.DataFrame(
        {
            "person": np.arange(n_rows),
            "age": age,
            "sex": rng.choice(["female", "male"], n_rows),
            "region": rng.choice(["north", "south", "east", "west"], n_rows),
            "income": np.round(np.exp(7.5 + 0.3 * attitude + 0.3 * rng.normal(size=n_rows)), -1),
        }
    )
    survey["income"] = survey["income"].mask(rng.random(n_rows) < 0.05 + 0.003 * (age - 18))
    answers = {}
    for section, (n_questions, share_skipped) in SECTIONS.items():
        skipped = rng.random(n_rows) < share_skipped
        for question in range(1, n_questions + 1):
            alone = nonresponse if share_skipped else nonresponse * question
            answers[f"{section}_{question:02d}"] = _answers(attitude, rng).mask(
                skipped | (rng.random(n_rows) < alone)
            )
    answered_a = rng.random(n_rows) < 0.5
    for version, n_questions in VERSIONS.items():
        for question in range(1, n_questions + 1):
            skipped = ~answered_a if version == "form_a" else answered_a
            answers[f"{version}_{question}"] = _answers(attitude, rng).mask(skipped)
    left = np.arange(n_rows) >= n_rows - int(SHARE_LEFT * n_rows)
    for question in range(1, SECOND_WAVE + 1):
        answers[f"wave2_{question}"] = _answers(attitude, rng).mask(left)
    return pd.concat([survey, pd.DataFrame(answers)], axis=1)


def _answers(attitude: np.ndarray, rng: np.random.Generator) -> pd.Series:
    """Return answers from 1 to 5 that go with an attitude."""
    return pd.Series(np.clip(np.round(3 + attitude + rng.normal(size=len(attitude))), 1, 5))
