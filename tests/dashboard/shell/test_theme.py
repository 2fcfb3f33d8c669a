import tomllib
from itertools import combinations

import plotly.graph_objects as go
import plotly.io as pio
import pytest

from dashboard.figures.style import DARK, LIGHT, styled
from dashboard.shell import theme
from tests.support.paths import ROOT

CONFIG = tomllib.loads((ROOT / "dashboard" / ".streamlit" / "config.toml").read_text())
DATA_COLORS = [theme.OBSERVED, theme.MISSING, theme.IMPUTED, theme.MASKED, theme.NEUTRAL]


def luminance(color):
    channels = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    darker, lighter = sorted([luminance(one), luminance(other)])
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_colors_of_data_stand_out_from_the_page(mode):
    background = CONFIG["theme"][mode]["backgroundColor"]

    assert all(contrast(color, background) >= 3 for color in DATA_COLORS)


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_words_can_be_read(mode):
    colors = CONFIG["theme"][mode]

    for ground in ("backgroundColor", "secondaryBackgroundColor"):
        assert contrast(colors["textColor"], colors[ground]) >= 7
        assert contrast(colors["linkColor"], colors[ground]) >= 4.5
        assert contrast(colors["primaryColor"], colors[ground]) >= 3
    # It is both the ground of white words, on buttons, and the color of words, on tabs.
    assert contrast(colors["primaryColor"], "#FFFFFF") >= 4.5
    assert contrast(colors["primaryColor"], colors["backgroundColor"]) >= 4.5
    assert contrast(colors["codeTextColor"], colors["codeBackgroundColor"]) >= 7


def test_figures_and_pages_share_their_colors():
    assert CONFIG["theme"]["chartCategoricalColors"] == DATA_COLORS
    assert CONFIG["theme"]["light"]["backgroundColor"] == theme.LIGHT_BACKGROUND
    assert CONFIG["theme"]["light"]["textColor"] == theme.LIGHT_TEXT
    assert CONFIG["theme"]["dark"]["backgroundColor"] == theme.DARK_BACKGROUND
    assert CONFIG["theme"]["dark"]["textColor"] == theme.DARK_TEXT


def test_meanings_have_different_colors():
    assert all(one != other for one, other in combinations(theme.COLOR_OF.values(), 2))


def test_tint():
    assert theme.tint(theme.MISSING, 0.2) == "rgba(213, 94, 0, 0.2)"


def test_styled_sets_the_look_and_leaves_the_data():
    figure = go.Figure([go.Bar(x=[1], y=[2], marker_color=theme.MISSING), go.Bar(x=[1], y=[3])])

    assert styled(figure) is figure
    assert figure.layout.template == pio.templates[LIGHT]
    assert figure.data[0].marker.color == theme.MISSING
    assert figure.layout.xaxis.automargin
    assert figure.layout.margin.t > styled(go.Figure(go.Bar(y=[1]))).layout.margin.t


def test_styled_for_dark_exports_and_other_heights():
    figure = styled(go.Figure(), height=200, dark=True)

    assert figure.layout.template == pio.templates[DARK]
    assert figure.layout.height == 200
    assert styled(go.Figure(layout={"height": 111})).layout.height == 111
