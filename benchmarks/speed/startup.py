"""How long the library and its command take to start, beside those of another checkout.

Both checkouts are run by this interpreter, in turn, so that a busy machine is busy for both.

    python -m benchmarks.speed.startup --against ../older-clone
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.recording import write_result

ROOT = Path(__file__).parents[2]
STARTS = {
    "import pmae_core": ["-c", "import pmae_core"],
    "pmae --help": ["-m", "pmae_core", "--help"],
    "import pmae_core.jobs": ["-c", "import pmae_core.jobs"],
    "list_imputers()": ["-c", "import pmae_core; pmae_core.list_imputers()"],
}


def seconds(checkout: Path, arguments: list[str]) -> float:
    """Return how long one start takes on the clock."""
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    began = time.perf_counter()
    subprocess.run(
        [sys.executable, *arguments],
        cwd=checkout,
        env=environment,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return time.perf_counter() - began


def measure(arguments: list[str], against: Path, rounds: int) -> dict[str, float]:
    """Time a start in both checkouts in turn; the first round warms the caches of both."""
    taken = [(seconds(ROOT, arguments), seconds(against, arguments)) for _ in range(rounds + 1)]
    here, there = (statistics.median(times) for times in zip(*taken[1:], strict=True))
    return {
        "here_ms": round(1000 * here),
        "there_ms": round(1000 * there),
        "here_over_there": round(here / there, 3),
    }


def main(arguments: list[str] | None = None) -> int:
    """Measure every start."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--against", type=Path, help="the other checkout")
    parser.add_argument("--rounds", type=int, default=15, help="starts of each")
    options = parser.parse_args(arguments)
    if options.against is None:
        print("Skipped: name another checkout with --against.")
        return 0
    starts = {
        name: measure(start, options.against.resolve(), options.rounds)
        for name, start in STARTS.items()
    }
    print(starts)
    write_result(
        "startup",
        {
            "what": "starts of this checkout and of another one in turn, medians on the clock",
            "command": "python -m benchmarks.speed.startup --against=<another checkout>",
            "rounds": options.rounds,
            "starts": starts,
        },
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
