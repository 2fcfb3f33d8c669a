"""The cost of a job, estimated by short runs; most of it with methods and a clock of our own."""

import math

import numpy as np
import pandas as pd
import psutil
import pytest

from pmae_core.errors import Cancelled, ImputationError, JobError
from pmae_core.events import FitProgress, TrainingStarted
from pmae_core.imputers import make_imputer
from pmae_core.imputers.work import WorkProfile
from pmae_core.jobs.cost import CostEstimate, MethodCost, MethodProbed, estimate_cost
from pmae_core.jobs.cost import load as load_module
from pmae_core.jobs.cost import methods as methods_module
from pmae_core.jobs.cost import parts as parts_module
from pmae_core.jobs.cost import probe as probe_module
from pmae_core.jobs.cost import short_run as short_run_module
from pmae_core.jobs.cost.estimate import NO_PROGRESS
from pmae_core.jobs.cost.extrapolation import NOISE
from pmae_core.jobs.cost.parts import RequestedMethod
from pmae_core.jobs.engines.local import NICENESS


def table(n_rows: int, n_columns: int = 3) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(n_rows, n_columns))).add_prefix("x")
    return frame.mask(rng.random(frame.shape) < 0.2)


class Clock:
    """Stands still but for what the methods below spend; ``busy`` with others' work, too."""

    def __init__(self):
        self.now = 100.0
        self.busy = 1.0
        self.idle_cores = 1.0

    def perf_counter(self):
        return self.now

    def thread_time(self):
        return self.now / self.busy

    def idle_seconds(self):
        return self.now * self.idle_cores


class Method:
    """A method whose cost is known: ``seconds(rows, columns)`` for each of its units.

    It asks whether to stop after each of the ``pieces`` of a unit.
    """

    def __init__(
        self, clock, *, seconds, total=1, ends_after=None, setup=lambda rows: 0.0, pieces=1
    ):
        self.clock = clock
        self.seconds = seconds
        self.total = total
        self.ends_after = ends_after or total
        self.setup = setup
        self.pieces = pieces
        self.sizes = []

    def cost(self, frame):
        return self.setup(len(frame)) + self.ends_after * self.seconds(*frame.shape)

    def fit(self, frame, *, callbacks, cancel):
        self.sizes.append(frame.shape)
        self.clock.now += self.setup(len(frame))
        self._stop_if(cancel)
        for done in range(1, self.ends_after + 1):
            for _ in range(self.pieces):
                self._stop_if(cancel)
                self.clock.now += self.seconds(*frame.shape) / self.pieces
            for callback in callbacks:
                self.tell(callback, done)
            self._stop_if(cancel)

    def work_profile(self, n_rows):
        return WorkProfile()

    def work_parts(self):
        return ()

    def tell(self, callback, done):
        callback(FitProgress(done=done, total=self.total, unit="round", eta_seconds=0.0))

    def transform(self, frame):
        return frame

    @staticmethod
    def _stop_if(cancel):
        if cancel():
            raise Cancelled("Stopped.")


class Training(Method):
    """Tells only how long it will train; asks before every step, as our networks do."""

    def __init__(self, clock, *, patience=None, **options):
        super().__init__(clock, **options)
        self.patience = patience

    def work_profile(self, n_rows):
        return WorkProfile(earliest_end=self.patience, growth=0.0)

    def fit(self, frame, *, callbacks, cancel):
        self.sizes.append(frame.shape)
        self.clock.now += self.setup(len(frame))
        started = TrainingStarted(
            first_step=0,
            total_steps=self.total,
            device="cpu",
            precision="float32",
            n_rows=len(frame),
            n_parameters=1,
        )
        for callback in callbacks:
            callback(started)
        for _ in range(self.ends_after):
            self._stop_if(cancel)
            self.clock.now += self.seconds(*frame.shape)


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    for module in (methods_module, probe_module, short_run_module):
        monkeypatch.setattr(module, "time", clock)
    monkeypatch.setattr(short_run_module, "idle_seconds", clock.idle_seconds)
    return clock


