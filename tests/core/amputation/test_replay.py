import numpy as np
import pandas as pd
import pytest

from pmae_core.amputation import ampute_like
from pmae_core.errors import AmputationError

DF = pd.DataFrame(
    {"a": np.arange(60), "b": np.linspace(0, 1, 60), "c": list("xyz") * 20},
    index=pd.Index(np.arange(60) % 4),
)
PATTERN = pd.DataFrame(
    {"b": [True, False, False], "c": [True, True, False], "elsewhere": [True, True, True]}
)


def pattern_counts(missing):
    return missing.value_counts().sort_index().to_dict()


def test_patterns_come_back_equally_often_and_by_name():
    holes = ampute_like(DF, PATTERN, seed=1)
    assert pattern_counts(holes.missing) == {
        (False, False, False): 20,
        (False, False, True): 20,
        (False, True, True): 20,
    }
    np.testing.assert_array_equal(holes.incomplete.isna(), holes.missing)
    pd.testing.assert_frame_equal(holes.truth, DF)
    np.testing.assert_allclose(holes.propensity.iloc[0], [1, 2 / 3, 1 / 3])


def test_a_table_with_holes_is_a_pattern_too():
    survey = pd.DataFrame({"c": ["u", None, "v"], "b": [1.0, 2.0, None]})
    mask = survey.isna()
    pd.testing.assert_frame_equal(
        ampute_like(DF, survey, seed=3).missing, ampute_like(DF, mask, seed=3).missing
    )


def test_the_seed_and_the_settings_repeat_it():
    holes = ampute_like(DF, PATTERN, seed=1)
    again = ampute_like(DF, PATTERN, **holes.settings)
    pd.testing.assert_frame_equal(holes.incomplete, again.incomplete)
    assert not ampute_like(DF, PATTERN, seed=2).missing.equals(holes.missing)


def test_without_shuffling_row_i_gets_pattern_i():
    cells = np.random.default_rng(0).random(DF.shape) < 0.5
    holes = ampute_like(DF, cells, shuffle=False, drop_empty_rows=False)
    np.testing.assert_array_equal(holes.missing, cells)
    kept = ampute_like(DF, cells, shuffle=False)
    np.testing.assert_array_equal(kept.missing, cells[~cells.all(axis=1)])
    assert len(kept.truth) < len(DF)


def test_holes_that_were_there_are_not_counted():
    df = DF.copy()
    df.iloc[0, 1] = np.nan
    cells = np.ones(DF.shape, dtype=bool)
    cells[:, 0] = False
    holes = ampute_like(df, cells)
    assert not holes.missing.iloc[0, 1] and holes.missing.iloc[1, 1]


@pytest.mark.parametrize(
    ("df", "pattern", "options", "sentence"),
    [
        (DF.iloc[:0], PATTERN, {}, "no rows or no columns"),
        (DF, PATTERN[["elsewhere"]], {}, "no column in common"),
        (DF, PATTERN.iloc[:0], {}, "no rows"),
        (DF, np.ones((4, 2), dtype=bool), {}, "needs 3 columns"),
        (DF, PATTERN, {"shuffle": False}, "60 rows and the pattern 3"),
        (DF, np.ones((4, 3), dtype=bool), {}, "No row would keep a single cell"),
        (DF.set_axis(["a", "a", "b"], axis=1), PATTERN, {}, "columns of the same name"),
    ],
)
def test_what_cannot_be_done_is_said_in_words(df, pattern, options, sentence):
    with pytest.raises(AmputationError, match=sentence):
        ampute_like(df, pattern, **options)


def test_chances_agree_with_the_share_that_is_missing():
    """Two patterns of five miss all: rows that take them are dropped."""
    cells = np.array([[1, 1, 1], [1, 1, 1], [1, 1, 0], [1, 0, 0], [0, 0, 0]], dtype=bool)
    df = DF.copy()
    df.iloc[:30, 2] = None
    holes = ampute_like(df, cells, seed=1)

    # Without a value in c, the third pattern takes all as well.
    assert holes.p_kept[holes.truth["c"].isna()].tolist() == pytest.approx([0.4] * 12)
    assert set(holes.p_kept[holes.truth["c"].notna()]) == {0.6}
    with_c = holes.truth["c"].notna()
    assert holes.chance_missing[with_c].iloc[0].tolist() == pytest.approx([2 / 3, 1 / 3, 0])
    assert holes.chance_missing["c"][~with_c].eq(0).all()
    assert holes.rule is None
