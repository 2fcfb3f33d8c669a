"""How well incomplete columns connect to each other: influx and outflux."""

from __future__ import annotations

import numpy as np
import pandas as pd

from pmae_core.missingness.patterns import MissingPatterns, find_patterns


def measure_flux(table: pd.DataFrame | MissingPatterns) -> pd.DataFrame:
    """Measure how well each column can be imputed from others and can help to impute others.

    Parameters
    ----------
    table : DataFrame or MissingPatterns
        The table, or its patterns if they were found before.

    Returns
    -------
    DataFrame
        For each column ``p_obs``, ``influx`` and ``outflux``.

        Influx: of all observed cells, the share that stands in rows in which this column is
        missing. 0 for a complete column; high if much is observed where the column is missing.
        Outflux: of all missing cells, the share that stands in rows in which this column is
        observed. 1 for a complete column, 0 for an empty one; columns with a high outflux are
        the ones that can help to impute the rest. Undefined (NaN) if nothing is observed, or
        nothing is missing.

    References
    ----------
    van Buuren: Flexible Imputation of Missing Data, 2nd edition, 2018, section 4.1.3.

    Examples
    --------
    >>> df = pd.DataFrame({"a": [1, 2, 3], "b": [1, 2, None], "c": [None, 2, None]})
    >>> measure_flux(df).round(2).loc["b"].to_dict()
    {'p_obs': 0.67, 'influx': 0.17, 'outflux': 0.33}
    """
    patterns = find_patterns(table)
    d = len(patterns.columns)
    n_missing = patterns.n_missing.astype(float)
    # For each column: cells that are missing in those rows in which it is missing itself.
    missing_beside = patterns.missing_together.sum(axis=1)
    total_missing = n_missing.sum()
    total_observed = patterns.n_rows * d - total_missing
    with np.errstate(invalid="ignore"):
        influx = (d * n_missing - missing_beside) / total_observed
        outflux = (total_missing - missing_beside) / total_missing
    return pd.DataFrame(
        {"p_obs": patterns.p_obs, "influx": influx, "outflux": outflux}, index=patterns.columns
    )
