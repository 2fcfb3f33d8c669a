import numpy as np
import pandas as pd
import pytest

from dashboard.masking.lab import (
    PAPER_SCORES,
    PICTURE_ROWS,
    PRESETS,
    Masking,
    blind_rows,
    column_weights,
    masking_from,
    masking_table,
    mixed_range,
    notes,
    paper_sentence,
    parameter_values,
    slider_range,
    slider_words,
)
from pmae_core.masking import MaskSampler, list_masking_functions
from pmae_core.table import Schema

PAPER = Masking("logit", {"a": 0.05, "b": 0.5})


def table(**p_obs):
    """A table of 100 rows with the wanted observed proportions."""
    columns = {
        name: pd.Series(np.arange(100) * 1.5).where(np.arange(100) < round(100 * p))
        for name, p in p_obs.items()
    }
    frame = pd.DataFrame(columns)
    return masking_table(frame, Schema.infer(frame))


def warnings(looked_at, masking):
    found = notes(looked_at, masking)
    return [note.head + note.text for note in found if note.level == "warning"]


def test_columns_with_the_most_missing_values_come_first():
    looked_at = table(full=1, half=0.5, few=0.26)

    assert looked_at.names == ("few", "half", "full")
    assert looked_at.p_obs.tolist() == [0.26, 0.5, 1.0]


def test_columns_that_no_network_learns_are_named_with_the_reason():
    frame = pd.DataFrame(
        {"id": range(50), "empty": [None] * 50, "one": [3.0] * 50, "x": np.arange(50) / 7}
    )

    looked_at = masking_table(frame, Schema.infer(frame))

    assert looked_at.names == ("x",)
    assert set(looked_at.left_out) == {"id", "empty", "one"}
    assert "none of its cells is observed" in looked_at.left_out["empty"]


def test_a_large_table_is_sampled_but_its_proportions_are_exact():
    observed = np.random.default_rng(0).random((30_000, 2)) < [0.2, 0.9]
    frame = pd.DataFrame(np.where(observed, 1.5 + np.arange(30_000)[:, None], np.nan))
    frame.columns = ["x", "y"]

    looked_at = masking_table(frame, Schema.infer(frame))

    assert looked_at.observed.shape == (1_000, 2)
    assert looked_at.p_obs == pytest.approx(observed.mean(axis=0))
    assert looked_at.n_rows == 30_000


def test_the_rows_shown_come_from_all_over_the_table():
    frame = pd.DataFrame({"x": np.arange(500) + 0.5, "y": np.arange(500) / 7})
    frame.loc[250:, "x"] = np.nan

    shown = masking_table(frame, Schema.infer(frame)).observed[:PICTURE_ROWS, 0]

    n_observed = int(shown.sum())
    assert 10 < n_observed < 30
    assert shown[:n_observed].all()  # in the table's order


def test_masked_cells_are_those_that_training_would_mask():
    looked_at = table(half=0.5, full=1)
    sampler = MaskSampler(p_obs="table").fit(looked_at.observed)

    class FixedNumbers:
        def random(self, shape):
            assert shape == looked_at.random_numbers.shape
            return looked_at.random_numbers

    expected = sampler.sample(looked_at.observed, FixedNumbers())
    assert (looked_at.masked(PAPER.probability(looked_at.p_obs)) == expected).all()
    assert expected.any()


def test_a_higher_rate_only_adds_masked_cells():
    looked_at = table(half=0.5)
    less = looked_at.masked(Masking("constant", {"rate": 0.4}).probability(looked_at.p_obs))
    more = looked_at.masked(Masking("constant", {"rate": 0.6}).probability(looked_at.p_obs))

    assert (more | ~less).all()
    assert more.sum() > less.sum()


def test_shares_of_all_cells_of_a_column_add_up():
    weights = column_weights(table(few=0.26, full=1), PAPER)

    shares = weights[["share_missing", "share_predicted", "share_reconstructed"]].sum(axis=1)
    assert shares.tolist() == pytest.approx([1, 1])
    assert weights["M_j"].round(2).tolist() == [0.55, 0.0]


def test_the_paper_s_choice_is_praised():
    (note,) = notes(table(few=0.26, most=0.9, full=1), PAPER)

    assert note.level == "good"
    assert note.head == "The network trains on both tasks"
    assert "61%" in note.text
    assert "39%" in note.text


@pytest.mark.parametrize(
    ("masking", "words"),
    [
        (Masking("logit", {"a": 0.0}), "a = 0 is too small to matter"),
        (Masking("logit", {"a": 0.01}), "a = 0.01 is too small to matter"),
        (Masking("sigmoid", {"slope": 0.0}), "slope = 0 is too small to matter"),
        (Masking("logit", {"a": 1.0}), "a = 1 turns the curve into a step"),
        (Masking("logit", {"a": -0.1}), "The curve rises"),
        (Masking("reversed"), "The curve rises"),
        (Masking("constant"), "masked at the same rate"),
        (Masking("no_prediction"), "2 columns with missing values are never masked"),
        (Masking("no_reconstruction"), "2 columns are always masked"),
        (Masking("no_reconstruction"), "1 column without missing values is also masked"),
        (Masking("no_reconstruction"), "100% of rows have no input"),
    ],
)
def test_harmful_settings_are_warned_of(masking, words):
    found = warnings(table(few=0.26, most=0.9, full=1), masking)

    assert any(words in text for text in found), found


