"""Which device computes, and at which precision."""

from contextlib import AbstractContextManager, nullcontext

import torch


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
