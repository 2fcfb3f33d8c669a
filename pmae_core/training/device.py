"""Device, precision and number of threads."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import torch

# The threads of a step wait for each other after every product. Below this many cells (rows by
# columns) the waiting costs most of what more threads gain, and more than that where another
# program keeps a core busy: see benchmarks/speed/threads.py. This is a fixed rule and not measured
# at run time, because sums depend on the number of threads and a training must be repeatable.
CELLS_FOR_MORE_THREADS = 5_000


def choose_device(device: str = "auto") -> torch.device:
    """Return the torch device that ``device`` names; ``"auto"`` tries CUDA, MPS and CPU in turn.

    Raises
    ------
    ValueError
        If torch does not know the device, or the machine does not have it.
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
        raise ValueError(f"There is no device {device!r}. Try 'auto', 'cpu' or 'cuda'.") from error
    if chosen.type == "cuda" and not torch.cuda.is_available():
        raise ValueError(f"Torch finds no CUDA device for device={device!r}. Try 'auto' or 'cpu'.")
    if chosen.type == "mps" and not torch.backends.mps.is_available():
        raise ValueError(f"Torch finds no MPS device for device={device!r}. Try 'auto' or 'cpu'.")
    return chosen


def choose_precision(precision: str, device: torch.device) -> str:
    """Return ``"float32"`` or ``"bfloat16"``; ``"auto"`` takes the latter only where it is faster.

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
    """Use one thread for steps of few cells, and all threads for larger steps."""
    before = torch.get_num_threads()
    torch.set_num_threads(1 if n_cells < CELLS_FOR_MORE_THREADS else before)
    try:
        yield
    finally:
        torch.set_num_threads(before)
