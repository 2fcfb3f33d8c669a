"""PMAE: the masked network blended with Gaussians and trees, an answer at once that gets better."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from pmae_core.errors import ImputationError, ImputationWarning
from pmae_core.events import AnswerImproved
from pmae_core.imputers.masked._blend import Blend
from pmae_core.imputers.masked._blending import MEMBERS, BlendAnswer, Blending
from pmae_core.imputers.masked._copied_masks import WANTED_ROWS
from pmae_core.imputers.masked._forests import Growth, enough_trees
from pmae_core.imputers.masked._held_out import HeldOutPredictions
from pmae_core.imputers.masked._masked_forests import MaskedForests, Masks
from pmae_core.imputers.masked._own_numbers import OwnNumbers
from pmae_core.imputers.masked._saved_arrays import damaged, saved_array
from pmae_core.imputers.masked._saved_errors import errors_arrays, errors_of_columns
from pmae_core.imputers.masked._table_gaussian import TableGaussian, is_too_wide
from pmae_core.imputers.masked.network import PMAENetworkImputer
from pmae_core.imputers.masked.saving import FittedParts, SavingImputer
from pmae_core.imputers.masked.trees import TREE_CONSTRAINTS
from pmae_core.imputers.parameters import STRING, Constraints, InstanceOf, OneOf, SomeOf
from pmae_core.imputers.registry import register_imputer
from pmae_core.imputers.run import FitRun
from pmae_core.imputers.work import WorkParts
from pmae_core.storage.arrays import ArrayGroups
from pmae_core.table import EncodedTable, Schema
from pmae_core.threads import allowed_threads
from pmae_core.words import listed

if TYPE_CHECKING:
    from pmae_core.imputers.masked._prediction import FittedNetwork
    from pmae_core.training import TrainingResult

# The first answer is there at once, the slowest member comes last.
_FITTING_ORDER = ("gaussian", "trees", "network")
_PRESET_MEMBERS = {"balanced": MEMBERS, "fast": ("gaussian", "trees")}
# What these decide must be the same for all members.
_SHARED_SETTINGS = (
    "categorical",
    "min_category_count",
    "numeric",
    "preset",
    "random_state",
    "schema",
    "validation_share",
)
# Rows that a column is learned from, with copies, in tables that have fewer.
_WANTED_ROWS = {"balanced": WANTED_ROWS, "fast": 4_000}
# Inputs times rows that a column is learned from: beyond, trees take longer and learn little.
_MOST_INPUT_CELLS = {"balanced": 600_000, "fast": 300_000}
_FEWEST_SAMPLES, _MOST_SAMPLES = 4_000, 20_000


NAME = "pmae"


@register_imputer(
    name=NAME,
    title="PMAE blend",
    explanation="Blends PMAE's network with a Gaussian and with trees, each of which learns to "
    "impute masked cells. How much each counts in a column is learned on held-out cells.",
    citation="This project; the network is that of Kim, Lee and Park: To Predict or Not To "
    "Predict? Proportionally Masked Autoencoders for Tabular Data Imputation. AAAI 2025.",
    draws_samples=True,
    is_proper=True,
)
class PMAEImputer(SavingImputer):
    """Impute a table with a blend of a masked network, Gaussians and masked trees.

    Networks, lines and trees are good at different tables, often at different columns of one
    table. All members learn from the same masked cells. Their estimates, numbers on the column's
    own scale and class probabilities, are mixed by shares that held-out cells teach, column by
    column. The members are fitted one after the other, the quickest first, and every answer is an
    event with its skill on held-out cells. A fit that is cancelled leaves the last answer:
    ``transform`` uses it.

    Imputations of ``sample`` include what is uncertain about the blend itself. A linear model of
    its errors on unseen cells corrects its estimates, with coefficients drawn anew for every
    imputation; the rest of the errors gives the spread, which is larger where less of a row is
    known. The columns of a row are drawn one after the other, each given those before; in tables
    with more than 16 incomplete columns some are drawn at once.

    Parameters
    ----------
    members : sequence of {"network", "gaussian", "trees"}, optional
        What to blend. By default all of them; ``fast`` leaves the network out.
    preset : {"balanced", "fast"}, default "balanced"
        ``fast`` ends after the trees, which learn from fewer masks; its accuracy is often close.
    n_trees : int or "auto", default "auto"
        Trees per column; "auto" is 100, and fewer for millions of missing cells or more than 50
        columns.
    network_params : mapping, optional
        Parameters of the network, those of
        :class:`~pmae_core.imputers.masked.network.PMAENetworkImputer`.
    device : str, default "auto"
        Where the network is trained: ``"auto"`` takes CUDA, MPS or CPU, whichever is there.
    n_jobs : int, optional
        Threads that grow trees; -1 for all cores. By default as many as numerical libraries may
        use in this process. The result does not depend on it.
    schema : Schema or mapping of column to role, optional
        Roles of the columns; inferred where not given.
    random_state : int, RandomState or None
        Seed of everything random.

    Attributes
    ----------
    settings_ : dict
        Every setting in force; ``shares`` says how much each member counts in each column.
    shares_ : DataFrame
        The same as a table, one row per learned column and one column per member.
    answers_ : list of AnswerImproved
        The answers so far, with their skill on held-out cells.
    blend_ : Blend or None
        The fitted members; ``None`` where the table has no column to learn.
    training_result_ : TrainingResult or None
        How the training of the network ended.
    held_out_ : HeldOutPredictions or None
        What the blend estimates for the cells that the network's training held out; the other
        members do not know their rows. ``None`` in an imputer that was loaded.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> x = np.linspace(0, 1, 80)
    >>> table = pd.DataFrame({"x": x, "y": 2 * x})
    >>> table.loc[::7, "y"] = np.nan
    >>> imputer = PMAEImputer(preset="fast", random_state=0)
    >>> int(imputer.fit_transform(table)["y"].isna().sum())
    0
    >>> [answer.members[-1] for answer in imputer.answers_]
    ['gaussian', 'trees']
    """

    settings_: dict[str, Any]
    blend_: Blend | None
    training_result_: TrainingResult | None
    held_out_: HeldOutPredictions | None

    _parameter_constraints: ClassVar[Constraints] = {
        **SavingImputer._parameter_constraints,
        "members": [SomeOf(*MEMBERS), None],
        "preset": [OneOf(*_PRESET_MEMBERS)],
        "n_trees": TREE_CONSTRAINTS["n_trees"],
        "network_params": [InstanceOf(Mapping, words="a mapping of parameters"), None],
        "device": [STRING],
        "n_jobs": TREE_CONSTRAINTS["n_jobs"],
    }

    def __init__(
        self,
        *,
        members: Sequence[str] | None = None,
        preset: str = "balanced",
        n_trees: int | str = "auto",
        network_params: Mapping[str, Any] | None = None,
        device: str = "auto",
        n_jobs: int | None = None,
        schema: Schema | Mapping[Any, str] | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.members = members
        self.preset = preset
        self.n_trees = n_trees
        self.network_params = network_params
        self.device = device
        self.n_jobs = n_jobs
        self.schema = schema
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        given = set(self.network_params or {})
        shared = sorted(given & set(_SHARED_SETTINGS))
        if shared:
            raise ImputationError(
                f"network_params cannot set {', '.join(shared)}: all members share it. Use "
                "PMAENetworkImputer to train a network alone."
            )
        unknown = given - set(PMAENetworkImputer().get_params(deep=False))
        if unknown:
            raise ImputationError(
                f"network_params has no parameter {listed(sorted(map(str, unknown)))}. Its "
                "parameters are those of PMAENetworkImputer."
            )
        self._network()._check_parameters()

    def members_in_force(self) -> tuple[str, ...]:
        """Return the members that a fit will blend."""
        given = _PRESET_MEMBERS[self.preset] if self.members is None else self.members
        return tuple(name for name in MEMBERS if name in given)

    def work_parts(self) -> WorkParts:
        """Return the network and the other members; see :meth:`BaseImputer.work_parts`."""
        others = [name for name in self.members_in_force() if name != "network"]
        if len(others) == len(self.members_in_force()):
            return ()
        own = {
            "members": others,
            "preset": self.preset,
            "n_trees": self.n_trees,
            "n_jobs": self.n_jobs,
        }
        network = ("pmae-mix", self._network_params())
        return ((NAME, own), network) if others else (network,)

    def _network(self) -> PMAENetworkImputer:
        return PMAENetworkImputer(**self._network_params())

    def _network_params(self) -> dict[str, Any]:
        return {"preset": self.preset, "device": self.device, **(self.network_params or {})}

    def _settle(self, frame: pd.DataFrame) -> None:
        self.blend_ = None
        self.answers_: list[AnswerImproved] = []
        self.training_result_ = None
        self.held_out_ = None
        self.settings_ = {"preset": self.preset, "members": list(self.members_in_force())}
        if "network" in self.settings_["members"]:
            self.settings_["network"] = self._network().settings_for(len(frame))

    def _n_threads(self) -> int:
        return allowed_threads(self.n_jobs)

    def _encoder_options(self) -> dict[str, Any]:
        return {"numeric": "rank"}

    def _fit_encoded(self, encoded: EncodedTable, run: FitRun) -> None:
        started = time.perf_counter()
        in_order = [name for name in _FITTING_ORDER if name in self.members_in_force()]
        for answer in self._answers(encoded, run):
            self.blend_ = answer.blend
            self.held_out_ = answer.held_out
            self.settings_["shares"] = self._shares_by_column(answer.blend)
            names = _names(answer.blend)
            self.answers_.append(
                AnswerImproved(
                    members=names,
                    skill=answer.skill,
                    column_skill={
                        str(encoded.columns[j].name): skill
                        for j, skill in answer.column_skill.items()
                    },
                    seconds=time.perf_counter() - started,
                    to_come=in_order[in_order.index(names[-1]) + 1 :],
                )
            )
            run.emit(self.answers_[-1])

    def _answers(self, encoded: EncodedTable, run: FitRun) -> Iterator[BlendAnswer]:
        """Fit one member after the other, and yield each blend."""
        run.check()
        members = self.members_in_force()
        blending = Blending(
            encoded, self.encoder_.scalers_, self._masks(encoded), run, self._n_threads()
        )
        if {"gaussian", "trees"} & set(members) and self._has_gaussians(encoded, members):
            blending.fit_gaussians()
            if "gaussian" in members:
                yield blending.add_gaussians()
        if "trees" in members:
            yield blending.add_forests(self._growth(encoded))
        if "network" in members:
            yield blending.add_network(lambda: self._fit_network(encoded, run))

    def _has_gaussians(self, encoded: EncodedTable, members: tuple[str, ...]) -> bool:
        """Return whether the table is narrow enough for Gaussians; say so where it is not."""
        if not is_too_wide(encoded.columns):
            return True
        problem = "The table has too many columns and categories for a Gaussian"
        if members == ("gaussian",):
            raise ImputationError(f"{problem}. Choose further members.")
        warnings.warn(
            f"{problem}; the other members learn without it.", ImputationWarning, stacklevel=5
        )
        return False

    def _masks(self, encoded: EncodedTable) -> Masks:
        width = 2 * len(encoded.columns)
        most = int(np.clip(_MOST_INPUT_CELLS[self.preset] // width, _FEWEST_SAMPLES, _MOST_SAMPLES))
        return Masks(wanted_rows=_WANTED_ROWS[self.preset], most_rows=most)

    def _growth(self, encoded: EncodedTable) -> Growth:
        given = self.n_trees
        n_trees = enough_trees(encoded.observed) if isinstance(given, str) else given
        self.settings_["n_trees"] = n_trees
        return Growth(
            n_trees=n_trees, min_leaf="auto", max_features="auto", n_jobs=self._n_threads()
        )

    def _fit_network(self, encoded: EncodedTable, run: FitRun) -> FittedNetwork:
        from pmae_core.imputers.masked._fitting import fit_network

        if is_too_wide(encoded.columns):
            self.settings_["network"]["start"] = "none"
        network, settings = self._network(), self.settings_["network"]
        fitted = fit_network(
            encoded, settings, network._sampler(settings), run, self.encoder_.scalers_
        )
        self.training_result_ = fitted.result
        return fitted

    def _shares_by_column(self, blend: Blend) -> dict[str, dict[str, float]]:
        return {
            str(column.name): dict(zip(blend.members, shares.tolist(), strict=True))
            for column, shares in zip(blend.columns, blend.shares, strict=True)
        }

    @property
    def shares_(self) -> pd.DataFrame:
        """How much each member counts in each column."""
        if not self.encoder_.columns_:
            return pd.DataFrame()
        blend = self._fitted_blend()
        names = [column.name for column in blend.columns]
        return pd.DataFrame(blend.shares, index=names, columns=blend.members)

    def _impute_encoded(self, encoded: EncodedTable) -> np.ndarray:
        return self._fitted_blend().impute(encoded)

    def _draw_encoded(
        self, encoded: EncodedTable, n: int, rng: np.random.Generator
    ) -> Iterable[np.ndarray]:
        return self._fitted_blend().draw(encoded, n, rng)

    def _fitted_blend(self) -> Blend:
        if self.blend_ is None:
            raise ImputationError("This imputer has no answer: its fit was cancelled too early.")
        return self.blend_

    # ---------------------------------------------------------------- saving

    def _fitted_parts(self) -> FittedParts:
        state: dict[str, Any] = {
            "settings": self.settings_,
            "answers": [answer.to_dict() for answer in self.answers_],
            "members": [],
            "network": None,
        }
        groups: ArrayGroups = {}
        blend = self.blend_
        if blend is not None:
            state["members"] = blend.members
            groups["blend"] = {"shares": blend.shares}
            groups["errors_of_blend"] = errors_arrays(blend.errors)
            for one in blend.gaussians:
                groups["gaussian_own" if one.on_own_scale else "gaussian_ranks"] = one.arrays()
            if blend.forests is not None:
                groups["forests"] = blend.forests.arrays()
                if blend.forests.gaussian is not None:
                    groups["gaussian_ranks"] = blend.forests.gaussian.arrays()
            if blend.network is not None:
                from pmae_core.imputers.masked._network_parts import network_parts

                parts = network_parts(blend.network)
                state["network"], groups = parts.state, groups | parts.groups
        return FittedParts(state, groups)

    def _restore_parts(self, parts: FittedParts) -> None:
        self.settings_ = parts.state["settings"]
        self.answers_ = [AnswerImproved.from_dict(one) for one in parts.state["answers"]]
        self.blend_ = None
        self.training_result_ = None
        members, groups = parts.state["members"], parts.groups
        if not members:
            return
        columns, numbers = self.encoder_.columns_, OwnNumbers(self.encoder_.scalers_)
        found = {
            name: TableGaussian.from_arrays(
                groups[name], columns, numbers, on_own_scale=name == "gaussian_own"
            )
            for name in ("gaussian_ranks", "gaussian_own")
            if name in groups
        }
        forests = network = None
        if "trees" in members:
            forests = MaskedForests.from_arrays(
                groups.get("forests", {}), columns, found.get("gaussian_ranks")
            )
        if "network" in members:
            from pmae_core.imputers.masked._network_parts import restore_network

            network = restore_network(
                FittedParts(parts.state["network"], groups),
                columns,
                self.encoder_.scalers_,
                self.device,
            )
            self.training_result_ = network.result
        self.blend_ = Blend(
            columns,
            numbers,
            list(found.values()) if "gaussian-ranks" in members else (),
            forests,
            network,
            saved_array(groups.get("blend", {}), "shares", (np.float64,), n_dims=2),
            errors_of_columns(groups.get("errors_of_blend", {}), columns),
            self._n_threads(),
        )
        if self.blend_.members != members:
            raise damaged("a member of the blend is missing")
        if self.blend_.shares.shape != (len(columns), len(members)):
            raise damaged("the shares do not fit the columns and members")


def _names(blend: Blend) -> list[str]:
    """Return the members of a blend as users name them."""
    return list(dict.fromkeys(name.split("-")[0] for name in blend.members))
