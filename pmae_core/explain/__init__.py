"""What an imputed value rests on, which missing values are structural, which columns to doubt."""

from pmae_core.explain.cell_details import CellDetails, ImputationSpread, cell_details
from pmae_core.explain.conditions import Condition
from pmae_core.explain.donors import Neighborhood, Support, nearest_donors, support
from pmae_core.explain.structural import (
    StructuralMissingness,
    find_structural_missingness,
    leave_alone,
)
from pmae_core.explain.trust import column_notes

__all__ = [
    "CellDetails",
    "Condition",
    "ImputationSpread",
    "Neighborhood",
    "StructuralMissingness",
    "Support",
    "cell_details",
    "column_notes",
    "find_structural_missingness",
    "leave_alone",
    "nearest_donors",
    "support",
]
