"""A class at work on one server: students on Learn and the Masking lab while some train.

Every student is a real session over its own WebSocket, with pauses to think. The benchmark counts
failures, times interactions, and measures memory per session and its growth with reruns. Then the
students join a class by its code: their pages ask every 2 s what the teacher decided, and they
answer.

Seconds can only be compared within one run: `--before` measures another checkout first.

python -m benchmarks.service.classroom_load [--students 30] [--training 5] [--minutes 3]
    [--reruns 500] [--tree <a checkout>] [--before <another checkout>]
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from benchmarks.recording import commit, machine, write_result
from pmae_core.jobs import JobStore
from pmae_core.jobs.engines import LocalEngine
from tests.support.paths import ROOT
from tests.support.studio import StudioServer
from tests.support.wire import VisitFailed, WireVisitor

THINK_SECONDS = (1.0, 4.0)
JOB_SECONDS = 300.0
LESSONS_A_ROUND = 2
MOVES_A_ROUND = 5
MEGABYTE = 1e6
SLIDERS = {"a: effect of missingness": (0.0, 0.5), "b: overall masking rate": (0.1, 0.9)}
LAB = "pmae_masking_lab"  # since it is a live figure, there are no sliders to send
POLL_SECONDS = 2.0
QUESTION_SECONDS, SOLUTION_SECONDS = 15.0, 5.0


@dataclass
class Tally:
    """What all students measured together."""

    waits: dict[str, list[float]] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, what: str, seconds: float) -> None:
        with self._lock:
            self.waits.setdefault(what, []).append(seconds)

    def fail(self, error: Exception) -> None:
        with self._lock:
            self.failures.append(f"{type(error).__name__}: {error}"[:200])


class Student:
    """Somebody who reads lessons and moves sliders until the lesson is over."""

    def __init__(self, visitor: WireVisitor, tally: Tally, seed: int, end: float) -> None:
        self.visitor = visitor
        self.tally = tally
        self.random = random.Random(seed)
        self.end = end

    def read_lessons(self) -> None:
        """Go through some lessons: guess, then look at the solution."""
        self._do("learn opens", self.visitor.open, "learn")
        n_lessons = len(self.visitor.widgets["Lesson"].proto.options)
        for number in self.random.sample(range(n_lessons), LESSONS_A_ROUND):
            # Read again each time: a solved lesson is marked in the list.
            lesson = self.visitor.widgets["Lesson"].proto.options[number]
            self._do("lesson changes", self.visitor.set, "Lesson", lesson)
            guess = self.visitor.widgets.get("Your guess")
            if guess is not None:
                answer = self.random.choice(list(guess.proto.options))
                self._do("guess", self.visitor.set, "Your guess", answer)
            if "Show the solution" in self.visitor.widgets:
                self._do("solution", self.visitor.click, "Show the solution")

    def move_sliders(self) -> None:
        """Try masking on the sample table."""
        self._do("masking lab opens", self.visitor.open, "masking_lab")
        for _ in range(MOVES_A_ROUND):
            self._do("slider", move_slider, self.visitor, self.random)

    def train(self) -> None:
        """Start a training of the quick preset and go on with the lessons."""
        self._do("train opens", self.visitor.open, "train")
        self._do("preset", self.visitor.set, "Preset", "Quick")
        self._do("training starts", self.visitor.click, "Start training")

    @property
    def has_time(self) -> bool:
        return time.monotonic() < self.end

    def _do(self, what: str, action: Callable[..., None], *arguments: Any) -> None:
        if not self.has_time:
            return
        time.sleep(self.random.uniform(*THINK_SECONDS))
        action(*arguments)
        self.tally.add(what, self.visitor.waits[-1])


def move_slider(visitor: WireVisitor, chance: random.Random) -> None:
    """Let go of the live lab at some values, or move one slider of a checkout without it."""
    a, b = (round(chance.uniform(*ends), 3) for ends in SLIDERS.values())
    if LAB in visitor.widgets:
        release_sliders(visitor, a, b)
    else:
        visitor.set(*chance.choice(list(zip(SLIDERS, (a, b), strict=True))))


def release_sliders(visitor: WireVisitor, a: float, b: float) -> None:
    """Let go of the live lab at these values."""
    visitor.trigger(LAB, "released", {"function": "logit", "a": a, "b": b})


def attend(server: StudioServer, tally: Tally, seed: int, end: float, trains: bool) -> None:
    """Be one student from the first page to the end of the lesson."""
    try:
        with WireVisitor(server.url) as visitor:
            student = Student(visitor, tally, seed, end)
            if trains:
                student.train()
            while student.has_time:
                student.read_lessons()
                student.move_sliders()
    except (VisitFailed, OSError) as error:
        tally.fail(error)


def class_at_work(server: StudioServer, options: argparse.Namespace) -> dict[str, Any]:
    """Let all students work at once; return waits, failures, jobs and memory."""
    tally = Tally()
    before = server.memory()
    end = time.monotonic() + 60 * options.minutes
    with watched_memory(server) as memory, ThreadPoolExecutor(options.students) as classroom:
        for seed in range(options.students):
            classroom.submit(attend, server, tally, seed, end, seed < options.training)
    jobs = finished_trainings(server)
    return {
        "students": options.students,
        "training_at_once": options.training,
        "minutes": options.minutes,
        "failures": tally.failures,
        "interactions": summary([wait for waits in tally.waits.values() for wait in waits]),
        "interactions_by_kind": {kind: summary(w) for kind, w in sorted(tally.waits.items())},
        "trainings": jobs,
        "memory_mb": {
            "before": round(before / MEGABYTE),
            "most": round(max(memory) / MEGABYTE),
            "a_session": round((max(memory) - before) / options.students / MEGABYTE, 1),
        },
    }


def finished_trainings(server: StudioServer) -> dict[str, Any]:
    """Wait for the trainings that run; cancel what is left, as its folder goes with the server."""
    engine = LocalEngine(store := JobStore(server.home))
    deadline = time.monotonic() + JOB_SECONDS
    records = store.jobs()
    for job in records:
        engine.wait(job.id, timeout=max(0.0, deadline - time.monotonic()))
    states = Counter(str(store.job(job.id).state) for job in records)
    for job in records:
        if not store.job(job.id).state.is_final:
            engine.cancel(job.id)
            engine.wait(job.id, timeout=JOB_SECONDS)
    store.close()
    return dict(states)


def summary(waits: Sequence[float]) -> dict[str, float]:
    """Return how many waits there were, their median, their 95th percentile and the longest."""
    ordered = sorted(waits)
    if len(ordered) < 2:
        return {"count": len(ordered)}
    return {
        "count": len(ordered),
        "median_seconds": round(statistics.median(ordered), 3),
        "p95_seconds": round(statistics.quantiles(ordered, n=20, method="inclusive")[-1], 3),
        "longest_seconds": round(ordered[-1], 3),
    }


@contextmanager
def watched_memory(server: StudioServer) -> Iterator[list[int]]:
    """Collect the memory of the server's process every second."""
    measured = [server.memory()]
    over = threading.Event()

    def watch() -> None:
        while not over.wait(1.0):
            measured.append(server.memory())

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield measured
    finally:
        over.set()
        watcher.join()


