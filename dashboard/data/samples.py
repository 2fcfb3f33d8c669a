"""The tables that can be opened by name."""

from collections.abc import Sequence

from dashboard.state.table_state import OpenTable
from pmae_core.table import DatasetInfo, list_datasets
from pmae_core.words import count, listed


def sample_of(table: OpenTable) -> DatasetInfo | None:
    """Return which sample the open table is; None if it is the user's own."""
    samples = (info for info in list_datasets() if info.name == table.name)
    return next((info for info in samples if table.source.endswith(info.title)), None)


def label(info: DatasetInfo) -> str:
    """Return a table's name with its size, for a list to choose from."""
    download = "" if info.available else ", download"
    return f"{info.name} ({count(info.n_rows, 'row')}{download})"


def help_text(infos: Sequence[DatasetInfo]) -> str:
    """Return where the tables come from."""
    bundled = [info.name for info in infos if info.kind == "sample"]
    return f"{listed(bundled, most=len(bundled))} come with the app; the others are from the paper."


def origin(info: DatasetInfo) -> str:
    """Return title, source and license of a table, as sentences."""
    facts = (info.title, f"Source: {info.source}", f"License: {info.license}")
    return " ".join(fact.rstrip(".") + "." for fact in facts)
