import numpy as np
import pytest

from dashboard.learn.patterns import (
    KINDS,
    MEASUREMENTS,
    N_REPETITIONS,
    N_ROWS,
    breaks_of_staircase,
    kind_of_seed,
    make_pattern,
    repeated_distances,
)


def test_the_library_finds_the_pattern_that_was_made():
    for seed in range(200):
        made = make_pattern(kind_of_seed(seed), seed)
        assert made.kind == kind_of_seed(seed)
        assert made.incomplete.shape == (N_ROWS, len(MEASUREMENTS))


def test_no_table_is_mistaken_for_another_pattern_by_chance():
    distances = repeated_distances()

    assert tuple(distances) == KINDS
    assert all(len(found) == N_REPETITIONS for found in distances.values())
    assert (distances["monotone"] == 0).all()
    assert distances["quasi-monotone"].min() > 0
    assert distances["quasi-monotone"].max() <= 0.1 < distances["general"].min()


@pytest.mark.parametrize("kind", KINDS)
def test_repetitions_are_as_far_from_a_staircase_as_tables_of_readers(kind):
    made = [make_pattern(kind, seed).summary.distance_from_monotone for seed in range(20)]

    assert np.mean(made) == pytest.approx(repeated_distances()[kind].mean(), rel=0.25, abs=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_the_marked_cells_are_those_that_the_library_counts(kind):
    for seed in range(10):
        made = make_pattern(kind, seed)
        assert made.breaks().sum() == made.summary.n_exceptions


def test_cells_that_break_a_staircase():
    missing = np.array([[0, 0, 1], [0, 1, 0], [1, 0, 0]], dtype=bool)

    assert breaks_of_staircase(missing).astype(int).tolist() == [[0, 0, 0], [0, 1, 0], [1, 0, 0]]


def test_sorting_makes_a_staircase_of_a_monotone_table():
    made = make_pattern("monotone", 3)

    rows, columns = np.argsort(made.row_places()), np.argsort(made.column_places())
    ordered = made.missing[np.ix_(rows, columns)].astype(int)

    assert (np.diff(ordered, axis=0) >= 0).all()
    assert (np.diff(ordered, axis=1) >= 0).all()


def test_every_pattern_occurs_among_the_first_seeds():
    assert {kind_of_seed(seed) for seed in range(20)} == set(KINDS)


def test_a_staircase_has_few_different_rows():
    monotone, general = make_pattern("monotone", 0), make_pattern("general", 0)

    assert monotone.summary.n_patterns <= len(MEASUREMENTS) + 1 < general.summary.n_patterns
    assert "no cell breaks" in monotone.sentence()
    assert "break the staircase" in general.sentence()


def test_columns_come_in_another_order_with_another_seed():
    orders = {tuple(make_pattern("general", seed).incomplete.columns) for seed in range(5)}

    assert len(orders) == 5
