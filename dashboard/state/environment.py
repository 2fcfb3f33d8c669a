"""Settings of the server that its administrator gives in the environment."""

from __future__ import annotations

import math
import os

from pmae_core.errors import PMAEError


def environment_number(
    variable: str,
    default: float,
    *,
    advice: str,
    error: type[PMAEError],
    positive: bool = False,
) -> float:
    """Return a number that is not negative from the environment, or the default if it is not set.

    Parameters
    ----------
    variable
        Its name.
    default
        The number if it is not set or blank.
    advice
        What to set it to, if it is something else.
    error
        What is raised then.
    positive
        Whether 0 is refused, too.

    Examples
    --------
    >>> environment_number("NOT_SET", 30.0, advice="a number of days", error=PMAEError)
    30.0
    """
    text = os.environ.get(variable, "")
    try:
        number = float(text) if text.strip() else default
    except ValueError:
        number = math.nan
    if not 0 <= number < math.inf or (positive and number == 0):
        raise error(f"{variable} is {text!r}. Set it to {advice}.")
    return number
