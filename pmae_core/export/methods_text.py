"""A paragraph for a paper that says how the table was imputed, with references."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd

from pmae_core.evaluation import Comparison
from pmae_core.export.recipe import Recipe
from pmae_core.imputers import ImputerInfo, imputer_info
from pmae_core.table import ColumnRules, Role
from pmae_core.words import cell_text, count, listed, percent

RUBIN = "Rubin: Multiple Imputation for Nonresponse in Surveys. Wiley, 1987."
_MOST_COLUMNS = 8
# Characters with a meaning within a line, also to Streamlit.
_MARKDOWN = re.compile(r"([\\`*_\[\]<>#|~$&:])")
_HELD_OUT_CELLS = {
    "like-mine": "observed cells held out in the patterns of the missing ones",
    "amputation": "cells removed from the complete table",
    "known-truth": "the missing cells, whose true values are known",
}

Writer = Callable[[Any], str]


@dataclass(frozen=True)
class MethodsText:
    """The paragraph in two formats, and the works it cites.

    Attributes
    ----------
    plain, markdown : str
        The paragraph as plain text and as Markdown, citing by number.
    references : list of str
        The works cited, in the order of their numbers.
    """

    plain: str
    markdown: str
    references: list[str]

    def to_text(self) -> str:
        """Return paragraph and references as plain text."""
        cited = "\n".join(f"[{n}] {work}" for n, work in enumerate(self.references, start=1))
        return f"{self.plain}\n\n{cited}\n"

    def to_markdown(self) -> str:
        """Return paragraph and references as Markdown."""
        cited = "\n".join(
            f"{n}. {escape_markdown(work)}" for n, work in enumerate(self.references, start=1)
        )
        return f"{self.markdown}\n\n### References\n\n{cited}\n"


def methods_paragraph(
    recipe: Recipe,
    frame: pd.DataFrame,
    imputed: pd.DataFrame,
    *,
    comparison: Comparison | None = None,
) -> MethodsText:
    """Describe in a paragraph how the table was imputed, and its limits.

    Parameters
    ----------
    recipe : Recipe
        How it was imputed.
    frame, imputed : DataFrame
        The table before and after.
    comparison : Comparison, optional
        Of methods on this table, to report how the method performed.

    Returns
    -------
    MethodsText

    Examples
    --------
    >>> table = pd.DataFrame({"x": [1.0, None, 2.5, 4.0], "y": [1, 2, 3, 4]})
    >>> text = methods_paragraph(Recipe(table="t.csv", method="naive"), table, table.fillna(2.5))
    >>> text.plain.split(". ")[0]
    'The table has 4 rows and 2 columns; 1 of its 8 cells (12.5%) was missing, in x (25%)'
    """
    info = imputer_info(recipe.method)
    references = [info.citation, *([RUBIN] if recipe.n_imputations > 1 else [])]

    def paragraph(write: Writer) -> str:
        parts = (
            _missing(recipe, frame, write),
            _method(recipe, info, write),
            _rules(recipe, write),
            _imputations(recipe, references),
            _result(recipe, frame, imputed, write),
            _comparison(recipe, comparison, write),
            _caveats(recipe, info),
        )
        return " ".join(sentence for part in parts for sentence in part)

    return MethodsText(paragraph(str), paragraph(escape_markdown), references)


def escape_markdown(text: Any) -> str:
    r"""Return text that Markdown shows unchanged, on one line.

    Examples
    --------
    >>> escape_markdown("a_b *c*")
    'a\\_b \\*c\\*'
    """
    return _MARKDOWN.sub(r"\\\1", " ".join(str(text).split()))


def _missing(recipe: Recipe, frame: pd.DataFrame, write: Writer) -> Iterator[str]:
    n_missing, n_cells = int(frame.isna().to_numpy().sum()), frame.size
    n_rows, n_columns = count(len(frame), "row"), count(frame.shape[1], "column")
    size = f"The table has {n_rows} and {n_columns}"
    if not n_missing:
        yield f"{size}; no value was missing."
        return
    shares = frame.isna().mean().sort_values(ascending=False, kind="stable")
    named = [f"{write(name)} ({percent(share)})" for name, share in shares.items() if share > 0]
    share = percent(n_missing / n_cells)
    verb = "was" if n_missing == 1 else "were"
    yield (
        f"{size}; {n_missing:,} of its {n_cells:,} cells ({share}) {verb} missing, "
        f"in {listed(named, _MOST_COLUMNS)}."
    )
    complete = float(frame.notna().all(axis=1).mean())
    yield f"{percent(complete)} of the rows were complete."
    if recipe.sentinels:
        values = recipe.sentinels
        if isinstance(values, dict):
            values = list(dict.fromkeys(value for some in values.values() for value in some))
        yield f"Treated as missing: {listed(map(write, values), _MOST_COLUMNS)}."


def _method(recipe: Recipe, info: ImputerInfo, write: Writer) -> Iterator[str]:
    settings = [f"{write(name)} = {write(value)}" for name, value in recipe.params.items()]
    seed = recipe.seed if recipe.model is None else recipe.model_seed
    fitted = "" if recipe.model is None else ", using a previously trained model"
    if seed is not None:
        chosen = (
            f"{listed(settings, len(settings))}, otherwise default settings," if settings else ""
        )
        fitted += f", with {chosen or 'default settings'} and seed {seed}"
    versions = [f"{write(name)} {write(version)}" for name, version in recipe.versions.items()]
    software = f" ({', '.join(versions)})" if versions else ""
    yield (
        f"Missing values were imputed with {write(info.title)} "
        f"({write(info.name)}) {_cite(1)}{fitted}{software}."
    )


def _rules(recipe: Recipe, write: Writer) -> Iterator[str]:
    rules = {write(name): ColumnRules.read(one, name) for name, one in recipe.rules.items()}
    limited = [f"{name} ({one.limits_text})" for name, one in rules.items() if one.limits_text]
    if limited:
        yield f"Imputed values were kept within limits: {listed(limited, _MOST_COLUMNS)}."
    whole = [name for name, one in rules.items() if one.whole]
    if whole:
        yield f"Imputed values of {listed(whole, _MOST_COLUMNS)} were rounded to whole numbers."
    derived = [f"{name} = {write(one.derived)}" for name, one in rules.items() if one.derived]
    if derived:
        yield f"Missing values of derived columns were computed: {'; '.join(derived)}."

    ordinal = [
        f"{write(name)} ({' < '.join(write(cell_text(level)) for level in levels)})"
        for name, one in recipe.rules.items()
        if recipe.roles.get(name) == Role.ORDINAL and (levels := ColumnRules.read(one, name).levels)
    ]
    if ordinal:
        yield (
            "Ordinal columns were imputed by the ranks of their levels: "
            f"{listed(ordinal, _MOST_COLUMNS)}."
        )


def _cite(number: int) -> str:
    return f"[{number}]"


def _imputations(recipe: Recipe, references: list[str]) -> Iterator[str]:
    if recipe.n_imputations > 1:
        rubin = _cite(references.index(RUBIN) + 1)
        yield (
            f"In addition, {recipe.n_imputations} imputations were drawn with seed {recipe.seed}; "
            f"estimates from them should be pooled by Rubin's rules {rubin}."
        )


def _result(
    recipe: Recipe, frame: pd.DataFrame, imputed: pd.DataFrame, write: Writer
) -> Iterator[str]:
    for finding in recipe.left_alone:
        yield f"Left missing on purpose: {write(finding.sentence)}"
    unexplained = imputed.isna() & frame.isna()
    for finding in recipe.left_alone:
        unexplained.loc[finding.condition.holds(frame), finding.column] = False
    names = [write(name) for name in imputed.columns[unexplained.any()]]
    if names:
        yield f"The method left values of {listed(names, _MOST_COLUMNS)} missing."


def _comparison(recipe: Recipe, comparison: Comparison | None, write: Writer) -> Iterator[str]:
    if comparison is None:
        return
    summary = comparison.summary()
    row: dict[Any, Any] = summary.to_dict("index").get(recipe.method, {"rank": None})
    if pd.isna(row["rank"]):
        return
    n_seeds = len(comparison.settings["seeds"])
    error = row["skill_se"]
    spread = "" if pd.isna(error) else f" ± {error:.3f}"
    n_ranked = int(summary["rank"].notna().sum())
    cells = _HELD_OUT_CELLS[comparison.settings["holdout"]]
    skill = f"{row['skill']:.3f}{spread}"
    yield (
        f"In a comparison of {count(n_ranked, 'method')} over {count(n_seeds, 'seed')} on {cells}, "
        "the method reached a skill (mean over columns of the share of the error of imputing the "
        "mean or the most frequent category that it avoids) of "
        f"{skill}, rank {row['rank']}"
        f"{_tied(summary['rank'], row['rank'])}."
    )
    winners = comparison.column_winners()
    not_beaten = [write(name) for name, winner in winners.iterrows() if winner["best"] is None]
    if not_beaten:
        yield (
            f"In {listed(not_beaten, _MOST_COLUMNS)}, no method was shown to beat the mean or the "
            "most frequent category."
        )


def _tied(ranks: pd.Series, own: int) -> str:
    others = int((ranks == own).sum()) - 1
    return f", tied with {count(others, 'other')}" if others else ""


def _caveats(recipe: Recipe, info: ImputerInfo) -> Iterable[str]:
    yield (
        "Imputation assumes that missing values resemble observed ones in otherwise similar rows "
        "(missing at random, MAR); the data alone cannot show whether this holds."
    )
    if recipe.n_imputations < 2:
        yield (
            "A single imputed table does not show the uncertainty of its imputed values: standard "
            "errors computed from it are too small."
        )
    elif not info.is_proper:
        yield (
            "All imputations come from one fitted model, whose own uncertainty they leave out: "
            "pooled standard errors are too small."
        )
