import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pmae_core.errors import ExpressionError
from pmae_core.expressions import (
    CategoryFactor,
    ColumnName,
    Formula,
    SurvivalOutcome,
    Term,
    parse_expression,
    parse_formula,
)


def terms(right: str) -> list[str]:
    formula = parse_formula(f"y ~ {right}")
    return [*(["1"] if formula.intercept else []), *map(str, formula.terms)]


@pytest.mark.parametrize(
    ("right", "expected"),
    [
        ("a", ["1", "a"]),
        ("1", ["1"]),
        ("0", []),
        ("a + a", ["1", "a"]),
        ("0 + a", ["a"]),
        ("a - 1", ["a"]),
        ("-1 + a", ["a"]),
        ("a + 0 + 1", ["1", "a"]),
        ("a - 0", ["1", "a"]),
        ("a:b", ["1", "a:b"]),
        ("b:a + a:b", ["1", "b:a"]),
        ("a:a", ["1", "a"]),
        ("a * b", ["1", "a", "b", "a:b"]),
        ("a * b - a", ["1", "b", "a:b"]),
        ("a:b + c", ["1", "c", "a:b"]),
        ("(a + b) * c", ["1", "a", "b", "c", "a:c", "b:c"]),
        ("(a + b + c) ** 2", ["1", "a", "b", "c", "a:b", "a:c", "b:c"]),
        ("(a + b) ^ 2", ["1", "a", "b", "a:b"]),
        ("(a + b + c) ** 3 - a:b:c", ["1", "a", "b", "c", "a:b", "a:c", "b:c"]),
        ("a * b * c", ["1", "a", "b", "c", "a:b", "a:c", "b:c", "a:b:c"]),
        ("a:b * c", ["1", "c", "a:b", "a:b:c"]),
        ("(1 + a):b", ["1", "b", "a:b"]),
        ("log(a) + I(a^2)", ["1", "log(a)", "I(a ** 2)"]),
        ("I(a + b)", ["1", "I(a + b)"]),
        ('I(a == "x"):b', ["1", 'I(a == "x"):b']),
        ('C(a, "x") + C(`b c`, 2)', ["1", 'C(a, "x")', "C(`b c`, 2)"]),
        ("I + C", ["1", "I", "C"]),
    ],
)
def test_terms_are_those_of_r(right, expected):
    assert terms(right) == expected


def test_the_outcome_is_an_expression():
    formula = parse_formula("log(wage / 40) ~ age")

    assert formula.outcome == parse_expression("log(wage / 40)")
    assert formula.columns == ("wage", "age")


def test_a_survival_outcome_has_two_parts():
    formula = parse_formula("Surv(time, status == 2) ~ age")

    assert formula.outcome == SurvivalOutcome(ColumnName("time"), parse_expression("status == 2"))
    assert formula.columns == ("time", "status", "age")


def test_a_category_has_a_reference():
    (term,) = parse_formula('y ~ C(sex, "Fe""male")').terms

    assert term.factors == (CategoryFactor("sex", 'Fe"male'),)


def test_the_order_of_factors_does_not_matter():
    a, b = ColumnName("a"), ColumnName("b")

    assert Term((a, b)) == Term((b, a))
    assert hash(Term((a, b))) == hash(Term((b, a)))
    assert Term((a, b)) != Term((a,))


@pytest.mark.parametrize(
    ("right", "expected"),
    [
        (".", "y ~ a + b + `c d`"),
        (". - b", "y ~ a + `c d`"),
        (". - 1", "y ~ 0 + a + b + `c d`"),
        (". + log(a)", "y ~ a + b + `c d` + log(a)"),
        ("(.) ** 2 - a:b", "y ~ a + b + `c d` + a:`c d` + b:`c d`"),
        (".:a", "y ~ a + b:a + `c d`:a"),
        ("b", "y ~ b"),
    ],
)
def test_a_dot_is_every_other_column(right, expected):
    formula = parse_formula(f"y ~ {right}")

    assert str(formula.for_columns(["a", "y", "b", "c d"])) == expected
    assert parse_formula(str(formula)) == formula


