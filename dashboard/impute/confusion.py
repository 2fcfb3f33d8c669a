"""Which category was imputed for which: held-out cells of a comparison, truth against imputed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from dashboard.compare.tables import points_of
from pmae_core.colors import IMPUTED, MISSING, tint
from pmae_core.evaluation import Comparison
from pmae_core.words import count, percent

MOST_CATEGORIES = 10
OTHER = "(other)"


@dataclass(frozen=True, eq=False)
class Confusion:
    """Held-out cells of a column by their true and their imputed category.

    Attributes
    ----------
    method : str
        The method of the comparison that imputed them.
    counts : DataFrame of int
        One row per true, one column per imputed category, the most frequent first. Rare ones are
        together in ``(other)``.
    n_correct : int
        How many cells got their true category.
    largest_share : float
        The share of the most frequent true category: what a constant guess would get right.
    """

    method: str
    counts: pd.DataFrame
    n_correct: int
    largest_share: float

    @property
    def n_cells(self) -> int:
        """How many cells were held out."""
        return int(self.counts.to_numpy().sum())

    def sentence(self, title: str) -> str:
        """Say how often the method, called by its `title`, was right."""
        return (
            f"{title} imputed the true category in {percent(self.n_correct / self.n_cells)} of "
            f"{count(self.n_cells, 'held-out cell')}; always imputing the most frequent one gets "
            f"{percent(self.largest_share)}."
        )


def confusion_of(comparison: Comparison, method: str | None, column: str) -> Confusion | None:
    """Return how categories of a column were mixed up on held-out cells.

    Parameters
    ----------
    comparison : Comparison
        Of methods on the table.
    method : str or None
        The method to look at; if the comparison lacks it, the best one is taken.
    column : str
        A column.

    Returns
    -------
    Confusion or None
        None if no held-out cells of the column are kept, or its values are numbers.
    """
    for name in dict.fromkeys((method, comparison.best_method())):
        cells = points_of(comparison, name or "", column)
        if any(isinstance(cell, str) for cell in cells["truth"]):
            return _confusion(name or "", cells["truth"], cells["imputed"])
    return None


def _confusion(method: str, truth: Sequence[Any], imputed: Sequence[Any]) -> Confusion:
    cells = pd.DataFrame({"truth": truth, "imputed": imputed})
    n_correct = int((cells["truth"] == cells["imputed"]).sum())
    largest = float(cells["truth"].value_counts(normalize=True).iloc[0])
    labels = list(pd.concat([cells["truth"], cells["imputed"]]).value_counts().index)
    kept = labels if len(labels) <= MOST_CATEGORIES else [*labels[: MOST_CATEGORIES - 1], OTHER]
    grouped = cells.where(cells.isin(kept), OTHER)
    counts = pd.crosstab(grouped["truth"], grouped["imputed"])
    return Confusion(
        method, counts.reindex(index=kept, columns=kept, fill_value=0), n_correct, largest
    )


def marked(confusion: Confusion) -> Any:
    """Return the counts as a pandas Styler: correct ones green, wrong ones orange, by row share."""
    counts = confusion.counts
    shares = counts.div(counts.sum(axis=1).clip(lower=1), axis=0).to_numpy()
    is_correct = np.array(counts.index)[:, None] == np.array(counts.columns)[None, :]
    is_correct &= np.array(counts.index)[:, None] != OTHER  # rare ones may differ from each other
    styles = [
        [
            f"background-color: {tint(IMPUTED if correct else MISSING, 0.6 * float(share))}"
            for correct, share in zip(correct_row, share_row, strict=True)
        ]
        for correct_row, share_row in zip(is_correct, shares, strict=True)
    ]
    table = pd.DataFrame(styles, index=counts.index, columns=counts.columns)
    shown = counts.rename_axis(index="Truth", columns=None)
    return shown.style.apply(lambda _: table, axis=None)
