"""Imputers with one interface: scikit-learn estimators on data frames and arrays."""

from pmae_core.imputers.base import BaseImputer
from pmae_core.imputers.pmae import PMAEImputer
from pmae_core.imputers.registry import (
    ImputerInfo,
    list_imputers,
    load_imputer,
    make_imputer,
    register_imputer,
)
from pmae_core.imputers.remasker import ReMaskerImputer

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
