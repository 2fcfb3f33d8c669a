import numpy as np
import pytest

from dashboard.components.stage.scene import Bars, Mark, Points
from dashboard.learn.exercises.judge import repeated_scene, solution_scene
from dashboard.learn.judge import HIGH, LESSON, PURPOSES, judge


def closer(values, one, other):
    return abs(values[one] - values["truth"]) < abs(values[other] - values["truth"])


@pytest.mark.parametrize("purpose", PURPOSES)
def test_the_right_answer_comes_closer_in_nearly_all_tables(purpose):
    right = PURPOSES[purpose].right
    (other,) = {"line", "scattered"} - {right}
    judged = [judge(purpose, seed) for seed in range(200)]

    share = np.mean([closer(one.values, right, other) for one in judged])
    assert share >= (1 if purpose == "values" else 0.95)
    # The sentence gives the same share of other tables.
    assert judged[0].n_right() / 200 == pytest.approx(share, abs=0.04)


def test_values_on_the_line_shrink_the_spread_and_strengthen_the_correlation():
    spread, correlation = (judge(name, 0).repeated for name in ("spread", "correlation"))

    assert (spread["line"] < spread["truth"]).all()
    assert (correlation["line"] > correlation["truth"]).mean() > 0.99


@pytest.mark.parametrize("purpose", ["spread", "correlation", "high"])
def test_scattered_values_are_right_on_average(purpose):
    repeated = judge(purpose, 0).repeated
    error = repeated["scattered"] - repeated["truth"]

    assert abs(error.mean()) < 3.5 * error.std() / len(error) ** 0.5


def test_the_rmse_of_scattered_values_is_about_1_4_times_as_large():
    repeated = judge("values", 0).repeated

    assert (repeated["scattered"] / repeated["line"]).mean() == pytest.approx(1.4, abs=0.05)
    assert "1.4 times" in LESSON.points[0]


def test_mean_and_slope_come_out_right_either_way():
    """What the lesson says that it leaves out."""
    for seed in range(20):
        table = judge("spread", seed).table
        age = table.patients.age[0]
        pressures = {name: pressure[0] for name, pressure in table.completed().items()}
        for name in ("line", "scattered"):
            assert pressures[name].mean() == pytest.approx(pressures["truth"].mean(), abs=3)
            slope = np.polyfit(age, pressures[name], 1)[0]
            assert slope == pytest.approx(np.polyfit(age, pressures["truth"], 1)[0], abs=0.2)


def test_the_measures_are_those_of_numpy():
    table = judge("spread", 1).table
    truth, on_line = table.patients.pressure[0], table.completed()["line"][0]
    age, missing = table.patients.age[0], ~table.observed[0]
    found = {name: judge(name, 1).values["line"] for name in PURPOSES}

    assert found["spread"] == pytest.approx(np.std(on_line, ddof=1))
    assert found["correlation"] == pytest.approx(np.corrcoef(age, on_line)[0, 1])
    assert found["high"] == pytest.approx(np.mean(on_line > HIGH))
    rmse = np.sqrt(np.mean((on_line - truth)[missing] ** 2))
    assert found["values"] == pytest.approx(rmse)


@pytest.mark.parametrize("purpose", PURPOSES)
def test_the_first_table_is_typical(purpose):
    judged = judge(purpose, LESSON.first_seed)

    for name, repeated in judged.repeated.items():
        assert abs(judged.values[name] - repeated.mean()) <= 1.5 * repeated.std()


def test_an_exception_is_called_one():
    for seed in range(400):
        judged = judge("correlation", seed)
        is_exception = not closer(judged.values, "scattered", "line")
        assert ("This table is an exception." in judged.sentence()) == is_exception


@pytest.mark.parametrize("purpose", PURPOSES)
def test_points_fall_from_the_line_to_their_places(purpose):
    judged = judge(purpose, 0)
    points_panel, values_panel = solution_scene(judged).panels

    _, imputed, truth = (layer for layer in points_panel.layers if isinstance(layer, Points))
    missing = ~judged.table.observed[0]
    np.testing.assert_array_equal(imputed.y[0], judged.table.on_line[0, missing])
    np.testing.assert_array_equal(imputed.y[1], judged.table.scattered[0, missing])
    np.testing.assert_array_equal(truth.y[2], judged.table.patients.pressure[0, missing])
    assert (imputed.opacity[1], truth.opacity[1], truth.opacity[2]) == (0.8, 0, 0.8)

    bars = values_panel.layers[0]
    assert isinstance(bars, Bars)
    assert not np.any(bars.height[0]), "the question would give its answer away"
    assert bars.height[1] == [judged.values["line"], judged.values["scattered"]]
    marks = [layer for layer in values_panel.layers if isinstance(layer, Mark)]
    assert len(marks) == (purpose != "values"), "an RMSE has no truth to reach"


@pytest.mark.parametrize("purpose", PURPOSES)
def test_the_luck_scene_has_all_tables_and_this_one(purpose):
    judged = judge(purpose, 0)
    data = repeated_scene(judged).data()["panels"][0]

    line, scattered, truth, *own = data["layers"]
    assert sum(line["height"][-1]) == sum(scattered["height"][-1]) == 200
    assert [mark["value"][-1] for mark in own] == pytest.approx(
        [judged.values["line"], judged.values["scattered"]], rel=1e-4
    )
    assert data["x"]["percent"] == (purpose == "high")
    assert truth["words"][-1] == ("no error" if purpose == "values" else "truth, on average")
