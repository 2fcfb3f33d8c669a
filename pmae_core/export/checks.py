"""Whether imputations belong to the table that they are exported with."""

from __future__ import annotations

import pandas as pd

from pmae_core.errors import ImputationError


def check_imputation(number: int, original: pd.DataFrame, imputed: pd.DataFrame) -> None:
    """Refuse an imputation whose rows, columns or observed cells are not those of the original.

    Parameters
    ----------
    number : int
        Number of the imputation, for the message.
    original, imputed : DataFrame
        The table with its missing values, and the imputed one.
    """
    if not (original.index.equals(imputed.index) and original.columns.equals(imputed.columns)):
        raise ImputationError(
            f"Imputation {number} has other rows or columns than the original table. Give both in "
            "the same order."
        )
    for name in original.columns:
        if not _keeps_observed(original[name], imputed[name]):
            raise ImputationError(
                f"Imputation {number} changes observed cells of column {str(name)!r}. Give the "
                "table that was imputed as the original."
            )


def _keeps_observed(before: pd.Series, after: pd.Series) -> bool:
    observed = before.notna().to_numpy()
    before, after = before[observed], after[observed]
    try:
        same = before == after
    except TypeError:
        # Category columns with different categories are only compared as objects.
        same = before.astype(object) == after.astype(object)
    return bool(same.fillna(False).all())