@pytest.fixture
def methods(monkeypatch):
    """Names of methods that stand for the ones made here."""
    known = {}

    def make(name, **params):
        return known[name] if name in known else make_imputer(name, **params)

    for module in (parts_module, probe_module):
        monkeypatch.setattr(module, "make_imputer", make)
    return known


def only(estimate: CostEstimate) -> MethodCost:
    (cost,) = estimate.per_method
    return cost


def test_a_method_that_can_finish_is_simply_run(clock, methods):
    methods["quick"] = Method(clock, total=20, seconds=lambda rows, columns: 0.01)

    cost = only(estimate_cost(table(100), ["quick"]))

    assert cost.seconds == pytest.approx(0.2)
    assert cost.low < cost.seconds < cost.high < 1
    assert cost.how == "Ran to its end on the whole table in 0.2 s."


@pytest.mark.parametrize("kind", [Method, Training])
@pytest.mark.parametrize("unit", [0.02, 0.3, 1.0])
def test_a_slow_method_is_stopped_and_its_time_follows_from_its_steps(clock, methods, kind, unit):
    methods["slow"] = kind(clock, total=1000, seconds=lambda rows, columns: unit)

    estimate = estimate_cost(table(100), ["slow"], budget_seconds=5)

    assert only(estimate).seconds == pytest.approx(1000 * unit, rel=0.01)
    assert estimate.probe_seconds <= 5 + unit


def test_the_time_is_kept_with_many_slow_methods(clock, methods):
    for number in range(12):
        seconds = 0.1 * (number + 1)
        methods[f"m{number}"] = Method(clock, total=50, seconds=lambda *_, s=seconds: s)

    estimate = estimate_cost(table(5000, 8), list(methods), budget_seconds=5)

    # Each may still end the unit at which it is asked to stop.
    assert estimate.probe_seconds < 5 + 1.2 * 3
    told = [cost for cost in estimate.per_method if cost.seconds is not None]
    assert len(told) >= 4
    assert {cost.error for cost in estimate.per_method} <= {None, NO_PROGRESS}


def test_rounds_saved_by_an_early_end_are_learned_from_a_small_sample(clock, methods):
    method = methods["settles"] = Method(
        clock, total=100, ends_after=12, seconds=lambda rows, columns: rows * 1e-5
    )
    frame = table(60_000)

    cost = only(estimate_cost(frame, ["settles"], budget_seconds=3))

    assert max(method.sizes)[0] > 1000, "a larger sample than the first was looked at"
    assert cost.seconds == pytest.approx(method.cost(frame), rel=0.1)


@pytest.mark.parametrize("power", [0.0, 1.0, 2.0])
def test_growth_with_the_rows_is_found(clock, methods, power):
    method = methods["grows"] = Method(
        clock, total=5, seconds=lambda rows, columns: 0.002 * (rows / 200) ** power
    )
    frame = table(100_000)

    cost = only(estimate_cost(frame, ["grows"], budget_seconds=2))

    assert cost.seconds == pytest.approx(method.cost(frame), rel=0.1)
    assert cost.low <= method.cost(frame) <= cost.high


def test_a_training_of_fixed_steps_does_not_grow_but_its_preparation_does(clock, methods):
    method = methods["network"] = Training(
        clock,
        total=1500,
        seconds=lambda rows, columns: 0.02,
        setup=lambda rows: rows * 1e-3,
    )
    frame = table(50_000)

    cost = only(estimate_cost(frame, ["network"], budget_seconds=2))

    assert cost.seconds == pytest.approx(method.cost(frame), rel=0.1)
    assert method.cost(frame) == pytest.approx(80)


def test_patience_makes_a_range_between_the_earliest_and_the_last_step(clock, methods):
    methods["patient"] = Training(clock, total=900, patience=100, seconds=lambda rows, columns: 0.1)

    cost = only(estimate_cost(table(100), ["patient"], budget_seconds=2))

    assert cost.low == pytest.approx(0.1 * 100 / NOISE, rel=0.05)
    assert cost.seconds == pytest.approx(0.1 * 300, rel=0.05)
    assert cost.high == pytest.approx(0.1 * 900 * NOISE, rel=0.05)


