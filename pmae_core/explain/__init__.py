"""Why a cell was filled as it was, which holes are none, and how far conclusions carry."""

from pmae_core.explain.cell_details import CellDetails, Spread, cell_details
from pmae_core.explain.donors import Neighborhood, Support, nearest_donors, support
from pmae_core.explain.structural import (
    Condition,
    StructuralMissingness,
    find_structural_missingness,
    leave_alone,
)
from pmae_core.explain.trust import column_notes

__all__ = [
    "CellDetails",
    "Condition",
    "Neighborhood",
    "Spread",
    "StructuralMissingness",
    "Support",
    "cell_details",
    "column_notes",
    "find_structural_missingness",
    "leave_alone",
    "nearest_donors",
    "support",
]
