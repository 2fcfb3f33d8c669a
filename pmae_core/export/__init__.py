"""Export: the imputed table as files, a script that reproduces it, and text for a paper."""

from pmae_core.export.bundle import write_bundle
from pmae_core.export.excel import IMPUTED_COLOR, check_excel_size, write_imputed_excel
from pmae_core.export.imputation_bundle import ImputationManifest, ImputationSet, read_imputations
from pmae_core.export.imputations import (
    CODE_ENDINGS,
    IMPUTATION_ENDINGS,
    ImputationFormat,
    ImputationReading,
    imputation_format,
    imputation_reading,
    write_imputations,
)
from pmae_core.export.methods_text import MethodsText, escape_markdown, methods_paragraph
from pmae_core.export.recipe import Recipe, changed_roles
from pmae_core.export.script import command_line, reproduce_script
from pmae_core.table.io.formulas import escape_formula, escape_formulas, looks_like_formula

__all__ = [
    "CODE_ENDINGS",
    "IMPUTATION_ENDINGS",
    "IMPUTED_COLOR",
    "ImputationFormat",
    "ImputationManifest",
    "ImputationReading",
    "ImputationSet",
    "MethodsText",
    "Recipe",
    "changed_roles",
    "check_excel_size",
    "command_line",
    "escape_formula",
    "escape_formulas",
    "escape_markdown",
    "imputation_format",
    "imputation_reading",
    "looks_like_formula",
    "methods_paragraph",
    "read_imputations",
    "reproduce_script",
    "write_bundle",
    "write_imputations",
    "write_imputed_excel",
]
