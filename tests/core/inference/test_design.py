"""Design matrices: names, references and what cannot be used."""

import numpy as np
import pandas as pd
import pytest

from pmae_core.errors import AnalysisError, ExpressionError
from pmae_core.expressions import parse_formula
from pmae_core.inference.design import NamedTable, categories_of, make_design
from pmae_core.table import Schema


@pytest.fixture
def table() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "x": [1.0, 2.0, 3.0, 4.0],
            "kind": ["b", "a", "c", "a"],
            "grade": [10, 2, 10, 3],
            "smoker": pd.array([True, False, False, True], dtype="boolean"),
            "size": pd.Categorical(["S", "L", "M", "S"], ["S", "M", "L", "XL"]),
            "when": pd.to_datetime(["2020-01-01"] * 4),
            7: [0.0, 1.0, 2.0, 3.0],
        }
    )


def design(text, table, *others, schema=None, **settings):
    tables = [NamedTable(one, "imputation 1") for one in (table, *others)]
    return make_design(parse_formula(f"x ~ {text}"), tables, schema, **settings)


def names(text, table, **settings):
    return design(text, table, **settings).names


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1", ["Intercept"]),
        ("x", ["Intercept", "x"]),
        ("kind", ["Intercept", "kind[b]", "kind[c]"]),
        ('C(kind, "c")', ["Intercept", "kind[a]", "kind[b]"]),
        ("C(grade)", ["Intercept", "grade[3]", "grade[10]"]),
        ("C(grade, 10)", ["Intercept", "grade[2]", "grade[3]"]),
        ("smoker", ["Intercept", "smoker[True]"]),
        ("size", ["Intercept", "size[M]", "size[L]"]),
        ("0 + kind", ["kind[a]", "kind[b]", "kind[c]"]),
        ("0 + kind + smoker", ["kind[a]", "kind[b]", "kind[c]", "smoker[True]"]),
        ("x:smoker", ["Intercept", "x:smoker[False]", "x:smoker[True]"]),
        ("x * smoker", ["Intercept", "x", "smoker[True]", "x:smoker[True]"]),
        ("log(x) + I(grade > 2)", ["Intercept", "log(x)", "grade > 2"]),
        ("`7`", ["Intercept", "7"]),
    ],
)
def test_names_of_coefficients(table, text, expected):
    assert names(text, table) == expected


def test_the_matrix_is_that_of_the_names(table):
    made = design("x * kind", table)
    matrix = pd.DataFrame(made.matrix(NamedTable(table, "")), columns=made.names)

    assert matrix["Intercept"].tolist() == [1, 1, 1, 1]
    assert matrix["kind[c]"].tolist() == [0, 0, 1, 0]
    assert matrix["x:kind[b]"].tolist() == [1, 0, 0, 0]


def test_a_cox_regression_drops_the_intercept_alone(table):
    assert names("kind", table, drop_intercept=True) == ["kind[b]", "kind[c]"]
    assert names("0 + kind", table, drop_intercept=True) == ["kind[b]", "kind[c]"]


def test_categories_are_those_of_all_tables_together(table):
    other = table.assign(kind=["d", "a", "a", "a"], grade=[1.0, 2.0, 2.0, 2.0])
    made = design("kind + C(grade)", table, other)

    assert made.names[1:] == ["kind[b]", "kind[c]", "kind[d]", "grade[2]", "grade[3]", "grade[10]"]
    assert made.matrix(NamedTable(other, ""))[0].tolist() == [1, 0, 0, 1, 0, 0, 0]


def test_a_role_makes_numbers_categories(table):
    schema = Schema.infer(table, roles={"grade": "categorical"})

    assert names("grade", table) == ["Intercept", "grade"]
    assert names("grade", table, schema=schema) == ["Intercept", "grade[3]", "grade[10]"]


def test_whole_numbers_are_the_same_category_in_any_dtype():
    columns = [pd.Series([1, 2]), pd.Series([2.0, None]), pd.Series([3], dtype="Int64")]

    assert categories_of(columns) == ["1", "2", "3"]


@pytest.mark.parametrize(
    ("text", "error", "sentence"),
    [
        ("kimd", ExpressionError, r"There is no column `kimd`. Did you mean kind\?"),
        ("log(y)", ExpressionError, "There is no column `y`"),
        ("when", AnalysisError, "Column when holds dates"),
        ("I(when > 3)", AnalysisError, "Column when holds dates"),
        ("log(`7`)", AnalysisError, r"log\(`7`\) is not a finite number in 1 row of imputation 1"),
        ("I(kind > 2)", ExpressionError, "Column `kind` holds text"),
        ('C(kind, "z")', AnalysisError, "has no category 'z'. Its categories are a, b and c"),
    ],
)
def test_columns_that_cannot_be_used_are_refused(table, text, error, sentence):
    with pytest.raises(error, match=sentence):
        design(text, table).matrix(NamedTable(table, "imputation 1"))


def test_missing_values_are_refused(table):
    table.loc[:1, "x"] = np.nan

    with pytest.raises(AnalysisError, match="Column x has 2 missing values in imputation 3"):
        design("x", table).matrix(NamedTable(table, "imputation 3"))


def test_too_many_and_too_few_categories_are_refused():
    many = pd.DataFrame({"x": range(201), "name": [f"n{i}" for i in range(201)], "same": "a"})

    with pytest.raises(AnalysisError, match="has 201 categories, but at most 200"):
        design("name", many)
    with pytest.raises(AnalysisError, match="Column same has only one category"):
        design("same", many)


def test_a_category_that_the_imputations_lack_is_refused(table):
    with pytest.raises(AnalysisError, match="has no category 'q' in the imputations"):
        design("kind", table).matrix(NamedTable(table.assign(kind="q"), "the rows"))


def test_designs_that_would_take_all_memory_are_refused():
    many = pd.DataFrame({"x": range(150), "a": [f"n{i}" for i in range(150)]})
    many["b"] = many["a"]

    with pytest.raises(AnalysisError, match="up to 22,801 coefficients, which is too many for 150"):
        design("a * b", many)


@pytest.mark.parametrize(
    ("column", "levels", "expected"),
    [("kind", ["c", "a", "b"], ["kind[a]", "kind[b]"]), ("grade", None, ["grade[3]", "grade[10]"])],
)
def test_the_lowest_level_is_the_reference(table, column, levels, expected):
    rules = {} if levels is None else {column: {"levels": levels}}
    schema = Schema.infer(table, {column: "ordinal"}, rules)
    assert names(column, table, schema=schema) == ["Intercept", *expected]
    assert names(column, table, schema=Schema.infer(table).with_rules(rules)) != expected


def test_levels_that_nobody_declared_are_in_their_order():
    table = pd.DataFrame({"x": [1.0, 2.0, 3.0], "pain": ["severe", "none", "mild"]})
    schema = Schema.infer(table).with_roles({"pain": "ordinal"})
    assert names("pain", table, schema=schema) == ["Intercept", "pain[mild]", "pain[severe]"]
