"""Choice of device and precision; no accelerator is needed."""

import pytest
import torch

from pmae_core.training.device import (
    CELLS_FOR_MORE_THREADS,
    autocast,
    choose_device,
    choose_precision,
    threads_for,
)


@pytest.fixture
def accelerators(monkeypatch):
    def set_(cuda=False, mps=False, capability=(8, 0)):
        monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda)
        monkeypatch.setattr(torch.backends.mps, "is_available", lambda: mps)
        monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device=None: capability)

    return set_


@pytest.mark.parametrize(
    ("cuda", "mps", "expected"),
    [(True, True, "cuda"), (False, True, "mps"), (False, False, "cpu")],
)
def test_auto_takes_the_best_there_is(accelerators, cuda, mps, expected):
    accelerators(cuda, mps)
    assert choose_device("auto").type == expected


@pytest.mark.parametrize("name", ["cuda", "mps"])
def test_a_named_device_that_is_absent_is_an_error(accelerators, name):
    accelerators()
    with pytest.raises(ValueError, match="Torch finds no"):
        choose_device(name)


def test_a_device_that_torch_does_not_know_is_an_error():
    with pytest.raises(ValueError, match="no device 'banana'"):
        choose_device("banana")


def test_mixed_precision_only_where_it_pays(accelerators):
    accelerators(cuda=True, capability=(8, 6))
    assert choose_precision("auto", torch.device("cuda")) == "bfloat16"
    accelerators(cuda=True, capability=(7, 5))
    assert choose_precision("auto", torch.device("cuda")) == "float32"
    assert choose_precision("auto", torch.device("cpu")) == "float32"
    assert choose_precision("bfloat16", torch.device("cpu")) == "bfloat16"


def test_autocast_changes_products_only_when_asked():
    x = torch.ones(2, 2)
    with autocast("bfloat16", torch.device("cpu")):
        assert (x @ x).dtype == torch.bfloat16
    with autocast("float32", torch.device("cpu")):
        assert (x @ x).dtype == torch.float32


@pytest.mark.parametrize(("n_cells", "threads"), [(0, 1), (CELLS_FOR_MORE_THREADS, 3)])
def test_small_steps_have_one_thread_for_their_time(n_cells, threads):
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        with pytest.raises(RuntimeError), threads_for(n_cells):
            assert torch.get_num_threads() == threads
            raise RuntimeError
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)
