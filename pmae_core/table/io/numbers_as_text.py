"""Numbers that stay text, because of how they are written or because a float would change them."""

import pyarrow as pa
import pyarrow.compute as pc

from pmae_core.table.values import MINUS, MISSING_WORDS, THOUSANDS_SPACES, number_pattern

_FIRST_CELLS = 1000
_CODE = "^[+-]?[0-9]+$"
# Numbers with any marks: in groups, in lakhs, with decimals, or in other digits.
_SOME_NUMBER = (
    rf"[0-9]{{1,3}}(?:[.,'’_{THOUSANDS_SPACES}][0-9]{{3}})+(?:[.,][0-9]+)?"
    r"|[0-9]{1,2}(?:,[0-9]{2})+,[0-9]{3}(?:\.[0-9]+)?"
    r"|[0-9]*[.,]?[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[.,]"
    r"|[^\P{Nd}0-9][^\p{L}]*"
)
_SIGN = f"[+{MINUS}-]?"
_UNIT = r"(?:[A-Z]{0,3}\p{Sc}|USD|EUR|GBP|CHF|JPY|CNY|INR|AUD|CAD|kr|zł|%|‰)?"
_SPACE = f"[{THOUSANDS_SPACES}]?"
_WRITTEN_SOMEHOW = rf"^\(?{_SIGN}{_UNIT}{_SPACE}{_SIGN}(?:{_SOME_NUMBER}){_SPACE}{_UNIT}[)-]?$"


def number_left_as_text(column: pa.ChunkedArray, decimal: str, thousands: str | None) -> str | None:
    """Return a cell of a column of text whose cells are all numbers, written in some other way.

    Such are amounts of money, percentages, negative numbers in parentheses or with a minus at the
    end, and numbers with different marks. Whole numbers without any mark are codes.

    Examples
    --------
    >>> number_left_as_text(pa.chunked_array([["5", "12%"]]), ".", None)
    '12%'
    >>> number_left_as_text(pa.chunked_array([["5", "12 mg"]]), ".", None)
    """
    cells = pc.utf8_trim_whitespace(column)
    is_missing = pc.is_in(cells, value_set=pa.array(MISSING_WORDS, cells.type))
    cells = cells.filter(pc.invert(is_missing))
    # The first cells decide most cases cheaply.
    for part, pattern in (
        (cells.slice(0, 1), r"\p{Nd}"),
        (cells.slice(0, _FIRST_CELLS), _WRITTEN_SOMEHOW),
        (cells, _WRITTEN_SOMEHOW),
    ):
        if not pc.all(pc.match_substring_regex(part, pattern)).as_py():
            return None
    if pc.all(pc.match_substring_regex(cells, _CODE)).as_py():
        return None
    usual = pc.match_substring_regex(cells, number_pattern(decimal, thousands))
    unusual = cells.filter(pc.invert(usual))
    # Else some number is too long.
    return str(unusual[0]) if len(unusual) else max(pc.unique(cells).to_pylist(), key=len)
