"""All imputers by name. A new one registers itself in a module of its own in this package."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from pmae_core.errors import ImputationError
from pmae_core.imputers.base import BaseImputer

ImputerClass = TypeVar("ImputerClass", bound=type[BaseImputer])


@dataclass(frozen=True, kw_only=True)
class ImputerInfo:
    """What users should know about a method before they choose it.

    Attributes
    ----------
    name, title, explanation, citation : str
        How it is called, in one sentence what it does, and whose idea it is.
    defaults : dict
        Parameters that the name stands for.
    draws_samples : bool
        Whether ``sample`` gives several plausible fillings.
    limits : str
        What to know about large tables, empty where nothing bites.
    requires : tuple of str
        Modules of optional packages, empty where the library's own dependencies do.
    """

    name: str
    title: str
    explanation: str
    citation: str
    defaults: Mapping[str, Any] = field(default_factory=dict)
    draws_samples: bool = False
    limits: str = ""
    requires: tuple[str, ...] = ()

    @property
    def is_available(self) -> bool:
        """Whether everything the method requires is installed."""
        return all(importlib.util.find_spec(module) is not None for module in self.requires)


_REGISTRY: dict[str, tuple[ImputerInfo, type[BaseImputer]]] = {}


def register_imputer(**info: Any) -> Callable[[ImputerClass], ImputerClass]:
    """Register the decorated class; the keywords are those of :class:`ImputerInfo`."""
    described = ImputerInfo(**info)

    def register(imputer: ImputerClass) -> ImputerClass:
        if described.name in _REGISTRY:
            raise ValueError(f"An imputer named {described.name!r} exists already.")
        _REGISTRY[described.name] = (described, imputer)
        return imputer

    return register


def list_imputers() -> list[ImputerInfo]:
    """Return what there is to know about every method, by name."""
    _discover()
    return [_REGISTRY[name][0] for name in sorted(_REGISTRY)]


def make_imputer(name: str, **params: Any) -> BaseImputer:
    """Return a new imputer by its name.

    Parameters
    ----------
    name : str
        One of the names in :func:`list_imputers`.
    **params
        Parameters of the method, on top of what the name stands for.

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
            f"{name} has no parameter {', '.join(unknown)}; it has {', '.join(known)}."
        )
    return imputer(**{**info.defaults, **params})


def registered_as(imputer: BaseImputer) -> tuple[str, dict[str, Any]]:
    """Return the name of an imputer, and those of its parameters that the name does not stand for.

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
    raise ImputationError(f"{type(imputer).__name__} is no registered method.")


def load_imputer(path: str | Path) -> BaseImputer:
    """Return the fitted imputer that ``save`` wrote to ``path``."""
    from pmae_core.imputers.masked import _network

    saved = _network.read_saved(Path(path))
    _discover()
    for _, imputer in _REGISTRY.values():
        if imputer.__name__ == saved.class_name:
            return imputer._from_saved(saved)
    raise ImputationError(f"{path} holds a {saved.class_name}, which this release does not know.")


def _find(name: str) -> tuple[ImputerInfo, type[BaseImputer]]:
    _discover()
    try:
        return _REGISTRY[name]
    except KeyError:
        raise ImputationError(
            f"There is no method {name!r}; choose one of: {', '.join(sorted(_REGISTRY))}."
        ) from None


def _discover() -> None:
    """Import every public module of the package, so that each can register itself."""
    package = importlib.import_module("pmae_core.imputers")
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if not module.name.rpartition(".")[2].startswith("_"):
            importlib.import_module(module.name)
