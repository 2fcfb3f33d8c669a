"""Methods with other parameters than their own, under one name in several benchmarks."""

from __future__ import annotations

from typing import Any

from pmae_core.imputers import BaseImputer, make_imputer

VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "pmae-fast": ("pmae", {"preset": "fast"}),
    "mice-normal": ("mice", {"numbers": "normal"}),
}


def make_variant(name: str, **params: Any) -> BaseImputer:
    """Return the imputer of a variant, or of a method by its own name."""
    method, own = VARIANTS.get(name, (name, {}))
    return make_imputer(method, **{**own, **params})
