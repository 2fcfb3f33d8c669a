"""From text to an expression, by a grammar that knows nothing but arithmetic with columns.

Grammar, from weak to strong::

    expression = sum [("<" | "<=" | ">" | ">=" | "==" | "!=") sum]
    sum        = product {("+" | "-") product}
    product    = signed {("*" | "/") signed}
    signed     = "-" signed | power
    power      = atom [("**" | "^") signed]
    atom       = number | column | function "(" expression ")" | "(" expression ")"

A column is a bare name (letters, digits, ``_`` and ``.`` of any script, with a letter or ``_``
first) or any text in backticks, in which a backtick is doubled. ``column == "text"`` and
``column != "text"`` compare with a category. Both ``**`` and ``^`` are powers.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pmae_core.errors import ExpressionError
from pmae_core.expressions.tokens import Token, TokenKind, TokenReader, refuse, shown
from pmae_core.expressions.tree import (
    FUNCTIONS,
    Arithmetic,
    ColumnName,
    Constant,
    Expression,
    FunctionCall,
    Negation,
    Power,
    Relation,
)
from pmae_core.words import listed

MAX_EXPONENT = 100.0
FUNCTION_NAMES = listed(FUNCTIONS, most=len(FUNCTIONS))
ALLOWED = (
    "Allowed are column names, numbers, + - * / **, comparisons, parentheses and the functions "
    f"{FUNCTION_NAMES}."
)


def parse_expression(text: str) -> Expression:
    """Read an expression such as ``weight / height ** 2`` or ``sex == "Male"``.

    Nothing in the text is ever run as code.

    Parameters
    ----------
    text : str
        Column names (special ones in backticks, where a backtick itself is doubled), numbers,
        ``+ - * / **`` (``^`` is the same as ``**``), parentheses, the functions abs, exp, log,
        log10, log2 and sqrt, and comparisons with ``< <= > >= == !=``. Text in quotes can be
        compared with a column by ``==`` and ``!=``; a quote within it is doubled.

    Returns
    -------
    Expression
        With ``columns``, ``evaluate`` and a text that is read as the same expression again.

    Raises
    ------
    ExpressionError
        If the text is anything else, too long, or nested too deeply. Its ``position`` says where.

    Examples
    --------
    >>> expression = parse_expression("log(`body mass` / 1000) ^ 2")
    >>> print(expression, expression.columns)
    log(`body mass` / 1000) ** 2 ('body mass',)
    >>> parse_expression("__import__('os')")
    Traceback (most recent call last):
        ...
    pmae_core.errors.ExpressionError: `__import__` is not a function (character 1). The functions \
are abs, exp, log, log10, log2 and sqrt.
    """
    reader = TokenReader(text)
    expression = read_expression(reader)
    check_end(reader, ALLOWED)
    return expression


def check_end(reader: TokenReader, advice: str) -> None:
    """Refuse anything behind the end of what was read."""
    if reader.next.kind is not TokenKind.END:
        raise unexpected(reader.next, advice)


def unexpected(token: Token, advice: str) -> ExpressionError:
    """Return the error for a token that cannot stand where it does."""
    if token.kind is TokenKind.END:
        return refuse("The text ends too early", token.position, advice)
    return refuse(f"{token} is not allowed here", token.position, advice)


def read_expression(reader: TokenReader) -> Expression:
    """Read an expression up to the first token that does not belong to it."""
    left = _read_side(reader)
    sign = reader.read_if("<", "<=", ">", ">=", "==", "!=")
    if sign is None:
        if isinstance(left, Token):
            raise _lonely_text(left)
        return left
    right = _read_side(reader)
    if isinstance(left, Token):
        left, right = right, left  # "Male" == sex
    if isinstance(left, Token):
        raise _lonely_text(left)
    if isinstance(right, Token):
        if not isinstance(left, ColumnName) or sign.value not in ("==", "!="):
            raise _lonely_text(right)
        return Relation(left, sign.value, right.value)
    return Relation(left, sign.value, right)


def _read_side(reader: TokenReader) -> Expression | Token:
    """Read one side of a comparison: a sum, or text in quotes."""
    return reader.read() if reader.next.kind is TokenKind.TEXT else _read_sum(reader)


def _lonely_text(token: Token) -> ExpressionError:
    return refuse(
        f"The text {shown(token.value)} in quotes can only be compared with a column by == or !=",
        token.position,
    )


def _read_sum(reader: TokenReader) -> Expression:
    return _read_chain(reader, ("+", "-"), _read_product)


def _read_product(reader: TokenReader) -> Expression:
    return _read_chain(reader, ("*", "/"), _read_signed)


def _read_chain(
    reader: TokenReader, signs: tuple[str, str], read_part: Callable[[TokenReader], Expression]
) -> Expression:
    first = read_part(reader)
    others = []
    while sign := reader.read_if(*signs):
        others.append((sign.value, read_part(reader)))
    return Arithmetic(first, tuple(others)) if others else first


def _read_signed(reader: TokenReader) -> Expression:
    if reader.read_if("-"):
        with reader:
            return Negation(_read_signed(reader))
    base = _read_atom(reader)
    if sign := reader.read_if("**", "^"):
        with reader:
            exponent = _read_signed(reader)
        _check_exponent(exponent, sign)
        return Power(base, exponent)
    return base


def _check_exponent(exponent: Expression, sign: Token) -> None:
    if not exponent.columns and not np.abs(exponent.evaluate({})[0]) <= MAX_EXPONENT:
        raise refuse(f"An exponent must be between ±{MAX_EXPONENT:.0f}", sign.position)


def _read_atom(reader: TokenReader) -> Expression:
    token = reader.read()
    if token.kind is TokenKind.NUMBER:
        return Constant(float(token.value))
    if token.kind is TokenKind.NAME and reader.next.is_sign("("):
        return _read_call(reader, token)
    if token.kind in (TokenKind.NAME, TokenKind.QUOTED_NAME):
        return ColumnName(token.value)
    if token.kind is TokenKind.TEXT:
        raise _lonely_text(token)
    if token.is_sign("("):
        with reader:
            inner = read_expression(reader)
        reader.expect(")")
        return inner
    raise unexpected(token, ALLOWED)


def _read_call(reader: TokenReader, name: Token) -> Expression:
    if name.value not in FUNCTIONS:
        raise refuse(
            f"{name} is not a function", name.position, f"The functions are {FUNCTION_NAMES}."
        )
    reader.expect("(")
    with reader:
        argument = read_expression(reader)
    reader.expect(")")
    return FunctionCall(name.value, argument)
