"""From short runs to a whole one, on a machine that is not always equally busy."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from pmae_core.imputers.work import WorkProfile
from pmae_core.jobs.cost.extrapolation import Extrapolation
from pmae_core.jobs.cost.load import MachineLoad
from pmae_core.jobs.cost.short_run import ShortRun


def finished_run(n_rows: int, *, seconds: float, cpu_seconds: float) -> ShortRun:
    return ShortRun(
        n_rows=n_rows,
        n_columns=2,
        n_incomplete=2,
        progress=[(1, seconds)],
        total=1,
        unit="round",
        finished=True,
        seconds=seconds,
        impute_seconds=0.0,
        cpu_seconds=cpu_seconds,
        idle_seconds=seconds,
        memory_mb=1.0,
        profile=WorkProfile(),
    )


@pytest.mark.parametrize("slowdowns", [(1, 1), (1, 5), (5, 1)])
def test_work_that_slows_down_only_some_runs_does_not_look_like_growth(slowdowns):
    frame = pd.DataFrame(np.zeros((4000, 2)))
    runs = [
        finished_run(n_rows, seconds=slowdown * n_rows / 200, cpu_seconds=n_rows / 200)
        for n_rows, slowdown in zip((200, 400), slowdowns, strict=True)
    ]

    found = Extrapolation(runs, frame, runs[-1])

    assert found.time_range().seconds / found.load.slowdown_of_job == pytest.approx(20)
    first, second = slowdowns
    assert found.load.slowdown == pytest.approx((first + 2 * second) / 3)


def test_the_load_can_be_that_of_other_runs():
    frame = pd.DataFrame(np.zeros((4000, 2)))
    unlucky = finished_run(200, seconds=25.0, cpu_seconds=1.0)
    others = [finished_run(200, seconds=7.0, cpu_seconds=7.0) for _ in range(3)]
    load = MachineLoad.during([unlucky, *others])

    found = Extrapolation([unlucky], frame, unlucky, load=load)

    assert load.slowdown == pytest.approx(46 / 22)
    assert found.time_range().seconds == pytest.approx(20 * load.slowdown_of_job)


def test_random_imputations_take_their_time():
    frame = pd.DataFrame(np.zeros((4000, 2)))
    run = replace(finished_run(400, seconds=1.0, cpu_seconds=1.0), sample_seconds=0.5)
    single, scored = (
        Extrapolation([run], frame, run, imputations=number).time_range() for number in (0, 5)
    )
    assert scored.seconds - single.seconds == pytest.approx(5 * 0.5 * 10)
    assert scored.low > single.low
