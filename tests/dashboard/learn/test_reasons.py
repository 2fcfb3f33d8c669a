import numpy as np
import pandas as pd
import pytest

from dashboard.learn import reasons
from pmae_core.table.samples.clinic import make_clinic


@pytest.fixture(scope="module")
def clinic():
    return make_clinic(seed=0)


@pytest.mark.parametrize("column", reasons.DECIDED_BY)
def test_the_named_causes_decide_alone_how_likely_a_missing_value_is(clinic, column):
    causes = [clinic.truth[name] for name in reasons.DECIDED_BY[column]]
    chance = clinic.p_missing[column]

    groups = chance.groupby(causes, observed=True) if causes else [(None, chance)]

    assert all(group.nunique() == 1 for _, group in groups)
    assert (chance.nunique() > 1) == bool(causes)


def test_the_kinds_follow_from_the_causes():
    kinds = {column: reasons.kind_of(column) for column in reasons.DECIDED_BY}

    for column, causes in reasons.DECIDED_BY.items():
        expected = "MNAR" if column in causes else "MAR" if causes else "MCAR"
        assert kinds[column] == expected
        assert expected in reasons.LESSON.answers


def test_causes_of_mar_are_always_known(clinic):
    for column, causes in reasons.DECIDED_BY.items():
        if reasons.kind_of(column) == "MAR":
            assert clinic.frame[list(causes)].notna().all(axis=None)


def test_every_seed_shows_missing_cells_of_several_columns_with_known_reasons():
    for seed in range(200):
        clinic = make_clinic(seed=seed)
        cells = reasons.missing_cells(clinic)
        assert len({column for _, column in cells}) >= 2
        assert all(column in reasons.DECIDED_BY for _, column in cells)
        for column, causes in reasons.DECIDED_BY.items():
            chances = clinic.truth[list(causes)].assign(chance=clinic.p_missing[column])
            same = [*causes] or [0] * len(chances)
            assert (chances.groupby(same, observed=True)["chance"].nunique() == 1).all()


def test_the_first_table_shows_every_kind():
    cells = reasons.missing_cells(make_clinic(seed=reasons.LESSON.first_seed))

    assert {column for _, column in cells} == set(reasons.DECIDED_BY)


def test_patients_without_income_are_older_although_age_does_not_decide():
    """The lesson says so in its points."""
    older = []
    for seed in range(200):
        frame = make_clinic(seed=seed).frame
        missing = frame["income"].isna()
        older.append(frame.loc[missing, "age"].mean() > frame.loc[~missing, "age"].mean())

    assert np.mean(older) > 0.95
    assert "age" not in reasons.DECIDED_BY["income"]


def test_the_details_of_a_cell_name_its_cause_probability_and_value(clinic):
    row, column = next(
        cell for cell in reasons.missing_cells(clinic) if cell[1] == "blood_pressure"
    )

    details = reasons.cell_details(clinic, row, column)

    assert f"`age` is {clinic.truth.loc[row, 'age']}" in details
    assert f"**{clinic.truth.loc[row, column]}**" in details
    assert f"{100 * clinic.p_missing.loc[row, column]:.0f}%" in details


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("income", pd.NA, "?"),
        ("smoker", True, "yes"),
        ("income", 41_300, "41k"),
        ("bmi", 25.55, "25.6"),
        ("region", "north", "north"),
    ],
)
def test_cells_are_short(name, value, words):
    assert reasons.cell_words(name, value) == words


def test_income_hides_itself(clinic):
    missing = clinic.frame["income"].isna()
    income = clinic.truth["income"].astype(float)

    assert income[missing].mean() > 1.3 * income[~missing].mean()


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ("bmi", "do not clearly differ"),
        ("blood_pressure", "differ from the others in `age`"),
        ("insulin", "differ from the others in `region`"),
        ("income", "do not clearly differ"),
    ],
)
def test_only_clear_differences_are_clues(clinic, column, words):
    assert words in reasons.clue_sentence(reasons.clear_clues(clinic, column), column)


@pytest.mark.parametrize("column", reasons.DECIDED_BY)
def test_a_clue_is_never_called_a_reason(column):
    words = reasons.clue_sentence(["age", "smoker", "region"], column)

    assert "a clue, not yet a reason" in words
    assert "`region`" not in words
    for cause in ("because", "explain", "depends", "decide"):
        assert cause not in words.lower()


@pytest.mark.parametrize("column", reasons.DECIDED_BY)
def test_repetitions_follow_the_probabilities(clinic, column):
    shares = reasons.repeated_shares(clinic, column, 0)

    expected = clinic.p_missing.loc[shares.index, column]
    scatter = np.sqrt(expected * (1 - expected) / reasons.N_REPETITIONS)
    assert (abs(shares - expected) < 4 * scatter + 1e-9).all()


def test_patients_are_sorted_by_what_decides(clinic):
    order = reasons.order_by_reason(clinic, "blood_pressure")

    assert len(order) == reasons.N_PATIENTS
    assert clinic.truth.loc[order, "age"].is_monotonic_increasing
