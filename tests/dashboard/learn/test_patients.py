import numpy as np
import pytest

from dashboard.learn.patients import MEAN_PRESSURE, PER_YEAR, fit_lines, make_patients, means


def test_pressure_rises_with_age_as_stated():
    patients = make_patients(1, 200_000, np.random.default_rng(0))

    slope, _ = np.polyfit(patients.age[0], patients.pressure[0], 1)
    assert slope == pytest.approx(PER_YEAR, abs=0.01)
    assert patients.pressure.mean() == pytest.approx(MEAN_PRESSURE, abs=0.15)


def test_lines_are_those_of_least_squares_through_the_chosen_rows():
    rng = np.random.default_rng(1)
    patients = make_patients(3, 40, rng)
    rows = rng.random((3, 40)) < 0.6

    lines = fit_lines(patients.age, patients.pressure, rows)

    for k in range(3):
        x, y = patients.age[k, rows[k]], patients.pressure[k, rows[k]]
        (slope, intercept), (squares,), *_ = np.polyfit(x, y, 1, full=True)
        assert lines.at(patients.age)[k] == pytest.approx(intercept + slope * patients.age[k])
        assert lines.spread[k, 0] == pytest.approx(np.sqrt(squares / (len(x) - 2)))
        assert means(patients.age, rows)[k, 0] == pytest.approx(x.mean())