FACTORS = st.one_of(
    st.builds(ColumnName, st.text(max_size=6)),
    st.builds(
        CategoryFactor,
        st.text(max_size=6),
        st.none() | st.text(max_size=6) | st.floats(-1e6, 1e6, allow_nan=False),
    ),
    st.sampled_from(["x > 3", "a / b", "log(x)", "-x", "x ** 2"]).map(parse_expression),
)
TERMS = st.lists(FACTORS, min_size=1, max_size=3).map(lambda factors: Term(tuple(factors)))


@given(st.lists(TERMS, max_size=5, unique=True), st.booleans())
def test_what_is_written_is_read_as_the_same(some, intercept):
    ordered = sorted(some, key=lambda term: len(term.factors))
    formula = Formula(ColumnName("y"), tuple(ordered), intercept)

    assert parse_formula(str(formula)) == formula


@given(st.text(alphabet="ab1.0+-*^:()~ ICSurv,'`\"<", max_size=50))
@settings(max_examples=300)
def test_any_text_is_read_or_refused(text):
    try:
        formula = parse_formula("y ~ " + text)
    except ExpressionError as error:
        assert error.position is not None
    else:
        assert parse_formula(str(formula)) == formula


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("y", "`~` is expected here, but the end follows .* outcome ~ terms"),
        ("~ x", "`~` is not allowed here"),
        ("y ~", "ends too early"),
        ("y ~ x ~ z", "`~` is not allowed here"),
        ("y ~ x ^ 2", r"crosses terms .* write I\(x \*\* 2\)"),
        ("y ~ x / z", r"Put arithmetic and comparisons in I\(...\)"),
        ("y ~ x > 2", r"Put arithmetic and comparisons in I\(...\)"),
        ("y ~ 2 * x", "only 0 and 1 can stand alone"),
        ("y ~ 0 * x", "only 0 and 1 can stand alone"),
        ("y ~ x - z", "no term z to remove"),
        ("y ~ (a + b) ** 11", "from 1 to 10"),
        ("y ~ (a + b) ** 1.5", "from 1 to 10"),
        ("y ~ (a + b) ** x", "from 1 to 10"),
        ("y ~ (a + b) ** -1", "from 1 to 10"),
        ("y ~ C(a + b)", "is expected here"),
        ("y ~ C(log(a))", "is expected here"),
        ("y ~ C(a, b)", "text in quotes"),
        ("y ~ C(a, -'b')", "text in quotes"),
        ("y ~ log(C(a))", "`C` is not a function"),
        ("y ~ bs(x, 3)", "`bs` is not a function"),
        ("y ~ __import__('os')", "`__import__` is not a function"),
        ("y ~ 'x'", "not allowed here"),
        ("y ~ a b", "`b` is not allowed here"),
        ("y ~ a %in% b", "`%` is not allowed"),
        ("y | z ~ a", r"`\|` is not allowed"),
        ("Surv(time) ~ a", r"Surv\(time, event\)"),
        ("Surv(a, b, c) ~ a", r"Surv\(time, event\)"),
        ("y ~ Surv(a, b)", "`Surv` is not a function"),
        ("y ~ " + "(" * 1000, "levels deep"),
        ("y ~ I(" + "-" * 1000 + "x)", "levels deep"),
        ("y ~ " + "+".join(f"x{i}" for i in range(501)), "more than 500 terms"),
        ("y ~ (" + "+".join(f"x{i}" for i in range(60)) + ") ** 2", "more than 500 terms"),
    ],
)
def test_what_is_no_formula_is_refused(text, sentence):
    with pytest.raises(ExpressionError, match=sentence):
        parse_formula(text)


def test_crossing_stops_before_it_takes_long():
    crossed = "(a + b + c + d + e + f + g + h) ** 8"
    text = "y ~ " + " * ".join([crossed] * 200)

    with pytest.raises(ExpressionError, match="crosses too many"):
        parse_formula(text)
