"""PMAE: proportionally masked autoencoders for tabular imputation.

The names below are imported when they are first used, so that ``import pmae_core`` is instant.

Examples
--------
>>> from pmae_core import PMAEImputer, load_dataset
>>> load_dataset("penguins").frame.shape[0]
344
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # what type checkers know of the names below; a test compares them
    from pmae_core.amputation import ampute as ampute
    from pmae_core.evaluation import compare as compare
    from pmae_core.evaluation import score_imputation as score_imputation
    from pmae_core.imputers import PMAEImputer as PMAEImputer
    from pmae_core.imputers import PMAENetworkImputer as PMAENetworkImputer
    from pmae_core.imputers import ReMaskerImputer as ReMaskerImputer
    from pmae_core.imputers import list_imputers as list_imputers
    from pmae_core.imputers import load_imputer as load_imputer
    from pmae_core.imputers import make_imputer as make_imputer
    from pmae_core.inference import analyze as analyze
    from pmae_core.masking import list_masking_functions as list_masking_functions
    from pmae_core.masking import masking_probability as masking_probability
    from pmae_core.missingness import summarize_missingness as summarize_missingness
    from pmae_core.table import Schema as Schema
    from pmae_core.table import list_datasets as list_datasets
    from pmae_core.table import load_dataset as load_dataset
    from pmae_core.table import read_table as read_table
    from pmae_core.table import suggest_roles as suggest_roles
    from pmae_core.table import suggest_sentinels as suggest_sentinels
    from pmae_core.table import write_table as write_table

__version__ = "1.0.0"

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
