"""Charts of a page under test, by the key of their figure."""

from __future__ import annotations

from typing import Any


def chart_key(chart: Any) -> str:
    """Return the key that ``show_figure`` got: Streamlit ends a chart's id with it."""
    # $$ID-<hash>-<key>:chart
    return str(chart.proto.id).split("-", 2)[2].removesuffix(":chart")
