"""Methods by the names that readers know."""

import pandas as pd

from dashboard.widgets.methods import known_methods


def method_titles() -> dict[str, str]:
    """Return the title of each method by its name."""
    return {name: info.title for name, info in known_methods().items()}


def with_titles(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows whose methods have their titles; references such as "true data" stay."""
    return rows if rows.empty else rows.assign(method=rows["method"].replace(method_titles()))
