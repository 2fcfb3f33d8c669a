"""Text of users that must stay text.

Streamlit reads Markdown, LaTeX, emoji codes and colors in nearly everything it writes. Names of
columns and files, cells and error sentences that quote them go through here first; those on
figures go through :func:`pmae_core.plots.labels.figure_text`.
"""

import re
from collections.abc import Iterable

from pmae_core.words import listed

# Has no width and breaks no line: it only parts signs that would mean something together, where
# a backslash is gone before the sign is read (":smile:", "->", "www.", "a@b").
_JOINER = "\u2060"
_MARKUP = re.compile(r"([\\`*_{}\[\]<>#+.!|~$:@&=-])")
_READ_LATER = re.compile(r"(\\[:@](?=\S)|www(?=\\\.)|\\[<>=~-](?=\\[<>=~-]))", re.IGNORECASE)
# A stretch of code, a sign behind a backslash, or the stars of bold words.
_SIGNS = re.compile(r"(`+)(.*?)\1|\\([^\w\s]|_)|\*\*")
_BLANKS = re.compile(r"\s+")
_NOT_IN_FILE_NAMES = re.compile(r"[^A-Za-z0-9_-]+")


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


def file_stem(name: str, otherwise: str) -> str:
    """Return a name as the beginning of a file's name, for every system; `otherwise` if empty.

    Examples
    --------
    >>> file_stem("my visits (2024)", "table")
    'my-visits-2024'
    """
    return _NOT_IN_FILE_NAMES.sub("-", name).strip("-")[:60] or otherwise


def listing(names: Iterable[object], most: int = 5) -> str:
    """Return names of columns as Markdown, "`a`, `b` and `c`", shortened when there are many.

    Examples
    --------
    >>> listing(["a", "b", "c"]), listing("abcdef", most=2)
    ('`a`, `b` and `c`', '`a`, `b` and 4 more')
    """
    return listed((code(name) for name in names), most)
