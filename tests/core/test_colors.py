import tomllib
from itertools import combinations

import pytest

from pmae_core import colors
from tests.support.paths import ROOT

CONFIG = tomllib.loads((ROOT / "dashboard" / ".streamlit" / "config.toml").read_text())
DATA_COLORS = [colors.OBSERVED, colors.MISSING, colors.IMPUTED, colors.MASKED, colors.NEUTRAL]


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
    theme = CONFIG["theme"][mode]

    for ground in ("backgroundColor", "secondaryBackgroundColor"):
        assert contrast(theme["textColor"], theme[ground]) >= 7
        assert contrast(theme["linkColor"], theme[ground]) >= 4.5
        assert contrast(theme["primaryColor"], theme[ground]) >= 3
    # It is both the ground of white words, on buttons, and the color of words, on tabs.
    assert contrast(theme["primaryColor"], "#FFFFFF") >= 4.5
    assert contrast(theme["primaryColor"], theme["backgroundColor"]) >= 4.5
    assert contrast(theme["codeTextColor"], theme["codeBackgroundColor"]) >= 7


def test_figures_and_pages_share_their_colors():
    assert CONFIG["theme"]["chartCategoricalColors"] == DATA_COLORS
    assert CONFIG["theme"]["light"]["backgroundColor"] == colors.LIGHT_BACKGROUND
    assert CONFIG["theme"]["light"]["textColor"] == colors.LIGHT_TEXT
    assert CONFIG["theme"]["dark"]["backgroundColor"] == colors.DARK_BACKGROUND
    assert CONFIG["theme"]["dark"]["textColor"] == colors.DARK_TEXT


def test_meanings_have_different_colors():
    assert all(one != other for one, other in combinations(colors.COLOR_OF.values(), 2))


def test_tint():
    assert colors.tint(colors.MISSING, 0.2) == "rgba(213, 94, 0, 0.2)"
