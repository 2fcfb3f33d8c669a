"""ReMasker: the masked autoencoder with uniform random masking that PMAE builds on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from pmae_core.imputers.masked.base import MaskedAutoencoderImputer
from pmae_core.imputers.parameters import Constraints, Number, OneOf, plain_params
from pmae_core.imputers.registry import register_imputer
from pmae_core.masking import RandomKeepSampler, Sampler


@register_imputer(
    name="remasker",
    title="ReMasker",
    explanation="A transformer that learns to impute by masking half of each row's columns at "
    "random, whatever their observed proportion, and predicting them.",
    citation="Du, Melis and Wang: ReMasker: Imputing Tabular Data with Masked Autoencoding. "
    "ICLR 2024.",
    defaults={"preset": "paper-steps"},
    draws_samples=True,
)
class ReMaskerImputer(MaskedAutoencoderImputer):
    """Impute a table with ReMasker: keep half of a row's columns, predict the others.

    The network is PMAE's transformer, but its encoder attends to kept cells only, and
    its loss adds the mean error over masked and the mean error over kept cells. Every setting
    that is ``None`` is taken from the preset.

    Parameters
    ----------
    keep : float, default 0.5
        Share of columns whose cells a row keeps, where they are observed.
    loss : {"remasker", "paper", "grouped"}, default "remasker"
        ReMasker's own loss, or one of PMAE's.
    preset : {"paper", "paper-steps", "balanced", "fast"}, default "paper"
        Settings to start from: the paper's; or with small steps instead of epochs, which is what
        ``make_imputer("remasker")`` takes; or one of PMAE's.
    **shared
        All other parameters are those of :class:`MaskedAutoencoderImputer`.
    """

    _parameter_constraints: ClassVar[Constraints] = {
        **MaskedAutoencoderImputer._parameter_constraints,
        "keep": [Number(least=0, most=1)],
        "loss": [OneOf("remasker", "paper", "grouped")],
    }

    def __init__(
        self, *, keep: float = 0.5, loss: str = "remasker", preset: str = "paper", **shared: Any
    ) -> None:
        super().__init__(loss=loss, preset=preset, **shared)
        self.keep = keep

    def _fixed_settings(self) -> dict[str, Any]:
        return {
            "architecture": "transformer",
            "drop_masked": True,
            "loss": self.loss,
            "start": "none",
        }

    def _sampler(self, settings: Mapping[str, Any]) -> Sampler:
        return RandomKeepSampler(keep=plain_params(self)["keep"])
