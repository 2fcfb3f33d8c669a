"""From text to the terms of a regression, in the notation of R.

Grammar of the right-hand side, from weak to strong::

    terms       = ["+" | "-"] crossing {("+" | "-") crossing}
    crossing    = interaction {"*" interaction}
    interaction = power {":" power}
    power       = factors [("**" | "^") number]
    factors     = "(" terms ")" | "1" | "." | factor
    factor      = column | function "(" expression ")" | "I(" expression ")"
                | "C(" column ["," reference] ")"

The outcome left of ``~`` is an expression, or ``Surv(time, event)``. As in R, ``a * b`` is
``a + b + a:b``, ``(a + b + c) ** 2`` (or ``^ 2``) has all interactions of two, ``0`` or ``- 1``
leaves the intercept out, and ``.`` stands for all columns that are not in the outcome. Arithmetic
stands in ``I(...)``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from pmae_core.expressions.parsing import (
    FUNCTION_NAMES,
    check_end,
    read_expression,
    unexpected,
)
from pmae_core.expressions.tokens import (
    Token,
    TokenKind,
    TokenReader,
    quote_name,
    quote_text,
    refuse,
)
from pmae_core.expressions.tree import (
    FUNCTIONS,
    ColumnName,
    Constant,
    Expression,
    FunctionCall,
)
from pmae_core.words import count

MAX_TERMS = 500
MAX_CROSSING = 10
# Products of terms that may be looked at in total, many of which can be the same.
_MAX_PRODUCTS = 50_000
_ALLOWED = (
    "Allowed are column names, + - : * ** ( ) 0 1, C(column) for categories, I(...) for "
    f"arithmetic, and the functions {FUNCTION_NAMES}."
)
_ARITHMETIC_ADVICE = "Put arithmetic and comparisons in I(...), as in I(age ** 2) or I(age > 65)."


@dataclass(frozen=True)
class CategoryFactor:
    """A column as categories, as ``C(column)`` or ``C(column, "reference")`` asks for.

    Attributes
    ----------
    column : str
        Name of the column.
    reference : str or float, optional
        The category that the others are compared with.
    """

    column: str
    reference: str | float | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The column, as expressions have theirs."""
        return (self.column,)

    def __str__(self) -> str:
        name = quote_name(self.column)
        if self.reference is None:
            return f"C({name})"
        is_text = isinstance(self.reference, str)
        reference = quote_text(str(self.reference)) if is_text else _number(float(self.reference))
        return f"C({name}, {reference})"


Factor = Expression | CategoryFactor
"""What the terms of a formula are products of."""


@dataclass(frozen=True)
class Term:
    """A product of factors; without factors, the intercept. The order of factors is no matter.

    Attributes
    ----------
    factors : tuple of Expression or CategoryFactor
        The factors, each once.
    """

    factors: tuple[Factor, ...] = field(default=(), compare=False)
    _as_set: frozenset[Factor] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "factors", tuple(dict.fromkeys(self.factors)))
        object.__setattr__(self, "_as_set", frozenset(self.factors))

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns it refers to."""
        return tuple(dict.fromkeys(name for factor in self.factors for name in factor.columns))

    def __str__(self) -> str:
        return ":".join(map(_factor_text, self.factors)) or "1"


@dataclass(frozen=True)
class SurvivalOutcome:
    """The outcome ``Surv(time, event)`` of a Cox regression.

    Attributes
    ----------
    time, event : Expression
        Time until the event or the end of observation, and 1 where the event happened.
    """

    time: Expression
    event: Expression

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns it refers to."""
        return tuple(dict.fromkeys((*self.time.columns, *self.event.columns)))

    def __str__(self) -> str:
        return f"Surv({self.time}, {self.event})"


