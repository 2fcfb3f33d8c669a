"""A training step of the mixer by its parts, compared with a plain one in the same run.

The twin of the training loop: the same sampler, batches, loss and optimizer, timed. Both networks
take turns, and times are processor seconds, so that other work on the machine matters little.

    python -m benchmarks.speed.training_step
"""

from __future__ import annotations

import argparse
import shlex
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from benchmarks.plain_network import PlainMixerNetwork
from benchmarks.recording import write_result
from pmae_core.masking import MaskSampler
from pmae_core.model import MaskedAutoencoder, NetworkConfig, reduce_errors

WANTED_RATIO = 2.0
# (columns, rows of a batch): a small table with the paper's and our batch, a wider one.
SHAPES = ((10, 128), (10, 64), (25, 64))
SHARE_OBSERVED = 0.6
PARTS = {
    "dropout": ("bernoulli", "dropout"),
    "products": ("mm", "addmm", "bmm"),
    "attention": ("scaled_dot_product", "softmax"),
    "activation": ("gelu",),
    "normalization": ("layer_norm", "normalizefirstaxis"),
    "optimizer": ("optimizer.step",),
}


class Step:
    """One training step of a network, as in the training loop."""

    def __init__(self, network: MaskedAutoencoder, values: np.ndarray, batch: int, fused: bool):
        self.network = network.train()
        self.values = values
        rng = np.random.default_rng(0)
        self.observed = rng.random(values.shape) < SHARE_OBSERVED
        self.sampler = MaskSampler().fit(self.observed)
        self.batch = batch
        self.optimizer = torch.optim.AdamW(network.parameters(), lr=1e-3, fused=fused)
        self.number = 0

    def batch_of_step(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        rng = np.random.default_rng(self.number)
        self.number += 1
        rows = rng.integers(len(self.values), size=self.batch)
        observed = self.observed[rows]
        masked = self.sampler.sample(observed, rng)
        return tuple(map(torch.from_numpy, (self.values[rows], observed, masked)))

    def __call__(self) -> tuple[float, float, float, float]:
        """Take the step; return the seconds of data, forward, backward and optimizer."""
        times = [time.thread_time()]
        values, observed, masked = self.batch_of_step()
        times.append(time.thread_time())
        self.optimizer.zero_grad(set_to_none=True)
        prediction = self.network(values, observed & ~masked)
        errors = self.network.cell_errors(prediction, values)
        loss = reduce_errors("paper", errors, observed, masked)
        times.append(time.thread_time())
        loss.backward()
        times.append(time.thread_time())
        self.optimizer.step()
        times.append(time.thread_time())
        data, forward, backward, optimizer = np.diff(times)
        return data, forward, backward, optimizer


def measure(columns: int, batch: int, rounds: int) -> dict[str, Any]:
    """Time both networks in turns; medians over the rounds."""
    config, n_categories = NetworkConfig(), [0] * columns
    values = np.random.default_rng(1).random((4 * batch, columns)).astype(np.float32)
    torch.manual_seed(0)
    steps = {
        "plain": Step(PlainMixerNetwork(config, n_categories), values, batch, fused=False),
        "ours": Step(MaskedAutoencoder(config, n_categories), values, batch, fused=True),
    }
    seconds: dict[str, list[tuple[float, ...]]] = {name: [] for name in steps}
    for _ in range(rounds):
        for name, step in steps.items():
            seconds[name].append(step())
    warm = {name: taken[rounds // 10 :] for name, taken in seconds.items()}
    milliseconds = {
        name: {
            part: round(1000 * statistics.median(taken), 3)
            for part, taken in zip(
                ("data", "forward", "backward", "optimizer", "step"),
                zip(*((*times, sum(times)) for times in taken_all), strict=True),
                strict=True,
            )
        }
        for name, taken_all in warm.items()
    }
    return {
        "columns": columns,
        "batch": batch,
        "milliseconds": milliseconds,
        "rows_per_second": {
            name: round(1000 * batch / parts["step"]) for name, parts in milliseconds.items()
        },
        "plain_over_ours": round(milliseconds["plain"]["step"] / milliseconds["ours"]["step"], 2),
        "shares_of_parts": {name: shares_of_parts(step, 20) for name, step in steps.items()},
    }


def shares_of_parts(step: Callable[[], Any], n: int) -> dict[str, float]:
    """Return the share of each kind of work in the time of a step, by torch's profiler."""
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU]) as profiler:
        for _ in range(n):
            step()
    totals = dict.fromkeys([*PARTS, "other"], 0.0)
    for event in profiler.key_averages():
        name = event.key.lower().removeprefix("aten::")
        part = next((p for p, words in PARTS.items() if any(w in name for w in words)), "other")
        totals[part] += event.self_cpu_time_total
    whole = sum(totals.values())
    return {part: round(total / whole, 3) for part, total in totals.items()}


def main(arguments: list[str] | None = None) -> int:
    """Measure every shape; return 1 if the paper's own is not twice as fast."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=100, help="steps of each network")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    runs = []
    for columns, batch in SHAPES:
        runs.append(measure(columns, batch, options.rounds))
        print(f"{columns} columns, batch {batch}: {runs[-1]['plain_over_ours']} times as fast")
    write_result(
        "training_step",
        {
            "what": "a step of the paper's mixer (width 32, 6 + 4 blocks), one thread, processor "
            "time; plain: batch first, torch's own dropout and layer norm, unfused AdamW",
            "command": shlex.join(
                ["python", "-m", "benchmarks.speed.training_step", f"--rounds={options.rounds}"]
            ),
            "torch": torch.__version__,
            "wanted_plain_over_ours": WANTED_RATIO,
            "runs": runs,
        },
    )
    return 0 if runs[0]["plain_over_ours"] >= WANTED_RATIO else 1


if __name__ == "__main__":
    sys.exit(main())
