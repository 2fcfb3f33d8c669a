"""The amputation itself: from a table and a few words to a table with holes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

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
from pmae_core.amputation.propensity import Predictor, observed_probability, random_score
from pmae_core.errors import AmputationError
from pmae_core.table.schema import Role, Schema

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

# Integers beyond this are not exact as floats, the usual dtype of integers with holes.
_EXACT_FLOAT_INTEGER = 2**53


@dataclass(frozen=True)
class Amputation:
    """A table with holes made on purpose.

    Attributes
    ----------
    truth : DataFrame
        The table as it was, without the rows that lost everything.
    incomplete : DataFrame
        The same rows with holes. Integers with holes become floats (nullable integers where a
        float would not be exact) and booleans nullable booleans; other dtypes stay.
    missing : DataFrame of bool
        True where a cell was removed *here*, so that its truth is known. Cells that were
        missing before stay missing in both tables and are False.
    propensity : DataFrame of float
        Probability of each cell to stay observed.
    settings : dict
        JSON-able; ``ampute(df, **settings)`` repeats the result.
    """

    truth: pd.DataFrame
    incomplete: pd.DataFrame
    missing: pd.DataFrame
    propensity: pd.DataFrame
    settings: dict[str, Any]


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

    Each column j that gets holes has an observed proportion ``p_j``. A cell stays observed with
    probability ``sigmoid(score_i + b_j)``: the score is linear in the row's values with N(0, 1)
    weights and has a standard deviation of 1; ``b_j`` is solved so that the mean is ``p_j``.

    Parameters
    ----------
    df : DataFrame
        The table. It may have holes already; those stay (see :class:`Amputation`).
    pattern : {"monotone", "quasi-monotone", "general"}, default "general"
        - monotone: half of the cells of some columns;
        - quasi-monotone: some columns keep 95 to 99 % of their cells, the others 20 to 80 %;
        - general: every column has holes, in proportions that vary widely.
    mechanism : {"MCAR", "MAR", "MNAR", "self-masking"}, default "MNAR"
        What the score depends on:

        - MCAR: on nothing;
        - MAR: only on columns that get no holes;
        - MNAR: on all columns, but under "monotone" only on those that get holes (the paper's
          rule);
        - self-masking: for each column on its own value alone.
    coupling : {"nested", "independent"}, optional
        How the holes of one row hang together:

        - nested: as in the masks released with the paper. One score for all columns and one
          uniform draw a row, so a row that misses a column misses every column with a smaller
          ``p_j`` too: whatever its name, the pattern is strictly monotone.
          General: ``p_j`` ~ U(0, 1) clipped to [0.1, 0.9]; quasi-monotone: 60 % of the columns
          U(0.2, 0.8), 40 % U(0.95, 0.99).
        - independent: as in the paper's text. Own weights for each column, own draw for each cell.
          General: ``p_j`` ~ U(0.2, 0.8); quasi-monotone: 60 % of the columns
          U(0.95, 0.99), 40 % U(0.2, 0.8).

        By default "nested", and "independent" for self-masking, which has no nested form.
    columns : sequence of names, optional
        The columns that may get holes; by default all but identifiers, ignored and empty ones.
    column_share : float, optional
        Share of `columns` that get holes, chosen at random. By default 1 where `columns` are
        named; else 0.6 for "monotone" (the paper uses 0.3 and 0.6), 1 for the other
        patterns, and 0.7 for these under MAR, which needs columns that stay observed.
    proportions : float or mapping of name to float, optional
        Observed proportions instead of the pattern's own: one for all columns with holes, or
        some by name.
    seed : int, default 0
        The same seed gives the same result; weights do not depend on the pattern.
    schema : Schema or its dict, optional
        Roles of the columns; inferred if not given.
    drop_empty_rows : bool, default True
        Drop the rows of which no cell is left (identifiers and ignored columns apart), as
        the release does.

    Returns
    -------
    Amputation
        Truth, incomplete table, missing cells, propensities and settings.

    Raises
    ------
    AmputationError
        If holes of that kind cannot be made in this table.

    Examples
    --------
    >>> df = pd.DataFrame(np.random.default_rng(0).normal(size=(200, 4)), columns=list("abcd"))
    >>> holes = ampute(df, "monotone", "MCAR", column_share=0.5, seed=1)
    >>> holes.missing.mean().round(1).sort_values().tolist()
    [0.0, 0.0, 0.5, 0.5]
    >>> holes.incomplete.equals(ampute(df, **holes.settings).incomplete)
    True
    """
    coupling = _resolved_coupling(mechanism, coupling)
    _check_choice("pattern", pattern, PATTERNS)
    _check_choice("mechanism", mechanism, MECHANISMS)
    _check_choice("coupling", coupling, COUPLINGS)
    check_table(df)
    known_schema = _resolved_schema(df, schema)
    roles = {name: known_schema.role(name) for name in df.columns}
    share = _resolved_share(column_share, columns, pattern, mechanism)
    # Proportions, then cells, come from the seed's own stream; columns and weights from
    # streams beside it, so that a seed has the same weights under every pattern.
    rng = np.random.default_rng(seed)
    column_rng, weight_rng = rng.spawn(2)

    named = [] if columns is None else _checked_columns(df, columns)
    modeled = _modeled_columns(df, known_schema, named)
    chosen = choose_columns(named or modeled, share, column_rng)
    drawn = draw_proportions(_numbers_first(chosen, roles), pattern, coupling, rng)
    p_obs = override_proportions(drawn, proportions)

    scores = _scores(
        df,
        roles,
        modeled,
        chosen,
        pattern=pattern,
        mechanism=mechanism,
        coupling=coupling,
        rng=weight_rng,
    )
    propensity = pd.DataFrame(1.0, index=df.index, columns=df.columns)
    for name in chosen:
        propensity[name] = observed_probability(scores[name], p_obs[name])
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
    content = modeled if drop_empty_rows else None
    return make_holes(df, removed, propensity, settings, content_columns=content)


