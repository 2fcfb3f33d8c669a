import numpy as np
import pandas as pd
import pytest

from pmae_core.errors import ExpressionError
from pmae_core.expressions import parse_expression


def evaluate(text: str, **columns: object) -> list[float]:
    arrays = {name: np.asarray(values) for name, values in columns.items()}
    return parse_expression(text).evaluate(arrays).tolist()


def test_comparisons_give_one_zero_and_missing():
    found = parse_expression("x >= 2").evaluate({"x": np.array([1.0, 2.0, np.nan])})

    np.testing.assert_array_equal(found, [0, 1, np.nan])
    assert parse_expression("x >= 2").is_comparison
    assert not parse_expression("(x >= 2) * 3").is_comparison


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT])
def test_missing_text_is_neither_equal_nor_different(missing):
    cells = np.array(["Male", "Female", missing], dtype=object)

    for text, expected in (
        ('sex == "Male"', [1, 0, np.nan]),
        ('sex != "Male"', [0, 1, np.nan]),
        ('"Male" == sex', [1, 0, np.nan]),
    ):
        np.testing.assert_array_equal(parse_expression(text).evaluate({"sex": cells}), expected)


def test_objects_that_are_numbers_are_numbers():
    cells = np.array([1, 2.5, True, None], dtype=object)

    np.testing.assert_array_equal(
        parse_expression("x * 2").evaluate({"x": cells}), [2, 5, 2, np.nan]
    )


def test_booleans_and_integers_are_numbers():
    assert evaluate("a + b", a=[True, False], b=[1, 2]) == [2, 2]


@pytest.mark.parametrize("text", ["log(x)", "sqrt(x)", "1 / x", "x ** 0.5", "exp(x * -1e9)"])
@pytest.mark.filterwarnings("error")
def test_what_is_not_defined_is_no_error_and_no_warning(text):
    assert not np.isfinite(evaluate(text, x=[-1.0, 0.0])).all()


def test_a_constant_has_a_value_per_row():
    assert evaluate("1 + 1", x=[1, 2, 3]) == [2, 2, 2]
    assert evaluate("2") == [2]


def test_the_result_is_no_view_of_the_column():
    column = np.array([1.0])

    parse_expression("x").evaluate({"x": column})[0] = 5

    assert column[0] == 1


@pytest.mark.parametrize(
    ("text", "columns", "sentence"),
    [
        ("x + 1", {"x": np.array(["a"])}, "Column `x` holds text, but numbers are needed"),
        ("x > 1", {"x": np.array(["a"])}, "holds text"),
        ('x == "1"', {"x": np.array([1])}, "without quotes"),
        ("x + 1", {"x": np.array(["2020-01-01"], dtype="datetime64[D]")}, "dates or times"),
        ("Education", {"education": np.ones(1)}, "Did you mean education"),
        ("z", {"a b": np.ones(1), "c": np.ones(1)}, "The columns are `a b` and c"),
    ],
)
def test_columns_that_do_not_fit_are_refused(text, columns, sentence):
    with pytest.raises(ExpressionError, match=sentence):
        parse_expression(text).evaluate(columns)
