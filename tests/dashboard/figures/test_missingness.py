import pandas as pd
import pytest

from dashboard.figures import share_missing_figure


def test_share_missing_figure_has_one_bar_per_column():
    frame = pd.DataFrame({"a": [1.0, None, None, None], "b": ["x", "y", "z", None], 3: range(4)})

    (bars,) = share_missing_figure(frame).data

    assert list(bars.y) == ["a", "b", "3"]
    assert list(bars.x) == pytest.approx([0.75, 0.25, 0.0])
