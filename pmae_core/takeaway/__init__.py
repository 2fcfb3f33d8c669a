"""What users take away: the filled table, how it was made, and words for their paper."""

from pmae_core.takeaway.excel import IMPUTED_COLOUR, write_filled_excel
from pmae_core.takeaway.formulas import escape_formula, escape_formulas, looks_like_formula

__all__ = [
    "IMPUTED_COLOUR",
    "escape_formula",
    "escape_formulas",
    "looks_like_formula",
    "write_filled_excel",
]
