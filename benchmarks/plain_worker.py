"""The part that all workers of other packages share: read a table, impute it, write it.

It needs pandas and the standard library only, as other packages have environments of their own.
See `benchmarks/exchange.py` for what is in the folder.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path

import pandas as pd

from benchmarks.metering import metered

Impute = Callable[[pd.DataFrame, list[str], int, int], list[pd.DataFrame]]


def work(arguments: Sequence[str], impute: Impute, packages: Sequence[str]) -> None:
    """Impute the table of a folder, and write what was imputed and its cost.

    Parameters
    ----------
    arguments : sequence of str
        The folder, the seed, and how many random imputations; 0 for the package's own answer.
    impute : callable
        Takes the table, the names of its categorical columns, the seed and the number of
        imputations, and returns complete tables.
    packages : sequence of str
        Packages whose versions are noted.
    """
    folder, seed, n_imputations = Path(arguments[0]), int(arguments[1]), int(arguments[2])
    roles = json.loads((folder / "roles.json").read_text())
    table = pd.read_csv(folder / "table.csv", dtype=float, float_precision="round_trip")
    categorical = [name for name, role in roles.items() if role == "categorical"]
    with metered() as cost:
        imputed = impute(table, categorical, seed, n_imputations)
    pd.concat(imputed).to_csv(folder / "imputed.csv", index=False)
    versions = {name: version(name) for name in packages}
    (folder / "cost.json").write_text(json.dumps({**cost, "versions": versions}))
