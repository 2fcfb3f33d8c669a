"""Which columns lose cells, and how much of each stays observed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

import numpy as np

from pmae_core.errors import AmputationError
from pmae_core.words import listed

Pattern = Literal["monotone", "quasi-monotone", "general"]
Mechanism = Literal["MCAR", "MAR", "MNAR", "self-masking"]
Coupling = Literal["nested", "independent"]
Name = Any  # a column's name: any hashable

PATTERNS: tuple[str, ...] = get_args(Pattern)
MECHANISMS: tuple[str, ...] = get_args(Mechanism)
COUPLINGS: tuple[str, ...] = get_args(Coupling)

MODERATE = (0.2, 0.8)
NEARLY_COMPLETE = (0.95, 0.99)
MONOTONE_PROPORTION = 0.5
MONOTONE_SHARE = 0.6
# Share of columns that stay observed under MAR where the pattern itself would take all.
MAR_PREDICTOR_SHARE = 0.3
QUASI_SHARE = 0.6


def default_column_share(pattern: str, mechanism: str) -> float:
    """Return the share of columns that lose cells unless the user says otherwise."""
    if pattern == "monotone":
        return MONOTONE_SHARE
    return 1.0 - MAR_PREDICTOR_SHARE if mechanism == "MAR" else 1.0


def choose_columns(
    candidates: Sequence[Name], share: float, rng: np.random.Generator
) -> list[Name]:
    """Return a random share of the candidates (at least one), in their order."""
    count = max(1, round(share * len(candidates)))
    chosen = np.sort(rng.permutation(len(candidates))[:count])
    return [candidates[position] for position in chosen]


def draw_proportions(
    columns: Sequence[Name], pattern: str, coupling: str, rng: np.random.Generator
) -> dict[Name, float]:
    """Return the observed proportion ``p_j`` of each column that loses cells."""
    n_columns = len(columns)
    if pattern == "monotone":
        drawn = np.full(n_columns, MONOTONE_PROPORTION)
    elif pattern == "general":
        drawn = (
            np.clip(rng.uniform(size=n_columns), 0.1, 0.9)
            if coupling == "nested"
            else rng.uniform(*MODERATE, size=n_columns)
        )
    else:
        # The release and the paper's text exchange the two groups.
        first, second = (
            (MODERATE, NEARLY_COMPLETE) if coupling == "nested" else (NEARLY_COMPLETE, MODERATE)
        )
        in_first = rng.permutation(n_columns) < round(QUASI_SHARE * n_columns)
        drawn = np.where(
            in_first, rng.uniform(*first, size=n_columns), rng.uniform(*second, size=n_columns)
        )
    return dict(zip(columns, drawn.tolist(), strict=True))


def override_proportions(
    drawn: dict[Name, float], wanted: float | Mapping[Name, float] | None
) -> dict[Name, float]:
    """Replace drawn proportions by the user's: one for all columns, or some by name."""
    if wanted is None:
        return drawn
    by_name = wanted if isinstance(wanted, Mapping) else dict.fromkeys(drawn, wanted)
    strangers = [str(name) for name in by_name if name not in drawn]
    if strangers:
        raise AmputationError(
            f"Proportions are given for columns that lose no cells: {listed(strangers)}.",
            code="proportions-of-others",
            advice="Name these in `columns`, too, or leave out their proportions.",
        )
    for name, proportion in by_name.items():
        if not 0.0 <= proportion <= 1.0:
            raise AmputationError(
                f"The observed proportion of {name} must lie between 0 and 1, not {proportion}."
            )
    return {**drawn, **{name: float(proportion) for name, proportion in by_name.items()}}
