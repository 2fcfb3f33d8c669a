"""The connection to a Ray cluster, and the messages between a job and its tasks there.

Ray is imported inside functions: only users of this engine need it.
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
from pmae_core.words import listed

NAMESPACE = "pmae"
# How often a task is started again whose process or node died; a method that always ends its
# process (for lack of memory, for example) must not be run forever.
MAX_RETRIES = 5
SEND_SECONDS = 0.25
_REACHABLE_SECONDS = 10.0
_MEGABYTE = 1024 * 1024


def import_ray() -> Any:
    """Return the module ``ray``, or raise a sentence that says how to install it."""
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
    """Connect to the cluster that RAY_ADDRESS names, or to the one on this machine."""
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
    """Fail within seconds if the address does not answer; Ray itself would try for minutes."""
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
    """Return a function of this package as a Ray function with the resources of a job's task.

    The number of threads is set before the process of the task loads anything. Sums depend on
    it, so this gives the same result here and on the cluster.
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


# ------------------------------------------------------------------ messages


@dataclass(frozen=True, kw_only=True)
class BegunOnNode(Event):
    """Work has begun on a node of the cluster; ``again`` if an earlier node died.

    ``node`` is Ray's own id, as in its dashboard and ``ray list nodes``.
    """

    method: str
    seed: int
    node: str
    again: bool


@dataclass(frozen=True)
class Started:
    """A task has begun, perhaps for the second time."""

    node: str


@dataclass(frozen=True)
class Checkpoint:
    """A file from which another node can continue the work of a task."""

    name: str
    content: bytes


@dataclass(frozen=True)
class TooMuchMemory:
    """A task uses more memory than the job may."""

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
        """Receive messages of a task, and return whether it should stop."""
        for message in messages:
            if isinstance(message, Checkpoint):
                self._checkpoints[message.name] = message.content
            self._messages.append((key, message))
        return self._cancelled

    def checkpoints(self) -> dict[str, bytes]:
        """Return the newest checkpoints, for a task that begins or begins again."""
        return self._checkpoints

    def take(self) -> list[tuple[Key, Message]]:
        """Return the messages that the driver has not received yet."""
        taken, self._messages = self._messages, []
        return taken

    def cancel(self) -> None:
        """Tell all tasks to stop."""
        self._cancelled = True


@contextmanager
def open_mailbox(checkpoints: dict[str, bytes] | None = None) -> Iterator[Any]:
    """Give a mailbox on the node of the driver, which lives as long as that node."""
    ray = import_ray()
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
    actor = ray.remote(Mailbox).options(num_cpus=0, scheduling_strategy=here)
    mailbox = actor.remote(checkpoints or {})
    try:
        ray.get(mailbox.take.remote())
    except ray.exceptions.RayActorError as error:
        raise JobError(
            "The Ray node of this machine could not run pmae. Start it with the Python in which "
            "pmae[ray] is installed, and do the same on every node."
        ) from error
    try:
        yield mailbox
    finally:
        ray.kill(mailbox)


class TaskReporter:
    """Sends the messages of a task to its driver; used as a context.

    A thread sends them a few times per second and learns whether to stop, so that the work itself
    never waits.

    Parameters
    ----------
    mailbox : actor handle
        Where to send them.
    key : tuple
        The task that sends.
    versions : dict
        The versions that the driver has installed; others could give other results.
    memory_mb : int or None
        The driver is told if the task uses more memory than this.
    """

    def __init__(
        self, mailbox: Any, key: Key, versions: Mapping[str, str], memory_mb: int | None
    ) -> None:
        here = installed_versions()
        others = [f"{name} {here[name]}" for name in here if here[name] != versions.get(name)]
        if others:
            raise JobError(
                f"A node of the cluster has {listed(others, most=len(others))}, and the machine of "
                "the job has other versions. Install the same versions everywhere."
            )
        self._mailbox, self._key, self._memory_limit = mailbox, key, memory_mb
        self._pending: list[Message] = []
        self._cancelled = False
        self._process = psutil.Process()
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._send_often, name="task-reporter", daemon=True)

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
        """Return whether the task should stop."""
        return self._cancelled

    def send_now(self) -> None:
        """Send all messages that are not sent yet."""
        ray = import_ray()
        with self._lock:
            messages, self._pending = self._pending, []
            if ray.get(self._mailbox.post.remote(self._key, messages)):
                self._cancelled = True

    def _send_often(self) -> None:
        ray = import_ray()
        while not self._closed.wait(SEND_SECONDS):
            used = self._process.memory_info().rss / _MEGABYTE
            if self._memory_limit is not None and used > self._memory_limit:
                self.emit(TooMuchMemory(used))
            try:
                self.send_now()
            except ray.exceptions.RayError:
                # Without a driver the result is not needed any more.
                self._cancelled = True
                return


class TaskListener:
    """Receives the messages of tasks for their driver.

    Parameters
    ----------
    mailbox : actor handle
        Where they arrive.
    resources : Resources
        What a task may use.
    emit : callable
        Receives each event.
    keep : callable, optional
        Receives each checkpoint.

    Attributes
    ----------
    started_at : dict
        When each task last began, by :func:`time.monotonic`.
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
        """Receive the messages that arrived since the last call.

        Raises
        ------
        JobError
            If a task uses more memory than the job may.
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
                    f"{key[0]} needs more than the {self._resources.memory_mb:,} MB of memory that "
                    f"the job may use on a node (it had {message.megabytes:,.0f} MB). Allow more "
                    "memory, or use fewer rows or a smaller method."
                )
            elif isinstance(message, Event):
                self._emit(message)
            elif self._keep is not None:
                self._keep(message)
