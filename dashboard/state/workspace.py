"""What one user of the dashboard has on disk: a table with its history, settings, scenarios.

A workspace is a folder whose name is an unguessable token; anyone who has the token may enter. It
knows nothing of Streamlit.
"""

from __future__ import annotations

import contextlib
import json
import secrets
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dashboard.state.documents import Documents
from dashboard.state.environment import environment_number
from dashboard.state.recent import Recent
from dashboard.state.table_history import TableHistory, WorkspaceError, forget_recent
from pmae_core.storage.workspaces import (
    LAST_USED,
    is_token,
    is_unused,
    remove_workspace,
    workspace_id,
    workspaces_folder,
)

DEFAULT_DAYS = 30.0
MAX_SCENARIOS = 100
MAX_NAME = 80

_TOUCH_SECONDS = 600.0
_UPLOAD = "upload"
_KEY_LINK_USED = "key_link_used"

# Settings that the disk did not take, by folder and section: they hold until the server ends, and
# are written with the next change that the disk takes.
_unsaved_settings: Recent[dict[str, Any]] = Recent(1000)


class Workspace(TableHistory):
    """One user's folder: a table with its history, settings, scenarios.

    Parameters
    ----------
    folder
        Whose name is the token.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._settings = Documents(folder / "settings")

    @classmethod
    def create(cls, home: Path | None = None) -> Workspace:
        """Make a new, empty workspace."""
        root = workspaces_folder(home)
        folder = root / secrets.token_urlsafe(24)
        try:
            root.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder.mkdir(mode=0o700)
        except OSError as error:
            raise WorkspaceError(
                f"No workspace can be created in {root}: {error.strerror or error}. "
                "Start the dashboard with PMAE_HOME set to a writable folder."
            ) from error
        workspace = cls(folder)
        workspace.touch()
        return workspace

    @classmethod
    def open(
        cls, token: str, home: Path | None = None, *, now: float | None = None
    ) -> Workspace | None:
        """Return the workspace of a token; None if there is none, or it expired."""
        if not is_token(token):
            return None
        workspace = cls(workspaces_folder(home) / token)
        if workspace.folder.is_symlink() or not workspace.folder.is_dir():
            return None
        if workspace.is_expired(now):
            return None
        workspace.touch()
        return workspace

    @property
    def token(self) -> str:
        """The secret that opens this workspace."""
        return self.folder.name

    @property
    def id(self) -> str:
        """A name for jobs and logs, from which the token cannot be told."""
        return workspace_id(self.token)

    def touch(self) -> None:
        """Note that the workspace is in use, which puts off its expiry."""
        file = self.folder / LAST_USED
        if not file.exists() or time.time() - file.stat().st_mtime > _TOUCH_SECONDS:
            with contextlib.suppress(OSError):  # it can be read on a read-only disk
                file.touch()

    def is_expired(self, now: float | None = None) -> bool:
        """Say whether nobody used the workspace for PMAE_WORKSPACE_DAYS days."""
        return is_unused(self.folder, workspace_days(), now)

    def delete(self) -> None:
        """Remove the workspace with everything in it, on disk and in memory."""
        remove_workspace(self.folder)
        forget_recent()

    def take_key_link(self) -> bool:
        """Use up the link with the token itself, and say whether it was still there to use.

        Earlier versions had that link in the address, from where it was copied. It lets in one
        browser that does not know the token already.
        """
        try:
            (self.folder / _KEY_LINK_USED).touch(exist_ok=False)
        except FileExistsError:
            return False
        return True

    # Settings

    def get(self, section: str) -> dict[str, Any]:
        """Return the settings of a section, such as a page."""
        return {**self._settings.read(section), **self._unsaved(section)}

    def update(self, section: str, **values: Any) -> None:
        """Change some settings of a section; the others stay, also those of another tab.

        Raises
        ------
        OSError
            If they cannot be written. They are used nevertheless, as long as the server runs.
        """
        try:
            plain = json.loads(json.dumps(values, allow_nan=False))
            waiting = {**self._unsaved(section), **plain}
            with self._settings.changing(section) as settings:
                settings.update(waiting)
        except (TypeError, ValueError) as error:
            raise WorkspaceError(f"These settings cannot be saved: {error}.") from error
        except OSError:
            _unsaved_settings.put((self.folder, section), waiting)
            raise
        if self._unsaved(section):
            _unsaved_settings.put((self.folder, section), {})

    def _unsaved(self, section: str) -> dict[str, Any]:
        return _unsaved_settings.known((self.folder, section)) or {}

    # Scenarios

    def save_scenario(self, name: str, settings: Mapping[str, Any]) -> None:
        """Keep the settings of an amputation by name; one of the same name is replaced."""
        name = _checked_name(name)
        try:
            with self._state.changing("scenarios") as scenarios:
                scenarios.pop(name, None)
                if len(scenarios) >= MAX_SCENARIOS:
                    raise WorkspaceError(
                        f"There are {MAX_SCENARIOS} scenarios already. Delete one first."
                    )
                scenarios[name] = dict(settings)
        except (TypeError, ValueError) as error:
            raise WorkspaceError(f"This scenario cannot be saved: {error}.") from error

    def scenarios(self) -> dict[str, dict[str, Any]]:
        """Return the settings of all scenarios by name, the newest last."""
        return self._state.read("scenarios")

    def delete_scenario(self, name: str) -> None:
        """Forget a scenario; it is no error if it is gone already."""
        with self._state.changing("scenarios") as scenarios:
            scenarios.pop(name, None)

    # The last upload, as the user sent it: to be read again in another way

    @property
    def upload_path(self) -> Path:
        """Where the file that is uploaded last lies."""
        return self.folder / _UPLOAD


def workspace_days() -> float:
    """Return after how many days without use a workspace goes; 0 keeps all for ever."""
    return environment_number(
        "PMAE_WORKSPACE_DAYS",
        DEFAULT_DAYS,
        advice="a number of days, or to 0 to keep workspaces",
        error=WorkspaceError,
    )


def _checked_name(name: str) -> str:
    name = " ".join(str(name).split())
    if not 1 <= len(name) <= MAX_NAME:
        raise WorkspaceError(f"Enter a name of 1 to {MAX_NAME} letters.")
    return name
