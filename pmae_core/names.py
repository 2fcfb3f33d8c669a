"""Names: unique ones, and the one that was meant."""

from collections.abc import Iterable
from difflib import get_close_matches


def make_unique(names: list[str]) -> list[str]:
    """Give repeated names numbers (``a``, ``a.1``, ``a.2``), never a name that is in use.

    Examples
    --------
    >>> make_unique(["a", "a", "a.1", "a"])
    ['a', 'a.2', 'a.1', 'a.3']
    """
    taken = set(names)
    seen: set[str] = set()
    next_number: dict[str, int] = {}
    unique = []
    for name in names:
        if name in seen:
            number = next_number.get(name, 1)
            while f"{name}.{number}" in taken:
                number += 1
            next_number[name] = number + 1
            name = f"{name}.{number}"
            taken.add(name)
        seen.add(name)
        unique.append(name)
    return unique


def nearest_name(name: str, known: Iterable[str]) -> str | None:
    """Return the name that was probably meant, None if none is similar.

    Examples
    --------
    >>> nearest_name("Education", ["age", "education"]), nearest_name("x", ["age"])
    ('education', None)
    """
    by_lower = {one.lower(): one for one in known}
    found = get_close_matches(name.lower(), list(by_lower), n=1)
    return by_lower[found[0]] if found else None
