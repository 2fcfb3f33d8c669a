"""Write what was measured into the README, where no site is built: ``python -m tools.readme``.

The text between ``<!-- measured: name -->`` and ``<!-- end -->`` comes from `benchmarks/results`;
a test fails if it is out of date.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pmae_core.imputers import list_imputers
from pmae_core.words import count, listed
from tools.results import _table

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
RESULTS = ROOT / "benchmarks" / "results"
PART = re.compile(r"(<!-- measured: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)

NAMED_METHODS = ("pmae", "pmae-fast", "missforest", "mice")
DESIGNS = {"linear": "Coverage, linear", "non-linear": "Coverage, curved"}
LABELS = {
    "pmae-fast": "`pmae` with `fast`",
    "r-mice": "R's mice",
    "miceforest-package": "the package miceforest",
    "gcimpute": "the package gcimpute",
    "sklearn-knn": "scikit-learn's KNNImputer",
    "sklearn-iterative": "scikit-learn's IterativeImputer",
}


def main() -> None:
    """Write the README again with the results in the repository."""
    README.write_text(updated(README.read_text(encoding="utf-8")), encoding="utf-8")


def updated(text: str, folder: Path = RESULTS) -> str:
    """Return a text with its measured parts as they follow from the results in a folder."""
    return PART.sub(lambda found: f"{found[1]}\n{PARTS[found[2]](folder)}\n\n{found[3]}", text)


def accuracy(folder: Path) -> str:
    """Say how accurate methods are on tables on which no setting was chosen, and at what cost."""
    part = _read(folder, "blend")["parts"]["report"]
    found, seconds = part["mean_accuracy"], part["cost"]["mean_cpu_seconds"]
    methods = [name for name in NAMED_METHODS if name in found and name in seconds]
    figures = listed(f"{label(name)} {found[name]:.1f} ({seconds[name]:.1f} s)" for name in methods)
    return (
        "**On tables on which no setting was chosen** "
        f"({count(part['tables_and_patterns'])} pairs of a table and a pattern, "
        f"{count(part['seeds'], 'seed')} each, values missing not at random), imputation accuracy "
        f"× 100 and processor time are: {figures}. [More](docs/speed.md)"
    )


def coverage(folder: Path) -> str:
    """Say how often pooled intervals contain the truth, also where no method gets it right."""
    linear, curved = (_of_all_tables(folder, design) for design in DESIGNS)
    most = max(one["replications"] for one in linear.values())
    return (
        "**95% intervals** pooled from 10 imputations (methods whose imputations include the "
        f"uncertainty of the model, {most} simulated tables of 300 rows, values missing at random) "
        f"contain the truth {_range(linear)} where relations are linear, but "
        f"{_range(curved)} where they are curved and the methods' models do not fit. "
        "[More](docs/statistics.md)"
    )


def peers(folder: Path) -> str:
    """Return our methods and other packages on the same missing cells as a table."""
    summary = _read(folder, "peers")["summary"]
    designs = [_of_all_tables(folder, design) for design in DESIGNS]
    compared = [one for one in summary["methods"] if one["mean_accuracy_x100"] is not None]
    rows = (
        (
            label(one["method"]),
            f"{one['mean_accuracy_x100']:.1f}",
            *(_coverage_cell(design.get(one["method"])) for design in designs),
            _cell(one["mean_cpu_seconds"], ".1f" if one["mean_cpu_seconds"] >= 0.1 else ".2f"),
            _cell(one["mean_peak_megabytes"], ",.0f"),
        )
        for one in sorted(compared, key=lambda one: -one["mean_accuracy_x100"])
    )
    header = ["Method", "Accuracy × 100", *DESIGNS.values(), "Processor s", "Memory, MB"]
    runs = count(len(summary["shared"]), "pair")
    return (
        f"**Beside other packages, on the same missing cells** ({runs} of a table and a seed that "
        "all methods finished; memory of the whole process, with its libraries):\n\n"
        f"{_table(header, rows)}"
    )


def label(method: str) -> str:
    """Return the name of a method as Markdown."""
    return LABELS.get(method, f"`{method}`")


def _of_all_tables(folder: Path, design: str) -> dict[str, dict[str, Any]]:
    """Return the coverage of each method that imputed all simulated tables of a design, or most."""
    measured = _read(folder, "coverage")["designs"][design]
    most = max(one["replications"] for one in measured.values())
    return {name: one for name, one in measured.items() if one["replications"] >= 0.95 * most}


def _range(measured: dict[str, dict[str, Any]]) -> str:
    """Return the lowest and the highest coverage of proper methods in words."""
    proper = {info.name for info in list_imputers() if info.is_proper} | {"r-mice", "pmae-fast"}
    shares = {name: one["mean_coverage"] for name, one in measured.items() if name in proper}
    low, high = min(shares, key=shares.__getitem__), max(shares, key=shares.__getitem__)
    ends = (f"{100 * shares[name]:.1f}% ({label(name)})" for name in (low, high))
    return f"in {' to '.join(ends)}"


def _coverage_cell(figures: dict[str, Any] | None) -> str:
    return "" if figures is None else f"{100 * figures['mean_coverage']:.1f}%"


def _cell(figure: float | None, form: str) -> str:
    return "" if figure is None else format(figure, form)


def _read(folder: Path, name: str) -> dict[str, Any]:
    result: dict[str, Any] = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    return result


PARTS: dict[str, Callable[[Path], str]] = {
    part.__name__: part for part in (accuracy, coverage, peers)
}


if __name__ == "__main__":
    main()