@dataclass(frozen=True)
class Formula:
    """A regression: its outcome and its terms.

    Attributes
    ----------
    outcome : Expression or SurvivalOutcome
        What is explained.
    terms : tuple of Term
        What explains it, main effects before interactions; the intercept is not among them.
    intercept : bool
        Whether there is an intercept.
    template : str, optional
        The right-hand side as typed, if it has a ``.`` that `for_columns` has yet to replace.
    """

    outcome: Expression | SurvivalOutcome
    terms: tuple[Term, ...]
    intercept: bool
    template: str | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of all columns that it names, those of the outcome first."""
        of_terms = (name for term in self.terms for name in term.columns)
        return tuple(dict.fromkeys((*self.outcome.columns, *of_terms)))

    def for_columns(self, names: Iterable[str]) -> Formula:
        """Return the formula with ``.`` replaced by all of these columns but the outcome's.

        Examples
        --------
        >>> print(parse_formula("y ~ . - b").for_columns(["a", "b", "y"]))
        y ~ a
        """
        if self.template is None:
            return self
        others = [name for name in names if name not in self.outcome.columns]
        return _right_hand_side(self.outcome, self.template, others)

    def __str__(self) -> str:
        if self.template is not None:
            return f"{self.outcome} ~ {self.template}"
        first = [] if self.intercept and self.terms else ["1" if self.intercept else "0"]
        return f"{self.outcome} ~ {' + '.join([*first, *map(str, self.terms)])}"


def parse_formula(text: str) -> Formula:
    """Read a formula such as ``log(wage) ~ education + age + C(sex)``.

    Nothing in the text is ever run as code.

    Parameters
    ----------
    text : str
        The outcome, which is an expression or ``Surv(time, event)``, then ``~``, then terms with
        ``+`` between them. ``a:b`` is an interaction, ``a * b`` is ``a + b + a:b``,
        ``(a + b) ** 2`` (or ``^ 2``) crosses all, ``- a`` removes a term, ``0`` or ``- 1`` removes
        the intercept, and ``.`` is every column that is not in the outcome. ``C(column)`` makes
        categories, ``C(column, "reference")`` names the one that others are compared with.
        Functions stand alone (``log(x)``), other arithmetic in ``I(...)``.

    Returns
    -------
    Formula
        Its outcome, terms and intercept.

    Raises
    ------
    ExpressionError
        If the text is anything else, or has too many terms. Its ``position`` says where.

    Examples
    --------
    >>> formula = parse_formula("log(wage) ~ C(sex) * age + I(age ^ 2)")
    >>> [str(term) for term in formula.terms]
    ['C(sex)', 'age', 'I(age ** 2)', 'C(sex):age']
    >>> formula.columns
    ('wage', 'sex', 'age')
    """
    reader = TokenReader(text)
    outcome = _read_outcome(reader)
    reader.expect("~", "A formula is written as outcome ~ terms.")
    return _right_hand_side(outcome, text, None, start=reader.next.position)


def _right_hand_side(
    outcome: Expression | SurvivalOutcome,
    text: str,
    others: Sequence[str] | None,
    start: int = 0,
) -> Formula:
    """Read the terms; `others` are what a dot stands for, None if that is not known yet."""
    # Blanks keep the positions that errors name.
    parser = _TermParser(TokenReader(" " * start + text[start:]), others)
    terms = parser.read_all()
    if parser.has_dot and others is None:
        return Formula(outcome, (), True, template=text[start:].strip())
    explaining = sorted((term for term in terms if term.factors), key=lambda t: len(t.factors))
    return Formula(outcome, tuple(explaining), intercept=Term() in terms)


def _read_outcome(reader: TokenReader) -> Expression | SurvivalOutcome:
    is_survival = reader.next.value == "Surv" and reader.after_next.is_sign("(")
    if not is_survival or reader.next.kind is not TokenKind.NAME:
        return read_expression(reader)
    advice = "A survival outcome is written as Surv(time, event)."
    reader.read()
    reader.expect("(")
    time = read_expression(reader)
    reader.expect(",", advice)
    event = read_expression(reader)
    reader.expect(")", advice)
    return SurvivalOutcome(time, event)


def _number(value: float) -> str:
    return f"-{Constant(-value)}" if value < 0 else str(Constant(value))


def _factor_text(factor: Factor) -> str:
    stands_alone = isinstance(factor, CategoryFactor | ColumnName | FunctionCall)
    return str(factor) if stands_alone else f"I({factor})"


class _TermParser:
    """Reads terms and multiplies them out, within a budget."""

    def __init__(self, reader: TokenReader, others: Sequence[str] | None) -> None:
        self._reader = reader
        self._others = others
        self._n_products = 0
        self.has_dot = False

    def read_all(self) -> list[Term]:
        """Read all terms up to the end; the intercept is one of them unless it was removed."""
        terms = self._read_terms([Term()], top=True)
        if self._reader.next.is_sign("/", "<", "<=", ">", ">=", "==", "!="):
            raise unexpected(self._reader.next, _ARITHMETIC_ADVICE)
        check_end(self._reader, _ALLOWED)
        return terms

    def _read_terms(self, terms: list[Term], *, top: bool) -> list[Term]:
        sign = self._reader.read_if("+", "-")
        while True:
            is_removal = sign is not None and sign.value == "-"
            if top and self._at_zero():
                self._reader.read()
                is_removal, given = not is_removal, [Term()]
            else:
                given = self._read_crossing()
            terms = self._without(terms, given, sign) if is_removal else self._with(terms, given)
            sign = self._reader.read_if("+", "-")
            if sign is None:
                return terms

    def _at_zero(self) -> bool:
        token, behind = self._reader.next, self._reader.after_next
        ends = behind.kind is TokenKind.END or behind.is_sign("+", "-")
        return token.kind is TokenKind.NUMBER and float(token.value) == 0 and ends

    def _with(self, terms: Iterable[Term], more: Iterable[Term]) -> list[Term]:
        united = list(dict.fromkeys((*terms, *more)))
        if len(united) > MAX_TERMS:
            raise self._too_many(f"The formula has more than {count(MAX_TERMS, 'term')}")
        return united

    def _without(
        self, terms: list[Term], removed: Iterable[Term], sign: Token | None
    ) -> list[Term]:
        gone = set(removed)
        unknown = [term for term in gone if term.factors and term not in terms]
        if unknown and sign and not (self.has_dot and self._others is None):
            raise refuse(f"There is no term {unknown[0]} to remove", sign.position)
        return [term for term in terms if term not in gone]

    def _too_many(self, problem: str) -> Exception:
        return refuse(problem, self._reader.next.position, "Leave some terms or crossings out.")

    def _read_crossing(self) -> list[Term]:
        terms = self._read_interaction()
        while self._reader.read_if("*"):
            other = self._read_interaction()
            terms = self._with(self._with(terms, other), self._products(terms, other))
        return terms

    def _read_interaction(self) -> list[Term]:
        terms = self._read_power()
        while self._reader.read_if(":"):
            terms = self._with((), self._products(terms, self._read_power()))
        return terms

    def _read_power(self) -> list[Term]:
        is_group = self._reader.next.is_sign("(", ".")
        base = self._read_factors()
        sign = self._reader.read_if("**", "^")
        if sign is None:
            return base
        if not is_group:
            raise refuse(
                f"`{sign.value}` crosses terms in a formula, as in (a + b) ** 2",
                sign.position,
                f"For a power of a column write I({base[0]} ** 2).",
            )
        terms = base
        for _ in range(self._read_order() - 1):
            terms = self._with(terms, self._products(terms, base))
        return terms

    def _read_order(self) -> int:
        token = self._reader.read()
        is_order = token.kind is TokenKind.NUMBER and token.value.isdecimal()
        if not is_order or not 1 <= float(token.value) <= MAX_CROSSING:
            raise refuse(
                f"A whole number from 1 to {MAX_CROSSING} is expected here, but {token} follows",
                token.position,
            )
        return int(token.value)

    def _products(self, left: Sequence[Term], right: Sequence[Term]) -> Iterator[Term]:
        self._n_products += len(left) * len(right)
        if self._n_products > _MAX_PRODUCTS:
            raise self._too_many("The formula crosses too many terms")
        return (Term((*one.factors, *other.factors)) for one in left for other in right)

    def _read_factors(self) -> list[Term]:
        token = self._reader.read()
        if token.is_sign("("):
            with self._reader:
                terms = self._read_terms([], top=False)
            self._reader.expect(")", _ALLOWED)
            return terms
        if token.is_sign("."):
            self.has_dot = True
            return self._with((), (Term((ColumnName(name),)) for name in self._others or ()))
        if token.kind is TokenKind.NUMBER:
            if float(token.value) == 1:
                return [Term()]
            raise refuse(
                f"{token} is not a term: only 0 and 1 can stand alone, for the intercept",
                token.position,
                _ARITHMETIC_ADVICE,
            )
        return [Term((self._read_factor(token),))]

    def _read_factor(self, token: Token) -> Factor:
        if token.kind is TokenKind.NAME and self._reader.next.is_sign("("):
            return self._read_call(token)
        if token.kind in (TokenKind.NAME, TokenKind.QUOTED_NAME):
            return ColumnName(token.value)
        raise unexpected(token, _ALLOWED)

    def _read_call(self, name: Token) -> Factor:
        if name.value not in ("C", "I", *FUNCTIONS):
            raise refuse(
                f"{name} is not a function",
                name.position,
                f"The functions are {FUNCTION_NAMES}, and C(...) and I(...).",
            )
        self._reader.expect("(")
        with self._reader:
            inner = self._read_category() if name.value == "C" else read_expression(self._reader)
        self._reader.expect(")")
        if isinstance(inner, Expression) and name.value in FUNCTIONS:
            return FunctionCall(name.value, inner)
        return inner

    def _read_category(self) -> CategoryFactor:
        token = self._reader.read()
        if token.kind not in (TokenKind.NAME, TokenKind.QUOTED_NAME):
            raise unexpected(token, "C(...) takes a column name.")
        if not self._reader.read_if(","):
            return CategoryFactor(token.value)
        sign = -1.0 if self._reader.read_if("-") else 1.0
        reference = self._reader.read()
        if reference.kind is TokenKind.NUMBER:
            return CategoryFactor(token.value, sign * float(reference.value))
        if reference.kind is TokenKind.TEXT and sign > 0:
            return CategoryFactor(token.value, reference.value)
        raise unexpected(reference, 'The reference category is text in quotes: C(sex, "Female").')
