"""The connection to a Ray cluster, and the talk between a job and its tasks there.

Ray is imported inside functions: only who chose this engine needs it.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

import psutil

from pmae_core.errors import JobError
from pmae_core.events import Event
from pmae_core.jobs.spec import Resources, installed_versions
from pmae_core.threads import THREAD_VARIABLES

NAMESPACE = "pmae"
# How often a task is started again whose process or node died; a method that always ends its
# process (for want of memory, say) must not be run for ever.
MAX_RETRIES = 5
TALK_SECONDS = 0.25
_REACHABLE_SECONDS = 10.0
_MEGABYTE = 1024 * 1024


def import_ray() -> Any:
    """Return the module ``ray``; who lacks it learns in a sentence how to get it."""
    try:
        import ray
    except ImportError as error:
        raise JobError(
            "The Ray engine needs Ray on this machine and on every node: "
            "pip install 'pmae[ray]'. Without it, use PMAE_ENGINE=local."
        ) from error
    return ray


@contextmanager
def connected() -> Iterator[None]:
    """Be connected to the cluster that RAY_ADDRESS names, or to the one that runs here."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    ray = import_ray()
    address = os.environ.get("RAY_ADDRESS") or "auto"
    _check_reachable(address)
    try:
        ray.init(address=address, namespace=NAMESPACE, logging_level="warning")
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise JobError(_no_cluster(address, error)) from error
    try:
        yield
    finally:
        ray.shutdown()


def _check_reachable(address: str) -> None:
    """Fail within seconds where nobody listens; Ray itself would try for minutes."""
    host, colon, port = address.rpartition(":")
    if not colon or not port.isdigit():
        return
    try:
        host = host.removeprefix("ray://").strip("[]")
        socket.create_connection((host, int(port)), timeout=_REACHABLE_SECONDS).close()
    except OSError as error:
        raise JobError(_no_cluster(address, error)) from error


def _no_cluster(address: str, error: Exception) -> str:
    where = "on this machine" if address == "auto" else f"at RAY_ADDRESS={address}"
    return (
        f"There is no Ray cluster {where} ({error}). Start one with 'ray start --head', or set "
        "RAY_ADDRESS to the host:port of one that this machine has joined."
    )


def remote_function(function: Callable[..., Any], resources: Resources) -> Any:
    """Return a function of this package as a Ray function with what a task of a job may take.

    The number of threads is set before the process of the task loads anything: sums depend on
    it, so that a job gives the same here and there.
    """
    ray = import_ray()
    memory = {} if resources.memory_mb is None else {"memory": resources.memory_mb * _MEGABYTE}
    return ray.remote(function).options(
        num_cpus=resources.threads,
        num_gpus=resources.gpus,
        max_retries=MAX_RETRIES,
        runtime_env={"env_vars": dict.fromkeys(THREAD_VARIABLES, str(resources.threads))},
        **memory,
    )


# ------------------------------------------------------------------ what is said


@dataclass(frozen=True, kw_only=True)
class BegunOnNode(Event):
    """Work has begun on a node of the cluster; ``again`` if it had before, and that node died.

    ``node`` is Ray's own id, as in its dashboard and ``ray list nodes``.
    """

    method: str
    seed: int
    node: str
    again: bool


@dataclass(frozen=True)
class Started:
    """A task has begun, perhaps again."""

    node: str


@dataclass(frozen=True)
class Checkpoint:
    """A file from which the work of a task can go on elsewhere."""

    name: str
    content: bytes


@dataclass(frozen=True)
class TooMuchMemory:
    """A task takes more memory than the job may use."""

    megabytes: float


Message = Event | Started | Checkpoint | TooMuchMemory
Key = tuple[str, int]


class Mailbox:
    """An actor beside the driver, between it and its tasks.

    Parameters
    ----------
    checkpoints : dict
        Contents by name, of an earlier attempt.
    """

    def __init__(self, checkpoints: dict[str, bytes]) -> None:
        self._checkpoints = checkpoints
        self._messages: list[tuple[Key, Message]] = []
        self._cancelled = False

    def post(self, key: Key, messages: Sequence[Message]) -> bool:
        """Take what a task says, and answer whether it should stop."""
        for message in messages:
            if isinstance(message, Checkpoint):
                self._checkpoints[message.name] = message.content
            self._messages.append((key, message))
        return self._cancelled

    def checkpoints(self) -> dict[str, bytes]:
        """Return the newest checkpoints, for a task that begins, perhaps again."""
        return self._checkpoints

    def take(self) -> list[tuple[Key, Message]]:
        """Return what the driver has not heard yet."""
        taken, self._messages = self._messages, []
        return taken

    def cancel(self) -> None:
        """Tell all tasks to stop."""
        self._cancelled = True


