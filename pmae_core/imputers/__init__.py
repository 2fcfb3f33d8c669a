"""Imputers with one interface: scikit-learn estimators on data frames and arrays."""

from pmae_core.imputers.base import BaseImputer
from pmae_core.imputers.masked.pmae import PMAEImputer
from pmae_core.imputers.masked.remasker import ReMaskerImputer
from pmae_core.imputers.registry import (
    ImputerInfo,
    list_imputers,
    load_imputer,
    make_imputer,
    register_imputer,
)

__all__ = [
    "BaseImputer",
    "ImputerInfo",
    "PMAEImputer",
    "ReMaskerImputer",
    "list_imputers",
    "load_imputer",
    "make_imputer",
    "register_imputer",
]
