"""A training step with one thread and with all, on a quiet machine and on a busy one.

On the busy machine another program keeps one core busy, as a browser may do. Times are medians
over the steps on the clock; nothing else should run.

    python -m benchmarks.speed.threads
"""

from __future__ import annotations

import argparse
import multiprocessing
import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch

from benchmarks.recording import write_result
from benchmarks.speed.training_step import Step
from pmae_core.imputers.masked.presets import resolve_settings
from pmae_core.model import MaskedAutoencoder, NetworkConfig

# (columns, rows of a batch)
SHAPES = ((10, 64), (25, 128), (60, 128), (100, 128), (200, 128), (60, 512))


def network_of(columns: int) -> MaskedAutoencoder:
    """Return the network of `balanced` without its start."""
    ours = resolve_settings("balanced", {}, n_rows=10_000)
    names = ("width", "encoder_depth", "decoder_depth", "dropout", "mixing_width")
    return MaskedAutoencoder(NetworkConfig(**{name: ours[name] for name in names}), [0] * columns)


def milliseconds(columns: int, batch: int, threads: int, rounds: int) -> float:
    """Return the median time of a step."""
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    values = np.random.default_rng(1).random((4 * batch, columns)).astype(np.float32)
    step = Step(network_of(columns), values, batch, fused=True)
    taken = []
    for _ in range(rounds):
        began = time.perf_counter()
        step()
        taken.append(time.perf_counter() - began)
    return round(1000 * statistics.median(taken[rounds // 10 :]), 2)


def keep_busy() -> None:
    """Use a core until killed."""
    while True:
        pass


@contextmanager
def neighbor(is_there: bool) -> Iterator[None]:
    """Run another program that keeps a core busy, if there is one."""
    if not is_there:
        yield
        return
    process = multiprocessing.Process(target=keep_busy, daemon=True)
    process.start()
    try:
        yield
    finally:
        process.kill()
        process.join()


def measure(columns: int, batch: int, rounds: int, most_threads: int) -> dict[str, Any]:
    """Time one shape with one and with all threads, alone and beside a busy program."""
    found: dict[str, Any] = {"columns": columns, "batch": batch, "cells": columns * batch}
    for name, is_busy in (("quiet", False), ("busy", True)):
        with neighbor(is_busy):
            one, all_of_them = (
                milliseconds(columns, batch, threads, rounds) for threads in (1, most_threads)
            )
        found[name] = {
            "one_thread_ms": one,
            "all_threads_ms": all_of_them,
            "one_over_all": round(one / all_of_them, 2),
        }
    return found


def main(arguments: list[str] | None = None) -> int:
    """Measure every shape."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=60, help="steps of each")
    options = parser.parse_args(arguments)
    most = torch.get_num_threads()
    runs = []
    for columns, batch in SHAPES:
        runs.append(measure(columns, batch, options.rounds, most))
        print(runs[-1], flush=True)
    write_result(
        "threads",
        {
            "what": "a step of the mixer with one thread and with all, on the clock",
            "command": f"python -m benchmarks.speed.threads --rounds={options.rounds}",
            "threads": most,
            "runs": runs,
        },
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
