"""Details of one cell: each method's value, the imputation spread, and the most similar rows."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from pmae_core.evaluation.sources import name_imputations
from pmae_core.explain.donors import Neighborhood, Support
from pmae_core.storage.json_values import to_json_value
from pmae_core.table import Schema
from pmae_core.table.cells import CellKind, cell_kind
from pmae_core.table.number_cells import NumberCells
from pmae_core.words import cell_text, count, listed, percent

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True)
class ImputationSpread:
    """How much one cell varies between imputations.

    Attributes
    ----------
    n_imputations : int
        How many imputations have a value for the cell.
    quantiles : dict
        For numbers and dates: quantile level to value; always one of the imputed values.
    shares : dict
        For categories: value to its share of the imputations, the most frequent first.
    """

    n_imputations: int
    quantiles: dict[float, Any]
    shares: dict[Any, float]

    @property
    def sentence(self) -> str:
        """The spread in words."""
        imputations = count(self.n_imputations, "imputation")
        if self.quantiles:
            low, high = (cell_text(self.quantiles[q]) for q in (QUANTILES[0], QUANTILES[-1]))
            if low == high:
                every = "all " if self.n_imputations > 1 else ""
                return f"The value is {low} in {every}{imputations}."
            return f"About 90% of {imputations} lie between {low} and {high}."
        shares = [f"{cell_text(value)} in {percent(share)}" for value, share in self.shares.items()]
        return f"The value is {listed(shares)} of {imputations}."


@dataclass(frozen=True, eq=False)
class CellDetails:
    """What is known about one cell.

    Attributes
    ----------
    row, label, column
        Position and label of the row, name of the column.
    observed : bool
        Whether the cell is observed; then it needs no imputation.
    values : dict
        Method to the value that it imputes, None if it leaves the cell missing; for an observed
        cell the observed value.
    spread : ImputationSpread, optional
        The spread between imputations, if there are any.
    donors : DataFrame
        The most similar rows, see :meth:`~pmae_core.explain.Neighborhood.donors`.
    support : Support
        How much information the table has about this cell.
    facts : dict
        About the column's observed cells: ``p_obs``, ``n_observed``; for numbers ``mean``, ``sd``,
        ``lowest`` and ``highest``; for dates the latter two; for categories ``mode`` and
        ``mode_share``.
    sentences : list of str
        All this in words.
    """

    row: int
    label: Any
    column: Hashable
    observed: bool
    values: dict[str, Any]
    spread: ImputationSpread | None
    donors: pd.DataFrame
    support: Support
    facts: dict[str, Any]
    sentences: list[str]

    def to_dict(self) -> dict[str, Any]:
        """Return the details as JSON-able data, with one entry per donor."""
        spread = self.spread
        donors = [
            {
                "label": to_json_value(label),
                "row": int(donor["row"]),
                "distance": float(donor["distance"]),
                "n_shared": int(donor["n_shared"]),
                "value": to_json_value(donor["value"]),
                "agree": [to_json_value(name) for name in donor["agree"]],
                "differ": [to_json_value(name) for name in donor["differ"]],
            }
            for label, donor in self.donors.iterrows()
        ]
        return {
            "row": self.row,
            "label": to_json_value(self.label),
            "column": to_json_value(self.column),
            "observed": self.observed,
            "values": {name: to_json_value(value) for name, value in self.values.items()},
            "spread": None
            if spread is None
            else {
                "n_imputations": spread.n_imputations,
                "quantiles": [[q, to_json_value(v)] for q, v in spread.quantiles.items()],
                "shares": [[to_json_value(v), share] for v, share in spread.shares.items()],
            },
            "donors": donors,
            "support": self.support.to_dict(),
            "facts": {name: to_json_value(value) for name, value in self.facts.items()},
            "sentences": self.sentences,
        }


def cell_details(
    frame: pd.DataFrame,
    row: int,
    column: Hashable,
    imputed_by: Mapping[str, pd.DataFrame],
    imputations: Sequence[pd.DataFrame] = (),
    schema: Schema | None = None,
    *,
    k: int = 5,
    neighborhood: Neighborhood | None = None,
) -> CellDetails:
    """Collect what is known about one cell.

    Parameters
    ----------
    frame : DataFrame
        The table with its missing values.
    row : int
        Position of the row, from 0.
    column
        Name of the column.
    imputed_by : mapping of method to DataFrame
        The imputed tables.
    imputations : sequence of DataFrame
        Several imputations by one method.
    schema : Schema, optional
        Roles of the columns; inferred if not given.
    k : int, default 5
        How many donors.
    neighborhood : Neighborhood, optional
        Of `frame`, to reuse for the next cell; it has a schema of its own.

    Examples
    --------
    >>> table = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], "y": [2.0, 4.0, None, 8.0]})
    >>> details = cell_details(table, 2, "y", {"em": table.fillna(6.0)})
    >>> details.values
    {'em': 6.0}
    >>> details.sentences[0]
    'y in row 2 is missing; em imputes 6.'
    """
    name_imputations(imputed_by, frame)
    name_imputations({"imputations": list(imputations)}, frame)
    hood = neighborhood or Neighborhood(frame, schema)
    donors = hood.donors(row, column, k)
    cells = frame[column]
    observed = bool(cells.notna().iloc[row])
    values = {name: _python_value(table[column].iloc[row]) for name, table in imputed_by.items()}
    drawn = [_python_value(table[column].iloc[row]) for table in imputations]
    details = CellDetails(
        row=row,
        label=frame.index[row],
        column=column,
        observed=observed,
        values=values,
        spread=None if observed else spread_of_cell(drawn, cell_kind(cells)),
        donors=donors,
        support=hood.support(row, column, k),
        facts=_facts(cells),
        sentences=[],
    )
    details.sentences.extend(_sentences(details, _python_value(cells.iloc[row])))
    return details


def _python_value(value: Any) -> Any:
    """Return a cell as a Python value, None if it is missing; infinity stays."""
    if pd.isna(value):
        return None
    return value.item() if isinstance(value, np.generic) else value


def _is_ordered(kind: CellKind) -> bool:
    return kind in (CellKind.NUMBER, CellKind.DATETIME, CellKind.DURATION)


def spread_of_cell(drawn: Sequence[Any], kind: CellKind) -> ImputationSpread | None:
    """Return how imputed values of one cell are spread; None if no imputation has a value."""
    values = [value for value in drawn if value is not None]
    if not values:
        return None
    if not _is_ordered(kind):
        shares = pd.Series(values, dtype=object).value_counts(normalize=True)
        return ImputationSpread(
            len(values), {}, {value: float(share) for value, share in shares.items()}
        )
    ordered = sorted(values)
    positions = np.rint(np.array(QUANTILES) * (len(ordered) - 1)).astype(int)
    at_quantiles = [ordered[position] for position in positions]
    return ImputationSpread(len(values), dict(zip(QUANTILES, at_quantiles, strict=True)), {})


def _facts(cells: pd.Series) -> dict[str, Any]:
    observed = cells.dropna()
    facts: dict[str, Any] = {"p_obs": float(cells.notna().mean()), "n_observed": len(observed)}
    kind = cell_kind(cells)
    if observed.empty or kind is CellKind.OTHER:
        return facts
    if kind is CellKind.NUMBER:
        numbers = NumberCells.fit(cells).read(cells)
        facts |= {"mean": float(np.nanmean(numbers)), "sd": float(np.nanstd(numbers))}
    if _is_ordered(kind):
        return facts | {
            "lowest": _python_value(observed.min()),
            "highest": _python_value(observed.max()),
        }
    shares = observed.value_counts(normalize=True)
    return facts | {"mode": _python_value(shares.index[0]), "mode_share": float(shares.iloc[0])}


def _sentences(details: CellDetails, cell: Any) -> list[str]:
    where = f"{details.column} in row {cell_text(details.label)}"
    if details.observed:
        sentences = [f"{where} is observed: {cell_text(cell)}."]
    else:
        sentences = [f"{where} is missing; {_imputed_values(details.values)}."]
    if details.spread is not None:
        sentences.append(details.spread.sentence)
    if len(details.donors):
        values = listed(details.donors["value"], most=len(details.donors))
        sentences.append(f"The most similar rows have {values}.")
    return [*sentences, details.support.sentence, _column_sentence(details.column, details.facts)]


def _imputed_values(values: Mapping[str, Any]) -> str:
    """Return the values in words, methods with the same value together."""
    if not values:
        return "no method has imputed it yet"
    methods_of: dict[str | None, list[str]] = {}
    for method, value in values.items():
        text = None if value is None else cell_text(value)
        methods_of.setdefault(text, []).append(method)
    parts = []
    for text, methods in methods_of.items():
        ending = "s" if len(methods) == 1 else ""
        result = f"leave{ending} it missing" if text is None else f"impute{ending} {text}"
        parts.append(f"{listed(methods)} {result}")
    return ", ".join(parts)


def _column_sentence(column: Hashable, facts: Mapping[str, Any]) -> str:
    sentence = f"{column} is observed in {percent(facts['p_obs'])} of the rows"
    if "mean" in facts:
        sentence += f", with a mean of {cell_text(facts['mean'])}"
    if "lowest" in facts:
        joint = " and" if "mean" in facts else ", with"
        lowest, highest = cell_text(facts["lowest"]), cell_text(facts["highest"])
        sentence += f"{joint} values from {lowest} to {highest}"
    if "mode" in facts:
        sentence += f", most often {cell_text(facts['mode'])} ({percent(facts['mode_share'])})"
    return sentence + "."
