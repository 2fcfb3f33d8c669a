"""The choices behind masked trees and the blend, on held-out cells of tables to choose on.

Missing values are simulated in the nine tables and in the further tables of
`benchmarks.tables.TO_CHOOSE_ON`. Settings are scored on observed cells that are held out in the
same patterns; the truth of the missing cells is never used, so settings may be chosen by these
scores. Every finished fit is kept in the result, and the same command resumes where it was stopped.
After a change to the methods, start with --anew.

    PMAE_DATA_DIR=<folder of the tables> python -m benchmarks.accuracy.blend_choices
"""

from __future__ import annotations

import sys
from typing import Any

from benchmarks.choosing import Choice, ChoiceBenchmark, parser
from benchmarks.tables import TO_CHOOSE_ON
from pmae_core.table.samples.datasets import BENCHMARK_NAMES

TREES_AS_THEY_ARE, FAST = "trees as they are", "Gaussians and trees"
TREES: dict[str, dict[str, Any]] = {
    TREES_AS_THEY_ARE: {},
    "trees without a Gaussian": {"gaussian": False},
    "a third of the inputs per split": {"max_features": 0.33},
    "all inputs per split": {"max_features": 1.0},
    "leaves of 3": {"min_leaf": 3},
    "leaves of 10": {"min_leaf": 10},
    "200 trees": {"n_trees": 200},
    "one mask per row": {"n_copies": 1},
    "eight masks per row": {"n_copies": 8},
    "half of the masks by the masking function": {"copy_share": 0.5},
}
BLEND: dict[str, dict[str, Any]] = {
    FAST: {"preset": "fast"},
    "Gaussians alone": {"members": ("gaussian",)},
    "trees alone, with the blend's settings": {"members": ("trees",)},
}
BENCHMARK = ChoiceBenchmark(
    name="blend_choices",
    what="settings of masked trees and of the blend",
    choices={
        **{
            name: Choice(method="masked-trees", settings=settings, against=TREES_AS_THEY_ARE)
            for name, settings in TREES.items()
        },
        **{
            name: Choice(method="pmae", settings=settings, against=FAST)
            for name, settings in BLEND.items()
        },
    },
    retired={
        "one method per column (auto)": Choice(
            method="auto", settings={"method_params": {"pmae": {"preset": "fast"}}}, against=FAST
        )
    },
)


def main(arguments: list[str] | None = None) -> int:
    """Measure every choice; write results as they come."""
    datasets = (*TO_CHOOSE_ON, *BENCHMARK_NAMES)
    options = parser(__doc__.split("\n")[0], datasets=datasets, seeds=1, max_rows=1500)
    BENCHMARK.measure(options.parse_args(arguments))
    return 0


if __name__ == "__main__":
    sys.exit(main())
