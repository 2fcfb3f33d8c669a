"""What the server refuses where visitors log in, before any page runs.

Streamlit gives everyone a session, as the page that asks for the login runs in one too, and takes
uploads of every session into memory. So the server asks here whether the pages let it in.
"""

from __future__ import annotations

import re

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from dashboard.state.recent import Recent

MOST_SESSIONS = 10_000  # remembered; more than one server holds

_UPLOAD = re.compile(r".*/_stcore/upload_file/(?P<session>[^/]*)")
_METRICS = re.compile(r".*/_stcore/metrics")

_admissions: Recent[bool] = Recent(MOST_SESSIONS)


class Gate:
    """Refuses uploads of sessions that were not let in, and the server's metrics.

    Parameters
    ----------
    app
        The server behind it.
    """

    is_in_place = False

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        Gate.is_in_place = True

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] == "http" and is_refused(scope["path"]):
            # Nothing of the request's body is read.
            refusal = PlainTextResponse("Log in first.", 403, {"Connection": "close"})
            await refusal(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def note_admission(session: str, *, admitted: bool) -> None:
    """Note whether the pages let a session in; those of strangers take up no room."""
    if admitted or _admissions.known(session):
        _admissions.put(session, admitted)


def is_refused(path: str) -> bool:
    """Say whether a path of the server is closed at present.

    Examples
    --------
    >>> is_refused("/_stcore/metrics"), is_refused("/_stcore/health")
    (True, False)
    """
    if upload := _UPLOAD.match(path):
        return not _admissions.known(upload["session"])
    return _METRICS.match(path) is not None