def make_holes(
    df: pd.DataFrame,
    removed: BoolArray,
    propensity: pd.DataFrame,
    settings: dict[str, Any],
    *,
    content_columns: Sequence[Name] | None,
) -> Amputation:
    """Remove cells, and drop the rows that keep nothing in `content_columns` (None: no row)."""
    present = df.notna()
    missing = pd.DataFrame(removed, index=df.index, columns=df.columns) & present
    keep: BoolArray = np.ones(len(df), dtype=bool)
    if content_columns is not None:
        names = list(content_columns)
        keep = np.any((present[names] & ~missing[names]).to_numpy(), axis=1)
    if not keep.any():
        raise AmputationError(
            "No row would keep a single cell. Ask for higher observed proportions, or use a table "
            "with more rows and columns."
        )
    truth, missing = df[keep].copy(), missing[keep]
    return Amputation(
        truth=truth,
        incomplete=_without_cells(truth, missing),
        missing=missing,
        propensity=propensity[keep],
        settings=settings,
    )


def check_table(df: pd.DataFrame) -> None:
    """Raise ``AmputationError`` if there is no table to make holes in."""
    if not isinstance(df, pd.DataFrame):
        raise AmputationError(f"Holes are made in a DataFrame, not in a {type(df).__name__}.")
    if df.shape[0] == 0 or df.shape[1] == 0:
        raise AmputationError("The table has no rows or no columns to make holes in.")


def _check_choice(what: str, value: str, choices: Sequence[str]) -> None:
    if value not in choices:
        raise AmputationError(f"There is no {what} {value!r}; choose one of: {', '.join(choices)}.")


