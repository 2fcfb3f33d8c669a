"""Which device computes, at which precision, and with how many threads."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import torch

# The threads of a step wait for each other after every product. Below so many cells (rows by
# columns) that takes back most of what they gain, and where another program keeps a core busy,
# more than that: benchmarks/speed/threads.py. A rule, not a measurement on the spot, because sums
# depend on the number of threads and a training should repeat.
CELLS_FOR_MORE_THREADS = 5_000


def choose_device(device: str = "auto") -> torch.device:
    """Return the torch device that ``device`` names; ``"auto"`` takes CUDA, MPS, CPU in turn.

    Raises
    ------
    ValueError
        If torch does not know the device, or it is not there.
    """
    if device == "auto":
        if torch.cuda.is_available():
            return torch.device("cuda")
        if torch.backends.mps.is_available():
            return torch.device("mps")
        return torch.device("cpu")
    try:
        chosen = torch.device(device)
    except RuntimeError as error:
        raise ValueError(f"There is no device {device!r}; try 'auto', 'cpu' or 'cuda'.") from error
    if chosen.type == "cuda" and not torch.cuda.is_available():
        raise ValueError(f"device={device!r} was asked for, but torch sees no CUDA device.")
    if chosen.type == "mps" and not torch.backends.mps.is_available():
        raise ValueError(f"device={device!r} was asked for, but torch sees no MPS device.")
    return chosen


def choose_precision(precision: str, device: torch.device) -> str:
    """Return ``"float32"`` or ``"bfloat16"``; ``"auto"`` takes the latter only where it pays.

    Without hardware support bfloat16 is several times slower, so on a CPU it is never chosen.
    """
    if precision != "auto":
        return precision
    gains = device.type == "cuda" and torch.cuda.get_device_capability(device) >= (8, 0)
    return "bfloat16" if gains else "float32"


def autocast(precision: str, device: torch.device) -> AbstractContextManager:
    """Return the context in which forward passes run."""
    if precision == "bfloat16":
        return torch.autocast(device.type, dtype=torch.bfloat16)
    return nullcontext()


@contextmanager
def threads_for(n_cells: int) -> Iterator[None]:
    """Compute steps of so many cells with one thread, or with all that there are if it pays."""
    before = torch.get_num_threads()
    torch.set_num_threads(1 if n_cells < CELLS_FOR_MORE_THREADS else before)
    try:
        yield
    finally:
        torch.set_num_threads(before)
