import numpy as np
import pytest

from dashboard.figures.shares import MOST_BINS, bin_edges


def middles(values):
    edges = bin_edges(np.asarray(values, dtype=float))
    return ((edges[1:] + edges[:-1]) / 2).tolist()


def test_few_values_lie_in_the_middle_of_their_bins():
    assert middles([1, 2, 1, 2]) == [1, 2]
    assert bin_edges(np.array([1.0, 2.0, 4.0])).tolist() == [0.5, 1.5, 3.0, 5.0]


def test_bins_of_many_whole_numbers_hold_equally_many():
    ages = np.arange(18, 91)

    counts, _ = np.histogram(ages, bin_edges(ages))

    assert len(counts) <= MOST_BINS
    assert len(set(counts[:-1])) == 1 and counts.sum() == len(ages)


@pytest.mark.parametrize(
    "values",
    [[], [7.0], [0.0, 0.0], [1e300, 1.1e300], np.linspace(0, 1, 999), np.arange(1e6), [-3, 1e9]],
)
def test_every_value_lies_in_a_bin(values):
    edges = bin_edges(np.asarray(values, dtype=float))

    assert (np.diff(edges) > 0).all()
    assert np.histogram(values, edges)[0].sum() == len(values)
    assert len(edges) <= MOST_BINS + 1
