"""A scenario as values of the lab's controls, for saved scenarios and shared links."""

from __future__ import annotations

from dashboard.amputation.scenario import Scenario


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
    """Return what a link may carry: no names of columns, which belong to the table."""
    values = control_values(scenario)
    del values["columns"]
    if values["proportions"] == "by_hand":
        del values["proportions"]
    return values
