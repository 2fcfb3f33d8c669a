"""Expressions and formulas that users type: read by a grammar of our own, never run as Python."""

from pmae_core.expressions.formulas import (
    CategoryFactor,
    Factor,
    Formula,
    SurvivalOutcome,
    Term,
    parse_formula,
)
from pmae_core.expressions.parsing import parse_expression
from pmae_core.expressions.tokens import quote_name, quote_text
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
    check_names,
)

__all__ = [
    "FUNCTIONS",
    "Arithmetic",
    "CategoryFactor",
    "ColumnName",
    "Constant",
    "Expression",
    "Factor",
    "Formula",
    "FunctionCall",
    "Negation",
    "Power",
    "Relation",
    "SurvivalOutcome",
    "Term",
    "check_names",
    "parse_expression",
    "parse_formula",
    "quote_name",
    "quote_text",
]
