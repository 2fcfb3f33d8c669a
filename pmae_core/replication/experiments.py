"""The tables, missingness and variants of methods of each experiment in the paper."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, Literal

from pmae_core.errors import ImputationError, ScoringError
from pmae_core.imputers import imputer_info
from pmae_core.imputers.masked.presets import PRESETS
from pmae_core.masking import list_masking_functions
from pmae_core.replication.printed_figures import DATASETS, PAPER_NAMES, PATTERNS
from pmae_core.replication.variants import AUTOENCODERS, Variant
from pmae_core.table.samples.datasets import BENCHMARK_NAMES
from pmae_core.words import listed

COUPLING = "nested"
MECHANISMS = ("MCAR", "MAR", "MNAR")
ABLATION_DATASETS = ("diabetes", "wine", "shoppers")
GRID_A = (0.0, 0.025, 0.05, 0.1, 0.2)
GRID_B = (0.3, 0.4, 0.5, 0.6, 0.7)
PAPER_SEEDS = 10
PMAE = ("pmae-trf", "pmae-mix")


@dataclass(frozen=True, kw_only=True)
class Selection:
    """The part of an experiment to run; None keeps what the experiment has.

    Attributes
    ----------
    datasets, patterns, mechanisms, methods, presets : sequence of str, optional
        Names.
    a, b : sequence of float, optional
        Values of the grid.
    seeds : int
        Number of seeds.
    max_rows : int, optional
        Larger tables are sampled down to this many rows.
    budget_seconds : float, optional
        Time budget of each method and seed.
    method_params : mapping of imputer to mapping
        Parameters that replace those of the experiment.
    """

    datasets: Sequence[str] | None = None
    patterns: Sequence[str] | None = None
    mechanisms: Sequence[str] | None = None
    methods: Sequence[str] | None = None
    presets: Sequence[str] | None = None
    a: Sequence[float] | None = None
    b: Sequence[float] | None = None
    seeds: int = 3
    max_rows: int | None = None
    budget_seconds: float | None = None
    method_params: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ExperimentPlan:
    """An experiment with every setting decided.

    Attributes
    ----------
    experiment : Experiment
        The experiment.
    datasets, patterns, mechanisms : tuple of str
        Every combination is a cell of the experiment.
    variants : tuple of Variant
        The methods to run in each cell.
    seeds, max_rows, budget_seconds
        As in :class:`Selection`.
    """

    experiment: Experiment
    datasets: tuple[str, ...]
    patterns: tuple[str, ...]
    mechanisms: tuple[str, ...]
    variants: tuple[Variant, ...]
    seeds: int
    max_rows: int | None
    budget_seconds: float | None

    @property
    def n_tasks(self) -> int:
        """The number of fits."""
        n_cells = len(self.datasets) * len(self.patterns) * len(self.mechanisms)
        return n_cells * len(self.variants) * self.seeds


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """One table or figure of the paper.

    Attributes
    ----------
    name, title : str
        The name on the command line, and one for readers.
    in_paper : str
        Where it is in the paper.
    datasets, patterns, mechanisms, methods, presets : tuple of str
        The defaults, if the selection names none.
    make_variants : callable
        From methods, presets and the selection to variants.
    downstream_rows : {"all", "training"}, optional
        If labels are predicted: the rows that imputers are fitted to, see
        :class:`~pmae_core.evaluation.Downstream`.
    note : str
        What a reader of the results should know.
    """

    name: str
    title: str
    in_paper: str
    make_variants: Callable[[Sequence[str], Sequence[str], Selection], list[Variant]]
    datasets: tuple[str, ...] = DATASETS
    patterns: tuple[str, ...] = PATTERNS
    mechanisms: tuple[str, ...] = ("MNAR",)
    methods: tuple[str, ...] = tuple(PAPER_NAMES)
    presets: tuple[str, ...] = ("balanced",)
    downstream_rows: Literal["all", "training"] | None = None
    note: str = ""

    def plan(self, selection: Selection) -> ExperimentPlan:
        """Decide every setting.

        Raises
        ------
        ScoringError
            If there is no such dataset, pattern, mechanism, method or preset.
        """
        names = {
            "dataset": (selection.datasets, self.datasets, BENCHMARK_NAMES),
            "pattern": (selection.patterns, self.patterns, PATTERNS),
            "mechanism": (selection.mechanisms, self.mechanisms, MECHANISMS),
            "preset": (selection.presets, self.presets, list(PRESETS)),
        }
        chosen = {what: _known(what, *choice) for what, choice in names.items()}
        methods = _known_methods(selection.methods or self.methods)
        if selection.seeds < 1:
            raise ScoringError(f"seeds must be at least 1, not {selection.seeds}.")
        variants = self.make_variants(methods, chosen["preset"], selection)
        if not variants:
            raise ScoringError(
                f"{self.name} runs {listed(self.methods, most=len(self.methods))} only. Name at "
                "least one of these methods."
            )
        return ExperimentPlan(
            experiment=self,
            datasets=chosen["dataset"],
            patterns=chosen["pattern"],
            mechanisms=chosen["mechanism"],
            variants=tuple({variant.label: variant for variant in variants}.values()),
            seeds=selection.seeds,
            max_rows=selection.max_rows,
            budget_seconds=selection.budget_seconds,
        )


def _known(
    what: str, wanted: Sequence[str] | None, usual: Sequence[str], possible: Sequence[str]
) -> tuple[str, ...]:
    unknown = [name for name in wanted or () if name not in possible]
    if unknown:
        raise ScoringError(
            f"There is no {what} {unknown[0]!r}. Choose from "
            f"{listed(possible, most=len(possible))}."
        )
    return tuple(dict.fromkeys(wanted or usual))


def _known_methods(names: Sequence[str]) -> tuple[str, ...]:
    try:
        return tuple(dict.fromkeys(imputer_info(name).name for name in names))
    except ImputationError as error:
        raise ScoringError(str(error)) from error


def _variant(imputer: str, selection: Selection, **params: Any) -> Variant:
    return Variant(imputer, {**params, **selection.method_params.get(imputer, {})})


def _all_methods(
    methods: Sequence[str], presets: Sequence[str], selection: Selection
) -> list[Variant]:
    """Every method once, PMAE once per preset."""
    variants = []
    for method in methods:
        if method in PMAE:
            variants += [_variant(method, selection, preset=preset) for preset in presets]
        else:
            variants.append(_variant(method, selection))
    return variants


def _masking_functions(
    methods: Sequence[str], presets: Sequence[str], selection: Selection
) -> list[Variant]:
    names = [function.name for function in list_masking_functions()]
    return [
        _variant(method, selection, preset=preset, masking=name)
        for method, preset, name in product(methods, presets, names)
        if method in PMAE
    ]


def _from_remasker_to_pmae(
    methods: Sequence[str], presets: Sequence[str], selection: Selection
) -> list[Variant]:
    """ReMasker; then with PMAE's loss, its masking, and its mixer, one after the other."""
    steps = [("remasker", {}), ("remasker", {"loss": "paper"}), ("pmae-trf", {}), ("pmae-mix", {})]
    return [
        _variant(method, selection, preset=preset, **params)
        for preset, (method, params) in product(presets, steps)
        if method in methods
    ]


