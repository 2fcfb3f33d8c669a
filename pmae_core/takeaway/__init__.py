"""What users take away: the filled table, how it was made, and words for their paper."""

from pmae_core.takeaway.excel import IMPUTED_COLOUR, write_filled_excel
from pmae_core.takeaway.formulas import escape_formula, escape_formulas, looks_like_formula
from pmae_core.takeaway.recipe import Recipe, changed_roles
from pmae_core.takeaway.script import command_line, reproduce_script

__all__ = [
    "IMPUTED_COLOUR",
    "Recipe",
    "changed_roles",
    "command_line",
    "escape_formula",
    "escape_formulas",
    "looks_like_formula",
    "reproduce_script",
    "write_filled_excel",
]
