"""Whose class it is: the browser that started a class keeps its secret in the workspace."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from dashboard.classroom.store import ClassQuestion, Classroom, ClassroomError, Desk, sweep
from dashboard.state import session
from dashboard.state.documents import Documents
from dashboard.state.workspace import Workspace

_NAME = "desk"
_MOST_EARLIER = 100


def own_desk(classroom: Classroom) -> Desk | None:
    """Return the desk of a class if this visitor started it."""
    workspace = session.known_workspace()
    if workspace is None:
        return None
    kept = _documents(workspace).read(_NAME)
    return Desk(classroom, kept["secret"]) if kept.get("code") == classroom.code else None


def open_desk() -> Desk | None:
    """Return the desk of the class that this visitor leads at present."""
    workspace = session.known_workspace()
    code = _documents(workspace).read(_NAME).get("code", "") if workspace else ""
    classroom = Classroom.open(code)
    try:
        if classroom is None or classroom.state().phase == "ended":
            return None
        return own_desk(classroom)
    except ClassroomError:  # a damaged class cannot be led; another one can be started
        return None


def start_class(question: ClassQuestion, rows: pd.DataFrame | None = None) -> Desk:
    """Start a class that this visitor leads, with a question about some rows or without them."""
    sweep()
    desk, secret = Desk.start(question, rows=rows)
    with _documents(session.workspace()).changing(_NAME) as kept:
        if kept:
            earlier = {"code": kept["code"], "secret": kept["secret"]}
            kept["earlier"] = [*kept.get("earlier", []), earlier][-_MOST_EARLIER:]
        kept.update(code=desk.classroom.code, secret=secret)
    return desk


def delete_classes(workspace: Workspace, home: Path | None = None) -> int:
    """Delete the classes that a workspace started and that still exist; return how many."""
    kept = _documents(workspace).read(_NAME)
    n_deleted = 0
    for started in (*kept.get("earlier", []), *([kept] if kept else [])):
        classroom = Classroom.open(started["code"], home)
        if classroom is not None:
            Desk(classroom, started["secret"]).delete()
            n_deleted += 1
    return n_deleted


def _documents(workspace: Workspace) -> Documents:
    # Not among the settings: links can change those.
    return Documents(workspace.folder / "classroom")
