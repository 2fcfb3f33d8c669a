"""The token-mixing experiment: train a network and measure what its blocks do to columns."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pmae_core.errors import Cancelled, DamagedFileError, PMAEError
from pmae_core.evaluation import BenchmarkTable, HoldoutPlan
from pmae_core.evaluation.tasks import over_budget
from pmae_core.imputers import make_imputer
from pmae_core.replication.variants import Variant
from pmae_core.storage.files import read_sealed, report_damage, write_sealed


def mixing_rows(
    table: BenchmarkTable,
    holdout: HoldoutPlan,
    variant: Variant,
    seed: int,
    *,
    folder: Path,
    budget_seconds: float | None,
    retry_failed: bool,
    cancel: Callable[[], bool],
) -> tuple[list[dict[str, Any]], bool]:
    """Return the rows of one network, and whether they were read from disk.

    Parameters
    ----------
    table, holdout, seed
        The data the network is trained on.
    variant : Variant
        The network.
    folder : Path
        Where the rows are kept.
    budget_seconds : float, optional
        Time after which training is stopped.
    retry_failed : bool
        Whether to run again what failed earlier.
    cancel : callable
        Returns ``True`` to stop.

    Returns
    -------
    list of dict
        ``status``, ``error``, and for each block and column ``before`` and ``after``; a single
        row if there is no network.
    bool
        Whether nothing was run.
    """
    path = folder / f"{variant.label}-seed{seed}.json"
    saved = _saved_rows(path)
    if saved and (saved[0]["status"] == "done" or not retry_failed):
        return saved, True
    started = time.monotonic()

    def stop() -> bool:
        elapsed = time.monotonic() - started
        return cancel() or (budget_seconds is not None and elapsed > budget_seconds)

    done = {"status": "done", "error": None}
    try:
        rows = [{**done, **row} for row in _measured(table, holdout, variant, seed, stop)]
    except Cancelled:
        if cancel():
            raise
        rows = [{"status": "stopped", "error": over_budget(budget_seconds)}]
    except PMAEError as error:
        rows = [{"status": "failed", "error": str(error)}]
    folder.mkdir(parents=True, exist_ok=True)
    write_sealed(path, {"rows": rows})
    return rows, False


def _saved_rows(path: Path) -> list[dict[str, Any]]:
    """Return the rows of an earlier run; none if there are none, or they are damaged."""
    try:
        return list(read_sealed(path)["rows"])
    except FileNotFoundError:
        return []
    except DamagedFileError:
        report_damage((), f"{path} is damaged, so its run is repeated.")
        return []


def _measured(
    table: BenchmarkTable,
    holdout: HoldoutPlan,
    variant: Variant,
    seed: int,
    stop: Callable[[], bool],
) -> list[dict[str, Any]]:
    from pmae_core.imputers.masked.mixing import mixing_magnitudes

    incomplete = holdout.make(table.frame, table.schema, seed).incomplete
    imputer: Any = make_imputer(
        variant.imputer, **{**variant.params, "schema": table.schema, "random_state": seed}
    )
    imputer.fit(incomplete, cancel=stop)
    return mixing_magnitudes(imputer, incomplete)
