"""The drags of the live benchmark: options, targets and tables."""

import itertools

import pytest

from benchmarks.service.live import (
    N_COLUMNS,
    REACH_PIXELS,
    WANTED_FRAMES_PER_SECOND,
    made_table,
    parsed,
    place_of_hand,
    too_slow,
)
from tests.support.paths import ROOT


def test_without_options_the_lab_is_measured_alone():
    options = parsed([])

    assert (options.tree, options.seconds, options.rounds) == (None, 3.0, 3)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--tree", str(ROOT / "docs")], "is not a checkout"),
        (["--rounds", "0"], "must be positive"),
        (["--seconds", "0"], "must be positive"),
    ],
)
def test_options_that_make_no_sense(capsys, options, said):
    with pytest.raises(SystemExit):
        parsed(options)
    assert said in capsys.readouterr().err


def test_the_hand_stays_within_its_reach_and_never_rests():
    places = [place_of_hand(n / 60) for n in range(600)]

    assert max(map(abs, places)) <= REACH_PIXELS
    assert all(one != other for one, other in itertools.pairwise(places))


@pytest.mark.parametrize("n_columns", N_COLUMNS)
def test_tables_have_the_columns_and_missing_values(n_columns):
    table = made_table(n_columns)

    assert table.shape[1] == n_columns
    assert table.isna().any().any()


def test_one_slow_slider_is_too_slow():
    fast = {"hand": "in the page", "frames_per_second": 60}
    slow = fast | {"frames_per_second": WANTED_FRAMES_PER_SECOND - 1}
    by_mouse = slow | {"hand": "mouse"}  # it may be the mouse that is slow
    drags = {"12 columns": {"a": [fast], "b": [fast, by_mouse]}}
    assert not too_slow(drags)

    drags["12 columns"]["b"].append(slow)
    assert too_slow(drags)
