"""Put one finished run of each kind into the only workspace of PMAE_HOME, without a browser.

Benchmarks run this file with the library of the checkout that they measure, whose folders may
differ from ours. So it imports nothing of ``tests``, and of the dashboard the workspace alone.

PMAE_HOME=<folder> PYTHONPATH=<checkout> python -P tests/support/seeded_runs.py
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

from pmae_core.jobs import JobSpec, JobState, JobStore
from pmae_core.jobs.engines import LocalEngine
from pmae_core.storage.home import pmae_home

# Begins the name of each run, and stands nowhere else on a page.
MARK = "Seeded for measuring:"
LONGEST_RUN_SECONDS = 900
# Where the workspace's module lies: in later checkouts, and in earlier ones.
WORKSPACE_MODULES = ("dashboard.state.workspace", "dashboard.workspace")


def runs(numerical_column: str) -> dict[str, tuple[str, dict[str, Any]]]:
    """Return the kind and the parameters of each run by its name: quick ones only."""
    comparison = {
        "methods": ["naive", "knn", "em"],
        "seeds": [0, 1, 2],
        "holdout": "like-mine",
        "holdout_share": 0.1,
        "conclusions": [["mean", numerical_column]],
    }
    training = {"method": "pmae-mix", "params": {"preset": "fast", "steps": 200}}
    return {
        f"{MARK} comparison": ("compare", comparison),
        f"{MARK} training": ("train", training),
        f"{MARK} imputation": ("impute", {"method": "em", "imputations": 10}),
    }


def the_workspace() -> Any:
    """Return the only workspace there is."""
    name = next(name for name in WORKSPACE_MODULES if _exists(name))
    (folder,) = (pmae_home() / "workspaces").iterdir()
    return importlib.import_module(name).Workspace(folder)


def _exists(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # not even its package
        return False


def main() -> None:
    """Run all on the open table, one after the other."""
    workspace = the_workspace()
    table = workspace.table()
    store = JobStore(pmae_home())
    engine = LocalEngine(store)
    digest = store.put_table(table.frame, workspace.id)
    incomplete = table.frame.select_dtypes("number").isna().sum()
    for name, (kind, params) in runs(incomplete.idxmax()).items():
        spec = JobSpec.make(
            kind,
            params=params,
            table=digest,
            schema=table.schema,
            seed=0,
            resources=engine.default_resources(),
        )
        job = engine.submit(spec, workspace.id, name)
        ended = engine.wait(job.id, timeout=LONGEST_RUN_SECONDS)
        if ended.state is not JobState.SUCCEEDED:
            raise SystemExit(f"{name}: {ended.state}. {ended.error or ''}")
    store.close()


if __name__ == "__main__":
    main()