def many_reruns(server: StudioServer, count: int) -> dict[str, Any]:
    """Move a slider many times in one session; return how memory grows after the first fifth."""
    chance = random.Random(0)
    settled = count // 5
    with WireVisitor(server.url) as visitor:
        visitor.open("masking_lab")
        for number in range(count):
            move_slider(visitor, chance)
            if number + 1 == settled:
                after_settling = server.memory()
        grown = server.memory() - after_settling
        return {
            "reruns": count,
            "seconds": summary(visitor.waits[1:]),
            "memory_mb_after_a_fifth": round(after_settling / MEGABYTE),
            "grown_mb_since": round(grown / MEGABYTE, 1),
            "grown_kb_a_rerun": round(grown / (count - settled) / 1000, 1),
        }


# A class by its code


def class_by_code(server: StudioServer, options: argparse.Namespace) -> dict[str, Any]:
    """Let a teacher lead all students through lessons; return waits, failures and processor time.

    Empty for a checkout that has no classes.
    """
    tally = Tally()
    with WireVisitor(server.url) as teacher:
        teacher.open("learn")
        if "Start a class" not in teacher.widgets:
            return {}
        teacher.click("Start a class")
        end = time.monotonic() + 60 * options.minutes
        used_before = server.processor_seconds()
        with ThreadPoolExecutor(options.students) as classroom:
            for seed in range(options.students):
                classroom.submit(follow, server, teacher.query, tally, seed, end)
            try:
                lead(teacher, tally, end)
            except (VisitFailed, KeyError) as error:
                tally.fail(error)
    used = server.processor_seconds() - used_before
    n_interactions = sum(len(waits) for waits in tally.waits.values())
    return {
        "students": options.students,
        "minutes": options.minutes,
        "failures": tally.failures,
        "interactions_by_kind": {kind: summary(w) for kind, w in sorted(tally.waits.items())},
        "server_processor_ms_per_interaction": round(1000 * used / max(n_interactions, 1), 1),
        "server_processor_share": round(used / (60 * options.minutes), 2),
    }


