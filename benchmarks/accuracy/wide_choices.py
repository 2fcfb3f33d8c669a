"""How many trees a wide table needs, on held-out cells of tables with 64 to 120 columns.

Masked trees grow fewer trees there, and their splits choose from fewer inputs, so that the time
does not grow with the square of the number of columns. Missing values are simulated; settings are
scored on held-out observed cells only. Every finished fit is kept in the result, and the same
command resumes where it was stopped. After a change to the methods, start with --anew.

    python -m benchmarks.accuracy.wide_choices
"""

from __future__ import annotations

import sys
from typing import Any

from benchmarks.choosing import Choice, ChoiceBenchmark, parser
from benchmarks.tables import WIDE

AS_THEY_ARE = "trees as they are"
CHOICES: dict[str, dict[str, Any]] = {
    AS_THEY_ARE: {},
    "as in narrow tables": {"n_trees": 100, "max_features": 0.5},
    "25 trees": {"n_trees": 25},
}
BENCHMARK = ChoiceBenchmark(
    name="wide_choices",
    what="settings of masked trees in wide tables",
    choices={
        name: Choice(method="masked-trees", settings=settings, against=AS_THEY_ARE)
        for name, settings in CHOICES.items()
    },
)


def main(arguments: list[str] | None = None) -> int:
    """Measure every choice; write results as they come."""
    options = parser(__doc__.split("\n")[0], datasets=WIDE, seeds=2, max_rows=1000)
    BENCHMARK.measure(options.parse_args(arguments))
    return 0


if __name__ == "__main__":
    sys.exit(main())
