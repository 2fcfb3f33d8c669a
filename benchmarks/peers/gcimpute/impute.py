"""Impute one table with the package gcimpute, in an environment of its own.

    python -m benchmarks.peers.gcimpute.impute FOLDER SEED

See `benchmarks/exchange.py` for what is in the folder.
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from pathlib import Path

import pandas as pd
from gcimpute.gaussian_copula import GaussianCopula

from benchmarks.metering import metered

PACKAGES = ("gcimpute", "numpy", "pandas", "scipy", "statsmodels")


def imputed_table(table: pd.DataFrame, categorical: list[str], seed: int) -> pd.DataFrame:
    """Impute with codes of categories as ordinal values: it has no other type for categories."""
    copula = GaussianCopula(random_state=seed)
    # It chooses the types of numbers itself; its authors warn that a wrong type makes a fit
    # diverge. But in this version every table with a "truncated" column, one with many equal
    # values at an end, raises an error: numbers in truncated columns get equal bounds, which
    # a check for ordinal columns refuses. These are ordinal here, which it chooses for all other
    # columns with a frequent value.
    types = copula.get_vartype_indices(table.to_numpy())
    ordinal = [
        position
        for position, name in enumerate(table.columns)
        if name in categorical or types[position].endswith("_truncated")
    ]
    # An empty list is not understood as "none".
    cells = copula.fit_transform(table.to_numpy(), ordinal=ordinal or None)
    return pd.DataFrame(cells, columns=table.columns)


def main(folder: Path, seed: int) -> None:
    """Read the table, impute it, and write the result and its cost."""
    roles = json.loads((folder / "roles.json").read_text())
    table = pd.read_csv(folder / "table.csv", dtype=float, float_precision="round_trip")
    categorical = [name for name, role in roles.items() if role == "categorical"]
    with metered() as cost:
        imputed = imputed_table(table, categorical, seed)
    imputed.to_csv(folder / "imputed.csv", index=False)
    versions = {name: version(name) for name in PACKAGES}
    (folder / "cost.json").write_text(json.dumps({**cost, "versions": versions}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