def _grid(methods: Sequence[str], presets: Sequence[str], selection: Selection) -> list[Variant]:
    return [
        _variant(method, selection, preset=preset, a=a, b=b)
        for method, preset, a, b in product(
            methods, presets, selection.a or GRID_A, selection.b or GRID_B
        )
        if method in PMAE
    ]


def _architectures(
    methods: Sequence[str], presets: Sequence[str], selection: Selection
) -> list[Variant]:
    return [
        _variant(method, selection, preset=preset)
        for method, preset in product(methods, presets)
        if method in PMAE
    ]


# The ablations use the paper's own network by default: with the Gaussian start and the copied masks
# of our preset, a masking function or a loss would make little difference.
_OF_THE_PAPER = ("paper-steps",)

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        Experiment(
            name="table2",
            title="All methods",
            in_paper="Table 2, its box plots and the appendix",
            make_variants=_all_methods,
        ),
        Experiment(
            name="table3",
            title="Masking functions",
            in_paper="Table 3",
            make_variants=_masking_functions,
            datasets=ABLATION_DATASETS,
            methods=("pmae-mix",),
            presets=_OF_THE_PAPER,
        ),
        Experiment(
            name="table4",
            title="From ReMasker to PMAE",
            in_paper="Table 4",
            make_variants=_from_remasker_to_pmae,
            methods=tuple(reversed(AUTOENCODERS)),
            presets=_OF_THE_PAPER,
        ),
        Experiment(
            name="grid",
            title="The grid of a and b",
            in_paper="the figure of the grid search, without numbers",
            make_variants=_grid,
            datasets=ABLATION_DATASETS,
            methods=PMAE,
            presets=_OF_THE_PAPER,
        ),
        Experiment(
            name="mechanisms",
            title="MCAR, MAR and MNAR",
            in_paper="a figure of the appendix, without numbers",
            make_variants=_all_methods,
            patterns=("monotone",),
            mechanisms=MECHANISMS,
        ),
        Experiment(
            name="downstream",
            title="Predicting labels from imputed tables",
            in_paper="Table 2 and the appendix",
            make_variants=_all_methods,
            downstream_rows="all",
            note="Tables are imputed whole and split afterwards, as we read the paper, which does "
            "not say so explicitly. So imputers see the features of test rows (never their "
            "labels). The experiment downstream-split splits first.",
        ),
        Experiment(
            name="downstream-split",
            title="Predicting labels, rows split before imputation",
            in_paper="nothing",
            make_variants=_all_methods,
            downstream_rows="training",
            note="Imputers are fitted to the training rows only, except those that cannot impute "
            "new rows (see downstream_how). As in all benchmarks, numbers were made "
            "quantile-normal with all rows.",
        ),
        Experiment(
            name="mixing",
            title="Token mixing",
            in_paper="the figure of token mixing, without numbers",
            make_variants=_architectures,
            datasets=("shoppers",),
            patterns=("general",),
            methods=PMAE,
            presets=_OF_THE_PAPER,
        ),
    )
}
"""The experiments of the paper by name."""
"""The experiments by name, in the paper's order."""
