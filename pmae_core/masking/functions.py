"""Masking functions: how often an observed cell of a column is masked, given ``p_obs``.

A masking function maps the observed proportion of each column to the probability
``M_j`` that an observed cell of that column is masked during training. Adding one
takes one function with the :func:`masking_function` decorator.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
Formula = Callable[..., FloatArray]

# Uniform masking means one thing: the same rate in every column, complete ones included.
UNIFORM_RATE = 0.5


@dataclass(frozen=True)
class MaskingFunction:
    """A registered masking function with its name, formula and explanation.

    Attributes
    ----------
    name, title : str
        The name used in code and the one shown to people.
    formula : str
        ``M_j`` in plain text.
    explanation : str
        One sentence on how the function changes training.
    skips_fully_observed : bool
        Whether columns with ``p_obs == 1`` are never masked.
    parameters : dict
        Names of the parameters and their defaults.
    compute : callable
        The bare formula, not clipped.
    """

    name: str
    title: str
    formula: str
    explanation: str
    skips_fully_observed: bool
    parameters: dict[str, float]
    compute: Formula = field(repr=False, compare=False)

    def __call__(self, p_obs: FloatArray, **params: float) -> FloatArray:
        """Return ``M_j`` in [0, 1] for an array of observed proportions."""
        # Two ufuncs instead of np.clip: this runs in every training step.
        probability = np.minimum(np.maximum(self.compute(p_obs, **params), 0.0), 1.0)
        return probability * (p_obs < 1.0) if self.skips_fully_observed else probability

    def check_parameters(self, params: dict[str, float]) -> None:
        """Raise ``ValueError`` if a parameter is unknown or not a finite number."""
        unknown = sorted(set(params) - set(self.parameters))
        if unknown:
            names = ", ".join(self.parameters) or "none"
            raise ValueError(
                f"The masking function {self.name!r} has no parameter {', '.join(unknown)}. "
                f"Its parameters are: {names}."
            )
        for name, value in params.items():
            if not np.isfinite(value):
                raise ValueError(f"The masking parameter {name} must be a finite number.")


_REGISTRY: dict[str, MaskingFunction] = {}


def masking_function(
    *, name: str, title: str, formula: str, explanation: str, skips_fully_observed: bool = False
) -> Callable[[Formula], Formula]:
    """Register the decorated formula under a name.

    The formula takes an array of observed proportions and keyword parameters, each
    with a default, and returns an array of the same shape. Clipping to [0, 1] and
    the rule for fully observed columns are added here.
    """

    def register(compute: Formula) -> Formula:
        if name in _REGISTRY:
            raise ValueError(f"There is a masking function {name!r} already. Choose another name.")
        _, *parameters = inspect.signature(compute).parameters.values()
        _REGISTRY[name] = MaskingFunction(
            name=name,
            title=title,
            formula=formula,
            explanation=explanation,
            skips_fully_observed=skips_fully_observed,
            parameters={parameter.name: parameter.default for parameter in parameters},
            compute=compute,
        )
        return compute

    return register


def list_masking_functions() -> list[MaskingFunction]:
    """Return all masking functions, the paper's own first.

    Examples
    --------
    >>> [function.name for function in list_masking_functions()][:3]
    ['logit', 'constant', 'no_reconstruction']
    """
    return list(_REGISTRY.values())


def find_masking_function(name: str) -> MaskingFunction:
    """Return the masking function of that name; ``ValueError`` lists the names there are."""
    try:
        return _REGISTRY[name]
    except KeyError:
        raise ValueError(
            f"There is no masking function {name!r}. Choose one of: {', '.join(_REGISTRY)}."
        ) from None


def masking_probability(
    p_obs: npt.ArrayLike, function: str = "logit", **params: float
) -> FloatArray:
    """Return the probability ``M_j`` of masking an observed cell of each column.

    Parameters
    ----------
    p_obs : array-like
        Observed proportions in [0, 1], of any shape.
    function : str, default "logit"
        A name from :func:`list_masking_functions`.
    **params
        Parameters of that function, such as ``a`` and ``b`` of ``"logit"``.

    Returns
    -------
    ndarray
        Probabilities in [0, 1], shaped like `p_obs`.

    Examples
    --------
    >>> masking_probability([0.1, 0.5, 0.9, 1.0]).round(2)
    array([0.61, 0.5 , 0.39, 0.  ])
    """
    proportions = np.asarray(p_obs, dtype=np.float64)
    if not np.all((proportions >= 0) & (proportions <= 1)):
        raise ValueError("Observed proportions must be between 0 and 1.")
    chosen = find_masking_function(function)
    chosen.check_parameters(params)
    return chosen(proportions, **params)


def observed_proportion(observed: npt.ArrayLike) -> FloatArray:
    """Return ``p_obs``: the share of observed cells of each column.

    Examples
    --------
    >>> observed_proportion([[True, True], [False, True]])
    array([0.5, 1. ])
    """
    cells = np.asarray(observed, dtype=bool)
    if cells.ndim != 2 or cells.shape[0] == 0:
        raise ValueError("`observed` must have two dimensions and at least one row.")
    return cells.sum(axis=0) / cells.shape[0]


@masking_function(
    name="logit",
    title="Logit (PMAE)",
    formula="a * ln((1 - p_obs) / p_obs) + b",
    explanation="The less a column is observed, the more often its cells are masked, and so "
    "predicted. a sets how strongly, b the rate at p_obs = 0.5.",
    skips_fully_observed=True,
)
def _logit(p_obs: FloatArray, a: float = 0.05, b: float = 0.5) -> FloatArray:
    if a == 0:  # 0 * inf would be nan at the ends
        return np.full_like(p_obs, b)
    with np.errstate(divide="ignore", over="ignore"):  # infinities are clipped
        return a * np.log((1.0 - p_obs) / p_obs) + b


@masking_function(
    name="constant",
    title="Constant",
    formula="rate where p_obs < 1, else 0",
    explanation="Every partially observed column is masked equally often.",
    skips_fully_observed=True,
)
def _constant(p_obs: FloatArray, rate: float = 0.5) -> FloatArray:
    return np.full_like(p_obs, rate)


@masking_function(
    name="no_reconstruction",
    title="No reconstruction",
    formula="1",
    explanation="Every observed cell is masked: the network has no input and only predicts.",
)
def _no_reconstruction(p_obs: FloatArray) -> FloatArray:
    return np.ones_like(p_obs)


@masking_function(
    name="no_prediction",
    title="No prediction",
    formula="0",
    explanation="No cell is masked: the network only learns to copy its input.",
)
def _no_prediction(p_obs: FloatArray) -> FloatArray:
    return np.zeros_like(p_obs)


@masking_function(
    name="linear",
    title="Linear",
    formula="1 - p_obs",
    explanation="Columns are masked as often as they are missing.",
)
def _linear(p_obs: FloatArray) -> FloatArray:
    return 1.0 - p_obs


@masking_function(
    name="reversed",
    title="Reversed",
    formula="p_obs",
    explanation="The more a column is observed, the more it is masked: the opposite of PMAE.",
)
def _reversed(p_obs: FloatArray) -> FloatArray:
    return p_obs.copy()


@masking_function(
    name="piecewise",
    title="Piece-wise",
    formula="1 - p_obs where p_obs < 0.5, else 0.5",
    explanation="Only columns that are less than half observed are masked more often.",
)
def _piecewise(p_obs: FloatArray) -> FloatArray:
    return np.where(p_obs < 0.5, 1.0 - p_obs, 0.5)


@masking_function(
    name="sigmoid",
    title="Sigmoid-like",
    formula="1 / (exp(-slope * (0.5 - p_obs)) + 1)",
    explanation="Falls with p_obs as the logit does, but steepest in the middle, not at the ends.",
)
def _sigmoid(p_obs: FloatArray, slope: float = 10.0) -> FloatArray:
    with np.errstate(over="ignore"):
        return 1.0 / (np.exp(-slope * (0.5 - p_obs)) + 1.0)
