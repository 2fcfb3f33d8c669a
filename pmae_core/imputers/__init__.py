"""Imputers with one interface: scikit-learn estimators on data frames and arrays."""

from pmae_core.imputers.base import BaseImputer
from pmae_core.imputers.masked.base import MaskedAutoencoderImputer
from pmae_core.imputers.masked.network import PMAENetworkImputer
from pmae_core.imputers.masked.pmae import PMAEImputer
from pmae_core.imputers.masked.remasker import ReMaskerImputer
from pmae_core.imputers.registry import (
    ImputerInfo,
    imputer_info,
    list_imputers,
    load_imputer,
    make_imputer,
    register_imputer,
)
from pmae_core.imputers.run import FitRun, ProgressMeter

__all__ = [
    "BaseImputer",
    "FitRun",
    "ImputerInfo",
    "MaskedAutoencoderImputer",
    "PMAEImputer",
    "PMAENetworkImputer",
    "ProgressMeter",
    "ReMaskerImputer",
    "imputer_info",
    "list_imputers",
    "load_imputer",
    "make_imputer",
    "register_imputer",
]
