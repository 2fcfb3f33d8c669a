"""Why a cell was filled as it was, which holes are none, and how far conclusions carry."""

from pmae_core.explain.cell_details import CellBiography, Spread, cell_biography
from pmae_core.explain.donors import Neighbourhood, Support, nearest_donors, support
from pmae_core.explain.structural import (
    Condition,
    StructuralHole,
    find_structural_holes,
    leave_alone,
)
from pmae_core.explain.trust import column_notes

__all__ = [
    "CellBiography",
    "Condition",
    "Neighbourhood",
    "Spread",
    "StructuralHole",
    "Support",
    "cell_biography",
    "column_notes",
    "find_structural_holes",
    "leave_alone",
    "nearest_donors",
    "support",
]
