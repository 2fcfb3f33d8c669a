"""The form of a content digest."""

import re

DIGEST_PATTERN = r"[0-9a-f]{64}"


def is_digest(value: object) -> bool:
    """Return whether a value has the form of a table's content digest.

    Examples
    --------
    >>> is_digest("0" * 64), is_digest("../table"), is_digest(None)
    (True, False, False)
    """
    return isinstance(value, str) and re.fullmatch(DIGEST_PATTERN, value) is not None
