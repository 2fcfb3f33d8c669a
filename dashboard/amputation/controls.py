"""A scenario as values of the lab's controls, for saved scenarios and shared links."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from dashboard.amputation.scenario import Base, Kind, Scenario
from dashboard.state.allowed_values import AllowedValues, Choice, NumberWithin, TrueOrFalse
from dashboard.widgets.seed import LARGEST_SEED
from pmae_core.amputation.patterns import Coupling, Mechanism, Pattern

SETTINGS: Mapping[str, AllowedValues] = {
    "kind": Choice(get_args(Kind)),
    "base": Choice(get_args(Base)),
    "pattern": Choice(get_args(Pattern)),
    "mechanism": Choice(get_args(Mechanism)),
    "coupling": Choice(get_args(Coupling)),
    "proportions": Choice(("drawn", "one", "by_hand")),
    "proportion": NumberWithin(0.05, 0.95),
    "own_share": TrueOrFalse(),
    "column_share": NumberWithin(0.1, 1.0),
    "seed": NumberWithin(0, LARGEST_SEED),
}
"""The controls whose values a link may carry; names of columns belong to the table."""

SHARE_BY_HAND = NumberWithin(0.0, 100.0)
"""Percent of the rows in which a column is observed."""


def control_values(scenario: Scenario) -> dict[str, object]:
    """Return the values of the controls that make this scenario.

    Examples
    --------
    >>> control_values(Scenario(mechanism="MCAR", proportions=0.4))["proportion"]
    0.4
    """
    proportions = scenario.proportions
    by_hand = isinstance(proportions, dict)
    values = {
        "kind": scenario.kind,
        "base": scenario.base,
        "pattern": scenario.pattern,
        "mechanism": scenario.mechanism,
        "columns": list(scenario.columns or ()),
        "proportions": "by_hand" if by_hand else "drawn" if proportions is None else "one",
        "own_share": scenario.column_share is not None,
        "seed": scenario.seed,
    }
    if scenario.coupling is not None:
        values["coupling"] = scenario.coupling
    if isinstance(proportions, float):
        values["proportion"] = proportions
    if scenario.column_share is not None:
        values["column_share"] = scenario.column_share
    return values


def shareable_values(scenario: Scenario) -> dict[str, object]:
    """Return what a link carries: no names of columns, which belong to the table."""
    values = control_values(scenario)
    del values["columns"]
    if values["proportions"] == "by_hand":
        del values["proportions"]
    return values


def shares_by_hand(kept: object) -> dict[str, float]:
    """Return the shares that were entered by hand, of whatever the workspace keeps of them.

    Examples
    --------
    >>> shares_by_hand({"x": 50, "y": "many"}), shares_by_hand(None)
    ({'x': 50}, {})
    """
    if not isinstance(kept, dict):
        return {}
    return {name: share for name, share in kept.items() if SHARE_BY_HAND.allows(share)}
