"""Settings measured against those in use, on held-out cells: one fit at a time, resumable."""

from __future__ import annotations

import argparse
import json
import shlex
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks import recording
from benchmarks.held_out import held_out_cells, score_held_out
from pmae_core.imputers import make_imputer

Run = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Choice:
    """A method with settings, and the choice that it is compared with.

    Attributes
    ----------
    method : str
        Name of the method.
    settings : mapping
        Its parameters.
    against : str
        The choice that stands for what is in use.
    """

    method: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    against: str


@dataclass(frozen=True, kw_only=True)
class ChoiceBenchmark:
    """Choices to measure; every finished fit is kept in the result.

    Attributes
    ----------
    name, what : str
        Name of the module and of the result, and what is measured.
    choices : mapping of str to Choice
        What to measure.
    retired : mapping of str to Choice
        Choices of methods that no longer exist: their recorded runs stay in the result.
    shared : sequence of str
        Options of the command that are parameters of every choice.
    """

    name: str
    what: str
    choices: Mapping[str, Choice]
    retired: Mapping[str, Choice] = field(default_factory=dict)
    shared: Sequence[str] = ()

    def measure(self, options: argparse.Namespace, fixed: Mapping[str, Any] | None = None) -> None:
        """Measure every choice that has no result yet; write results as they come.

        Parameters
        ----------
        options : Namespace
            As :func:`parser` reads them.
        fixed : mapping, optional
            Parameters of every choice that are no part of the result.
        """
        runs = self._recorded(options.anew)
        common = {**(fixed or {}), **{name: getattr(options, name) for name in self.shared}}
        for seed in range(options.seeds):
            for dataset in options.datasets.split(","):
                held_out, schema = held_out_cells(dataset, seed, options.max_rows)
                for name, choice in self.choices.items():
                    key = {"dataset": dataset, "seed": seed, **self._alike(options), "choice": name}
                    if any(key.items() <= run.items() for run in runs):
                        continue
                    params = {**common, **choice.settings, "schema": schema, "random_state": seed}
                    imputer = make_imputer(choice.method, **params)
                    runs.append({**key, **score_held_out(imputer, held_out, schema)})
                    print(runs[-1], flush=True)
                    self._write(options, runs)

    def summary(self, runs: Sequence[Run]) -> list[dict[str, Any]]:
        """Return each choice's mean accuracy, its difference to what is in use, and its cost."""
        every = {**self.choices, **self.retired}
        by_choice = {
            name: {(run["dataset"], run["seed"]): run for run in runs if run["choice"] == name}
            for name in every
        }
        lines = (
            _line(name, choice, by_choice[name], by_choice[choice.against])
            for name, choice in every.items()
        )
        return [line for line in lines if line is not None]

    def _recorded(self, anew: bool) -> list[Run]:
        path = recording.RESULTS / f"{self.name}.json"
        runs: list[Run] = json.loads(path.read_text())["runs"] if path.exists() else []
        return [run for run in runs if not anew or run["choice"] in self.retired]

    def _alike(self, options: argparse.Namespace) -> dict[str, Any]:
        """Return what runs must have in common to be compared."""
        return {name: getattr(options, name) for name in ("max_rows", *self.shared)}

    def _write(self, options: argparse.Namespace, runs: Sequence[Run]) -> None:
        given = ("datasets", "seeds", "max_rows", *self.shared)
        flags = [f"--{name.replace('_', '-')}={getattr(options, name)}" for name in given]
        # Earlier runs with other options are kept, but not compared with these.
        alike = [run for run in runs if self._alike(options).items() <= run.items()]
        recording.write_result(
            self.name,
            {
                "what": f"{self.what}, scored on held-out observed cells (general, nested, MNAR); "
                "differences in points of accuracy",
                "command": shlex.join(["python", "-m", f"benchmarks.accuracy.{self.name}", *flags]),
                "summary": self.summary(alike),
                "runs": runs,
            },
        )


def parser(
    description: str, *, datasets: Sequence[str], seeds: int, max_rows: int
) -> argparse.ArgumentParser:
    """Return the options that every such benchmark has."""
    options = argparse.ArgumentParser(description=description)
    options.add_argument("--datasets", default=",".join(datasets), help="names, commas")
    options.add_argument("--seeds", type=int, default=seeds, help="how many")
    options.add_argument("--max-rows", type=int, default=max_rows, help="larger tables are sampled")
    options.add_argument("--anew", action="store_true", help="discard what was measured before")
    return options


def _line(
    name: str, choice: Choice, own: Mapping[Any, Run], usual: Mapping[Any, Run]
) -> dict[str, Any] | None:
    shared = [key for key in own if key in usual]
    if not shared:
        return None
    differences = [_points(own[key]) - _points(usual[key]) for key in shared]
    error = statistics.stdev(differences) / len(shared) ** 0.5 if len(shared) > 1 else None
    return {
        "choice": name,
        "method": choice.method,
        "settings": choice.settings,
        "tables_and_seeds": len(shared),
        "mean_accuracy": round(statistics.mean(_points(own[key]) for key in shared), 2),
        "difference": round(statistics.mean(differences), 2),
        "standard_error": None if error is None else round(error, 2),
        "mean_cpu_seconds": round(statistics.mean(own[key]["cpu_seconds"] for key in shared), 1),
    }


def _points(run: Run) -> float:
    accuracy: float = run["imputation_accuracy"]
    return 100 * accuracy
