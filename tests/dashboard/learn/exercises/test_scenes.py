"""The pictures of the lessons: what they show is what the lesson computed."""

import numpy as np
import pytest

from dashboard.components.stage.scene import Bars, Cells, Line, Mark, Points
from dashboard.learn import masking, mechanisms, patterns, reasons, slopes, worlds
from dashboard.learn.exercises import masking as masking_exercise
from dashboard.learn.exercises import mechanisms as mechanisms_exercise
from dashboard.learn.exercises import patterns as patterns_exercise
from dashboard.learn.exercises import reasons as reasons_exercise
from dashboard.learn.exercises import slopes as slopes_exercise
from dashboard.learn.exercises import worlds as worlds_exercise
from dashboard.learn.mechanisms import VALUE
from pmae_core.table.samples.clinic import make_clinic


def layers(scene, kind, panel=0):
    return [layer for layer in scene.panels[panel].layers if isinstance(layer, kind)]


def layer_named(scene, kind, label):
    (found,) = [layer for layer in layers(scene, kind) if layer.label == label]
    return found


# Lesson 1


@pytest.fixture(scope="module")
def clinic():
    return make_clinic(seed=0)


def cells_of(clinic, column):
    row = next(row for row, name in reasons.missing_cells(clinic) if name == column)
    (cells,) = layers(reasons_exercise.patients_scene(clinic, row, column), Cells)
    return row, cells


@pytest.mark.parametrize("column", reasons.DECIDED_BY)
def test_only_deciding_columns_keep_their_color_and_rows_sort_by_the_probability(clinic, column):
    row, cells = cells_of(clinic, column)
    before, after, *sorted_ones = np.asarray(cells.color)
    colored = {reasons.SHOWN[j] for j in np.flatnonzero((after != "neutral").all(axis=0))}

    assert colored == {column, *reasons.DECIDED_BY[column]}
    assert before[row, reasons.SHOWN.index(column)] == "accent"
    assert set(before.ravel()) == {"observed", "missing", "accent"}
    assert len(sorted_ones) == bool(reasons.DECIDED_BY[column]), "nothing to sort by chance"
    assert all((after == last).all() for last in sorted_ones)
    chance = clinic.p_missing.loc[: reasons.N_PATIENTS - 1, column].to_numpy()
    assert (np.diff(chance[np.argsort(np.asarray(cells.place)[-1])]) <= 0).all()


@pytest.mark.parametrize("column", reasons.DECIDED_BY)
def test_missing_values_are_question_marks(clinic, column):
    _, cells = cells_of(clinic, column)

    missing = reasons.patients(clinic).isna().to_numpy()
    assert ((np.asarray(cells.words) == "?") == missing).all()


@pytest.mark.parametrize("column", reasons.DECIDED_BY)
def test_bars_are_the_shares_of_repetitions_in_the_order_of_the_probabilities(clinic, column):
    row, _ = cells_of(clinic, column)
    scene = reasons_exercise.repetitions_scene(clinic, row, column, 0)
    (bars,) = layers(scene, Bars)

    order = reasons.order_by_reason(clinic, column)
    shares = reasons.repeated_shares(clinic, column, 0)
    assert np.asarray(bars.height)[-1].tolist() == shares[order].tolist()
    assert order[bars.color.index("accent")] == row


# Lesson 2


@pytest.mark.parametrize("mechanism", mechanisms.MECHANISM_WORDS)
def test_missing_patients_fade_and_the_mean_moves_to_that_of_the_others(mechanism):
    made = mechanisms.remove_pressures(mechanism, 2)
    scene = mechanisms_exercise.pressures_scene(made)
    observed, missing = layers(scene, Points)
    truth, moving, imputed = layers(scene, Mark)

    assert np.mean(observed.x) == pytest.approx(made.observed_mean)
    assert len(missing.x) == made.amputation.incomplete[VALUE].isna().sum()
    assert missing.opacity[-1] < 0.3 < missing.opacity[0]
    assert truth.value == made.true_mean
    assert moving.value == [made.true_mean, made.observed_mean, made.observed_mean]
    assert imputed.value[-1] == made.imputed_mean


def test_the_question_does_not_show_the_answer():
    scene = mechanisms_exercise.pressures_scene(mechanisms.remove_pressures("MAR", 2))

    visible = [m for m in layers(scene.first(), Mark) if np.max(m.opacity) > 0]
    assert [mark.words for mark in visible] == [layers(scene, Mark)[0].words]


