"""The claims of the paper, as differences that the results of its experiments can show."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise, product

from pmae_core.masking import list_masking_functions
from pmae_core.replication.experiments import (
    ABLATION_DATASETS,
    EXPERIMENTS,
    GRID_A,
    GRID_B,
    MECHANISMS,
    PMAE,
)
from pmae_core.replication.printed_figures import PAPER_NAMES, PATTERNS, printed_summary
from pmae_core.replication.variants import Variant
from pmae_core.replication.verdicts import Region, Replication

PRESETS = ("paper", "paper-steps", "balanced", "fast")
"""The presets of PMAE, those closest to the paper first."""

CHOSEN_A, CHOSEN_B = 0.05, 0.5
"""The parameters of the masking function that the paper chooses."""

MARGIN_POINTS = 1.0
BETTER = Region(above=0.0)
NOT_WORSE = Region(above=-MARGIN_POINTS)
NO_DIFFERENCE = Region(above=-MARGIN_POINTS, below=MARGIN_POINTS)

PAPER_MECHANISM = "MNAR"
"""The mechanism of all experiments but one."""

_ACCURACY = "imputation_accuracy"
_IN_GENERAL = Replication()


@dataclass(frozen=True, kw_only=True)
class Contrast:
    """A difference that a claim speaks of: the score of one side minus that of the other.

    Attributes
    ----------
    label : str
        The difference in words.
    first, second : Variant or str
        The sides: methods with their parameters, or mechanisms.
    region : Region
        Where the claim says that the difference lies.
    patterns : tuple of str
        The patterns that it is averaged over.
    metric : str
        The column of the results.
    """

    label: str
    first: Variant | str
    second: Variant | str
    region: Region = BETTER
    patterns: tuple[str, ...] = PATTERNS
    metric: str = _ACCURACY


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A claim of the paper.

    Attributes
    ----------
    name : str
        A short name.
    sentence : str
        The claim in a sentence.
    in_paper : str
        Where it is in the paper.
    experiments : tuple of str
        The experiments whose results can tell; the first one is run to test it.
    compare : callable
        From a preset of PMAE to the comparisons.
    presets : tuple of str
        The presets to judge it with; none if it is not about PMAE.
    replication : Replication
        Whether it is about tables in general or about certain ones.
    only : mapping of column to value
        The rows of the results that count.
    note : str
        What a reader should know.
    """

    name: str
    sentence: str
    in_paper: str
    experiments: tuple[str, ...]
    compare: Callable[[str], list[Contrast]]
    presets: tuple[str, ...] = PRESETS
    replication: Replication = _IN_GENERAL
    only: Mapping[str, str] | None = None
    note: str = ""


# The comparisons of each claim


@cache
def _variant(imputer: str, **params: object) -> Variant:
    # A variant asks its imputer for the defaults, and the claims name the same ones many times.
    return Variant(imputer, params)


def _pmae(preset: str, method: str = "pmae-mix", **params: object) -> Variant:
    return _variant(method, preset=preset, **params)


def _rival(name: str, preset: str) -> Variant:
    """Return a method; ReMasker trained as long as PMAE, and as it comes beside our presets."""
    if name == "remasker" and preset.startswith("paper"):
        return _variant(name, preset=preset)
    return _variant(name)


def _rivals() -> list[str]:
    """Return the methods that Table 2 compares with PMAE."""
    printed = set(printed_summary()["method"])
    return [name for name, title in PAPER_NAMES.items() if title in printed and name not in PMAE]


def _against(
    rivals: Sequence[str],
    preset: str,
    *,
    methods: Sequence[str] = ("pmae-mix",),
    patterns: Sequence[tuple[str, ...]] = (PATTERNS,),
    metrics: Mapping[str, str] | None = None,
) -> list[Contrast]:
    """Compare methods of ours with rivals, apart for sets of patterns and for metrics."""
    found = []
    metrics = metrics or {_ACCURACY: ""}
    for method, among, metric, rival in product(methods, patterns, metrics, rivals):
        about = (metrics[metric], among[0] if len(among) == 1 else "")
        where = ", ".join(filter(None, about))
        names = f"{PAPER_NAMES[method]} − {PAPER_NAMES[rival]}"
        found.append(
            Contrast(
                label=f"{names}, {where}" if where else names,
                first=_pmae(preset, method),
                second=_rival(rival, preset),
                patterns=among,
                metric=metric,
            )
        )
    return found


