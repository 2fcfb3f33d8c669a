"""Classes on disk: which question is asked, who is there, what they answered.

A class is a folder named by its code. The teacher alone writes its state; each student writes
files of their own, so that two hundred of them never wait for each other. It knows nothing of
Streamlit.
"""

from __future__ import annotations

import functools
import hashlib
import hmac
import json
import logging
import os
import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import pandas as pd

from dashboard.classroom.codes import new_code, spaced, typed_code
from dashboard.state.documents import Documents
from dashboard.state.environment import environment_number
from pmae_core.documents import Document, part_of
from pmae_core.errors import PMAEError
from pmae_core.storage.disk import remove_path
from pmae_core.storage.files import replacing, write_whole
from pmae_core.storage.home import pmae_home

DEFAULT_HOURS = 24.0
MOST_STUDENTS = 300
LONGEST_NAME = 40
PRESENT_SECONDS = 30.0  # telephones ask every few seconds while their screen is on

_STATE = "class"
_LAST_USED = "last_used"
_TOUCH_SECONDS = 600.0
_SEEN_SECONDS = 10.0
_log = logging.getLogger(__name__)

Phase = Literal["joining", "asking", "revealed", "ended"]


class ClassroomError(PMAEError):
    """Something that a class does not allow, or a class that cannot be kept."""


class ClassQuestion(Document):
    """A lesson as it is asked in a class: the same table for everybody.

    Attributes
    ----------
    lesson
        Its name.
    seed, settings
        What its exercise is made from.
    right
        The key of the right answer.
    """

    error_class: ClassVar[type[PMAEError]] = ClassroomError
    document_name: ClassVar[str] = "The question"

    lesson: str
    seed: int
    settings: dict[str, Any]
    right: str


class ClassState(Document):
    """What the teacher decided so far.

    Attributes
    ----------
    teacher
        The digest of the secret that opens the teacher's desk.
    phase
        Students join, answer the last question, see its solution, or the class is over.
    questions
        All that were asked, the present one last.
    """

    error_class: ClassVar[type[PMAEError]] = ClassroomError
    document_name: ClassVar[str] = "The class"

    teacher: str
    phase: Phase
    questions: list[Annotated[ClassQuestion, part_of(ClassQuestion)]]

    @property
    def number(self) -> int:
        """The number of the present question, from 0 on."""
        return len(self.questions) - 1

    @property
    def question(self) -> ClassQuestion:
        """The present question."""
        return self.questions[-1]


@dataclass(frozen=True)
class Student:
    """Somebody who joined.

    Attributes
    ----------
    id
        From which the student's token cannot be told.
    name
        As the student typed it; empty if not.
    joined
        When, in seconds since 1970.
    present
        Whether the student's page is open.
    """

    id: str
    name: str
    joined: float
    present: bool


@dataclass(frozen=True)
class GivenAnswer:
    """The key of what a student answered, and when."""

    key: str
    at: float