def test_too_large_an_a_names_the_proportions_of_the_step():
    (text,) = [t for t in warnings(table(half=0.5), Masking("logit", {"a": 0.5})) if "step" in t]

    assert "less than 26.9% of rows are always masked" in text
    assert "more than 73.1% never" in text


def test_the_mixed_range_is_where_the_logit_is_neither_0_nor_1():
    low, high = mixed_range(0.3, 0.6)
    masking = Masking("logit", {"a": 0.3, "b": 0.6})

    assert masking.probability([low - 0.01, low + 0.01]).tolist()[0] == 1
    assert 0 < masking.probability(low + 0.01) < 1
    assert 0 < masking.probability(high - 0.01) < 1
    assert masking.probability(high + 0.01) == 0
    assert mixed_range(1e-6, 0.5) == pytest.approx((0, 1))


def test_a_table_without_missing_values_is_told_what_to_do():
    found = warnings(table(x=1, y=1), PAPER)

    assert any("no missing values" in text and "Amputation lab" in text for text in found)


def test_blind_rows_are_the_expected_share_of_rows_that_show_nothing():
    looked_at = table(half=0.5, full=1)

    assert blind_rows(looked_at, np.array([0.5, 0.5])) == pytest.approx(0.5 * 0.25 + 0.5 * 0.5)


def test_uniform_means_every_column_and_no_function_or_preset_is_called_so():
    # Uniform masking masks complete columns, too; the function Constant does not.
    weights = column_weights(table(few=0.26, full=1), Masking("constant"))

    assert weights["M_j_uniform"].tolist() == [0.5, 0.5]
    assert weights["M_j"].tolist() == [0.5, 0.0]
    names = [function.title for function in list_masking_functions()]
    names += [text for preset in PRESETS for text in (preset.title, preset.why)]
    assert not any("uniform" in name.lower() for name in names)
    for function in list_masking_functions():
        assert not any("uniform" in n.text for n in notes(table(x=0.5), Masking(function.name)))


def test_remembered_settings_become_a_masking():
    assert masking_from({}) == PAPER
    assert masking_from({"function": "sigmoid", "slope": 7}) == Masking("sigmoid", {"slope": 7.0})
    assert masking_from({"a": 0.2, "source": "x"}) == Masking("logit", {"a": 0.2, "b": 0.5})


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"a": 1e9, "b": -3}, {"a": 1.0, "b": 0.0}),
        ({"a": float("nan"), "b": float("inf")}, {"a": 0.05, "b": 0.5}),
        ({"a": "much", "b": True}, {"a": 0.05, "b": 0.5}),
        ({"function": ["logit"], "a": None}, {"a": 0.05, "b": 0.5}),
        ({"function": "magic"}, {"a": 0.05, "b": 0.5}),
    ],
)
def test_settings_that_make_no_sense_are_moved_into_range_or_left_out(settings, expected):
    assert masking_from(settings) == Masking("logit", expected)


def test_the_parameters_of_all_functions_are_remembered_together():
    assert parameter_values({"rate": 0.3}) == {"a": 0.05, "b": 0.5, "rate": 0.3, "slope": 10.0}


def test_presets_and_paper_scores_name_functions_that_exist():
    names = {function.name for function in list_masking_functions()}

    assert set(PAPER_SCORES) == names
    assert {preset.masking.function for preset in PRESETS} <= names
    assert PRESETS[0].masking.to_dict() == {"function": "logit", "a": 0.05, "b": 0.5}


def test_the_paper_s_figures_are_quoted():
    assert "35.4" in paper_sentence("logit")
    assert "33.4" in paper_sentence("constant")
    assert paper_sentence("a function of tomorrow") == ""


@pytest.mark.parametrize("function", list_masking_functions(), ids=lambda f: f.name)
def test_every_parameter_has_a_slider_that_reaches_its_default_and_the_presets(function):
    for parameter, default in function.parameters.items():
        low, high, step = slider_range(parameter, default)
        wanted = [default, *(p.masking.params.get(parameter, default) for p in PRESETS)]
        assert all(low <= value <= high for value in wanted)
        assert 0 < step < high - low
        assert all(slider_words(parameter))


def test_a_parameter_of_tomorrow_has_a_slider_too():
    low, high, _ = slider_range("depth", 3.0)

    assert low < 3.0 < high
    assert slider_words("depth")[0] == "depth"
