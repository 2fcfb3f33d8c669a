"""Missingness: how much, where, together with what, what goes with it, and dropping rows."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from dashboard.figures import missingness as figures
from dashboard.figures.missingno_pictures import available_views, missingno_picture
from dashboard.state import memory, session
from dashboard.state.workspace import OpenTable
from dashboard.text import code, listing, plain, shorten
from dashboard.widgets import fragment, show_figure
from pmae_core.errors import TableError
from pmae_core.missingness import (
    LITTLE_CAUTION,
    LittleTest,
    MissingnessSummary,
    MissingnessTree,
    MissingPatterns,
    NullityMatrix,
    NullityTree,
    ValueDistribution,
    bin_nullity,
    cluster_columns,
    compare_distributions,
    compare_rows,
    correlate_nullity,
    count_complete_rows,
    dropping_path,
    dropping_shift,
    find_patterns,
    little_test,
    measure_flux,
    predict_missingness,
    strongest_pairs,
    suggest_little_columns,
    summarize_missingness,
)
from pmae_core.table import Role
from pmae_core.words import count, percent

SECTION = "missingness"
NOTABLE_CORRELATION = 0.3


# Computed once for a table: the digest is the key


@st.cache_resource(max_entries=4, show_spinner="Looking for holes …")
def _patterns(digest: str, _frame: pd.DataFrame) -> MissingPatterns:
    return find_patterns(_frame)


@st.cache_data(max_entries=8, show_spinner=False)
def _summary(digest: str, _patterns: MissingPatterns) -> MissingnessSummary:
    return summarize_missingness(_patterns)


@st.cache_data(max_entries=8, show_spinner=False)
def _matrix(digest: str, order: Any, _patterns: MissingPatterns) -> NullityMatrix:
    return bin_nullity(_patterns, order=order)


@st.cache_data(max_entries=8, show_spinner=False)
def _correlation(digest: str, _patterns: MissingPatterns) -> pd.DataFrame:
    return correlate_nullity(_patterns)


@st.cache_data(max_entries=8, show_spinner=False)
def _tree(digest: str, _patterns: MissingPatterns) -> NullityTree:
    return cluster_columns(_patterns)


@st.cache_data(max_entries=16, show_spinner="Comparing rows …")
def _comparison(digest: str, column: str, _table: OpenTable) -> pd.DataFrame:
    return compare_rows(_table.frame, column, schema=_table.schema)


@st.cache_data(max_entries=32, show_spinner=False)
def _distribution(digest: str, column: str, other: str, _table: OpenTable) -> ValueDistribution:
    return compare_distributions(_table.frame, column, other, schema=_table.schema)


@st.cache_data(max_entries=16, show_spinner="Learning a small tree …")
def _prediction(digest: str, column: str, _table: OpenTable) -> MissingnessTree:
    return predict_missingness(_table.frame, column, schema=_table.schema)


@st.cache_data(max_entries=16, show_spinner="Testing …")
def _little(digest: str, columns: tuple[str, ...], _table: OpenTable) -> LittleTest:
    return little_test(_table.frame, columns=columns, schema=_table.schema)


@st.cache_data(max_entries=8, show_spinner="Dropping rows …")
def _shift(digest: str, columns: tuple[str, ...], _table: OpenTable) -> pd.DataFrame:
    return dropping_shift(_table.frame, columns, schema=_table.schema)


@st.cache_data(max_entries=8, show_spinner=False)
def _path(digest: str, columns: tuple[str, ...], _patterns: MissingPatterns) -> pd.DataFrame:
    return dropping_path(_patterns, columns)


# How much


@fragment
def how_much(table: OpenTable, patterns: MissingPatterns) -> None:
    per_column = _summary(table.digest, patterns).per_column
    order = _choice(
        "Order of the columns",
        "column_order",
        ["Most holes first", "As in the table"],
        help="How the bars are sorted.",
    )
    if order == "Most holes first":
        per_column = per_column.sort_values("n_missing", ascending=False, kind="stable")
    shown = min(len(per_column), figures.MOST_BARS)
    show_figure(
        figures.columns_figure(per_column),
        question="How much of each column is observed?",
        key="missingness-columns",
        data=lambda: per_column.rename_axis("column").reset_index(),
        caption=_part(shown, len(per_column), "columns")
        + "The share of rows in which a column is observed is called p_obs elsewhere.",
    )


# Where


@fragment
def where(table: OpenTable, patterns: MissingPatterns) -> None:
    left, right = st.columns(2)
    with left:
        rows = _choice(
            "Order of the rows",
            "row_order",
            ["As in the table", "Same holes together"],
            help="Together: rows that miss the same columns follow each other, the most frequent "
            "kind on top.",
        )
    with right:
        columns = _choice(
            "Order of the columns",
            "matrix_columns",
            ["As in the table", "Most holes first", "Alike side by side"],
            help="Alike: columns that are missing in the same rows stand next to each other.",
        )
    matrix = _matrix(table.digest, "table" if rows == "As in the table" else "pattern", patterns)
    names = list(patterns.columns)
    if columns == "Most holes first":
        names = _most_holes_first(patterns)
    elif columns == "Alike side by side":
        names = _tree(table.digest, patterns).columns
    n_bins = len(matrix.first_row)
    each = (
        ""
        if matrix.is_exact
        else (
            f"Each of the {count(n_bins)} lines stands for about "
            f"{count(round(patterns.n_rows / n_bins), 'row')}: its color is the share of them in "
            "which the column is missing. No row is left out."
        )
    )
    show_figure(
        figures.matrix_figure(matrix, names),
        question="Where in the table are the holes?",
        key="missingness-matrix",
        data=lambda: _matrix_data(matrix),
        caption=each or "Each line is a row of the table.",
    )


def _matrix_data(matrix: NullityMatrix) -> pd.DataFrame:
    shares = pd.DataFrame(matrix.share_missing, columns=list(matrix.columns))
    shares.insert(0, "last_row", matrix.last_row, allow_duplicates=True)
    shares.insert(0, "first_row", matrix.first_row, allow_duplicates=True)
    return shares


# Together


@fragment
def together(table: OpenTable, patterns: MissingPatterns) -> None:
    correlation = _correlation(table.digest, patterns)
    if len(correlation) < 2:
        st.info(
            "Fewer than two columns have both observed and missing cells, so none can be missing "
            "together. Look at *Where* and *Clues* instead.",
            icon=":material/info:",
        )
    else:
        _show_correlation(table, patterns, correlation)
    _show_tree(table, patterns)


def _show_correlation(
    table: OpenTable, patterns: MissingPatterns, correlation: pd.DataFrame
) -> None:
    st.markdown(_pairs_in_words(strongest_pairs(correlation, 3)))
    with_holes = [name for name in _most_holes_first(patterns) if name in correlation.index]
    emptiest = set(with_holes[: figures.MOST_CORRELATED])
    shown = [name for name in correlation.index if name in emptiest]
    show_figure(
        figures.correlation_figure(correlation.loc[shown, shown]),
        question="Which columns are missing together?",
        key="missingness-correlation",
        data=lambda: correlation.rename_axis("column").reset_index(),
        caption=_part(len(shown), len(correlation), "columns with holes", "those with most")
        + "The correlation of two columns' holes. Complete and empty columns have none.",
    )


def _pairs_in_words(pairs: pd.DataFrame) -> str:
    strong = pairs[pairs["correlation"].abs() >= NOTABLE_CORRELATION]
    if strong.empty:
        first, second, value = pairs.iloc[0]
        return (
            "No two columns' holes have much to do with each other. The most related ones are "
            f"those of {code(first)} and {code(second)} ({value:z.2f})."
        )
    return "\n".join(
        f"- {code(first)} and {code(second)} {_pair_in_words(value)} ({value:z.2f})"
        for first, second, value in strong.itertuples(index=False)
    )


def _pair_in_words(correlation: float) -> str:
    if correlation < 0:
        return "are rarely missing in the same row"
    how_often = (
        "always" if correlation > 0.9999 else "nearly always" if correlation > 0.9 else "often"
    )
    return f"are {how_often} missing together"


def _show_tree(table: OpenTable, patterns: MissingPatterns) -> None:
    tree = _tree(table.digest, patterns)
    part = ""
    if len(tree.groups) > figures.MOST_LEAVES:
        emptiest = set(_most_holes_first(patterns)[: figures.MOST_LEAVES])
        kept = [name for name in patterns.columns if name in emptiest]
        tree = _tree_of(table.digest, tuple(kept), table.frame)
        part = _part(len(kept), len(patterns.columns), "columns", "those with most holes")
    if len(tree.groups) < 2:
        st.info("All columns are missing in the same rows: there is no tree to draw.")
        return
    show_figure(
        figures.dendrogram_figure(tree),
        question="Which columns lose their cells in the same rows?",
        key="missingness-tree",
        data=lambda: tree.joins,
        caption=part + "The further left two branches meet, the more alike are their holes: the "
        "axis counts rows in which one is missing and the other is not. "
        "Columns that are missing in exactly the same rows share a point; its color says how "
        "much is missing (blue nothing, vermilion all).",
    )


@st.cache_data(max_entries=4, show_spinner=False)
def _tree_of(digest: str, columns: tuple[str, ...], _frame: pd.DataFrame) -> NullityTree:
    return cluster_columns(_frame[list(columns)])


# Patterns


@fragment
def which_patterns(table: OpenTable, patterns: MissingPatterns) -> None:
    summary = _summary(table.digest, patterns)
    kind, distance = st.columns([2, 1])
    with kind:
        st.markdown(_class_in_words(summary))
    with distance:
        st.metric(
            "Distance from monotone",
            percent(summary.distance_from_monotone),
            help="Monotone: the columns can be ordered so that a row that misses one misses all "
            "later ones, as when people leave a study. The distance is the share of missing cells "
            "that would have to change for that.",
        )
    most = min(figures.MOST_PATTERNS, patterns.n_patterns)
    shown = patterns.counts[:most].sum() / patterns.n_rows
    show_figure(
        figures.patterns_figure(patterns),
        question="Which holes come together in a row?",
        key="missingness-patterns",
        data=lambda: _patterns_data(patterns),
        caption=f"{count(most)} of {count(patterns.n_patterns, 'pattern')} shown, "
        f"{percent(shown)} of the rows. A bar counts the rows with one pattern; the points below "
        f"name the columns missing in it{_most_columns(patterns)}. Blue: rows without holes.",
    )
    flux = measure_flux(patterns)
    show_figure(
        figures.flux_figure(flux),
        question="Which columns can help to fill the others?",
        key="missingness-flux",
        data=lambda: flux.rename_axis("column").reset_index(),
        caption="High on the left: observed where others are missing, a good helper. Far to the "
        "right: much else is known where it is missing, so it can be helped. Low on the left: "
        "neither; such a column gives little and gets little.",
    )


def _most_columns(patterns: MissingPatterns) -> str:
    n_columns = int(patterns.missing[: figures.MOST_PATTERNS].any(axis=0).sum())
    if n_columns <= figures.MOST_PATTERN_COLUMNS:
        return ""
    return f", the {figures.MOST_PATTERN_COLUMNS} with most holes of {count(n_columns)}"


def _class_in_words(summary: MissingnessSummary) -> str:
    words = {
        "monotone": "**Monotone.** The columns can be ordered so that a row that misses one misses "
        "all later ones. Each column can be filled from those before it.",
        "quasi-monotone": "**Quasi-monotone.** But for a few cells, the columns can be ordered so "
        "that a row that misses one misses all later ones.",
        "general": "**General.** Which cells are missing together follows no order of the columns.",
        "complete": "**Complete.** Nothing is missing.",
    }
    return words[summary.pattern_class]


def _patterns_data(patterns: MissingPatterns) -> pd.DataFrame:
    listed = patterns.table(1000)
    listed["missing_columns"] = ["; ".join(map(str, names)) for names in listed["missing_columns"]]
    return listed


# Clues


@fragment
def clues(table: OpenTable, patterns: MissingPatterns) -> None:
    partly_missing = set(patterns.columns[patterns.partly_missing])
    options = [name for name in _most_holes_first(patterns) if name in partly_missing]
    if not options:
        st.info(
            "Every column is either complete or empty: there are no two kinds of rows to compare.",
            icon=":material/info:",
        )
        return
    column = memory.remembered(
        st.selectbox,
        "Column with holes",
        section=SECTION,
        name="column",
        default=options[0],
        options=options,
        format_func=lambda name: shorten(name, 60),
        help="Rows in which this column is missing are compared with the others. The columns with "
        "most holes come first.",
    )
    with _reasons():
        _show_comparison(table, column)
    with _reasons():
        _show_prediction(table, column)
    st.divider()
    little(table, patterns)


def _show_comparison(table: OpenTable, column: str) -> None:
    compared = _comparison(table.digest, column, table)
    measured = compared[compared["effect"].notna()]
    if measured.empty:
        st.info(
            f"No other column has values to compare between rows with and without {code(column)}.",
            icon=":material/info:",
        )
        return
    beyond_chance = measured["effect"].abs() > measured["by_chance"]
    strong = measured[beyond_chance & measured["size"].isin(["medium", "large"])]
    st.markdown(
        f"Rows that miss {code(column)} differ clearly from the others in {listing(strong.index)}."
        if len(strong)
        else f"In what is observed, rows that miss {code(column)} differ little from the others, "
        "or by no more than chance."
    )
    show_figure(
        figures.differences_figure(compared),
        question=f"How do rows that miss {code(shorten(column, 40))} differ from the others?",
        key="missingness-effects",
        data=lambda: compared.rename_axis("column").reset_index(),
        caption="To the right: higher where the column is missing. Grey: what chance alone does "
        "in 19 of 20 tables. Usually 0.2 is called a small, 0.5 a medium and 0.8 a large "
        "difference; for Cramér's V 0.1, 0.3 and 0.5." + _left_out(compared, figures.MOST_EFFECTS),
    )
    _show_distribution(table, column, list(measured.index))


def _left_out(effects: pd.DataFrame, most: int) -> str:
    per_kind = effects["kind"].value_counts()
    if (per_kind > most).any():
        return f" The {most} strongest of each kind are drawn; the download has all."
    return ""


def _show_distribution(table: OpenTable, column: str, others: list[str]) -> None:
    other = memory.remembered(
        st.selectbox,
        "Column whose values to see",
        section=SECTION,
        name="other",
        default=others[0],
        options=others,
        format_func=lambda name: shorten(name, 60),
        help="The columns that differ most come first.",
    )
    compared = _distribution(table.digest, column, other, table)
    show_figure(
        figures.distribution_figure(compared, column=column, other=other),
        question=f"Which values of {code(shorten(other, 40))} go with holes in "
        f"{code(shorten(column, 40))}?",
        key="missingness-distribution",
        data=lambda: pd.DataFrame(
            {
                "value": compared.labels,
                "share_where_observed": compared.share_observed,
                "share_where_missing": compared.share_missing,
            }
        ),
        caption="The first and the last bar also hold the few values beyond them."
        if compared.clipped
        else None,
    )


def _show_prediction(table: OpenTable, column: str) -> None:
    st.subheader(f"What predicts that {code(shorten(column, 40))} is missing?", anchor=False)
    tree = _prediction(table.digest, column, table)
    st.markdown(plain(tree.sentence()))
    if tree.better_than_guessing:
        st.markdown(
            "\n".join(
                f"- **{percent(rule.share_missing)}** missing where "
                f"{plain(' and '.join(rule.conditions))} "
                f"({percent(rule.share_of_rows)} of the rows)"
                for rule in tree.rules
            )
        )
    sampled = (
        f" It learned from {count(tree.n_rows)} of {count(tree.n_rows_table, 'row')}, drawn at "
        "random; the shares are those of the whole table."
        if tree.n_rows < tree.n_rows_table
        else ""
    )
    st.caption(
        "A decision tree with at most three questions, which sees the values and the holes of all "
        f"other columns.{sampled} That holes can be predicted does not say what causes them."
    )


@fragment
def little(table: OpenTable, patterns: MissingPatterns) -> None:
    st.subheader("Are cells missing completely at random? Little's test", anchor=False)
    with_values = patterns.columns[patterns.n_missing < patterns.n_rows]
    candidates = {*table.schema.names(Role.NUMERICAL)} & {*with_values}
    numerical = [name for name in _most_holes_first(patterns) if name in candidates]
    if len(numerical) < 2:
        st.info(
            "Little's test compares the means of numerical columns, and this table has fewer than "
            "two with values.",
            icon=":material/info:",
        )
        return
    suggested = suggest_little_columns(patterns, numerical)
    chosen = memory.remembered(
        st.multiselect,
        "Numerical columns to test",
        section=SECTION,
        name="little_columns",
        default=[],
        options=numerical,
        wrap=True,
        format_func=lambda name: shorten(name, 40),
        placeholder="All numerical columns"
        if len(suggested) == len(numerical)
        else f"The {len(suggested)} with most holes",
        help="With many columns nearly every row has holes of its own, and there is nothing left "
        "to compare. At most 30 are used.",
    )
    with _reasons():
        if len(chosen) == 1:
            st.info("Choose at least two columns.", icon=":material/info:")
        else:
            _show_little(_little(table.digest, tuple(chosen or suggested), table))
    st.warning(f"**What this test cannot say.** {LITTLE_CAUTION}", icon=":material/warning:")


def _show_little(test: LittleTest) -> None:
    st.markdown(f"**{plain(test.sentence())}**")
    drawn = ", drawn at random" if test.sampled else ""
    notes = [
        f"{count(test.n_rows)} of {count(test.n_rows_table, 'row')}{drawn}, "
        f"{count(len(test.columns), 'column')}, {count(test.n_patterns, 'pattern')}."
    ]
    notes += [f"{code(name)} is left out: {plain(why)}." for name, why in test.left_out.items()]
    if not test.converged:
        notes.append("The estimates had not settled: take the numbers as rough.")
    st.caption(" ".join(notes))


# If rows are dropped


@fragment
def dropping(table: OpenTable, patterns: MissingPatterns) -> None:
    names = list(patterns.columns)
    chosen = memory.remembered(
        st.multiselect,
        "Columns your analysis needs",
        section=SECTION,
        name="needed",
        default=[],
        options=names,
        wrap=True,
        format_func=lambda name: shorten(name, 40),
        placeholder="All columns",
        help="A row is dropped if one of these is missing. None chosen means all columns.",
    )
    needed = tuple(chosen or names)
    kept = count_complete_rows(patterns, needed)
    which = f"{'these' if chosen else 'any of the'} {count(len(needed), 'column')}"
    st.markdown(
        f"If you drop every row with a hole in {which}, **{count(kept)} of "
        f"{count(patterns.n_rows, 'row')}** stay ({percent(kept / patterns.n_rows)})."
    )
    path = _path(table.digest, needed, patterns)
    steps = min(len(path), figures.MOST_STEPS)
    show_figure(
        figures.dropping_figure(path, patterns.n_rows),
        question="Which columns cost most rows?",
        key="missingness-dropping",
        data=path,
        caption=_part(steps, len(path), "steps", "the first")
        + "From top to bottom, the column whose absence saves most rows is left out next.",
    )
    if kept == 0:
        st.info(
            "No row would stay, so no mean can be compared. Leave out the columns at the top of "
            "the figure above.",
            icon=":material/info:",
        )
    elif kept < patterns.n_rows:
        _show_shift(table, needed)


def _show_shift(table: OpenTable, needed: tuple[str, ...]) -> None:
    shift = _shift(table.digest, needed, table)
    if shift["shift"].notna().sum() == 0:
        return
    show_figure(
        figures.shifts_figure(shift),
        question="How far do the columns move if these rows are dropped?",
        key="missingness-shift",
        data=lambda: shift.rename_axis("column").reset_index(),
        caption="Compared with all observed cells. Grey: what dropping as many rows at random does "
        "in 19 of 20 cases. A bar far beyond it is a shift away from "
        "the observed cells, which may be biased themselves: the true values are not known."
        + _left_out(shift, figures.MOST_EFFECTS),
    )


# Pictures


@fragment
def pictures(table: OpenTable, patterns: MissingPatterns) -> None:
    st.markdown(
        "The four views of the Python library **missingno**, drawn by itself, for those who know "
        "them. A picture is drawn when you press its button; that takes a few seconds."
    )
    titles = {
        "matrix": ("Matrix", "where cells are missing"),
        "bar": ("Bar chart", "how much of each column is observed"),
        "heatmap": ("Heatmap", "which columns are missing together"),
        "dendrogram": ("Dendrogram", "columns joined by the likeness of their holes"),
    }
    views = available_views(patterns)
    places = [*st.columns(2), *st.columns(2)]
    for place, (view, (title, what)) in zip(places, titles.items(), strict=True):
        with place, st.container(border=True):
            if view not in views:
                st.markdown(f"**{title}**: cannot be drawn, it needs two columns with holes.")
                continue
            part = f" Shows {views[view]}." if views[view] else ""
            st.markdown(f"**{title}**: {what}.{part}")
            with st.container(horizontal=True):
                for kind in ("png", "svg"):
                    _picture_button(table, view, title, kind)


def _picture_button(table: OpenTable, view: str, title: str, kind: str) -> None:
    st.download_button(
        kind.upper(),
        data=lambda: missingno_picture(table.frame.isna(), view, kind),
        file_name=f"missingno-{view}.{kind}",
        mime="image/png" if kind == "png" else "image/svg+xml",
        on_click="ignore",
        key=f"{SECTION}:{view}:{kind}",
        icon=":material/download:",
        help=f"{title} as {kind.upper()}",
    )


# The page


@contextmanager
def _reasons() -> Iterator[None]:
    """Say why something cannot be computed for this table: nobody made a mistake."""
    try:
        yield
    except TableError as reason:
        st.info(plain(reason), icon=":material/info:")


def _choice(label: str, name: str, options: list[str], *, help: str) -> str:
    return memory.remembered(
        st.segmented_control,
        label,
        section=SECTION,
        name=name,
        default=options[0],
        options=options,
        help=help,
        required=True,
        wrap=True,
    )


def _most_holes_first(patterns: MissingPatterns) -> list[Any]:
    return list(patterns.columns[np.argsort(-patterns.n_missing, kind="stable")])


def _part(shown: int, total: int, noun: str, which: str = "") -> str:
    """Say how many are drawn, if not all."""
    if shown >= total:
        return ""
    return f"{count(shown)} of {count(total)} {noun} shown{', ' + which if which else ''}. "


VIEWS = {
    "How much": how_much,
    "Where": where,
    "Together": together,
    "Patterns": which_patterns,
    "Clues": clues,
    "Dropping rows": dropping,
    "Pictures": pictures,
}


def main() -> None:
    """Draw the chosen view of the open table."""
    st.title("Missingness")
    table = session.open_table()
    patterns = _patterns(table.digest, table.frame)
    summary = _summary(table.digest, patterns)
    if summary.n_missing == 0:
        st.success(
            f"{summary.sentence()} If some values stand for missing ones (such as -999 or ?), "
            "declare them on the Data page. To see what holes would do, make some in the "
            "Amputation lab.",
            icon=":material/check_circle:",
        )
        return
    st.markdown(summary.sentence())
    chosen = _choice(
        "What do you want to know?",
        "view",
        list(VIEWS),
        help="Seven ways to look at the holes of the table.",
    )
    VIEWS[chosen](table, patterns)


main()