class Classroom:
    """A class as anyone with its code may use it.

    Parameters
    ----------
    folder
        Whose name is the code.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._documents = Documents(folder)

    @classmethod
    def open(
        cls, code: str, home: Path | None = None, *, now: float | None = None
    ) -> Classroom | None:
        """Return the class of a code as somebody typed it; None if there is none."""
        name = typed_code(code)
        if name is None:
            return None
        classroom = cls(classes_folder(home) / name)
        if not _is_class(classroom.folder) or classroom.is_expired(now):
            return None
        classroom.touch()
        return classroom

    @property
    def code(self) -> str:
        """What students type to join."""
        return self.folder.name

    # What the teacher decided

    def state(self) -> ClassState:
        """Return what the teacher decided so far."""
        try:
            return ClassState.read(self._documents.read(_STATE))
        except ClassroomError as error:
            raise ClassroomError(
                f"The class {spaced(self.code)} cannot be read. Start another class."
            ) from error

    def version(self) -> tuple[int, int]:
        """Return something that differs after every decision of the teacher; cheap to ask for."""
        try:
            found = (self.folder / f"{_STATE}.json").stat()
        except FileNotFoundError:
            return 0, 0
        return found.st_mtime_ns, found.st_ino

    def rows(self, number: int) -> pd.DataFrame | None:
        """Return the rows of the teacher's table that a question is about; None if it has none."""
        path = self._rows_file(number)
        return pd.read_parquet(path) if path.exists() else None

    # Students

    def join(self, name: str = "") -> str:
        """Let a student in; return the secret by which the class knows the student again."""
        if self.state().phase == "ended":
            raise ClassroomError("This class has ended.")
        folder = self.folder / "students"
        folder.mkdir(mode=0o700, exist_ok=True)
        if len(_documents_in(folder)) >= MOST_STUDENTS:
            raise ClassroomError(f"This class is full: it has {MOST_STUDENTS} students.")
        token = secrets.token_urlsafe(24)
        content = {"name": shown_name(name), "joined": time.time()}
        write_whole(self._student_file(token), json.dumps(content, ensure_ascii=False))
        return token

    def student(self, token: str) -> Student | None:
        """Return the student with this secret; None if the class does not know it."""
        return _read_student(self._student_file(token), time.time()) if token else None

    def note_presence(self, token: str) -> None:
        """Note that a student's page is open; mostly it is known already."""
        file = self._student_file(token)
        try:
            if time.time() - file.stat().st_mtime > _SEEN_SECONDS:
                os.utime(file)
                self.touch()
        except FileNotFoundError:
            return

    def n_present(self) -> int:
        """Return how many students have their page open; asked for all the time."""
        earliest = time.time() - PRESENT_SECONDS
        files = _documents_in(self.folder / "students")
        return sum(found.stat().st_mtime > earliest for found in files)

    def students(self, now: float | None = None) -> list[Student]:
        """Return all who joined, the first one first."""
        now = time.time() if now is None else now
        files = _documents_in(self.folder / "students")
        read = [_read_student(Path(file), now) for file in files]
        return sorted((one for one in read if one is not None), key=lambda one: one.joined)

    # Answers

    def answer(self, token: str, number: int, key: str) -> bool:
        """Keep a student's answer, instead of an earlier one; say whether it counts.

        It does not after the reveal, to a question of before, and of somebody who never joined.
        """
        state = self.state()
        student = self._student_file(token)
        if state.phase != "asking" or state.number != number or not student.exists():
            return False
        folder = self._answers_folder(number)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_whole(folder / student.name, json.dumps({"key": key, "at": time.time()}))
        return True

    def answer_of(self, token: str, number: int) -> str | None:
        """Return the key of a student's answer; None if there is none."""
        found = _read_answer(self._answers_folder(number) / self._student_file(token).name)
        return found.key if found else None

    def answers(self, number: int) -> dict[str, GivenAnswer]:
        """Return all answers to a question by the students' ids."""
        read = {
            file.name.removesuffix(".json"): _read_answer_once(
                file.path, file.inode(), file.stat().st_mtime_ns
            )
            for file in _documents_in(self._answers_folder(number))
        }
        return {student: answer for student, answer in read.items() if answer is not None}

    # Expiry

    def touch(self) -> None:
        """Note that the class is in use, which puts off its expiry."""
        file = self.folder / _LAST_USED
        if not file.exists() or time.time() - file.stat().st_mtime > _TOUCH_SECONDS:
            file.touch()

    def is_expired(self, now: float | None = None) -> bool:
        """Say whether nobody used the class for PMAE_CLASS_HOURS hours."""
        now = time.time() if now is None else now
        file = self.folder / _LAST_USED
        last_used = (file if file.exists() else self.folder).stat().st_mtime
        return now - last_used > class_hours() * 3600

    # Files

    def _student_file(self, token: str) -> Path:
        return self.folder / "students" / f"{_digest(token)[:32]}.json"

    def _answers_folder(self, number: int) -> Path:
        return self.folder / "answers" / str(number)

    def _rows_file(self, number: int) -> Path:
        return self.folder / f"rows-{number}.parquet"

    def _write_rows(self, number: int, rows: pd.DataFrame | None) -> None:
        if rows is not None:
            with replacing(self._rows_file(number)) as unfinished:
                rows.to_parquet(unfinished)


