"""From a finished job to the recipe that imputes its table again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from pmae_core.errors import JobError
from pmae_core.export import Recipe, changed_roles
from pmae_core.jobs.params import left_alone
from pmae_core.jobs.spec import JobSpec
from pmae_core.jobs.worker.results import MODEL_FILE
from pmae_core.table import Schema

TABLE_FILE = "table.parquet"
# Not the names of the exported files: running the script must not overwrite them.
IMPUTED_AGAIN_FILE = "imputed-again.parquet"
WAS_IMPUTED_AGAIN_FILE = "was-imputed-again.parquet"


def recipe_of(
    spec: JobSpec,
    result: Mapping[str, Any],
    frame: pd.DataFrame,
    *,
    sentinels: Sequence[Any] = (),
) -> Recipe:
    """Return how a job imputed its table.

    Parameters
    ----------
    spec : JobSpec
        Of an ``impute`` job, or of a ``train`` job that imputed its table.
    result : mapping
        The small result of the job.
    frame : DataFrame
        Its table with the missing values, which is beside the script as ``table.parquet``.
    sentinels : sequence
        Values that were declared missing before; they are only named, since `frame` lacks them.

    Returns
    -------
    Recipe

    Raises
    ------
    JobError
        If the job imputed nothing.
    """
    if result.get("n_imputed") is None:
        raise JobError("This job imputed no table. Choose one that did.")
    schema = spec.read_schema() or Schema.infer(frame)
    by_model = spec.model is not None
    trained = result["trained"] if by_model else {}
    return Recipe(
        table=TABLE_FILE,
        sentinels=[
            value if isinstance(value, str | int | float) else str(value) for value in sentinels
        ],
        roles=changed_roles(frame, schema),
        rules=schema.rules,
        method=result["method"],
        params=trained["params"] if by_model else spec.params["params"],
        seed=spec.seed,
        model=MODEL_FILE if by_model else None,
        model_seed=trained.get("seed"),
        n_imputations=spec.params.get("imputations", 0),
        left_alone=left_alone(spec.params),
        output=IMPUTED_AGAIN_FILE,
        was_imputed_output=WAS_IMPUTED_AGAIN_FILE,
        threads=spec.resources.threads,
        versions=spec.versions,
    )
