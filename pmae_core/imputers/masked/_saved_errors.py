"""The errors of a blend in a model file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from pmae_core.imputers.masked._category_errors import CategoryErrors
from pmae_core.imputers.masked._cell_errors import CellErrors, Features
from pmae_core.imputers.masked._number_errors import NumberErrors
from pmae_core.imputers.masked._saved_arrays import arrays_below, damaged
from pmae_core.imputers.masked._table_gaussian import coordinates_of
from pmae_core.table import EncodedColumn


def errors_arrays(errors: Mapping[int, CellErrors]) -> dict[str, np.ndarray]:
    """Return the arrays of all columns that a model file keeps, each named by its column."""
    return {
        f"{j}.{name}": array for j, one in errors.items() for name, array in one.arrays().items()
    }


def errors_of_columns(
    arrays: Mapping[str, np.ndarray], columns: Sequence[EncodedColumn]
) -> dict[int, CellErrors]:
    """Return what :func:`errors_arrays` describes."""
    return {
        j: _from_arrays(arrays_below(arrays, f"{j}."), column.n_categories, columns)
        for j, column in enumerate(columns)
    }


def _from_arrays(
    arrays: Mapping[str, np.ndarray], n_categories: int, columns: Sequence[EncodedColumn]
) -> CellErrors:
    try:
        features = Features(arrays["places"], arrays["center"], arrays["scale"])
        if n_categories:
            errors: CellErrors = CategoryErrors(features, arrays["coefficients"], arrays["root"])
        else:
            names = ("coefficients", "root", "spread", "estimates", "residuals", "cells")
            errors = NumberErrors(features, *(arrays[name] for name in names))
    except KeyError:
        raise damaged("the errors of a column are not complete") from None
    _check(errors, n_categories, len(coordinates_of(columns)))
    return errors


def _check(errors: CellErrors, n_categories: int, n_coordinates: int) -> None:
    """Refuse arrays that do not belong together."""
    arrays = errors.arrays()
    n_features = len(arrays["places"])
    n_own = (n_categories - 1) * (n_features + 1) if n_categories else n_features + 2
    shapes = {"center": (n_features,), "scale": (n_features,), "root": (n_own, n_own)}
    if n_categories:
        shapes["coefficients"] = (n_categories - 1, n_features + 1)
    else:
        n_cells = len(arrays["cells"])
        shapes |= {"coefficients": (n_own,), "spread": (n_features + 3,), "cells": (n_cells,)}
        shapes |= {"estimates": (n_cells,), "residuals": (n_cells,)}
    if any(arrays[name].shape != shape for name, shape in shapes.items()):
        raise damaged("the errors of a column do not fit each other")
    if any(not np.isfinite(one).all() for one in arrays.values()):
        raise damaged("an error of a column is not finite")
    places = arrays["places"]
    if not np.issubdtype(places.dtype, np.integer) or (
        n_features and not 0 <= places.min() <= places.max() < n_coordinates
    ):
        raise damaged("the errors of a column do not fit the coordinates")
    if not n_categories and not len(arrays["cells"]):
        raise damaged("a column has no errors to copy")
