"""Simulating missing values: from a table and a few words to an incomplete table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from pmae_core.amputation.columns import (
    checked_columns,
    columns_in_score,
    is_number,
    modeled_columns,
    numbers_first,
)
from pmae_core.amputation.patterns import (
    COUPLINGS,
    MECHANISMS,
    PATTERNS,
    Coupling,
    Mechanism,
    Name,
    Pattern,
    choose_columns,
    default_column_share,
    draw_proportions,
    override_proportions,
)
from pmae_core.amputation.propensity import Predictor, Score, solved_intercept
from pmae_core.amputation.removal import Amputation, check_table, remove_cells
from pmae_core.amputation.rule import AmputationRule
from pmae_core.errors import AmputationError
from pmae_core.table.schema import Schema
from pmae_core.words import listed


def ampute(
    df: pd.DataFrame,
    pattern: Pattern = "general",
    mechanism: Mechanism = "MNAR",
    coupling: Coupling | None = None,
    *,
    columns: Sequence[Name] | None = None,
    column_share: float | None = None,
    proportions: float | Mapping[Name, float] | None = None,
    seed: int = 0,
    schema: Schema | Mapping[str, Any] | None = None,
    drop_empty_rows: bool = True,
) -> Amputation:
    """Remove cells of a table by a known pattern and mechanism.

    Each column j that loses cells has an observed proportion ``p_j``. A cell stays observed with
    probability ``sigmoid(score_i + b_j)``: the score is linear in the row's values with N(0, 1)
    weights and has a standard deviation of 1; ``b_j`` is solved so that the mean is ``p_j``.

    Parameters
    ----------
    df : DataFrame
        The table. Cells that are missing already stay missing (see :class:`Amputation`).
    pattern : {"monotone", "quasi-monotone", "general"}, default "general"
        - monotone: half of the cells of some columns;
        - quasi-monotone: some columns keep 95 to 99% of their cells, the others 20 to 80%;
        - general: every column has missing cells, in proportions that vary widely.
    mechanism : {"MCAR", "MAR", "MNAR", "self-masking"}, default "MNAR"
        What the score depends on:

        - MCAR: on nothing;
        - MAR: only on columns that stay observed;
        - MNAR: on all columns, but under "monotone" only on those that lose cells (the paper's
          rule). The score is a weighted sum, so with more columns it depends less on the value
          that is lost; self-masking is the clear MNAR;
        - self-masking: for each column on its own value alone.
    coupling : {"nested", "independent"}, optional
        How the missing cells of one row are related:

        - nested: as in the masks released with the paper. One score for all columns and one
          uniform draw per row, so a row that misses a column misses every column with a smaller
          ``p_j`` too: whatever its name, the pattern is strictly monotone.
          General: ``p_j`` ~ U(0, 1) clipped to [0.1, 0.9]; quasi-monotone: 60% of the columns
          U(0.2, 0.8), 40% U(0.95, 0.99).
        - independent: as in the paper's text. Own weights for each column, own draw for each cell.
          General: ``p_j`` ~ U(0.2, 0.8); quasi-monotone: 60% of the columns
          U(0.95, 0.99), 40% U(0.2, 0.8).

        By default "nested", and "independent" for self-masking, which has no nested form.
    columns : sequence of names, optional
        The columns that may lose cells; by default all but identifiers, ignored and empty ones.
    column_share : float, optional
        Share of `columns` that lose cells, chosen at random. By default 1 where `columns` are
        named; else 0.6 for "monotone" (the paper uses 0.3 and 0.6), 1 for the other
        patterns, and 0.7 for these under MAR, which needs columns that stay observed.
    proportions : float or mapping of name to float, optional
        Observed proportions instead of the pattern's own: one for all columns that lose
        cells, or some by name.
    seed : int, default 0
        The same seed gives the same result; weights do not depend on the pattern.
    schema : Schema or its dict, optional
        Roles of the columns; inferred if not given.
    drop_empty_rows : bool, default True
        Drop the rows without any observed cell (identifiers and ignored columns apart), as
        the release does.

    Returns
    -------
    Amputation
        Truth, incomplete table, missing cells, propensities, settings and the rule.

    Raises
    ------
    AmputationError
        If missing values of that kind cannot be simulated in this table.

    Examples
    --------
    >>> df = pd.DataFrame(np.random.default_rng(0).normal(size=(200, 4)), columns=list("abcd"))
    >>> made = ampute(df, "monotone", "MCAR", column_share=0.5, seed=1)
    >>> made.missing.mean().round(1).sort_values().tolist()
    [0.0, 0.0, 0.5, 0.5]
    >>> made.incomplete.equals(ampute(df, **made.settings).incomplete)
    True
    """
    coupling = _resolved_coupling(mechanism, coupling)
    _check_choice("pattern", pattern, PATTERNS)
    _check_choice("mechanism", mechanism, MECHANISMS)
    _check_choice("coupling", coupling, COUPLINGS)
    check_table(df)
    roles = _resolved_schema(df, schema)
    share = _resolved_share(column_share, columns, pattern, mechanism)
    # Proportions, then cells, come from the seed's own stream; columns and weights from
    # streams beside it, so that a seed has the same weights under every pattern.
    rng = np.random.default_rng(seed)
    column_rng, weight_rng = rng.spawn(2)

    named = [] if columns is None else checked_columns(df, columns)
    modeled = modeled_columns(df, roles, named)
    chosen = choose_columns(named or modeled, share, column_rng)
    drawn = draw_proportions(numbers_first(chosen, roles), pattern, coupling, rng)
    p_obs = override_proportions(drawn, proportions)
    scoring = _Scoring(df, roles, modeled, chosen, weight_rng)
    scores = scoring.under(pattern, mechanism, coupling)
    stays_complete = df[[name for name in modeled if name not in chosen]].notna().any(axis=1)
    rule = AmputationRule(
        drivers=scoring.drivers_of(scores),
        scores=scores,
        intercepts={n: solved_intercept(score.values, p_obs[n]) for n, score in scores.items()},
        coupling=coupling,
        present=df[chosen].notna(),
        may_be_dropped=drop_empty_rows & ~stays_complete.to_numpy(),
    )
    propensity = _propensity(df, rule)
    draw_shape = (len(df), 1) if coupling == "nested" else df.shape
    removed = rng.random(draw_shape) >= propensity.to_numpy()

    settings = {
        "pattern": pattern,
        "mechanism": mechanism,
        "coupling": coupling,
        "columns": named or None,
        "column_share": share,
        "proportions": dict(proportions) if isinstance(proportions, Mapping) else proportions,
        "seed": seed,
        "schema": schema.to_dict() if isinstance(schema, Schema) else schema,
        "drop_empty_rows": drop_empty_rows,
    }
    return remove_cells(
        df,
        removed,
        propensity,
        settings,
        content_columns=modeled if drop_empty_rows else None,
        p_kept=rule.p_kept(),
        rule=rule,
    )


def _propensity(df: pd.DataFrame, rule: AmputationRule) -> pd.DataFrame:
    """Return the probability of each cell to stay observed."""
    propensity = pd.DataFrame(1.0, index=df.index, columns=df.columns)
    for name in rule.scores:
        propensity[name] = rule.p_observed(name)
    return propensity


class _Scoring:
    """The score of every row, for each column that loses cells."""

    def __init__(
        self,
        df: pd.DataFrame,
        schema: Schema,
        modeled: Sequence[Name],
        chosen: Sequence[Name],
        rng: np.random.Generator,
    ) -> None:
        self.df, self.schema, self.rng = df, schema, rng
        self.modeled, self.chosen = modeled, chosen

    @cached_property
    def predictors(self) -> dict[Name, Predictor]:
        """All columns with content, as scores use them."""
        return {
            name: Predictor(column, categorical=not is_number(self.schema, name))
            for name, column in self.df[list(self.modeled)].items()
        }

    def under(self, pattern: str, mechanism: str, coupling: str) -> dict[Name, Score]:
        """Return the scores under a pattern, a mechanism and a coupling."""
        if mechanism == "MCAR":
            return dict.fromkeys(self.chosen, Score.constant(len(self.df)))
        if mechanism == "self-masking":
            return {name: self._random([name]) for name in self.chosen}
        used = columns_in_score(self.modeled, self.chosen, pattern, mechanism)
        if coupling == "nested":
            return dict.fromkeys(self.chosen, self._random(used))
        return {name: self._random(used) for name in self.chosen}

    def _random(self, used: Sequence[Name]) -> Score:
        return Score.random(self.predictors, used, self.rng)

    def drivers_of(self, scores: Mapping[Name, Score]) -> dict[Name, Predictor]:
        """Return the columns that some score depends on, in the order of the table."""
        used = {name for score in scores.values() for name in score.weights}
        return {name: self.predictors[name] for name in self.modeled if name in used}


def _check_choice(what: str, value: str, choices: Sequence[str]) -> None:
    if value not in choices:
        raise AmputationError(
            f"There is no {what} {value!r}.", advice=f"Choose {listed(choices, last='or')}."
        )


def _resolved_coupling(mechanism: str, coupling: Coupling | None) -> Coupling:
    if mechanism == "self-masking" and coupling == "nested":
        raise AmputationError(
            "Self-masking has no nested form: each column depends on its own value.",
            code="self-masking-nested",
            advice="Use coupling 'independent'.",
        )
    if coupling is None:
        return "independent" if mechanism == "self-masking" else "nested"
    return coupling


def _resolved_share(
    share: float | None, columns: Sequence[Name] | None, pattern: str, mechanism: str
) -> float:
    if share is None:
        return default_column_share(pattern, mechanism) if columns is None else 1.0
    if not 0.0 < share <= 1.0:
        raise AmputationError(
            f"The share of columns must be above 0 and at most 1, not {share}.",
            code="column-share",
            advice="Change column_share.",
        )
    return float(share)


def _resolved_schema(df: pd.DataFrame, schema: Schema | Mapping[str, Any] | None) -> Schema:
    if schema is None:
        return Schema.infer(df)
    return schema if isinstance(schema, Schema) else Schema.from_dict(dict(schema))
