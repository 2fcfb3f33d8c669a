"""All imputers by name. A new one registers itself in a module of its own in this package."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from pmae_core.errors import ImputationError
from pmae_core.imputers.base import BaseImputer
from pmae_core.imputers.masked.saving import read_saved, restore_imputer
from pmae_core.words import listed

ImputerClass = TypeVar("ImputerClass", bound=type[BaseImputer])


@dataclass(frozen=True, kw_only=True)
class ImputerInfo:
    """What users should know about a method before they choose it.

    Attributes
    ----------
    name, title, explanation, citation : str
        Its name, its title, what it does in one sentence, and its source.
    defaults : dict
        Parameters that the name implies.
    draws_samples : bool
        Whether ``sample`` gives several plausible imputations.
    is_proper : bool
        Whether these imputations include the uncertainty of the fitted model itself, so that
        intervals pooled from them can have their nominal coverage.
    is_quick : bool
        Whether it takes seconds on nearly every table, so that a first answer need not wait for
        an estimate of the cost.
    limits : str
        What limits its use, for example on large tables; empty where nothing does.
    requires : tuple of str
        Modules of optional packages; empty where the library's own dependencies suffice.
    """

    name: str
    title: str
    explanation: str
    citation: str
    defaults: Mapping[str, Any] = field(default_factory=dict)
    draws_samples: bool = False
    is_proper: bool = False
    is_quick: bool = False
    limits: str = ""
    requires: tuple[str, ...] = ()

    @property
    def is_available(self) -> bool:
        """Whether everything the method requires is installed."""
        return all(importlib.util.find_spec(module) is not None for module in self.requires)

    @property
    def about_imputations(self) -> str:
        """What its imputations say about uncertainty, in a sentence."""
        if not self.draws_samples:
            return "Produces a single imputation, which does not show how uncertain its values are."
        if self.is_proper:
            return "Its multiple imputations include the uncertainty of the fitted model."
        return (
            "Its multiple imputations come from one fitted model, so intervals pooled from them "
            "are too narrow."
        )


_REGISTRY: dict[str, tuple[ImputerInfo, type[BaseImputer]]] = {}
# Names that old settings and jobs may still hold, and what to use instead.
_RETIRED = {"auto": "use 'pmae', which blends methods column by column"}


def register_imputer(**info: Any) -> Callable[[ImputerClass], ImputerClass]:
    """Register the decorated class; the keywords are those of :class:`ImputerInfo`."""
    described = ImputerInfo(**info)

    def register(imputer: ImputerClass) -> ImputerClass:
        if described.name in _REGISTRY:
            raise ValueError(f"An imputer named {described.name!r} already exists.")
        _REGISTRY[described.name] = (described, imputer)
        return imputer

    return register


def list_imputers() -> list[ImputerInfo]:
    """Return a description of every method, sorted by name."""
    _discover()
    return [_REGISTRY[name][0] for name in sorted(_REGISTRY)]


def imputer_info(name: str) -> ImputerInfo:
    """Return the description of a method.

    Raises
    ------
    ImputationError
        If there is no method of this name, or it was retired.

    Examples
    --------
    >>> imputer_info("em").title
    'Expectation maximization'
    """
    return _find(name)[0]


def make_imputer(name: str, **params: Any) -> BaseImputer:
    """Return a new imputer by its name.

    Parameters
    ----------
    name : str
        One of the names in :func:`list_imputers`.
    **params
        Parameters of the method, in addition to those that the name implies.

    Examples
    --------
    >>> make_imputer("pmae-trf").architecture
    'transformer'
    """
    info, imputer = _find(name)
    known = inspect.signature(imputer).parameters
    unknown = sorted(set(params) - set(known))
    if unknown:
        raise ImputationError(
            f"{name} has no parameter {listed(unknown)}. Its parameters are {', '.join(known)}."
        )
    return imputer(**{**info.defaults, **params})


def registered_as(imputer: BaseImputer) -> tuple[str, dict[str, Any]]:
    """Return the name of an imputer, and those of its parameters that the name does not imply.

    The schema and the seed are left out.

    Examples
    --------
    >>> registered_as(make_imputer("pmae-trf", preset="fast"))
    ('pmae-trf', {'preset': 'fast'})
    """
    _discover()
    given = imputer.get_params(deep=False)
    for name, (info, kind) in _REGISTRY.items():
        if type(imputer) is kind and all(given[key] == info.defaults[key] for key in info.defaults):
            usual = make_imputer(name).get_params(deep=False)
            own = {key for key in given if key not in ("schema", "random_state")}
            return name, {
                key: given[key] for key in given if key in own and given[key] != usual[key]
            }
    raise ImputationError(f"{type(imputer).__name__} is not a registered method.")


def load_imputer(path: str | Path) -> BaseImputer:
    """Return the fitted imputer that ``save`` wrote to ``path``."""
    saved = read_saved(Path(path))
    _discover()
    for _, imputer in _REGISTRY.values():
        if imputer.__name__ == saved.class_name:
            restored: BaseImputer = restore_imputer(imputer, saved)
            return restored
    raise ImputationError(f"{path} holds a {saved.class_name}, which this release does not have.")


def _find(name: str) -> tuple[ImputerInfo, type[BaseImputer]]:
    _discover()
    if name in _REGISTRY:
        return _REGISTRY[name]
    if name in _RETIRED:
        raise ImputationError(f"The method {name!r} was retired: {_RETIRED[name]}.")
    raise ImputationError(
        f"There is no method {name!r}. Choose one of: {', '.join(sorted(_REGISTRY))}."
    )


def load_imputers() -> None:
    """Import all that methods need, also what they otherwise import when they are fitted."""
    for name in _module_names():
        importlib.import_module(name)


def _discover() -> None:
    """Import every public module of the package, so that each can register itself."""
    for name in _module_names():
        if not name.rpartition(".")[2].startswith("_"):
            importlib.import_module(name)


def _module_names() -> Iterator[str]:
    package = importlib.import_module("pmae_core.imputers")
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        yield module.name