class Desk:
    """The teacher's desk: what nobody can do without the secret of the class.

    Parameters
    ----------
    classroom
        The class.
    secret
        As `start` returned it.

    Raises
    ------
    ClassroomError
        If the secret is not that of the class.
    """

    def __init__(self, classroom: Classroom, secret: str) -> None:
        if not hmac.compare_digest(classroom.state().teacher, _digest(secret)):
            raise ClassroomError("Only the browser that started a class can lead it.")
        self.classroom = classroom

    @classmethod
    def start(
        cls, question: ClassQuestion, home: Path | None = None, *, rows: pd.DataFrame | None = None
    ) -> tuple[Desk, str]:
        """Start a class; return its desk and the secret to come back to it.

        Parameters
        ----------
        question
            The first one.
        home
            Where classes are kept; PMAE_HOME by default.
        rows
            Of the teacher's table, if the question is about it.
        """
        root = classes_folder(home)
        secret = secrets.token_urlsafe(24)
        try:
            root.mkdir(mode=0o700, parents=True, exist_ok=True)
            classroom = Classroom(_new_folder(root))
        except OSError as error:
            raise ClassroomError(
                f"No class can be kept in {root}: {error.strerror or error}. "
                "Start the dashboard with PMAE_HOME set to a writable folder."
            ) from error
        classroom._write_rows(0, rows)
        state = ClassState(teacher=_digest(secret), phase="joining", questions=[question])
        with classroom._documents.changing(_STATE) as document:
            document.update(state.model_dump())
        classroom.touch()
        return cls(classroom, secret), secret

    def begin(self) -> None:
        """Ask the first question."""
        self._change(number=0, phase="asking")

    def reveal(self, number: int) -> None:
        """Show everybody the solution of a question; answers no longer count."""
        self._change(number=number, phase="revealed")

    def ask(self, question: ClassQuestion, *, after: int, rows: pd.DataFrame | None = None) -> None:
        """Move everybody on to another question, from the one with the number `after`.

        `rows` are those of the teacher's table, if the question is about it.
        """
        self.classroom._write_rows(after + 1, rows)
        self._change(number=after, phase="asking", more_questions=[question])

    def end(self) -> None:
        """End the class; its answers stay until it expires."""
        self._change(number=None, phase="ended")

    def delete(self) -> None:
        """Delete the class with all names and answers."""
        remove_path(self.classroom.folder)

    def _change(
        self, *, number: int | None, phase: Phase, more_questions: Sequence[ClassQuestion] = ()
    ) -> None:
        """Write a decision, unless the class has moved on since the teacher saw the question."""
        with self.classroom._documents.changing(_STATE) as document:
            state = ClassState.read(document)
            if state.phase == "ended":
                raise ClassroomError("This class has ended. Start another one.")
            if number in (None, state.number):
                questions = [*state.questions, *more_questions]
                document.update(state.changed(phase=phase, questions=questions).model_dump())


def classes_folder(home: Path | None = None) -> Path:
    """Return where all classes lie."""
    return (home or pmae_home()) / "classes"


def class_hours() -> float:
    """Return after how many hours without use a class is removed."""
    return environment_number(
        "PMAE_CLASS_HOURS",
        DEFAULT_HOURS,
        advice="a positive number of hours",
        error=ClassroomError,
        positive=True,
    )


def sweep(home: Path | None = None, *, now: float | None = None) -> int:
    """Remove expired classes with all names and answers; return how many they were."""
    root = classes_folder(home)
    n_removed = 0
    for folder in root.iterdir() if root.is_dir() else ():
        if _is_class(folder) and Classroom(folder).is_expired(now):
            remove_path(folder)
            n_removed += 1
    return n_removed


def shown_name(name: str) -> str:
    r"""Return a student's name in one short line, without signs that cannot be seen.

    Examples
    --------
    >>> shown_name("  Ada \n Lovelace\u202e "), shown_name("<b>x</b>")
    ('Ada Lovelace', '<b>x</b>')
    """
    line = " ".join(name.split())
    return "".join(sign for sign in line if sign.isprintable())[:LONGEST_NAME].strip()


# Files


def _new_folder(root: Path) -> Path:
    while True:
        folder = root / new_code()
        try:
            folder.mkdir(mode=0o700)
        except FileExistsError:
            continue
        return folder


def _is_class(folder: Path) -> bool:
    is_code = typed_code(folder.name) == folder.name
    return is_code and folder.is_dir() and not folder.is_symlink()


def _documents_in(folder: Path) -> list[os.DirEntry[str]]:
    """Return the files that are written to the end."""
    try:
        with os.scandir(folder) as entries:
            return [entry for entry in entries if not entry.name.startswith(".")]
    except FileNotFoundError:
        return []


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _read_student(path: Path, now: float) -> Student | None:
    with _damage_noted(path):
        content = json.loads(path.read_text(encoding="utf-8"))
        seen = path.stat().st_mtime
        return Student(
            path.stem,
            shown_name(str(content["name"])),
            float(content["joined"]),
            now - seen < PRESENT_SECONDS,
        )
    return None


@functools.lru_cache(maxsize=4096)
def _read_answer_once(path: str, inode: int, changed_at: int) -> GivenAnswer | None:
    """Read an answer that is counted again and again; a changed one is another file."""
    return _read_answer(Path(path))


def _read_answer(path: Path) -> GivenAnswer | None:
    with _damage_noted(path):
        content = json.loads(path.read_text(encoding="utf-8"))
        return GivenAnswer(str(content["key"]), float(content["at"]))
    return None


@contextmanager
def _damage_noted(path: Path) -> Iterator[None]:
    """Leave out a file that is not there, or that somebody damaged; one is no reason to fail."""
    try:
        yield
    except FileNotFoundError:
        return
    except (OSError, ValueError, TypeError, KeyError):
        _log.exception("The file %s of a class cannot be read and is left out.", path)
