"""An imputation in sentences."""

from types import SimpleNamespace

import pandas as pd
import pytest

from dashboard.impute import summary


def completed(n_imputations=0, **result):
    spec = SimpleNamespace(params={"method": "em"})
    record = SimpleNamespace(
        spec=spec, result={"n_imputed": 1312, **result}, started_at=100.0, finished_at=118.0
    )
    return SimpleNamespace(
        record=record,
        imputed_columns=["x", "y"],
        n_imputed=pd.Series({"x": 2, "y": 1, "z": 0}),
        n_imputations=n_imputations,
        frame=pd.DataFrame({"x": [None] * 4}),
    )


@pytest.mark.parametrize(
    ("n_care", "is_judged", "verdict"),
    [
        (2, True, "**2 columns to read with care**."),
        (1, False, "**1 column to read with care**."),
        (0, True, "no column needs special care."),
        (0, False, "not scored on held-out cells yet."),
    ],
)
def test_the_answer_says_what_was_done_and_how_far_to_trust_it(n_care, is_judged, verdict):
    said = summary.answer(completed(), n_care=n_care, is_judged=is_judged)

    assert said == f"**1,312 cells imputed by Expectation maximization** in 18 s; {verdict}"


def test_what_stays_missing_is_said_after_the_answer():
    said = summary.qualification(completed(3, n_left_alone=5, still_missing={"z": 4}))

    assert said == (
        "2 columns have imputed cells. 3 imputations are kept in addition to the best "
        "guesses shown here. 5 cells left missing, as you chose. "
        "Still missing, because they cannot be learned: `z`."
    )


def test_notes_on_columns_that_stay_missing_are_not_repeated():
    record = completed(still_missing={"z": 4}, notes=["z is not learned.", "It is slow."]).record

    assert summary.notes(record) == ["It is slow."]


def test_columns_to_read_with_care_come_first():
    table = summary.column_table(completed(), ["x", "y"], {"y": "Unreliable."}, is_judged=True)

    assert table["Column"].tolist() == ["y", "x"]
    assert table["Note"].tolist() == ["Unreliable.", "No problem found."]
    assert table["Share of rows"].tolist() == [25.0, 50.0]