def lead(teacher: WireVisitor, tally: Tally, end: float) -> None:
    """Ask, reveal and move on until the end; between, look at the answers every second."""

    def press(what: str, start: str) -> None:
        teacher.click(next(label for label in teacher.widgets if label.startswith(start)))
        tally.add(what, teacher.waits[-1])

    def watch(seconds: float) -> None:
        until = min(time.monotonic() + seconds, end)
        while time.monotonic() < until:
            time.sleep(1.0)
            teacher.refresh()
            tally.add("teacher's poll", teacher.waits[-1])

    watch(SOLUTION_SECONDS)
    press("class begins", "Start:")
    while time.monotonic() < end:
        watch(QUESTION_SECONDS)
        press("reveal", "Show the solution")
        watch(SOLUTION_SECONDS)
        press("next question", "Next:")
    press("class ends", "End the class")


def follow(server: StudioServer, query: str, tally: Tally, seed: int, end: float) -> None:
    """Be one student of a class from joining to its end: ask for news, answer what is new."""
    chance = random.Random(seed)
    answered: set[str] = set()
    try:
        with WireVisitor(server.url, query=query) as student:
            time.sleep(chance.uniform(0, POLL_SECONDS))
            student.open("learn")
            tally.add("class opens", student.waits[-1])
            student.click("Join")
            tally.add("joins", student.waits[-1])
            while time.monotonic() < end:
                time.sleep(POLL_SECONDS)
                student.refresh()
                tally.add("student's poll", student.waits[-1])
                answers = student.labels("button")
                if answers and answered.isdisjoint(answers):
                    time.sleep(chance.uniform(*THINK_SECONDS))
                    student.click(chance.choice(answers))
                    tally.add("answer", student.waits[-1])
                answered = set(answers)
    except (VisitFailed, OSError, KeyError) as error:
        tally.fail(error)


# Everything


def measured(tree: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Measure a checkout."""
    with tempfile.TemporaryDirectory() as home, StudioServer(Path(home), tree=tree) as server:
        with WireVisitor(server.url) as first:  # what is loaded once is no student's memory
            for page in ("learn", "masking_lab", "train"):
                first.open(page)
        lesson = class_at_work(server, options)
        reruns = many_reruns(server, options.reruns)
        by_code = class_by_code(server, options)
        n_in_log = len(server.failures())
    return {
        "commit": commit(tree),
        "class": lesson,
        "one_session": reruns,
        "class_by_code": by_code,
        "failures_in_the_log": n_in_log,
    }


def has_failed(result: dict[str, Any]) -> bool:
    failures = [*result["class"]["failures"], *result["class_by_code"].get("failures", [])]
    return bool(failures or result["failures_in_the_log"])


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and write; return 1 if anything failed."""
    options = parsed(arguments)
    load_before = os.getloadavg()[0]
    before = {"before": measured(options.before, options)} if options.before else {}
    after = measured(options.tree, options)
    result = {
        "what": "a class on one server: failures, seconds an interaction takes, memory",
        "command": command(options),
        "machine": machine(load_before, memory_gb=round(psutil.virtual_memory().total / 1e9)),
        **after,
        **before,
    }
    print(json.dumps(result, indent=2), flush=True)
    if options.write:
        write_result("classroom_load", result)
    return int(any(has_failed(one) for one in (after, *before.values())))


def command(options: argparse.Namespace) -> str:
    words = [f"--{name} {getattr(options, name):g}" for name in RANGES]
    return "python -m benchmarks.service.classroom_load " + " ".join(words)


# Option -> (least, default, most): a benchmark must not become an attack.
RANGES = {
    "students": (1, 30, 300),
    "training": (0, 5, 20),
    "minutes": (0.1, 3.0, 30.0),
    "reruns": (5, 500, 5000),
}


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for name, (_, usual, most) in RANGES.items():
        parser.add_argument(
            f"--{name}", type=type(usual), default=usual, help=f"{usual:g}, at most {most:g}"
        )
    parser.add_argument("--tree", type=Path, default=ROOT, help="the checkout to measure")
    parser.add_argument("--before", type=Path, help="a checkout to measure first")
    parser.add_argument("--dry", dest="write", action="store_false", help="write no result")
    options = parser.parse_args(arguments)
    for tree in filter(None, (options.tree, options.before)):
        if not (tree / "dashboard" / "app.py").is_file():
            parser.error(f"{tree} is not a checkout: it has no dashboard/app.py.")
    for name, (least, _, most) in RANGES.items():
        if not least <= getattr(options, name) <= most:
            parser.error(f"--{name} must be between {least:g} and {most:g}")
    return options


if __name__ == "__main__":
    raise SystemExit(main())