def test_on_a_busy_machine_the_range_begins_where_the_other_work_stops(clock, methods):
    methods["slow"] = Method(clock, total=1000, seconds=lambda rows, columns: 0.4)
    alone = only(estimate_cost(table(100), ["slow"]))

    clock.busy = 4.0
    crowded = only(estimate_cost(table(100), ["slow"]))

    assert crowded.low == pytest.approx(alone.low / 4)
    assert crowded.seconds == pytest.approx(alone.seconds)
    assert crowded.high == pytest.approx(alone.high)
    assert crowded.busy == pytest.approx(4)
    assert "4.0 times slower" in crowded.how and "slower" not in alone.how


@pytest.mark.parametrize(
    ("niceness", "idle_cores", "busy"),
    [
        (NICENESS, 0.0, 1.5),  # as a worker has: the job is slowed down as the short run was
        (NICENESS + 5, 0.0, 1.5),
        (NICENESS - 2, 0.0, 1.5 + (1.25**2 - 1) * (1.5 - 1 / 2)),
        (NICENESS - 2, 0.5, 1.5 + (1.25**2 - 1) * (1.5 - 1 / 2) / 2),
        (NICENESS - 2, 1.0, 1.5),  # a core is free, whatever the priority
        (NICENESS - 2, 7.0, 1.5),
    ],
)
def test_an_estimate_is_for_the_priority_of_a_job(
    clock, methods, monkeypatch, niceness, idle_cores, busy
):
    monkeypatch.setattr(psutil.Process, "nice", lambda process: niceness)
    monkeypatch.setattr(load_module, "available_cores", lambda: 2)
    methods["slow"] = Method(clock, total=1000, seconds=lambda rows, columns: 0.4)
    alone = only(estimate_cost(table(100), ["slow"]))

    clock.busy, clock.idle_cores = 1.5, idle_cores
    crowded = only(estimate_cost(table(100), ["slow"]))

    assert crowded.busy == pytest.approx(busy)
    assert crowded.seconds == pytest.approx(alone.seconds * busy / 1.5)
    assert crowded.high == pytest.approx(alone.high * busy / 1.5)
    assert crowded.low == pytest.approx(alone.low / 1.5)


def test_a_quick_method_does_not_make_a_machine_look_busy(clock, methods, monkeypatch):
    monkeypatch.setattr(psutil.Process, "nice", lambda process: 0)
    clock.idle_cores = 0.0
    methods["quick"] = Method(clock, seconds=lambda rows, columns: 0.01)

    assert only(estimate_cost(table(100), ["quick"])).busy == 1


def test_a_method_too_slow_for_all_columns_is_seen_on_few(clock, methods):
    method = methods["wide"] = Method(
        clock, total=4, pieces=20, seconds=lambda rows, columns: 0.3 * columns
    )
    frame = table(100, 40)

    cost = only(estimate_cost(frame, ["wide"], budget_seconds=5))

    assert "columns" in cost.how
    assert cost.low <= method.cost(frame) <= cost.high


def test_a_method_that_never_tells_anything_gets_no_number(clock, methods):
    methods["mute"] = Method(clock, total=10, seconds=lambda rows, columns: 10.0)

    estimate = estimate_cost(table(100), ["mute"], budget_seconds=1)

    # The unit in which it was asked to stop did end, and told the speed after all.
    assert only(estimate).seconds == pytest.approx(100)

    methods["mute"].tell = lambda callback, done: None
    estimate = estimate_cost(table(100), ["mute"], budget_seconds=1)
    assert only(estimate).seconds is None
    assert only(estimate).error == NO_PROGRESS
    assert estimate.total_seconds == 0


