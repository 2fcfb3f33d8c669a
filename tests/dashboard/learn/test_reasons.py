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


@pytest.mark.parametrize("seed", range(20))
def test_every_seed_shows_missing_cells_of_several_columns(seed):
    cells = reasons.missing_cells(make_clinic(seed=seed))

    assert len({column for _, column in cells}) >= 3
    assert all(column in reasons.DECIDED_BY for _, column in cells)


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


def test_a_click_is_a_cell_and_nonsense_is_none():
    assert reasons.clicked_cell([{"customdata": [3, "bmi"]}]) == (3, "bmi")
    assert reasons.clicked_cell([]) is None
    assert reasons.clicked_cell([{"customdata": [99, "bmi"]}, {"x": 1}]) is None
    assert reasons.clicked_cell([{"customdata": [3, "shoe size"]}]) is None


def test_income_hides_itself(clinic):
    missing = clinic.frame["income"].isna()
    income = clinic.truth["income"].astype(float)

    assert income[missing].mean() > 1.3 * income[~missing].mean()


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ("bmi", "No observed column is clearly related"),
        ("blood_pressure", "clearly related to `age`"),
        ("insulin", "clearly related to `region`"),
        ("income", "No observed column is clearly related"),
    ],
)
def test_only_clear_differences_are_clues(clinic, column, words):
    assert words in reasons.clue_sentence(reasons.clues(clinic, column), column)
