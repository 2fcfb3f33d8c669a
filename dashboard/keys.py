"""Keys of visitors, which must not get where others may read them: logs, and sentences on pages.

Anyone who knows the token of a workspace may enter it. The name of its folder is that token, so
every error about one of its files quotes it.
"""

from __future__ import annotations

import logging
import re
import traceback
from typing import Any

# Tokens, one-time codes and secrets of classes are all `secrets.token_urlsafe(24)`. One of these
# without a capital letter is less likely than a key guessed at the first try; names in programs
# and digests in hexadecimal have none.
_KEY = re.compile(r"(?<![\w-])(?=[\w-]{0,31}[A-Z])[A-Za-z0-9_-]{32}(?![\w-])")
_INSTEAD = "[key]"


def without_keys(text: str) -> str:
    """Return a text in which no key can be read.

    Examples
    --------
    >>> without_keys("No space left: '/srv/workspaces/Wm0-zd9sT4c_x3QyB1uV7nKe5RhGa2Lf/x'")
    "No space left: '/srv/workspaces/[key]/x'"
    """
    return _KEY.sub(_INSTEAD, text)


class _RecordWithoutKeys(logging.LogRecord):
    """A record of any logger, of ours and of libraries, that no handler can read a key from."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        message = super().getMessage()
        if without_keys(message) != message:
            self.msg, self.args = without_keys(message), None
        if self.exc_info:
            trace = "".join(traceback.format_exception(*self.exc_info)).rstrip()
            if without_keys(trace) != trace:
                # Handlers write this text where there is no exception to format.
                self.exc_text, self.exc_info = without_keys(trace), None


def keep_keys_out_of_logs() -> None:
    """Remove keys from all that this process logs from now on."""
    logging.setLogRecordFactory(_RecordWithoutKeys)