@pytest.mark.parametrize(
    ("raised", "sentence"),
    [
        (ImputationError("It needs two columns."), "It needs two columns."),
        (ZeroDivisionError("oh"), "The method broke: ZeroDivisionError: oh"),
    ],
)
def test_a_method_that_fails_is_a_row_with_its_reason(clock, methods, raised, sentence):
    def fail(rows, columns):
        raise raised

    methods["fails"] = Method(clock, seconds=fail)
    methods["works"] = Method(clock, seconds=lambda rows, columns: 0.1)

    fails, works = estimate_cost(table(50), ["fails", "works"]).per_method

    assert (fails.seconds, fails.error) == (None, sentence)
    assert works.seconds == pytest.approx(0.1)


def test_the_user_can_stop_it(clock, methods):
    methods["slow"] = Method(clock, total=1000, seconds=lambda rows, columns: 0.1)

    with pytest.raises(Cancelled, match="estimate was stopped"):
        estimate_cost(table(50), ["slow"], cancel=lambda: clock.now > 101)

    assert clock.now < 102


def test_listeners_hear_of_every_method(clock, methods):
    methods["one"] = methods["two"] = Method(clock, seconds=lambda rows, columns: 0.1)
    heard = []

    estimate = estimate_cost(table(50), ["one", "two"], seeds=3, callbacks=(heard.append,))

    assert [type(event) for event in heard] == [MethodProbed, MethodProbed]
    assert [(event.cost.method, event.n_done, event.n_methods) for event in heard] == [
        ("one", 1, 2),
        ("two", 2, 2),
    ]
    assert estimate.total_seconds == pytest.approx(3 * 0.2)


@pytest.mark.parametrize(
    ("frame", "names", "options", "sentence"),
    [
        (table(5), [], {}, "at least one method"),
        (table(0), ["naive"], {}, "without rows"),
        (table(5), ["naive"], {"budget_seconds": 0}, "more than 0 s"),
        (table(5), ["nobody"], {}, "no method 'nobody'"),
        (table(5), ["em"], {"method_params": {"em": {"speed": 9}}}, "no parameter speed"),
    ],
)
def test_what_cannot_be_estimated_is_refused(frame, names, options, sentence):
    with pytest.raises((JobError, ImputationError), match=sentence):
        estimate_cost(frame, names, **options)


def test_a_blend_costs_what_its_members_cost_together():
    params = {"network_params": {"steps": 7}}
    blend = RequestedMethod.make("pmae", params)
    parts = [(one.name, one.params.get("steps")) for one in blend.to_run()]
    costs = {
        one.key: MethodCost(method=one.name, low=1.0, seconds=2.0, high=4.0, memory_mb=9.0)
        for one in blend.to_run()
    }

    assert parts == [("pmae", None), ("pmae-mix", 7)]
    cost = blend.cost(costs)
    assert (cost.low, cost.seconds, cost.high, cost.memory_mb) == (2.0, 4.0, 8.0, 9.0)
    costs[blend.to_run()[1].key] = MethodCost(method="pmae-mix", error="It broke.")
    assert blend.cost(costs).error == "It broke."


def test_real_methods_are_estimated():
    params = {
        "hyperimpute": {"n_trees": 2, "n_boosting_rounds": 2},
        "pmae": {"n_trees": 5, "network_params": {"steps": 20}},
        "pmae-mix": {"steps": 20},
    }
    names = ["em", "hyperimpute", "knn", "pmae", "pmae-mix"]

    estimate = estimate_cost(
        table(60, 4), names, method_params=params, threads=1, budget_seconds=60
    )

    for cost in estimate.per_method:
        assert cost.error is None, cost
        assert 0 < cost.low <= cost.seconds <= cost.high
        assert cost.memory_mb > 50
    assert math.isfinite(estimate.total_seconds)


def test_methods_that_draw_imputations_cost_more_with_them():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(300, 6)), columns=list("abcdef"))
    table = table.mask(rng.random(table.shape) < 0.2)
    single, scored = (
        estimate_cost(table, ["em"], imputations=number, budget_seconds=2).per_method[0]
        for number in (0, 500)
    )
    assert scored.seconds > 3 * single.seconds
