"""The biography of a cell: what each method says, how sure, and from which rows it could know."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from pmae_core.evaluation._fillings import name_imputations
from pmae_core.explain.donors import Neighborhood, Support
from pmae_core.storage.json_values import to_json_value
from pmae_core.table import Schema
from pmae_core.table.cells import CellKind, cell_kind
from pmae_core.table.number_cells import NumberCells
from pmae_core.words import cell_text, listed, percent

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True)
class Spread:
    """How the draws of one cell vary.

    Attributes
    ----------
    n_draws : int
        How many draws filled the cell.
    quantiles : dict
        Of numbers and dates: share of draws to the value below which they lie; always one of
        the drawn values.
    shares : dict
        Of categories: value to the share of draws that say so, the most frequent first.
    """

    n_draws: int
    quantiles: dict[float, Any]
    shares: dict[Any, float]

    @property
    def sentence(self) -> str:
        """The spread in words."""
        if self.quantiles:
            low, high = (cell_text(self.quantiles[q]) for q in (QUANTILES[0], QUANTILES[-1]))
            if low == high:
                return f"All of {self.n_draws} draws say {low}."
            return f"Nine in ten of {self.n_draws} draws lie between {low} and {high}."
        said = [f"{cell_text(value)} in {percent(share)}" for value, share in self.shares.items()]
        return f"Of {self.n_draws} draws: {listed(said)}."


@dataclass(frozen=True, eq=False)
class CellDetails:
    """All that is known about one cell.

    Attributes
    ----------
    row, label, column
        Position and label of the row, name of the column.
    observed : bool
        Whether the cell is observed; then it needs no filling.
    values : dict
        Method to the value that it fills in, None where it leaves the cell empty; of an observed
        cell what is observed.
    spread : Spread, optional
        Of the draws, if there are any.
    donors : DataFrame
        The rows most like this one, see :meth:`~pmae_core.explain.Neighborhood.donors`.
    support : Support
        Whether the table has much to say about this cell.
    facts : dict
        Of the column's observed cells: ``p_obs``, ``n_observed``; of numbers ``mean``, ``sd``,
        ``lowest`` and ``highest``; of dates the latter two; of categories ``mode``, ``mode_share``.
    sentences : list of str
        All this in words.
    """

    row: int
    label: Any
    column: Hashable
    observed: bool
    values: dict[str, Any]
    spread: Spread | None
    donors: pd.DataFrame
    support: Support
    facts: dict[str, Any]
    sentences: list[str]

    def to_dict(self) -> dict[str, Any]:
        """Return the biography as JSON-able data; a row of donors for each of them."""
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
                "n_draws": spread.n_draws,
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
    fillings: Mapping[str, pd.DataFrame],
    draws: Sequence[pd.DataFrame] = (),
    schema: Schema | None = None,
    *,
    k: int = 5,
    neighborhood: Neighborhood | None = None,
) -> CellDetails:
    """Tell all that is known about one cell.

    Parameters
    ----------
    frame : DataFrame
        The table with its holes.
    row : int
        Position of the row, from 0.
    column
        Name of the column.
    fillings : mapping of method to DataFrame
        The filled tables.
    draws : sequence of DataFrame
        Several plausible fillings by one method.
    schema : Schema, optional
        Roles of the columns; inferred where not given.
    k : int, default 5
        How many donors.
    neighborhood : Neighborhood, optional
        Of `frame`, to be used again for the next cell; it brings its schema with it.

    Examples
    --------
    >>> table = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], "y": [2.0, 4.0, None, 8.0]})
    >>> told = cell_details(table, 2, "y", {"em": table.fillna(6.0)})
    >>> told.values
    {'em': 6.0}
    >>> told.sentences[0]
    'y of row 2 is missing; em says 6.'
    """
    name_imputations(fillings, frame)
    name_imputations({"draws": list(draws)}, frame)
    hood = neighborhood or Neighborhood(frame, schema)
    donors = hood.donors(row, column, k)
    cells = frame[column]
    observed = bool(cells.notna().iloc[row])
    values = {name: _plain(filled[column].iloc[row]) for name, filled in fillings.items()}
    drawn = [_plain(draw[column].iloc[row]) for draw in draws]
    biography = CellDetails(
        row=row,
        label=frame.index[row],
        column=column,
        observed=observed,
        values=values,
        spread=None if observed else _spread(drawn, cell_kind(cells)),
        donors=donors,
        support=hood.support(row, column, k),
        facts=_facts(cells),
        sentences=[],
    )
    biography.sentences.extend(_sentences(biography, _plain(cells.iloc[row])))
    return biography


def _plain(value: Any) -> Any:
    """Return a cell as a Python value, None where it is missing."""
    if pd.isna(value):
        return None
    return value.item() if isinstance(value, np.generic) else value


def _is_ordered(kind: CellKind) -> bool:
    return kind in (CellKind.NUMBER, CellKind.DATETIME, CellKind.DURATION)


def _spread(drawn: Sequence[Any], kind: CellKind) -> Spread | None:
    filled = [value for value in drawn if value is not None]
    if not filled:
        return None
    if not _is_ordered(kind):
        shares = pd.Series(filled, dtype=object).value_counts(normalize=True)
        return Spread(len(filled), {}, {value: float(share) for value, share in shares.items()})
    ordered = sorted(filled)
    positions = np.rint(np.array(QUANTILES) * (len(ordered) - 1)).astype(int)
    at_quantiles = [ordered[position] for position in positions]
    return Spread(len(filled), dict(zip(QUANTILES, at_quantiles, strict=True)), {})


def _facts(cells: pd.Series) -> dict[str, Any]:
    seen = cells.dropna()
    facts: dict[str, Any] = {"p_obs": float(cells.notna().mean()), "n_observed": len(seen)}
    kind = cell_kind(cells)
    if seen.empty or kind is CellKind.OTHER:
        return facts
    if kind is CellKind.NUMBER:
        numbers = NumberCells.fit(cells).read(cells)
        facts |= {"mean": float(np.nanmean(numbers)), "sd": float(np.nanstd(numbers))}
    if _is_ordered(kind):
        return facts | {"lowest": _plain(seen.min()), "highest": _plain(seen.max())}
    shares = seen.value_counts(normalize=True)
    return facts | {"mode": _plain(shares.index[0]), "mode_share": float(shares.iloc[0])}


def _sentences(told: CellDetails, cell: Any) -> list[str]:
    where = f"{told.column} of row {cell_text(told.label)}"
    what = f"observed: {cell_text(cell)}" if told.observed else f"missing; {_said(told.values)}"
    sentences = [f"{where} is {what}."]
    if told.spread is not None:
        sentences.append(told.spread.sentence)
    if len(told.donors):
        given = listed(told.donors["value"], most=len(told.donors))
        sentences.append(f"The rows most like it have {given}.")
    return [*sentences, told.support.sentence, _column_sentence(told.column, told.facts)]


def _said(values: Mapping[str, Any]) -> str:
    """Return who says what, those who say the same together."""
    if not values:
        return "no method has filled it yet"
    methods_of: dict[str | None, list[str]] = {}
    for method, value in values.items():
        said = None if value is None else cell_text(value)
        methods_of.setdefault(said, []).append(method)
    parts = []
    for said, methods in methods_of.items():
        verb = "say" if said is not None else "leave"
        ending = "s" if len(methods) == 1 else ""
        parts.append(f"{listed(methods)} {verb}{ending} {'it empty' if said is None else said}")
    return ", ".join(parts)


def _column_sentence(column: Hashable, facts: Mapping[str, Any]) -> str:
    sentence = f"{column} is observed in {percent(facts['p_obs'])} of the rows"
    if "mean" in facts:
        sentence += f", with a mean of {cell_text(facts['mean'])}"
    if "lowest" in facts:
        sentence += f" between {cell_text(facts['lowest'])} and {cell_text(facts['highest'])}"
    if "mode" in facts:
        sentence += f", most often {cell_text(facts['mode'])} ({percent(facts['mode_share'])})"
    return sentence + "."