def _resolved_coupling(mechanism: str, coupling: Coupling | None) -> Coupling:
    if mechanism == "self-masking" and coupling == "nested":
        raise AmputationError(
            "Self-masking has no nested form: each column depends on its own value. Use "
            "coupling 'independent'."
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
        raise AmputationError(f"column_share must be above 0 and at most 1, not {share}.")
    return float(share)


def _resolved_schema(df: pd.DataFrame, schema: Schema | Mapping[str, Any] | None) -> Schema:
    if schema is None:
        return Schema.infer(df)
    return schema if isinstance(schema, Schema) else Schema.from_dict(dict(schema))


def _modeled_columns(df: pd.DataFrame, schema: Schema, named: Sequence[Name]) -> list[Name]:
    """Return the columns with content: those a method imputes, and those the user names."""
    imputable = set(schema.imputable(df))
    modeled: list[Name] = [name for name in df.columns if name in named or name in imputable]
    if not modeled:
        raise AmputationError(
            "The table has no column to make holes in: all are empty, identifiers or ignored."
        )
    return modeled


def _checked_columns(df: pd.DataFrame, columns: Sequence[Name]) -> list[Name]:
    wanted: list[Name] = [columns] if isinstance(columns, str) else list(dict.fromkeys(columns))
    if not wanted:
        raise AmputationError("`columns` is empty: name at least one column.")
    unknown = [str(name) for name in wanted if name not in df.columns]
    if unknown:
        known = ", ".join(map(str, df.columns[:20]))
        raise AmputationError(f"The table has no column(s) {', '.join(unknown)}; it has: {known}.")
    empty = [str(name) for name in wanted if df[name].isna().all()]
    if empty:
        raise AmputationError(
            f"There is no cell to remove in the empty column(s) {', '.join(empty)}."
        )
    return wanted


def _columns_in_score(
    modeled: Sequence[Name], chosen: Sequence[Name], pattern: str, mechanism: str
) -> list[Name]:
    """Return the columns that the score of a row depends on."""
    if mechanism == "MAR":
        observed = [name for name in modeled if name not in chosen]
        if not observed:
            raise AmputationError(
                "MAR needs at least one column without holes for the others to depend on. Name "
                "fewer columns, lower column_share, or use MCAR or MNAR."
            )
        return observed
    if pattern == "monotone":
        return list(chosen)
    return list(modeled)


def _numbers_first(names: Sequence[Name], roles: Mapping[Name, Role]) -> list[Name]:
    """Return numerical columns before categorical ones, as the released tables have them."""
    return sorted(names, key=lambda name: roles[name] not in (Role.NUMERICAL, Role.DATETIME))


def _scores(
    df: pd.DataFrame,
    roles: Mapping[Name, Role],
    modeled: Sequence[Name],
    chosen: Sequence[Name],
    *,
    pattern: str,
    mechanism: str,
    coupling: str,
    rng: np.random.Generator,
) -> dict[Name, FloatArray]:
    """Return for each column with holes the score of every row."""
    if mechanism == "MCAR":
        return dict.fromkeys(chosen, np.zeros(len(df)))
    predictors = {
        name: Predictor(column, categorical=roles[name] not in (Role.NUMERICAL, Role.DATETIME))
        for name, column in df[list(modeled)].items()
    }
    if mechanism == "self-masking":
        return {name: random_score(predictors, [name], rng) for name in chosen}
    used = _columns_in_score(modeled, chosen, pattern, mechanism)
    if coupling == "nested":
        return dict.fromkeys(chosen, random_score(predictors, used, rng))
    return {name: random_score(predictors, used, rng) for name in chosen}


def _without_cells(truth: pd.DataFrame, missing: pd.DataFrame) -> pd.DataFrame:
    incomplete = truth.copy()
    for name in truth.columns:
        if not missing[name].any():
            continue
        incomplete[name] = _able_to_miss(truth[name]).mask(missing[name])
    return incomplete


def _able_to_miss(column: pd.Series) -> pd.Series:
    """Return the column in a dtype that holds missing cells next to unchanged values."""
    if column.dtype.kind == "b" and isinstance(column.dtype, np.dtype):
        return column.astype("boolean")
    if column.dtype.kind in "iu" and isinstance(column.dtype, np.dtype):
        exact = column.abs().max() <= _EXACT_FLOAT_INTEGER
        return column.astype("float64") if exact else column.convert_dtypes()
    return column
