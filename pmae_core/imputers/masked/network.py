"""PMAE's network: a masked autoencoder whose masking follows each column's observed share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from pmae_core.imputers.masked.base import MaskedAutoencoderImputer
from pmae_core.imputers.parameters import (
    BOOLEAN,
    STRING,
    Constraints,
    Integer,
    Number,
    OneOf,
    plain_params,
)
from pmae_core.imputers.registry import register_imputer
from pmae_core.masking import MaskSampler, Sampler

_PAPER = (
    "Kim, Lee and Park: To Predict or Not To Predict? Proportionally Masked Autoencoders for "
    "Tabular Data Imputation. AAAI 2025."
)
_EXPLANATION = (
    "A neural network that learns to impute by masking observed cells, more often in columns "
    "with many missing values, and predicting them; it mixes columns by "
)


@register_imputer(
    name="pmae-trf",
    title="PMAE (transformer)",
    explanation=_EXPLANATION + "attention.",
    citation=_PAPER,
    defaults={"architecture": "transformer"},
    draws_samples=True,
)
@register_imputer(
    name="pmae-mix",
    title="PMAE (mixer)",
    explanation=_EXPLANATION + "a small dense network.",
    citation=_PAPER,
    defaults={"architecture": "mixer"},
    draws_samples=True,
)
class PMAENetworkImputer(MaskedAutoencoderImputer):
    """Impute a table with a proportionally masked autoencoder alone.

    :class:`~pmae_core.imputers.PMAEImputer` blends it with Gaussians and trees.

    Every setting that is ``None`` is taken from the preset.

    Parameters
    ----------
    architecture : {"mixer", "transformer"}, default "mixer"
        How columns are mixed: by an MLP or by attention.
    masking : str, default "logit"
        Masking function ``M_j``; see :func:`pmae_core.masking.list_masking_functions`.
    a, b : float, optional
        Parameters of the ``logit`` function, 0.05 and 0.5 where not given.
    p_obs : {"batch", "table"}, optional
        Take observed proportions from each batch or once from the whole table.
    copy_share : float, optional
        Share of rows whose extra mask is another row's own missing pattern.
    mixing_width : int, optional
        Most hidden units of a mixer's MLP along the columns, which keeps tables of hundreds of
        columns affordable; 0 for no bound.
    start : {"gaussian", "none"}, optional
        Whether the network improves on a joint Gaussian's answer or begins from nothing. A table
        of more than 1,000 numbers and indicators of categories always begins from nothing; see
        ``settings_``.
    correct_means : bool, optional
        Whether imputed numbers are corrected toward the mean on the column's own scale, as
        held-out cells teach, and mixed with the prediction of a Gaussian on that scale. Without,
        those of a skewed column are closer to its median.
    **shared
        All other parameters are those of :class:`MaskedAutoencoderImputer`.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> x = np.linspace(0, 1, 60)
    >>> table = pd.DataFrame({"x": x, "y": 2 * x})
    >>> table.loc[::7, "y"] = np.nan
    >>> imputed = PMAENetworkImputer(steps=30, random_state=0).fit_transform(table)
    >>> int(imputed["y"].isna().sum())
    0
    """

    _parameter_constraints: ClassVar[Constraints] = {
        **MaskedAutoencoderImputer._parameter_constraints,
        "architecture": [OneOf("mixer", "transformer")],
        "masking": [STRING],
        "a": [Number(), None],
        "b": [Number(), None],
        "p_obs": [OneOf("batch", "table"), None],
        "copy_share": [Number(least=0, most=1), None],
        "mixing_width": [Integer(least=0), None],
        "start": [OneOf("gaussian", "none"), None],
        "correct_means": [BOOLEAN, None],
    }

    def __init__(
        self,
        *,
        architecture: str = "mixer",
        masking: str = "logit",
        a: float | None = None,
        b: float | None = None,
        p_obs: str | None = None,
        copy_share: float | None = None,
        mixing_width: int | None = None,
        start: str | None = None,
        correct_means: bool | None = None,
        **shared: Any,
    ) -> None:
        super().__init__(**shared)
        self.architecture = architecture
        self.masking = masking
        self.a = a
        self.b = b
        self.p_obs = p_obs
        self.copy_share = copy_share
        self.mixing_width = mixing_width
        self.start = start
        self.correct_means = correct_means

    def _fixed_settings(self) -> dict[str, Any]:
        return {"architecture": self.architecture}

    def _sampler(self, settings: Mapping[str, Any]) -> Sampler:
        given = plain_params(self)
        return MaskSampler(
            function=self.masking,
            params={name: given[name] for name in ("a", "b") if given[name] is not None},
            p_obs=settings["p_obs"],
            copy_share=settings["copy_share"],
        )
