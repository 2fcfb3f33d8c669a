"""Figures of a pooled regression."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.figures.analyze import MOST_TERMS, forest_figure, ratio_ticks, shift_figure
from pmae_core.colors import IMPUTED, MISSING, OBSERVED
from pmae_core.inference import DeltaCurve


def forest(n_terms=3, *, complete=True, names=None):
    names = names or [f"x{number}" for number in range(n_terms)]
    sources = ["pooled imputations", *(["complete cases"] if complete else [])]
    rows = [
        (name, source, 0.5, 0.2, 0.9, "0.5 (0.2 to 0.9)", 0.4 if not place else np.nan)
        for place, source in enumerate(sources)
        for name in names
    ]
    columns = ["term", "source", "estimate", "low", "high", "told", "missing_information"]
    return pd.DataFrame(rows, columns=columns)


def test_both_sources_have_their_color_on_every_page():
    pooled, complete, shares = forest_figure(forest(), null=0.0, title="coefficient").data

    assert (pooled.marker.color, complete.marker.color, shares.marker.color) == (
        *(IMPUTED, OBSERVED, MISSING),
    )
    assert pooled.error_x.array.tolist() == pytest.approx([0.4] * 3)
    assert pooled.error_x.arrayminus.tolist() == pytest.approx([0.3] * 3)
    assert list(shares.x) == [40.0] * 3
    assert all(a < b for a, b in zip(pooled.y, complete.y, strict=True))


def test_a_single_imputation_has_no_shares():
    data = forest().assign(missing_information=np.nan)

    assert len(forest_figure(data, null=0.0, title="coefficient").data) == 2


def test_without_complete_cases_estimates_lie_on_their_row():
    pooled, _ = forest_figure(forest(complete=False), null=0.0, title="coefficient").data

    assert list(pooled.y) == [0, 1, 2]


def test_ratios_are_on_a_logarithmic_axis():
    figure = forest_figure(forest(), null=1.0, title="odds ratio")

    assert figure.layout.xaxis.type == "log"
    assert figure.layout.xaxis2.type is None
    assert forest_figure(forest(), null=0.0, title="x").layout.xaxis.type is None


def test_many_terms_are_cut_and_markup_stays_text():
    figure = forest_figure(forest(MOST_TERMS + 5), null=0.0, title="coefficient")
    assert len(figure.data[0].y) == MOST_TERMS

    figure = forest_figure(forest(names=["<i>a</i>", "b"]), null=0.0, title="x", chosen="b")
    assert figure.layout.yaxis.ticktext == ("&lt;i&gt;a&lt;/i&gt;", "<b>b</b>")


def test_a_curve_has_the_words_of_its_shifts():
    table = pd.DataFrame(
        {"delta": [-1.0, 0.0, 1.0], "estimate": [1.0, 2.0, 3.0], "low": [0.0, 1.0, 2.0]}
    )
    table["high"] = table["estimate"] + 1
    curve = DeltaCurve(table, 0.0, -1.0, None, "")
    labels = {-1.0: "-40%", -0.5: "-20%", 0.0: "0", 1.0: "+66%"}

    figure = shift_figure(curve, 0.0, words="x", column="<pay>", labels=labels)

    assert figure.layout.xaxis.ticktext == ("-40%", "0", "+66%")
    assert figure.layout.xaxis.title.text == "missing &lt;pay&gt; against imputed"
    assert figure.layout.xaxis.range[0] < -1


@given(st.floats(1e-8, 1e8), st.floats(1e-6, 1e6))
def test_ratios_have_some_ticks_and_never_too_many(low, factor):
    ticks = ratio_ticks(low, low * (1 + factor))

    assert 1 in ticks
    assert len(ticks) <= 14
    assert all(tick > 0 for tick in ticks)
