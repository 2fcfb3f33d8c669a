"""Experiments that are over in a moment: few rows, networks that hardly learn."""

import pytest

from pmae_core.replication import EXPERIMENTS, Runner, Selection

TINY = {"steps": 2, "encoder_depth": 1, "decoder_depth": 1, "width": 8}


@pytest.fixture
def plan_of():
    def plan(name, **chosen):
        small = {
            "datasets": ["diabetes"],
            "patterns": ["general"],
            "seeds": 1,
            "max_rows": 150,
            "method_params": dict.fromkeys(("pmae-mix", "pmae-trf", "remasker"), TINY),
        }
        return EXPERIMENTS[name].plan(Selection(**{**small, **chosen}))

    return plan


@pytest.fixture
def runner(tmp_path):
    return Runner(
        tasks_dir=tmp_path / "tasks",
        results_dir=tmp_path / "results",
        about={"command": "pmae benchmark", "versions": {"pmae": "1"}},
    )