@contextmanager
def open_mailbox(checkpoints: dict[str, bytes] | None = None) -> Iterator[Any]:
    """Give a mailbox on the node of the driver: it lives as long as that, and no shorter."""
    ray = import_ray()
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
    actor = ray.remote(Mailbox).options(num_cpus=0, scheduling_strategy=here)
    mailbox = actor.remote(checkpoints or {})
    try:
        ray.get(mailbox.take.remote())
    except ray.exceptions.RayActorError as error:
        raise JobError(
            "The Ray node of this machine could not run anything of pmae: start it with the "
            "Python in which pmae[ray] is installed, on every node the same."
        ) from error
    try:
        yield mailbox
    finally:
        ray.kill(mailbox)


class Line:
    """A task's line to its driver; used as a context.

    A thread sends what was emitted a few times a second and hears whether to stop, so that the
    work itself never waits.

    Parameters
    ----------
    mailbox : actor handle
        Where to send to.
    key : tuple
        Which task speaks.
    versions : dict
        What the driver has of all that computes; others here could give other results.
    memory_mb : int or None
        With more memory than this the driver is told.
    """

    def __init__(
        self, mailbox: Any, key: Key, versions: Mapping[str, str], memory_mb: int | None
    ) -> None:
        here = installed_versions()
        others = [f"{name} {here[name]}" for name in here if here[name] != versions.get(name)]
        if others:
            raise JobError(
                f"A node of the cluster has {', '.join(others)}, and the machine of the job has "
                "other versions. Install the same on all."
            )
        self._mailbox, self._key, self._memory_limit = mailbox, key, memory_mb
        self._pending: list[Message] = []
        self._cancelled = False
        self._process = psutil.Process()
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._talk, name="line", daemon=True)

    def __enter__(self) -> Self:
        self.emit(Started(import_ray().get_runtime_context().get_node_id()))
        self.send_now()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closed.set()
        self._thread.join()
        self.send_now()

    def emit(self, message: Message) -> None:
        """Send a message soon."""
        self._pending.append(message)

    def cancelled(self) -> bool:
        """Say whether the task should stop."""
        return self._cancelled

    def send_now(self) -> None:
        """Send all that is not sent yet."""
        ray = import_ray()
        with self._lock:
            messages, self._pending = self._pending, []
            if ray.get(self._mailbox.post.remote(self._key, messages)):
                self._cancelled = True

    def _talk(self) -> None:
        ray = import_ray()
        while not self._closed.wait(TALK_SECONDS):
            used = self._process.memory_info().rss / _MEGABYTE
            if self._memory_limit is not None and used > self._memory_limit:
                self.emit(TooMuchMemory(used))
            try:
                self.send_now()
            except ray.exceptions.RayError:
                # Without a driver nobody waits for the result any more.
                self._cancelled = True
                return


class Listener:
    """The driver's ear: hears what its tasks say.

    Parameters
    ----------
    mailbox : actor handle
        Where they send to.
    resources : Resources
        What a task may take.
    emit : callable
        Gets each event.
    keep : callable, optional
        Gets each checkpoint.

    Attributes
    ----------
    started_at : dict
        When each task (last) began, by :func:`time.monotonic`.
    """

    def __init__(
        self,
        mailbox: Any,
        resources: Resources,
        emit: Callable[[Event], None],
        keep: Callable[[Checkpoint], None] | None = None,
    ) -> None:
        self._mailbox, self._resources, self._emit, self._keep = mailbox, resources, emit, keep
        self.started_at: dict[Key, float] = {}

    def listen(self) -> None:
        """Hear what was said since the last time.

        Raises
        ------
        JobError
            If a task takes more memory than the job may use.
        """
        for key, message in import_ray().get(self._mailbox.take.remote()):
            if isinstance(message, Started):
                again = key in self.started_at
                method, seed = key
                begun = BegunOnNode(method=method, seed=seed, node=message.node, again=again)
                self._emit(begun)
                self.started_at[key] = time.monotonic()
            elif isinstance(message, TooMuchMemory):
                raise JobError(
                    f"{key[0]} needs more than the {self._resources.memory_mb:,} MB of memory the "
                    f"job may use on a node (it had {message.megabytes:,.0f} MB). Allow it more, "
                    "or take fewer rows or a smaller method."
                )
            elif isinstance(message, Event):
                self._emit(message)
            elif self._keep is not None:
                self._keep(message)
