"""The results of a comparison so far: finished, stopped, or running with some results on disk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pmae_core.errors import DamagedFileError
from pmae_core.evaluation import Comparison, TaskResult
from pmae_core.evaluation.store import SPECIFICATION
from pmae_core.jobs import JobProgress, JobRecord, JobState
from pmae_core.storage.checksums import read_document, undamaged
from pmae_core.words import count

WAITING = "waiting"
NOT_RUN = {
    JobState.CANCELLED: "not run: the comparison was cancelled first",
    JobState.INTERRUPTED: "not run: the comparison was interrupted first",
    JobState.FAILED: "not run: the comparison failed first",
    JobState.SUCCEEDED: "the result has been removed",
}


@dataclass(frozen=True, eq=False)
class ComparisonResults:
    """What is known of a comparison.

    Attributes
    ----------
    comparison : Comparison
        All results so far; a method and seed that will never run is "not run".
    ranked : Comparison
        The part that can be compared fairly. While runs are pending, all methods in it have
        results for the same seeds.
    pending : dict
        Methods and seeds without a result yet, each with its state in words.
    """

    comparison: Comparison
    ranked: Comparison
    pending: Mapping[tuple[str, int], str]

    @property
    def has_scores(self) -> bool:
        """Whether any method has a result."""
        return any(task.status == "done" for task in self.ranked.tasks)

    @property
    def ranked_seeds(self) -> list[int]:
        """The seeds that the ranks are based on."""
        return list(dict.fromkeys(task.seed for task in self.ranked.tasks))

    @property
    def basis(self) -> str:
        """What provisional ranks are based on, in words; empty if all methods and seeds count."""
        whole = self.comparison.settings
        parts = {
            "method": (len(self.ranked.methods), len(whole["methods"])),
            "seed": (len(self.ranked_seeds), len(whole["seeds"])),
        }
        return " and ".join(
            f"{n_ranked} of {count(n, noun)}"
            for noun, (n_ranked, n) in parts.items()
            if n_ranked < n
        )


def read_results(record: JobRecord) -> ComparisonResults:
    """Return the results of a comparison's job so far, from the files in its folder.

    Raises
    ------
    DamagedFileError
        If the result is not as it was written.
    """
    final = record.folder / "result" / "comparison.json"
    if record.state is JobState.SUCCEEDED and final.exists():
        with undamaged(final):
            comparison = Comparison.from_json(final.read_text(encoding="utf-8"))
        return ComparisonResults(comparison, comparison, {})
    params = record.spec.params
    results = read_tasks(record.folder / "tasks")
    settings = _settings(record)
    wanted = [
        (method, int(seed))
        for seed in dict.fromkeys(params["seeds"])
        for method in dict.fromkeys(params["methods"])
    ]
    found = [results[key] for key in wanted if key in results]
    without_result = [key for key in wanted if key not in results]
    ranked = _comparable(found, without_result, settings)
    if record.state in NOT_RUN:
        rest = [
            TaskResult(method=method, seed=seed, status="not run", error=NOT_RUN[record.state])
            for method, seed in without_result
        ]
        comparison = Comparison(tasks=[*found, *rest], settings=settings)
        return ComparisonResults(comparison, ranked, {})
    comparison = Comparison(tasks=found, settings=settings)
    return ComparisonResults(comparison, ranked, dict.fromkeys(without_result, WAITING))


def with_progress(results: ComparisonResults, progress: JobProgress | None) -> ComparisonResults:
    """Return results whose running methods are described in words."""
    now = running_now(progress, list(results.pending))
    return replace(results, pending={**results.pending, **now})


def read_tasks(folder: Path) -> dict[tuple[str, int], TaskResult]:
    """Return the results that a comparison has written so far, by method and seed.

    A file that cannot be read is left out: its run counts as pending.
    """
    found = {}
    for path in sorted(folder.glob("*-seed*.json")):
        try:
            with undamaged(path):
                result = TaskResult.from_dict(read_document(path)["result"])
        except (FileNotFoundError, DamagedFileError):
            continue
        found[result.method, result.seed] = result
    return found


def _settings(record: JobRecord) -> dict[str, Any]:
    """Return the settings that the finished comparison will have, as far as they are known."""
    params = record.spec.params
    try:
        specification = read_document(record.folder / "tasks" / SPECIFICATION)
    except (FileNotFoundError, DamagedFileError):
        specification = {}
    specification.pop("schema", None)
    guessed = "known-truth" if params.get("truth") else None
    guessed = guessed or ("amputation" if params.get("amputation") else "like-mine")
    unknown = {"holdout": params.get("holdout") or guessed, "target": params.get("target")}
    sizes = dict.fromkeys(("n_rows", "n_columns", "n_missing"), 0)
    return {
        "methods": list(dict.fromkeys(params["methods"])),
        "seeds": [int(seed) for seed in dict.fromkeys(params["seeds"])],
        "method_params": dict(params.get("method_params") or {}),
        "budget_seconds": params.get("budget_seconds"),
        **sizes,
        **unknown,
        **specification,
    }


def _comparable(
    found: Sequence[TaskResult],
    without_result: Sequence[tuple[str, int]],
    settings: Mapping[str, Any],
) -> Comparison:
    """Return results of methods that share their seeds, so that no mean is over easier cells.

    These are either all methods with the seeds that each of them has finished, or the methods
    that have finished every seed, whichever has more results.
    """
    methods, seeds = settings["methods"], settings["seeds"]
    whole_seeds = [seed for seed in seeds if seed not in {s for _, s in without_result}]
    whole_methods = [name for name in methods if name not in {m for m, _ in without_result}]
    if len(whole_seeds) * len(methods) >= len(whole_methods) * len(seeds):
        whole_methods = methods
    else:
        whole_seeds = seeds
    if not whole_seeds:
        whole_seeds = [task.seed for task in found][:1]
    tasks = [task for task in found if task.seed in whole_seeds and task.method in whole_methods]
    ranked = [name for name in methods if any(task.method == name for task in tasks)]
    return Comparison(tasks=tasks, settings={**settings, "methods": ranked, "seeds": whole_seeds})


def running_now(
    progress: JobProgress | None, pending: Sequence[tuple[str, int]]
) -> dict[tuple[str, int], str]:
    """Return what each running method is doing, from the progress of its job.

    Examples
    --------
    >>> running_now(JobProgress(message="1 of 3 done; knn (seed 0): column 2 of 5"), [("knn", 0)])
    {('knn', 0): 'running: column 2 of 5'}
    """
    now = {}
    for part in (progress.message if progress else "").split("; "):
        for method, seed in pending:
            start = f"{method} (seed {seed})"
            if part.startswith(start):
                now[method, seed] = f"running{part[len(start) :]}"
    return now
