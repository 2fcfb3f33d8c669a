import pytest

from dashboard.learn.patterns import KINDS, MEASUREMENTS, N_ROWS, kind_of_seed, make_pattern


@pytest.mark.parametrize("kind", KINDS)
def test_the_library_finds_the_pattern_that_was_made(kind):
    for seed in range(30):
        made = make_pattern(kind, seed)
        assert made.kind == kind
        assert made.incomplete.shape == (N_ROWS, len(MEASUREMENTS))


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