def _one_by_one() -> list[tuple[str, ...]]:
    return [(pattern,) for pattern in PATTERNS]


def _architectures(preset: str) -> list[Contrast]:
    return [
        Contrast(
            label="PMAE-mix − PMAE-trf",
            first=_pmae(preset),
            second=_pmae(preset, "pmae-trf"),
            region=NOT_WORSE,
        )
    ]


def _steps(preset: str) -> list[Contrast]:
    """Compare each line of Table 4 with the line above; all are trained alike."""
    steps = {
        "ReMasker": _variant("remasker", preset=preset),
        "ReMasker with PMAE's loss": _variant("remasker", preset=preset, loss="paper"),
        "PMAE-trf": _pmae(preset, "pmae-trf"),
        "PMAE-mix": _pmae(preset),
    }
    names = list(steps)
    return [
        Contrast(label=f"{after} − {before}", first=steps[after], second=steps[before])
        for before, after in pairwise(names)
    ]


def _maskings(preset: str, pairs: Sequence[tuple[str, str]]) -> list[Contrast]:
    titles = {function.name: function.title for function in list_masking_functions()}
    return [
        Contrast(
            label=f"{titles[first]} − {titles[second]}",
            first=_pmae(preset, masking=first),
            second=_pmae(preset, masking=second),
        )
        for first, second in pairs
    ]


def _logit_and_others(preset: str) -> list[Contrast]:
    names = [function.name for function in list_masking_functions()]
    return _maskings(preset, [("logit", name) for name in names if name != "logit"])


def _balance(preset: str) -> list[Contrast]:
    return _maskings(preset, [("logit", "no_reconstruction"), ("logit", "no_prediction")])


def _reversed(preset: str) -> list[Contrast]:
    return _maskings(preset, [("constant", "reversed")])


def _grid(preset: str, region: Region, *, neighbors_only: bool) -> list[Contrast]:
    a_values, b_values = list(GRID_A), list(GRID_B)
    place = (a_values.index(CHOSEN_A), b_values.index(CHOSEN_B))
    found = []
    for method, (i, a), (j, b) in product(PMAE, enumerate(a_values), enumerate(b_values)):
        distance = max(abs(i - place[0]), abs(j - place[1]))
        if distance == 0 or (neighbors_only and distance > 1):
            continue
        found.append(
            Contrast(
                label=f"{PAPER_NAMES[method]}: chosen pair − (a = {a}, b = {b})",
                first=_pmae(preset, method, a=CHOSEN_A, b=CHOSEN_B),
                second=_pmae(preset, method, a=a, b=b),
                region=region,
            )
        )
    return found


def _mechanisms(preset: str) -> list[Contrast]:
    return [
        Contrast(
            label=f"{name} − {PAPER_MECHANISM}",
            first=name,
            second=PAPER_MECHANISM,
            patterns=EXPERIMENTS["mechanisms"].patterns,
        )
        for name in MECHANISMS
        if name != PAPER_MECHANISM
    ]


def _downstream_architectures(preset: str) -> list[Contrast]:
    return [
        Contrast(
            label="PMAE-trf − PMAE-mix",
            first=_pmae(preset, "pmae-trf"),
            second=_pmae(preset),
            metric="downstream",
        )
    ]


_THREE_TABLES = Replication(ABLATION_DATASETS)
_CLASSES_ONLY = "The paper predicts numbers on two tables only, too few for a verdict."

