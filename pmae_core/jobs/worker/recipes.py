"""From a finished job to the recipe that fills its table again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from pmae_core.errors import JobError
from pmae_core.export import Recipe, changed_roles
from pmae_core.jobs.params import left_alone
from pmae_core.jobs.spec import JobSpec
from pmae_core.table import Schema

TABLE_FILE = "table.parquet"
MODEL_FILE = "model.safetensors"
# Not the names of what is taken away: a script that is run must not write over it.
AGAIN_FILE, IMPUTED_AGAIN_FILE = "filled-again.parquet", "imputed-again.parquet"


def recipe_of(
    spec: JobSpec,
    result: Mapping[str, Any],
    frame: pd.DataFrame,
    *,
    sentinels: Sequence[Any] = (),
) -> Recipe:
    """Return how a job filled its table.

    Parameters
    ----------
    spec : JobSpec
        Of an ``impute`` job, or of a ``train`` job that filled its table.
    result : mapping
        The small result of the job.
    frame : DataFrame
        Its table with the holes, which lies beside the script as ``table.parquet``.
    sentinels : sequence
        Values that had been declared missing before; in words only, `frame` lacks them.

    Returns
    -------
    Recipe

    Raises
    ------
    JobError
        If the job filled nothing.
    """
    if result.get("n_filled") is None:
        raise JobError("This job filled no table.")
    schema = spec.read_schema()
    by_model = spec.model is not None
    trained = result["trained"] if by_model else {}
    return Recipe(
        table=TABLE_FILE,
        sentinels=[value if _is_word(value) else str(value) for value in sentinels],
        roles=changed_roles(frame, Schema.infer(frame) if schema is None else schema),
        method=result["method"],
        params=trained["params"] if by_model else spec.params["params"],
        seed=spec.seed,
        model=MODEL_FILE if by_model else None,
        model_seed=trained.get("seed"),
        n_imputations=spec.params.get("draws", 0),
        left_alone=left_alone(spec.params),
        output=AGAIN_FILE,
        was_imputed_output=IMPUTED_AGAIN_FILE,
        threads=spec.resources.threads,
        versions=spec.versions,
    )


def _is_word(value: Any) -> bool:
    return isinstance(value, str | int | float)