# Lesson 3


@pytest.mark.parametrize("kind", patterns.KINDS)
def test_the_table_sorts_and_its_exceptions_are_marked(kind):
    made = patterns.make_pattern(kind, 1)
    (cells,) = layers(patterns_exercise.cells_scene(made, with_breaks=True), Cells)
    colors = np.asarray(cells.color)

    assert ((colors[0] == "missing") == made.missing).all()
    assert (colors[-1] == "text").sum() == made.summary.n_exceptions
    assert sorted(np.asarray(cells.place)[-1]) == list(range(len(made.missing)))
    assert sorted(np.asarray(cells.column_place)[-1]) == list(range(made.missing.shape[1]))


@pytest.mark.parametrize(
    ("kind", "words"), [("monotone", "No cell breaks"), ("general", "break the staircase")]
)
def test_the_last_caption_counts_the_exceptions(kind, words):
    scene = patterns_exercise.cells_scene(patterns.make_pattern(kind, 1), with_breaks=True)

    assert words in scene.captions[-1]


# Lesson 4


@pytest.mark.parametrize("cause", slopes.CAUSES)
def test_the_line_tilts_from_all_rows_to_the_complete_ones_and_the_truth_stays(cause):
    made = slopes.drop_rows(cause, slopes.USUAL_STRENGTH, 8)
    scene = slopes_exercise.rows_scene(made)

    def rises(label):
        line = layer_named(scene, Line, label)
        width = np.ptp(np.asarray(line.x))
        return np.diff(np.atleast_2d(line.y))[:, 0] / width

    assert rises("fitted line")[0] == pytest.approx(made.full_line[0])
    assert rises("fitted line")[-1] == pytest.approx(made.kept_line[0])
    assert rises("after imputation")[-1] == pytest.approx(made.imputed_line[0])
    assert rises("true line").tolist() == pytest.approx([made.true_slope])
    assert len(layer_named(scene, Points, "incomplete rows").x) == (~made.kept).sum()


# Lesson 5


def test_training_cases_rise_beside_the_missing_cells():
    cases = masking.training_cases(masking.make_trader(0), masking.USUAL_A, 0)
    scene = masking_exercise.cases_scene(cases, None)

    missing, uniform, proportional = layers(scene, Bars)
    assert scene.states == ["Missing cells", "Training cases"]
    assert np.asarray(missing.height)[0].tolist() == cases.visible["missing"].tolist()
    assert not np.asarray(uniform.height)[0].any()
    assert np.asarray(proportional.height)[-1].tolist() == cases.visible["proportional"].tolist()


def test_networks_appear_one_length_of_training_after_the_other():
    cases = masking.training_cases(masking.make_trader(0), masking.USUAL_A, 0)
    trained = masking.read_trained()
    scene = masking_exercise.cases_scene(cases, trained)

    shown = [
        sum(len(dots.x[k]) for dots in layers(scene, Points, panel=1) if dots.opacity[k] > 0)
        for k in range(len(scene.states))
    ]
    per_length = len(trained.runs) // len(trained.lengths)
    assert shown == [0, 0, *(per_length * (k + 1) for k in range(len(trained.lengths)))]
    ends = {tuple(dots.y[-1]) for dots in layers(scene, Points, panel=1)}
    assert tuple(trained.r2("uniform", trained.lengths[-1])) in ends


# Lesson 6


def test_both_tables_look_the_same_before_the_truth_is_shown():
    pair = worlds.make_worlds(worlds.USUAL_SHIFT, 0)
    scene = worlds_exercise.tables_scene(pair, worlds.diagnose(pair[0].incomplete))
    one, two = scene.data()["panels"]

    assert one["layers"] == two["layers"]
    assert (one["x"], one["y"]) == (two["x"], two["y"])


def test_the_truth_of_both_worlds_is_the_same_only_without_a_shift():
    pairs = {float(shift): worlds.make_worlds(shift, 0) for shift in worlds_exercise.SHIFTS}
    scene = worlds_exercise.truth_scene(pairs, worlds.diagnose(pairs[0.0][0].incomplete))

    one, two = (layers(scene, Mark, panel=panel)[-1] for panel in (0, 1))
    assert scene.slider.values[0] == 0
    assert one.value[0] == two.value[0]
    assert all(a != b for a, b in zip(one.value[1:], two.value[1:], strict=True))
    assert scene.captions[0].startswith("Without a shift nothing differs")
