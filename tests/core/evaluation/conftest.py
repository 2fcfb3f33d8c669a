"""Methods that behave well and badly on purpose, for the tests of the comparison."""

import time

import numpy as np
import pandas as pd
import pytest

from pmae_core.errors import Cancelled, ImputationError
from pmae_core.events import FitProgress
from pmae_core.imputers import registry
from pmae_core.imputers.base import BaseImputer


class StubMean(BaseImputer):
    def __init__(self, *, shift=0.0, schema=None, random_state=None):
        self.shift = shift
        self.schema = schema
        self.random_state = random_state

    def _fit_encoded(self, encoded, run):
        counts = encoded.observed.sum(axis=0)
        self.means_ = (encoded.values * encoded.observed).sum(axis=0) / counts + self.shift
        self.rng_ = np.random.default_rng(run.seed)
        for callback in run.callbacks:
            callback(FitProgress(done=1, total=1, unit="round", eta_seconds=0.0))

    def _impute_encoded(self, encoded):
        kinds = [column.kind for column in encoded.columns]
        values = np.tile(self.means_, (len(encoded.values), 1))
        values[:, [kind == "categorical" for kind in kinds]] = 0
        return values


class StubNoisy(StubMean):
    """The mean with noise: no better, and by chance sometimes worse."""

    def _impute_encoded(self, encoded):
        values = super()._impute_encoded(encoded)
        numerical = [column.kind == "numerical" for column in encoded.columns]
        values[:, numerical] += 0.02 * self.rng_.normal(size=(len(values), sum(numerical)))
        return values


class StubLinear(StubMean):
    """Each number by least squares on all other columns, incomplete at their mean."""

    def _impute_encoded(self, encoded):
        imputed = np.where(encoded.observed, encoded.values, self.means_)
        values = super()._impute_encoded(encoded)
        for j, column in enumerate(encoded.columns):
            if column.kind == "numerical":
                others = np.column_stack([np.delete(imputed, j, axis=1), np.ones(len(imputed))])
                rows = encoded.observed[:, j]
                weights = np.linalg.lstsq(others[rows], imputed[rows, j], rcond=None)[0]
                values[:, j] = others @ weights
        return values


class StubDrawing(StubMean):
    """The mean; its random imputations are observed cells of the column."""

    def _fit_encoded(self, encoded, run):
        super()._fit_encoded(encoded, run)
        self.encoded_ = encoded

    def _draw_encoded(self, encoded, n, rng):
        for _ in range(n):
            yield np.column_stack(
                [
                    rng.choice(column[observed], size=len(encoded.values))
                    for column, observed in zip(
                        self.encoded_.values.T, self.encoded_.observed.T, strict=True
                    )
                ]
            )


class StubUndrawable(StubMean):
    def _draw_encoded(self, encoded, n, rng):
        raise ImputationError("No luck today.")


class StubBroken(StubMean):
    def _fit_encoded(self, encoded, run):
        raise RuntimeError("<b>divided by zero</b>")


class StubRefusing(StubMean):
    def _fit_encoded(self, encoded, run):
        raise ImputationError("This table is too strange.")


class StubFlaky(StubMean):
    """Fails on seed 1 alone."""

    def _fit_encoded(self, encoded, run):
        if self.random_state == 1:
            raise ImputationError("Seed 1 brings bad luck.")
        super()._fit_encoded(encoded, run)


class StubSlow(StubMean):
    def _fit_encoded(self, encoded, run):
        for _ in range(3000):
            time.sleep(0.01)
            if run.cancel():
                raise Cancelled("Cancelled.")


STUBS = {
    "stub-mean": StubMean,
    "stub-noisy": StubNoisy,
    "stub-linear": StubLinear,
    "stub-drawing": StubDrawing,
    "stub-undrawable": StubUndrawable,
    "stub-broken": StubBroken,
    "stub-refusing": StubRefusing,
    "stub-flaky": StubFlaky,
    "stub-slow": StubSlow,
}


@pytest.fixture(scope="module")
def stubs():
    """Register the methods above for the tests of one file."""
    with pytest.MonkeyPatch.context() as patch:
        for name, stub in STUBS.items():
            info = registry.ImputerInfo(name=name, title=name, explanation="", citation="")
            patch.setitem(registry._REGISTRY, name, (info, stub))
        yield


@pytest.fixture(scope="module")
def complete() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    x = rng.normal(size=160)
    return pd.DataFrame(
        {
            "x": x,
            "y": 2 * x + 0.1 * rng.normal(size=160),
            "z": rng.normal(size=160),
            "kind": rng.choice(["a", "b"], 160, p=[0.7, 0.3]),
        }
    )


@pytest.fixture(scope="module")
def incomplete(complete) -> pd.DataFrame:
    """In y and z, and in kind: the latter two miss together."""
    rng = np.random.default_rng(1)
    table = complete.copy()
    table.loc[rng.random(160) < 0.2, "y"] = np.nan
    table.loc[rng.random(160) < 0.2, ["z", "kind"]] = None
    return table
