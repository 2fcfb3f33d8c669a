"""Fixed imputations of a small table, and what R finds in them.

``python -m tests.support.r_oracle.make`` writes both files anew. It needs R with the packages mice,
mitml, survival, sandwich and jsonlite; the tests read the files and need none of it.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd

FOLDER = Path(__file__).parent
IMPUTATIONS = FOLDER / "imputations.csv"
FIGURES = FOLDER / "figures.json"
COMMAND = "python -m tests.support.r_oracle.make"
N_ROWS, N_IMPUTATIONS = 120, 6


def make_imputations(seed: int = 0) -> pd.DataFrame:
    """Return imputations one below the other; columns x and kind differ between them."""
    rng = np.random.default_rng(seed)
    table = _complete_table(rng)
    missing_x, missing_kind = rng.random((2, N_ROWS)) < [[0.35], [0.2]]
    imputations = []
    for number in range(1, N_IMPUTATIONS + 1):
        imputed = table.copy()
        guess = 0.4 * (table["y"] - table["y"].mean()) + rng.normal(0, 0.9, N_ROWS)
        imputed.loc[missing_x, "x"] = guess[missing_x].round(3)
        imputed.loc[missing_kind, "kind"] = rng.choice(list("abc"), missing_kind.sum())
        imputations.append(imputed.assign(imputation=number))
    return pd.concat(imputations, ignore_index=True)


def _complete_table(rng: np.random.Generator) -> pd.DataFrame:
    x = rng.normal(size=N_ROWS)
    kind = rng.choice(list("abc"), N_ROWS, p=[0.5, 0.3, 0.2])
    sex = rng.choice(["Female", "Male"], N_ROWS)
    age = rng.integers(20, 80, N_ROWS)
    effect = 0.5 * x + 0.6 * (kind == "b") - 0.4 * (sex == "Male")
    return pd.DataFrame(
        {
            "x": x.round(3),
            "kind": kind,
            "sex": sex,
            "age": age,
            "town": rng.integers(1, 16, N_ROWS),
            "weight": rng.uniform(0.5, 2, N_ROWS).round(2),
            "y": (1 + effect + rng.normal(size=N_ROWS)).round(3),
            "died": (rng.random(N_ROWS) < 1 / (1 + np.exp(-effect))).astype(int),
            "visits": rng.poisson(np.exp(0.5 * effect + 0.01 * age)),
            "time": rng.exponential(8 * np.exp(-effect)).round(1) + 0.1,
            "event": (rng.random(N_ROWS) < 0.7).astype(int),
        }
    )


def main() -> None:
    make_imputations().to_csv(IMPUTATIONS, index=False)
    run = subprocess.run(
        ["Rscript", FOLDER / "fit.R", IMPUTATIONS], check=True, capture_output=True, text=True
    )
    figures = {"command": COMMAND, **json.loads(run.stdout)}
    FIGURES.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
