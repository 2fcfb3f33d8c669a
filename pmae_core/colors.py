"""The colors of data: they mean the same in every figure, page, export and notebook.

The three of cells, and the fourth for cells that we hide ourselves, are of the palette of Okabe
and Ito, which color-blind readers can tell apart. All of them stand out from both backgrounds.
"""

OBSERVED = "#0072B2"
MISSING = "#D55E00"
IMPUTED = "#009E73"
MASKED = "#CC79A7"

NEUTRAL = "#858B99"  # lines and points that are neither of the above; readable on both themes
FAINT = "rgba(133, 139, 153, 0.25)"  # areas and grid lines

COLOR_OF = {"observed": OBSERVED, "missing": MISSING, "imputed": IMPUTED, "masked": MASKED}

# As dashboard/.streamlit/config.toml has them.
LIGHT_BACKGROUND, LIGHT_TEXT = "#FFFFFF", "#1F2430"
DARK_BACKGROUND, DARK_TEXT = "#040507", "#E9EBF2"


def tint(color: str, opacity: float) -> str:
    """Return a color of the form #RRGGBB with some transparency, for areas.

    Examples
    --------
    >>> tint("#0072B2", 0.5)
    'rgba(0, 114, 178, 0.5)'
    """
    red, green, blue = (int(color[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, {opacity:g})"
