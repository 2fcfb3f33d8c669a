"""Names that are unique."""


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
