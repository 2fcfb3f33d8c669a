"""PMAE: proportionally masked autoencoders for tabular imputation.

The names below are imported when they are first used, so that ``import pmae_core`` is instant.

Examples
--------
>>> from pmae_core import PMAEImputer, load_dataset
>>> load_dataset("penguins").frame.shape[0]
344
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HOME = {
    "PMAEImputer": "imputers",
    "PMAENetworkImputer": "imputers",
    "ReMaskerImputer": "imputers",
    "Schema": "table",
    "ampute": "amputation",
    "analyze": "inference",
    "compare": "evaluation",
    "list_datasets": "table",
    "list_imputers": "imputers",
    "list_masking_functions": "masking",
    "load_dataset": "table",
    "load_imputer": "imputers",
    "make_imputer": "imputers",
    "masking_probability": "masking",
    "read_table": "table",
    "score_imputation": "evaluation",
    "suggest_roles": "table",
    "suggest_sentinels": "table",
    "summarize_missingness": "missingness",
    "write_table": "table",
}

__all__ = sorted([*_HOME, "__version__"])


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return list(__all__)
