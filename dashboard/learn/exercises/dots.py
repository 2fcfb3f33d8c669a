"""Dots that several pictures of lessons show, and the axes that they need."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from dashboard.components.stage.scene import Points

SMALL = 2.5
"""Radius of dots where there are several hundred."""


def missing_then_imputed(x: npt.ArrayLike, y: npt.ArrayLike, n_states: int) -> list[Points]:
    """Return dots that are missing in the first state and imputed in all others.

    They are two layers, one fading into the other, so that the legend names what is to be seen.

    Parameters
    ----------
    x, y
        Their places: one row per state, or one for all states.
    n_states
        Of the scene.
    """
    first = np.arange(n_states) == 0
    return [
        Points(x, y, "missing", opacity=0.6 * first, radius=SMALL, label="missing"),
        Points(x, y, "imputed", opacity=0.6 * ~first, radius=SMALL, label="imputed"),
    ]


def range_of(*values: npt.ArrayLike) -> tuple[float, float]:
    """Return the ends of an axis that shows all values, with a small margin.

    Examples
    --------
    >>> range_of([0, 40], [100])
    (-4.0, 104.0)
    """
    everything = np.concatenate([np.ravel(value) for value in values]).astype(float)
    margin = 0.04 * float(np.ptp(everything))
    return float(everything.min()) - margin, float(everything.max()) + margin
