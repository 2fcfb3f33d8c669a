"""Words and numbers for people, and text of users that must stay text.

Streamlit reads Markdown, LaTeX, emoji codes and colors in nearly everything it writes, and
Plotly reads a little HTML in labels. Names of columns and files, cells and error sentences that
quote them go through here first.
"""

import datetime
import html
import math
import re
from collections.abc import Iterable

# Has no width and breaks no line: it only parts signs that would mean something together, where
# a backslash is gone before the sign is read (":smile:", "->", "www.", "a@b").
_JOINER = "\u2060"
_MARKUP = re.compile(r"([\\`*_{}\[\]<>#+.!|~$:@&=-])")
_READ_LATER = re.compile(r"(\\[:@](?=\S)|www(?=\\\.)|\\[<>=~-](?=\\[<>=~-]))", re.IGNORECASE)
# A stretch of code, a sign behind a backslash, or the stars of bold words.
_SIGNS = re.compile(r"(`+)(.*?)\1|\\([^\w\s]|_)|\*\*")
_BLANKS = re.compile(r"\s+")
_NOT_IN_FILE_NAMES = re.compile(r"[^A-Za-z0-9_-]+")
_ELLIPSIS = "…"


def plain(text: object) -> str:
    """Return Markdown that shows the text as it is, in one line.

    Examples
    --------
    >>> plain("a*b*")
    'a\\\\*b\\\\*'
    """
    line = _BLANKS.sub(" ", str(text)).strip()
    return _READ_LATER.sub(rf"\1{_JOINER}", _MARKUP.sub(r"\\\1", line))


def code(text: object) -> str:
    """Return Markdown that shows the text as it is in the letters of code: for names of columns.

    Examples
    --------
    >>> code("body_mass_g")
    '`body_mass_g`'
    """
    line = _BLANKS.sub(" ", str(text)).strip() or " "
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", line)), default=0))
    space = " " if "`" in line else ""
    return f"{fence}{space}{line}{space}{fence}"


def spoken(markdown: str) -> str:
    """Return Markdown of ours without its signs, for what screen readers read out.

    Examples
    --------
    >>> spoken(f"Does the **mean** of {plain('body_mass')} follow {code('sex')}?")
    'Does the mean of body_mass follow sex?'
    """
    bare = _SIGNS.sub(lambda sign: (sign[2] or sign[3] or "").strip(), markdown)
    return bare.replace(_JOINER, "")


def figure_text(text: object, longest: int = 28) -> str:
    """Return a name for labels and hovers of a Plotly figure: no markup, not too long.

    Examples
    --------
    >>> figure_text("<b>age</b>")
    '&lt;b&gt;age&lt;/b&gt;'
    """
    return html.escape(shorten(text, longest), quote=False)


def shorten(text: object, longest: int) -> str:
    """Return the text in one line, its middle left out when it is too long.

    Examples
    --------
    >>> shorten("average_arterial_pressure", 11)
    'avera…ssure'
    """
    line = _BLANKS.sub(" ", str(text)).strip()
    if len(line) <= longest:
        return line
    end = (longest - 1) // 2
    return line[: longest - 1 - end] + _ELLIPSIS + line[len(line) - end :]


def file_stem(name: str, otherwise: str) -> str:
    """Return a name as the beginning of a file's name, for every system; `otherwise` if empty.

    Examples
    --------
    >>> file_stem("my visits (2024)", "table")
    'my-visits-2024'
    """
    return _NOT_IN_FILE_NAMES.sub("-", name).strip("-")[:60] or otherwise


def cell_text(cell: object) -> str:
    """Return a cell as people write it: a date without a time of day that says nothing.

    Examples
    --------
    >>> import datetime
    >>> cell_text(datetime.datetime(2024, 2, 29)), cell_text(-999), cell_text("?")
    ('2024-02-29', '-999', '?')
    """
    if isinstance(cell, datetime.datetime):
        return str(cell).removesuffix(" 00:00:00")
    return str(cell)


def count(number: int, noun: str = "", plural: str | None = None) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> count(1234, "row"), count(1, "row"), count(1234), count(2, "is", "are")
    ('1,234 rows', '1 row', '1,234', '2 are')
    """
    if not noun:
        return f"{number:,}"
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def percent(share: float) -> str:
    """Return a share in percent: never 0 % for something, never 100 % for not quite all.

    No line breaks between the number and its sign.

    Examples
    --------
    >>> [percent(share) for share in (0.2553, 0.034, 0.0002, 0.9999, 1)]
    ['26\\xa0%', '3.4\\xa0%', '<\\xa00.1\\xa0%', '>\\xa099.9\\xa0%', '100\\xa0%']
    """
    if math.isnan(share):
        return "–"
    if 0 < share < 0.001:
        return "<\u00a00.1\u00a0%"
    if 0.999 < share < 1:
        return ">\u00a099.9\u00a0%"
    digits = 1 if 0 < share < 0.0995 or 0.995 <= share < 1 else 0
    return f"{100 * share:.{digits}f}\u00a0%"


def unbroken(sentence: str) -> str:
    """Return a sentence in which no line breaks between a number and its %.

    Examples
    --------
    >>> unbroken("In 12 % of rows.")
    'In 12\\xa0% of rows.'
    """
    return re.sub(r"(?<=\d) (?=%)", "\u00a0", sentence)


def duration(seconds: float) -> str:
    """Return a span of time in the two units that matter.

    Examples
    --------
    >>> duration(0.3), duration(41.6), duration(200), duration(7500), duration(273_600)
    ('less than 1 s', '42 s', '3 min 20 s', '2 h 5 min', '3 days 4 h')
    """
    if seconds < 0.95:
        return "less than 1 s"
    units = (("day", 86400), ("h", 3600), ("min", 60), ("s", 1))
    rest, parts = max(1, round(seconds)), []
    for unit, size in units:
        number, rest = divmod(rest, size)
        if number or parts:
            parts.append((number, unit))
        if len(parts) == 2:
            break
    words = {"day": lambda number: count(number, "day")}
    return " ".join(
        words[unit](number) if unit in words else f"{number} {unit}"
        for number, unit in parts
        if number
    )


def listing(names: Iterable[object], most: int = 5) -> str:
    """Return names of columns as Markdown, "`a`, `b` and `c`", shortened when there are many.

    Examples
    --------
    >>> listing(["a", "b", "c"]), listing("abcdef", most=2)
    ('`a`, `b` and `c`', '`a`, `b` and 4 more')
    """
    shown = [code(name) for name in names]
    if len(shown) > most:
        shown = [*shown[:most], f"{len(shown) - most:,} more"]
    return " and ".join(filter(None, [", ".join(shown[:-1]), *shown[-1:]]))
