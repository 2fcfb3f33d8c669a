"""The words of an expression: names, numbers, text in quotes and signs."""

from __future__ import annotations

import enum
import math
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from pmae_core.errors import ExpressionError
from pmae_core.words import count

MAX_LENGTH = 10_000
# Each level takes some calls of the parser, and Python allows about 1,000 in total.
MAX_NESTING = 25

_SIGNS = ("**", "<=", ">=", "==", "!=", *"+-*/^()<>,:~.")
_NUMBER = re.compile(r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_LONGEST_SHOWN = 30


class TokenKind(enum.Enum):
    """What a token is."""

    NAME = "a column name"
    QUOTED_NAME = "a column name in backticks"
    NUMBER = "a number"
    TEXT = "text in quotes"
    SIGN = "a sign"
    END = "the end"


@dataclass(frozen=True)
class Token:
    """One word of an expression.

    Attributes
    ----------
    kind : TokenKind
        What it is.
    value : str
        The sign, the name or text without its quotes, or the number as written.
    position : int
        Where it begins, counted from 0.
    """

    kind: TokenKind
    value: str
    position: int

    def is_sign(self, *signs: str) -> bool:
        """Say whether this is one of some signs."""
        return self.kind is TokenKind.SIGN and self.value in signs

    def __str__(self) -> str:
        return "the end" if self.kind is TokenKind.END else shown(self.value)


def shown(text: str) -> str:
    r"""Return text for an error sentence: in backticks, short, and without control characters.

    Examples
    --------
    >>> print(shown("\x00a"), shown("a" * 50))
    `\x00a` `aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…`
    """
    short = text if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + "…"
    visible = (c if c.isprintable() else c.encode("unicode_escape").decode() for c in short)
    return f"`{''.join(visible)}`"


def refuse(problem: str, position: int, advice: str = "") -> ExpressionError:
    """Return an error whose sentence names the position."""
    return ExpressionError(
        f"{problem} (character {position + 1}).", position=position, advice=advice
    )


def quote_name(name: str) -> str:
    """Return a column name as an expression has it: bare, or in backticks.

    A backtick within the name is doubled.

    Examples
    --------
    >>> print(quote_name("Sepal.Length"), quote_name("body mass (g)"), quote_name("a`b"))
    Sepal.Length `body mass (g)` `a``b`
    """
    is_bare = name != "" and _name_end(name, 0) == len(name)
    return name if is_bare else "`" + name.replace("`", "``") + "`"


def quote_text(text: str) -> str:
    """Return text in double quotes; a double quote within it is doubled.

    Examples
    --------
    >>> print(quote_text('6" pipe'))
    "6"" pipe"
    """
    return '"' + text.replace('"', '""') + '"'


def tokens_of(text: str) -> list[Token]:
    """Split a text into tokens, of which the last is its end."""
    if not isinstance(text, str):
        raise ExpressionError(f"An expression is text, not {type(text).__name__}.")
    if len(text) > MAX_LENGTH:
        raise ExpressionError(
            f"The text has {count(len(text), 'character')}, but at most {count(MAX_LENGTH)} are "
            "allowed.",
            position=MAX_LENGTH,
        )
    return list(_tokens(text))


def _tokens(text: str) -> Iterator[Token]:
    at = 0
    while at < len(text):
        if text[at] in " \t\r\n":
            at += 1
            continue
        token, at = _token(text, at)
        yield token
    yield Token(TokenKind.END, "", len(text))


def _token(text: str, at: int) -> tuple[Token, int]:
    """Return the token that begins here, and where it ends."""
    if text[at] == "`":
        value, end = _quoted(text, at)
        return Token(TokenKind.QUOTED_NAME, value, at), end
    if text[at] in "\"'":
        value, end = _quoted(text, at)
        return Token(TokenKind.TEXT, value, at), end
    if number := _NUMBER.match(text, at):
        if not math.isfinite(float(number[0])):
            raise refuse(f"{shown(number[0])} is too large a number", at)
        return Token(TokenKind.NUMBER, number[0], at), number.end()
    if (end := _name_end(text, at)) > at:
        return Token(TokenKind.NAME, text[at:end], at), end
    for sign in _SIGNS:
        if text.startswith(sign, at):
            return Token(TokenKind.SIGN, sign, at), at + len(sign)
    if text[at] == "=":
        raise refuse("`=` is not allowed", at, "Write == to compare.")
    raise refuse(
        f"{shown(text[at])} is not allowed",
        at,
        "Put column names with special characters in backticks, and text in quotes.",
    )


def _quoted(text: str, start: int) -> tuple[str, int]:
    """Return what stands between two quotes, where a doubled quote stands for itself."""
    quote, at, parts = text[start], start + 1, []
    while (end := text.find(quote, at)) >= 0:
        parts.append(text[at:end])
        if not text.startswith(quote, end + 1):
            return quote.join(parts), end + 1
        at = end + 2
    what = "A backtick" if quote == "`" else "A quote"
    raise refuse(f"{what} is opened, but not closed", start)


def _name_end(text: str, start: int) -> int:
    """Return where the bare name that begins here ends: here, if there is none."""
    first = text[start]
    if not (first == "_" or unicodedata.category(first)[0] == "L"):
        return start
    end = start + 1
    while end < len(text) and (text[end] in "._" or unicodedata.category(text[end])[0] in "LNM"):
        end += 1
    return end


class TokenReader:
    """Reads tokens one after the other, and counts how deep they are nested.

    Parameters
    ----------
    text : str
        What the user typed.
    """

    def __init__(self, text: str) -> None:
        self._tokens = tokens_of(text)
        self._at = 0
        self._nesting = 0

    @property
    def next(self) -> Token:
        """The token that is read next."""
        return self._tokens[self._at]

    @property
    def after_next(self) -> Token:
        """The token behind the next one."""
        return self._tokens[min(self._at + 1, len(self._tokens) - 1)]

    def read(self) -> Token:
        """Return the next token and go on; the end stays the next token for ever."""
        token = self.next
        self._at = min(self._at + 1, len(self._tokens) - 1)
        return token

    def read_if(self, *signs: str) -> Token | None:
        """Read the next token if it is one of some signs."""
        return self.read() if self.next.is_sign(*signs) else None

    def expect(self, sign: str, advice: str = "") -> None:
        """Read a sign, or refuse what stands in its place."""
        if not self.read_if(sign):
            found = self.next
            raise refuse(f"`{sign}` is expected here, but {found} follows", found.position, advice)

    def __enter__(self) -> TokenReader:
        """Go one level deeper."""
        self._nesting += 1
        if self._nesting > MAX_NESTING:
            raise refuse(
                f"The text is nested more than {MAX_NESTING} levels deep", self.next.position
            )
        return self

    def __exit__(self, *_: object) -> None:
        self._nesting -= 1
