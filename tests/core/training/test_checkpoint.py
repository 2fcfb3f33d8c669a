"""Checkpoints of tensors and JSON."""

import pytest
import torch

from pmae_core.training.checkpoint import (
    load_optimizer_tensors,
    optimizer_tensors,
    read_checkpoint,
    write_checkpoint,
)


def test_tensors_and_state_come_back(tmp_path):
    groups = {"a": {"x": torch.arange(3)}, "b": {"y/z": torch.rand(2, 2)}}
    path = tmp_path / "deep" / "file.safetensors"
    write_checkpoint(path, groups, {"step": 3})
    (read, state), damages = read_checkpoint(path)
    assert state["step"] == 3
    assert torch.equal(read["a"]["x"], groups["a"]["x"])
    assert torch.equal(read["b"]["y/z"], groups["b"]["y/z"])
    assert damages == []
    assert [file.name for file in path.parent.iterdir()] == ["file.safetensors"]


def test_without_a_checkpoint_there_is_none(tmp_path):
    assert read_checkpoint(tmp_path / "file.safetensors") == (None, [])


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "file.safetensors"
    write_checkpoint(path, {"a": {"x": torch.zeros(1)}}, {"step": 1})

    def fail(*args, **kwargs):
        raise OSError("disk full")

    monkeypatch.setattr("pmae_core.storage.arrays.save_file", fail)
    with pytest.raises(OSError, match="disk full"):
        write_checkpoint(path, {"a": {"x": torch.ones(1)}}, {"step": 2})
    (_, state), _ = read_checkpoint(path)
    assert state["step"] == 1
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("content", [b"", b"not a model", b"\x80\x04K\x01."])
def test_other_files_are_damaged_checkpoints(tmp_path, content):
    path = tmp_path / "file.safetensors"
    for step in (1, 2):
        write_checkpoint(path, {"a": {"x": torch.zeros(1)}}, {"step": step})
    path.write_bytes(content)
    (_, state), [damage] = read_checkpoint(path)
    assert state["step"] == 1
    assert "not a file that PMAE wrote" in str(damage)


def test_another_format_version_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "file"
    monkeypatch.setattr("pmae_core.storage.arrays.FORMAT_VERSION", 99)
    write_checkpoint(path, {"a": {"x": torch.zeros(1)}}, {})
    monkeypatch.undo()
    with pytest.raises(ValueError, match="version 99"):
        read_checkpoint(path)


def test_an_optimizer_goes_on_as_if_never_stopped():
    def stepped(times, parameter, optimizer):
        for _ in range(times):
            optimizer.zero_grad()
            (parameter**3).sum().backward()
            optimizer.step()

    first = torch.nn.Parameter(torch.ones(3))
    straight = torch.optim.AdamW([first], lr=0.1)
    stepped(3, first, straight)
    second = torch.nn.Parameter(first.detach().clone())
    resumed = torch.optim.AdamW([second], lr=0.1)
    load_optimizer_tensors(resumed, optimizer_tensors(straight))
    stepped(2, first, straight)
    stepped(2, second, resumed)
    assert torch.equal(first, second)
