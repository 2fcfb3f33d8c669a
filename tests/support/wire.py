"""A visitor of the dashboard without a browser: it speaks with the server as a browser does.

A browser costs hundreds of megabytes and much of a processor, so a class of thirty is simulated
by what their browsers would send: one WebSocket each, on which a page is asked for and widgets
change. The server cannot tell the difference; what is measured is the server alone.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from ssl import SSLContext
from typing import Any, Self
from urllib.request import Request, urlopen

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Common_pb2 import FileURLs
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.sync.client import connect

FAILURES = ("This part of the page failed", "There is not enough memory")
_LARGEST_MESSAGE = 200_000_000


XSRF_COOKIE = "_streamlit_xsrf"


def cookie_header(cookies: Mapping[str, str]) -> dict[str, str]:
    """Return the header that carries cookies, if there are any."""
    joined = "; ".join(f"{name}={value}" for name, value in cookies.items())
    return {"Cookie": joined} if joined else {}


class VisitFailed(Exception):
    """The server answered with an error, or not at all."""


@dataclass(frozen=True)
class Widget:
    """A widget or component of the page: its kind, its description, the fragment it lies in."""

    kind: str
    proto: Any
    fragment: str


@dataclass
class WireVisitor:
    """One session of the dashboard, as ``with WireVisitor(address) as visitor``.

    Parameters
    ----------
    address
        Of the server, as ``http://localhost:8501``.
    patience
        Seconds to wait for an answer.
    query
        What follows the question mark of the address.
    cookies
        By name; with the one against forged requests (XSRF), the server also reads the login.
    ssl
        Which certificates to trust, if the address begins with https.

    Attributes
    ----------
    widgets
        By label; components by their name.
    session
        What the server calls this session, once a page was opened.
    """

    address: str
    patience: float = 120.0
    query: str = ""
    cookies: Mapping[str, str] = field(default_factory=dict)
    ssl: SSLContext | None = None
    session: str = ""
    widgets: dict[str, Widget] = field(default_factory=dict)
    waits: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._page = ""
        self._page_hash = ""
        self._states: dict[str, WidgetState] = {}
        self._messages: dict[str, bytes] = {}
        self._refreshing: set[str] = set()
        self._open = ExitStack()

    def __enter__(self) -> Self:
        token = self.cookies.get(XSRF_COOKIE)
        connection = connect(
            f"{self.address.replace('http', 'ws', 1)}/_stcore/stream",
            ssl=self.ssl,
            origin=self.address,  # type: ignore[arg-type]
            additional_headers=cookie_header(self.cookies),
            subprotocols=["streamlit", *filter(None, [token])],  # type: ignore[list-item]
            max_size=_LARGEST_MESSAGE,
            open_timeout=self.patience,
            ping_timeout=None,
            proxy=None,
        )
        self._socket = self._open.enter_context(connection)
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def open(self, page: str) -> None:
        """Go to a page by its name in the address, as ``masking_lab``."""
        self._page, self._page_hash = page, ""
        self._states.clear()
        self._run()

    def labels(self, kind: str) -> list[str]:
        """Return the labels of all widgets of a kind, in no order."""
        return [label for label, widget in self.widgets.items() if widget.kind == kind]

    def click(self, label: str) -> None:
        """Press a button."""
        widget = self.widgets[label]
        state = WidgetState(id=widget.proto.id, trigger_value=True)
        self._run(widget.fragment, state)

    @property
    def is_refreshing(self) -> bool:
        """Whether some part of the page refreshes itself."""
        return bool(self._refreshing)

    def refresh(self) -> None:
        """Let the fragments run that refresh themselves, as a browser does every few seconds."""
        for fragment in sorted(self._refreshing):
            self._run(fragment)

    def set(self, label: str, value: float | str) -> None:
        """Move a slider to a number, or choose an option of a list by its text."""
        widget = self.widgets[label]
        state = WidgetState(id=widget.proto.id)
        if widget.kind == "slider":
            state.double_array_value.data.append(float(value))
        elif widget.kind == "button_group":
            state.string_array_value.data.append(str(value))
        else:
            state.string_value = str(value)
        self._states[state.id] = state
        self._run(widget.fragment)

    def trigger(self, component: str, event: str, value: Any) -> None:
        """Let a component of ours, found by its registered name, tell Python something."""
        widget = self.widgets[component]
        state = WidgetState(id=f"$$STREAMLIT_INTERNAL_KEY_{widget.proto.id}__events")
        state.json_trigger_value = json.dumps([{"event": event, "value": value}])
        self._run(widget.fragment, state)

    def upload(self, label: str, name: str, content: bytes) -> None:
        """Send a file, as a browser does: ask where to, send it there, then tell the page."""
        place = self._upload_place(name)
        with urlopen(f"{self.address}/_stcore/health", timeout=self.patience) as answer:
            token = SimpleCookie(answer.headers["Set-Cookie"])["_streamlit_xsrf"].value
        boundary = uuid.uuid4().hex
        head = (
            f"--{boundary}\r\nContent-Disposition: form-data; "
            f'name="file"; filename="{name}"\r\n\r\n'
        )
        request = Request(
            self.address + place.upload_url,
            data=head.encode() + content + f"\r\n--{boundary}--\r\n".encode(),
            headers={
                "Content-Type": f"multipart/form-data; boundary={boundary}",
                "Cookie": f"_streamlit_xsrf={token}",
                "X-Xsrftoken": token,
            },
            method="PUT",
        )
        urlopen(request, timeout=self.patience).close()
        state = WidgetState(id=self.widgets[label].proto.id)
        state.file_uploader_state_value.uploaded_file_info.add(
            name=name, size=len(content), file_id=place.file_id, file_urls=place
        )
        self._run(pressed=state)

    def _upload_place(self, name: str) -> FileURLs:
        message = BackMsg()
        message.file_urls_request.request_id = uuid.uuid4().hex
        message.file_urls_request.file_names.append(name)
        self._socket.send(message.SerializeToString())
        deadline = time.perf_counter() + self.patience
        while (answer := self._next(deadline)).WhichOneof("type") != "file_urls_response":
            pass
        return answer.file_urls_response.file_urls[0]

    def _run(self, fragment: str = "", pressed: WidgetState | None = None) -> None:
        """Ask for a run of the script and wait for its end; remember how long that took."""
        message = BackMsg()
        run = message.rerun_script
        run.query_string, run.page_name, run.fragment_id = self.query, self._page, fragment
        run.page_script_hash = self._page_hash  # else the server takes it for another page
        run.context_info.url = f"{self.address}/{self._page}"
        run.widget_states.widgets.extend(self._states.values())
        if pressed is not None:
            run.widget_states.widgets.append(pressed)
        if not fragment:
            self._begin_anew()
        begun = time.perf_counter()
        self._socket.send(message.SerializeToString())
        deadline = begun + self.patience
        while not self._take_in(self._next(deadline)):
            pass
        self.waits.append(time.perf_counter() - begun)

    def _next(self, deadline: float) -> ForwardMsg:
        try:
            content = self._socket.recv(timeout=max(0.0, deadline - time.perf_counter()))
        except TimeoutError as error:
            raise VisitFailed(f"{self._page}: no answer in {self.patience:g} s") from error
        message = ForwardMsg()
        message.ParseFromString(content if isinstance(content, bytes) else content.encode())
        if message.WhichOneof("type") == "ref_hash":
            message.ParseFromString(self._messages[message.ref_hash])
        elif message.metadata.cacheable:
            self._messages[message.hash] = message.SerializeToString()
        return message

    def _take_in(self, message: ForwardMsg) -> bool:
        """Note what the page shows now; say whether the run is over."""
        kind = message.WhichOneof("type")
        if kind == "new_session":
            self.session = message.new_session.initialize.session_id
        elif kind == "page_info_changed":
            self.query = message.page_info_changed.query_string
        elif kind == "navigation":
            self._page_hash = message.navigation.page_script_hash
        elif kind == "delta" and message.delta.WhichOneof("type") == "new_element":
            self._note(message.delta.new_element, message.delta.fragment_id)
        elif kind == "auto_rerun":
            self._refreshing.add(message.auto_rerun.fragment_id)
        elif kind == "script_finished":
            if message.script_finished == ForwardMsg.FINISHED_WITH_COMPILE_ERROR:
                raise VisitFailed(f"{self._page}: the page does not compile")
            if message.script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                self._begin_anew()
                return False
            return True
        return False

    def _begin_anew(self) -> None:
        """Forget what the page showed: it is drawn anew."""
        self.widgets.clear()
        self._refreshing.clear()

    def _note(self, element: Any, fragment: str) -> None:
        kind = element.WhichOneof("type")
        content = getattr(element, kind)
        if kind == "exception":
            raise VisitFailed(f"{self._page}: {content.type} {content.message}")
        if kind == "alert" and any(failure in content.body for failure in FAILURES):
            raise VisitFailed(f"{self._page}: {content.body}")
        label = getattr(content, "label", "") or getattr(content, "component_name", "")
        if getattr(content, "id", "") and label:
            self.widgets[label] = Widget(kind, content, fragment)
