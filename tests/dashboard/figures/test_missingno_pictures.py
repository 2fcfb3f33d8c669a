import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from dashboard.figures.missingno_pictures import (
    MAX_COLUMNS,
    MAX_ROWS,
    VIEWS,
    _drawable,
    available_views,
    missingno_picture,
)
from pmae_core.missingness import find_patterns


@pytest.fixture
def missing():
    cells = np.random.default_rng(0).random((50, 3)) < 0.3
    return pd.DataFrame(cells, columns=["price in $ or $x^", "<b>b</b>", "long " * 20])


@pytest.mark.parametrize("view", VIEWS)
def test_pictures_are_png_and_svg(missing, view):
    assert missingno_picture(missing, view, "png").startswith(b"\x89PNG")
    assert b"<svg" in missingno_picture(missing, view, "svg")


def test_an_unknown_view_is_refused(missing):
    with pytest.raises(ValueError, match="matrix, bar, heatmap, dendrogram"):
        missingno_picture(missing, "pie", "png")


def test_long_and_wide_tables_are_drawn_in_part_and_it_is_said():
    cells = np.zeros((MAX_ROWS + 1, MAX_COLUMNS + 1), dtype=bool)
    cells[:5, -2:] = True
    large = pd.DataFrame(cells)
    assert _drawable(large, all_rows=False).shape == (MAX_ROWS, MAX_COLUMNS)
    assert _drawable(large, all_rows=True).shape == (MAX_ROWS + 1, MAX_COLUMNS)
    assert str(MAX_COLUMNS) in _drawable(large, all_rows=True).columns
    views = available_views(find_patterns(pd.DataFrame(np.where(cells, np.nan, 1.0))))
    assert views["matrix"] == (
        "10,000 of 10,001 rows, chosen at random, the 100 of 101 columns with most missing values"
    )
    assert views["bar"] == "the 100 of 101 columns with most missing values"


def test_views_that_need_more_columns_are_left_out():
    one = find_patterns(pd.DataFrame({"a": [1.0, None]}))
    two = find_patterns(pd.DataFrame({"a": [1.0, None], "b": [1.0, 2.0]}))
    assert list(available_views(one)) == ["matrix", "bar"]
    assert list(available_views(two)) == ["matrix", "bar", "dendrogram"]


def test_missingno_is_not_imported_before_it_is_needed():
    code = (
        "import sys, pmae_core.plots.missingness, dashboard.figures.missingno_pictures\n"
        "print([name for name in ('missingno', 'matplotlib', 'sklearn', 'torch')"
        " if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
