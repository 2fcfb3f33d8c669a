import contextlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pmae_core.errors import ExpressionError
from pmae_core.expressions import (
    FUNCTIONS,
    Arithmetic,
    ColumnName,
    Constant,
    FunctionCall,
    Negation,
    Power,
    Relation,
    parse_expression,
)

COLUMNS = {"x": np.array([1.0, 4.0, np.nan]), "y": np.array([2.0, 2.0, 2.0])}


@pytest.mark.parametrize(
    ("text", "python"),
    [
        ("x + y * 2", "x + y * 2"),
        ("x - y - 1", "x - y - 1"),
        ("x / y / 2", "x / y / 2"),
        ("-x ** 2", "-x ** 2"),
        ("x ^ 2", "x ** 2"),
        ("2 ** 3 ** 2", "2 ** 3 ** 2"),
        ("2 ** -x", "2 ** -x"),
        ("(x + y) * -y", "(x + y) * -y"),
        ("x * 1e3 + .5", "x * 1e3 + .5"),
        ("--x", "--x"),
    ],
)
def test_arithmetic_goes_as_everywhere(text, python):
    # The texts to check against are those of this test; nothing else is ever run.
    expected = eval(python, {"__builtins__": {}}, dict(COLUMNS))

    np.testing.assert_allclose(
        parse_expression(text).evaluate(COLUMNS), expected + 0 * COLUMNS["y"]
    )


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name):
    found = parse_expression(f"{name}(x)").evaluate(COLUMNS)

    np.testing.assert_array_equal(found, getattr(np, name)(COLUMNS["x"]))


def test_columns_are_named_once_in_order():
    assert parse_expression("b + a * b / `c d` > a").columns == ("b", "a", "c d")


def test_words_of_python_are_column_names():
    assert parse_expression("class + import * lambda").columns == ("class", "import", "lambda")


def _chains(inner: st.SearchStrategy, signs: str) -> st.SearchStrategy:
    others = st.lists(st.tuples(st.sampled_from(signs), inner), min_size=1, max_size=3)
    return st.builds(Arithmetic, inner, others.map(tuple))


NAMES = st.text(min_size=0, max_size=8)
TREES = st.recursive(
    st.builds(Constant, st.floats(0, allow_infinity=False, allow_nan=False).map(abs))
    | st.builds(ColumnName, NAMES)
    | st.builds(Relation, st.builds(ColumnName, NAMES), st.sampled_from(["==", "!="]), NAMES),
    lambda inner: (
        st.builds(Negation, inner)
        | st.builds(FunctionCall, st.sampled_from(sorted(FUNCTIONS)), inner)
        | st.builds(Relation, inner, st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), inner)
        | st.builds(Power, inner, st.builds(Constant, st.integers(0, 9).map(float)))
        | st.builds(Power, inner, st.builds(ColumnName, NAMES))
        | st.builds(Power, inner, st.builds(Negation, st.builds(ColumnName, NAMES)))
        | _chains(inner, "+-")
        | _chains(inner, "*/")
    ),
    max_leaves=12,
)


@given(TREES)
def test_what_is_written_is_read_as_the_same(tree):
    assert parse_expression(str(tree)) == tree


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused_in_a_sentence(text):
    try:
        parse_expression(text)
    except ExpressionError as error:
        assert error.position is not None
        assert str(error).isprintable()


@given(st.text(alphabet="xy1.+-*/^()<>=!`\"', ~:eE", max_size=60))
@settings(max_examples=300)
def test_any_mix_of_signs_is_read_or_refused(text):
    try:
        expression = parse_expression(text)
    except ExpressionError:
        return
    assert parse_expression(str(expression)) == expression


ATTACKS = {
    "__import__('os').system('id')": "`__import__` is not a function",
    "().__class__.__bases__": "not allowed",
    "(lambda: x)()": "`x`|`:`",
    "x.__class__()": "is not a function",
    "getattr(x, 'y')": "`getattr` is not a function",
    "eval('1')": "`eval` is not a function",
    "open('/etc/passwd')": "`open` is not a function",
    "f'{x}'": "not allowed",
    "f'{__import__(\"os\")}'": "not allowed",
    "'a' 'b'": "in quotes",
    "'''a'''": "in quotes",
    "\"a\" + 'b'": "in quotes",
    "x == 'a' == 'b'": "not allowed",
    "x['y']": r"`\[` is not allowed",
    "[i for i in x]": r"`\[` is not allowed",
    "{x: y}": r"`{` is not allowed",
    "x if y else z": "`if` is not allowed here",
    "import os": "`os` is not allowed here",
    "x; y": "`;` is not allowed",
    "x\\ny": "not allowed",
    "x\0": r"`\\x00` is not allowed",
    "\0": r"`\\x00` is not allowed",
    "x := 1": "not allowed",
    "@x": "`@` is not allowed",
    "x & y": "`&` is not allowed",
    "log": None,
    "log()": "not allowed here",
    "log(x": "is expected here",
    "log(x, y)": "is expected here",
    "log x": "not allowed here",
    "`log`(x)": "not allowed here",
    "\uff4c\uff4f\uff47(x)": "is not a function",  # wide letters
    "l\u043eg(x)": "is not a function",  # a Cyrillic letter
    "x − y": "is not allowed",  # a minus of typographers
    "x \u2044 y": "is not allowed",  # a slash of fractions
    "\uff11": "is not allowed",  # a wide digit
    "x\u202ey": "is not allowed",  # right-to-left override
    "x\u200by": "is not allowed",  # no width
    "`x``": "not closed",
    "x```y`": "not allowed here",
    "9**9**9": "between ±100",
    "x ** 1e9": "between ±100",
    "x ** (10 ** 3)": "between ±100",
    "x ** -101": "between ±100",
    "x ** (0 / 0)": "between ±100",
    "1e309": "too large",
    "9" * 5000: "too large",
    "0x10": "not allowed here",
    "1_000": "not allowed here",
    "1j": "not allowed here",
    "(" * 9_999: "levels deep",
    "-" * 9_999 + "x": "levels deep",
    "x" + "**x" * 3_000: "levels deep",
    "log(" * 2_000 + "x" + ")" * 1_999: "levels deep",
    "x" * 10_001: "at most 10,000",
    "": "ends too early",
    "C(x)": "`C` is not a function",
    "y ~ x": "`~` is not allowed here",
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("text", "sentence"), ATTACKS.items(), ids=range(len(ATTACKS)))
def test_attacks_are_refused_or_mean_a_column(text, sentence):
    if sentence is None:
        assert parse_expression(text).columns == (text,)
    else:
        with pytest.raises(ExpressionError, match=sentence):
            parse_expression(text)


def test_what_looks_like_access_is_the_name_of_a_column():
    with pytest.raises(
        ExpressionError, match=r"There is no column `x\.__class__`\. Did you mean x"
    ):
        parse_expression("x.__class__").evaluate({"x.class": np.zeros(1)})


@pytest.mark.parametrize(
    "text", ["+".join(["x"] * 5_000), "*".join(["2"] * 5_000), "x" + "<".join([" "] * 5_000)]
)
def test_long_chains_neither_overflow_nor_hang(text):
    with contextlib.suppress(ExpressionError):
        parse_expression(text).evaluate(COLUMNS)


def test_the_position_is_where_the_trouble_is():
    with pytest.raises(ExpressionError) as caught:
        parse_expression("x + y $ 2")

    assert caught.value.position == 6
    assert "(character 7)" in str(caught.value)
