"""Text that a spreadsheet would run as a formula, and how to escape it."""

from __future__ import annotations

import re

import pandas as pd

# Characters that make a spreadsheet compute instead of show, also after blanks and as the wide
# signs of East Asian keyboards.
_FORMULA = re.compile(r"\s*[=+\-@＝＋－＠\t\r]")  # noqa: RUF001


def looks_like_formula(text: object) -> bool:
    r"""Say whether a spreadsheet that opens this text would compute it.

    Examples
    --------
    >>> [looks_like_formula(text) for text in ("=1+1", "@SUM(A1)", "\ttext", "a=b", -1.5)]
    [True, True, True, False, False]
    """
    return isinstance(text, str) and _FORMULA.match(text) is not None


def escape_formula(text: object) -> object:
    """Return text that looks like a formula with an apostrophe before it; anything else unchanged.

    Examples
    --------
    >>> escape_formula("=1+1"), escape_formula("Ulm"), escape_formula(-1.5)
    ("'=1+1", 'Ulm', -1.5)
    """
    return f"'{text}" if looks_like_formula(text) else text


def escape_formulas(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the table with its texts and names escaped, for a CSV file to open in a spreadsheet.

    Numbers (negative ones too), dates and booleans stay as they are. The file differs from the
    table in the escaped texts, so do not escape files that programs read.

    Parameters
    ----------
    frame : DataFrame
        The table; it is not changed.
    """
    return escape_with_count(frame)[0]


def escape_with_count(frame: pd.DataFrame) -> tuple[pd.DataFrame, int]:
    """Return the escaped table, and how many of its texts and names were escaped."""
    escaped = frame.rename(columns=escape_formula)
    n_escaped = sum(map(looks_like_formula, frame.columns))
    for position, (_, cells) in enumerate(frame.items()):
        if cells.dtype.kind in "biufcmM":
            continue
        texts = cells.to_numpy(dtype=object, copy=True)
        formulas = [at for at, text in enumerate(texts) if looks_like_formula(text)]
        if formulas:
            texts[formulas] = [escape_formula(texts[at]) for at in formulas]
            escaped.isetitem(position, texts)
            n_escaped += len(formulas)
    return escaped, n_escaped
