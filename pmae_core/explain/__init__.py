"""Why a cell was filled as it was, which holes are none, and how far conclusions carry."""

from pmae_core.explain.donors import Neighbourhood, Support, nearest_donors, support
from pmae_core.explain.structural import (
    Condition,
    StructuralHole,
    find_structural_holes,
    leave_alone,
)

__all__ = [
    "Condition",
    "Neighbourhood",
    "StructuralHole",
    "Support",
    "find_structural_holes",
    "leave_alone",
    "nearest_donors",
    "support",
]