CLAIMS: tuple[Claim, ...] = (
    Claim(
        name="remasker",
        sentence="PMAE-mix is more accurate than ReMasker.",
        in_paper="Table 2 and Experimental Results",
        experiments=("table4", "table2"),
        compare=lambda preset: _against(["remasker"], preset),
    ),
    Claim(
        name="remasker-patterns",
        sentence="PMAE-mix is more accurate than ReMasker in every pattern.",
        in_paper="Experimental Results, appendix",
        experiments=("table4", "table2"),
        compare=lambda preset: _against(["remasker"], preset, patterns=_one_by_one()),
    ),
    Claim(
        name="all-methods",
        sentence="PMAE-mix is the most accurate method.",
        in_paper="Table 2",
        experiments=("table2",),
        compare=lambda preset: _against(_rivals(), preset),
    ),
    Claim(
        name="all-methods-patterns",
        sentence="PMAE-mix is the most accurate method in every pattern.",
        in_paper="Figure of imputation accuracy, appendix",
        experiments=("table2",),
        compare=lambda preset: _against(_rivals(), preset, patterns=_one_by_one()),
    ),
    Claim(
        name="data-types",
        sentence="PMAE-mix is the most accurate for numbers and for categories.",
        in_paper="Table 2 (R² and accuracy)",
        experiments=("table2",),
        compare=lambda preset: _against(
            _rivals(), preset, metrics={"r2": "R²", "accuracy": "categories"}
        ),
    ),
    Claim(
        name="mixer",
        sentence="The mixer is at least as accurate as the transformer.",
        in_paper="Abstract and Table 4",
        experiments=("table4", "table2"),
        compare=_architectures,
        note="The abstract says “competitive or often superior”: at most 1 point worse counts.",
    ),
    Claim(
        name="steps",
        sentence="PMAE's loss, its masking and its mixer each raise the accuracy.",
        in_paper="Table 4",
        experiments=("table4",),
        compare=_steps,
    ),
    Claim(
        name="logit",
        sentence="The logit is the most accurate of eight masking functions.",
        in_paper="Table 3",
        experiments=("table3",),
        compare=_logit_and_others,
        replication=_THREE_TABLES,
    ),
    Claim(
        name="balance",
        sentence="Training needs both reconstruction and prediction.",
        in_paper="Table 3 (No recon., No pred.)",
        experiments=("table3",),
        compare=_balance,
        replication=_THREE_TABLES,
    ),
    Claim(
        name="reversed",
        sentence="Masking well-observed columns more lowers the accuracy.",
        in_paper="Table 3 (Reversed)",
        experiments=("table3",),
        compare=_reversed,
        replication=_THREE_TABLES,
    ),
    Claim(
        name="grid",
        sentence="No a and b are better than 0.05 and 0.5 by a point.",
        in_paper="Figure of the grid search",
        experiments=("grid",),
        compare=lambda preset: _grid(preset, NOT_WORSE, neighbors_only=False),
        replication=_THREE_TABLES,
        note="The paper says that these values perform well, without numbers.",
    ),
    Claim(
        name="flat",
        sentence="Near a = 0.05 and b = 0.5, accuracy is flat within a point.",
        in_paper="Figure of the grid search",
        experiments=("grid",),
        compare=lambda preset: _grid(preset, NO_DIFFERENCE, neighbors_only=True),
        replication=_THREE_TABLES,
        note="We read this from the figure; the text does not say it.",
    ),
    Claim(
        name="mechanisms",
        sentence="MNAR is harder to impute than MCAR and MAR.",
        in_paper="Appendix (monotone pattern)",
        experiments=("mechanisms",),
        compare=_mechanisms,
        presets=(),
        note="Mean over the methods that were run with all three mechanisms. Missing cells differ "
        "between mechanisms; only the table and the seed are the same.",
    ),
    Claim(
        name="downstream",
        sentence="Downstream, classes are predicted best after PMAE.",
        in_paper="Table 2 (downstream task)",
        experiments=("downstream",),
        compare=lambda preset: _against(
            _rivals(), preset, methods=PMAE, metrics={"downstream": ""}
        ),
        only={"downstream_metric": "auroc"},
        note=f"Points of AUROC. {_CLASSES_ONLY}",
    ),
    Claim(
        name="downstream-transformer",
        sentence="Downstream, the transformer is better than the mixer.",
        in_paper="Experimental Results",
        experiments=("downstream",),
        compare=_downstream_architectures,
        only={"downstream_metric": "auroc"},
        note=f"Points of AUROC. {_CLASSES_ONLY}",
    ),
)
"""The claims in the paper's order: methods, architecture, masking, mechanisms, downstream."""
