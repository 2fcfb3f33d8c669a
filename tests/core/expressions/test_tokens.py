import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmae_core.errors import ExpressionError
from pmae_core.expressions.tokens import (
    MAX_LENGTH,
    TokenKind,
    quote_name,
    quote_text,
    shown,
    tokens_of,
)


def values(text: str) -> list[str]:
    return [token.value for token in tokens_of(text)[:-1]]


def test_the_longest_sign_is_taken():
    assert values("a**b<=c!=d") == ["a", "**", "b", "<=", "c", "!=", "d"]


@pytest.mark.parametrize("number", ["1", "1.", ".5", "1.5", "2e3", "2E-3", "007"])
def test_numbers_are_read_whole(number):
    token, end = tokens_of(number)

    assert (token.kind, token.value) == (TokenKind.NUMBER, number)
    assert end.position == len(number)


@pytest.mark.parametrize("name", ["x", "_x", "Sepal.Length", "größe", "年齢", "x2", "q²", "a.b.c"])
def test_bare_names_have_letters_of_any_script(name):
    assert quote_name(name) == name
    assert values(name) == [name]


@given(st.text())
def test_any_text_is_a_column_name_in_backticks(name):
    (token, _) = tokens_of(quote_name(name))

    assert token.value == name
    assert token.kind in (TokenKind.NAME, TokenKind.QUOTED_NAME)


@given(st.text())
def test_any_text_can_be_quoted(text):
    (token, _) = tokens_of(quote_text(text))

    assert (token.kind, token.value) == (TokenKind.TEXT, text)


def test_positions_are_counted_from_zero():
    assert [token.position for token in tokens_of(" a + `b c`")] == [1, 3, 5, 10]


@pytest.mark.parametrize("text", ["`a", "'a", '"a""', "```a", "a 'b"])
def test_open_quotes_are_refused(text):
    with pytest.raises(ExpressionError, match="opened, but not closed"):
        tokens_of(text)


def test_long_text_is_refused():
    with pytest.raises(ExpressionError, match="at most 10,000"):
        tokens_of("a" * (MAX_LENGTH + 1))


def test_anything_but_text_is_refused():
    with pytest.raises(ExpressionError, match="not int"):
        tokens_of(3)


@given(st.text(max_size=200))
def test_shown_text_is_short_and_printable(text):
    assert shown(text).isprintable()
    assert len(shown(text)) < 350
