"""The settings of the page Impute: method, imputations, seed, what to leave missing, and Start."""

from __future__ import annotations

import streamlit as st

from dashboard import runs
from dashboard.impute.choose import SECTION
from dashboard.impute.completed_tables import trained_models
from dashboard.impute.plan import (
    ImputationPlan,
    Source,
    finding_name,
    sources,
    stays_missing,
    structural_missingness,
)
from dashboard.runs import estimates
from dashboard.runs.staleness import digest_of
from dashboard.shell.header import share_missing
from dashboard.state import memory
from dashboard.state.table_state import OpenTable
from dashboard.text import listing, plain
from dashboard.widgets import choose_seed, errors_as_notices, fragment, shown_errors
from dashboard.widgets.methods import known_methods
from pmae_core.explain import StructuralMissingness
from pmae_core.jobs import JobKind
from pmae_core.words import shorten

# Rules for how many are enough (von Hippel, 2020) ask for more than 100 where much is missing.
MOST_IMPUTATIONS = 200


@fragment
def show_settings(table: OpenTable, *, is_wide: bool) -> None:
    """Ask how to impute the open table, and start it; say so if nothing can be imputed.

    Parameters
    ----------
    table : OpenTable
        The open table.
    is_wide : bool
        Whether there is room for two columns.
    """
    if not share_missing(table.digest, table):
        st.info(
            "This table has no missing values. If some values stand for missing ones (such as "
            "-999 or ?), declare them on the Data page. To try methods, simulate missing values "
            "in the Amputation lab.",
            icon=":material/check_circle:",
        )
        return
    excluded = stays_missing(table.schema)
    _show_stays_missing(excluded)
    if all(c.n_observed == c.n_rows or c.name in excluded for c in table.schema):
        st.info(
            "No missing value of this table can be imputed. Change column roles on the Data page, "
            "or open another table."
        )
        return
    left, right = st.columns([3, 2], gap="large") if is_wide else (st.container(), st.container())
    with left:
        source = _choose_source(table)
    with right:
        n_imputations, seed = _choose_numbers(source)
    left_alone = _choose_left_alone(table)
    _show_start(ImputationPlan(source, n_imputations, seed, left_alone), table)


def _show_stays_missing(excluded: dict[str, str]) -> None:
    if not excluded:
        return
    reasons: dict[str, list[str]] = {}
    for name, reason in excluded.items():
        reasons.setdefault(reason, []).append(name)
    parts = [f"{listing(names)} ({reason})" for reason, names in reasons.items()]
    st.caption(f":material/info: Not imputed: {'; '.join(parts)}.")


def _choose_source(table: OpenTable) -> Source:
    known = sources(trained_models(digest_of(table)))
    chosen = memory.remembered(
        st.selectbox,
        "Method",
        section=SECTION,
        name="source",
        default=next(iter(known)),
        options=list(known),
        format_func=lambda key: known[key].title,
        help="A model that you trained on this table, or any method with its default settings. "
        "Compare shows which method suits this table.",
    )
    source = known[chosen]
    info = known_methods()[source.method]
    limits = f" *{plain(info.limits)}*" if info.limits and source.model is None else ""
    trained = "This model is already trained and only imputes. " if source.model else ""
    st.caption(f"{trained}{plain(info.explanation)} {info.about_imputations}{limits}")
    return source


def _choose_numbers(source: Source) -> tuple[int, int]:
    left, right = st.columns(2)
    with right:
        seed = choose_seed(
            section=SECTION, help="The same seed gives the same imputed values again."
        )
    with left:
        if not source.makes_imputations:
            st.caption("This method gives a single imputation.")
            return 0, seed
        n_imputations = memory.remembered(
            st.number_input,
            "Imputations",
            section=SECTION,
            name="n_imputations",
            default=10,
            min_value=0,
            max_value=MOST_IMPUTATIONS,
            step=1,
            help="Several plausible versions of the table besides the best one. Where they differ "
            "much, little is known; where they agree, the value may still be wrong. Analyze pools "
            "them and says if more are needed. 0 is fastest.",
        )
    return int(n_imputations), seed


def _choose_left_alone(table: OpenTable) -> tuple[StructuralMissingness, ...]:
    found = structural_missingness(table)
    if not found:
        return ()
    st.markdown("**Missing by design?** Select the values that should stay missing.")
    chosen = [
        finding
        for finding in found
        if memory.remembered(
            st.checkbox,
            plain(finding.sentence),
            section=SECTION,
            name=finding_name(finding),
            default=False,
            help="Where another column shows that there is no value, an imputed one is invented. "
            "Only you can tell.",
        )
    ]
    return tuple(chosen)


# Start


def _show_start(plan: ImputationPlan, table: OpenTable) -> None:
    is_trained = plan.source.model is not None
    asking = "Runs the method briefly to estimate the time. Nothing is kept."
    is_started, is_asked = estimates.start_buttons(
        "Start imputation", section=SECTION, asking=None if is_trained else asking
    )
    if is_started:
        errors_as_notices(_start)(plan, table)
        st.rerun()
    if is_trained:
        return
    question = _question(plan)
    if is_asked:
        with shown_errors():
            estimates.start(question)
    estimates.show(question, trying="Running the method briefly")


def _question(plan: ImputationPlan) -> estimates.Question:
    params = {"method": plan.source.method}
    return estimates.Question.make(JobKind.IMPUTE, params, runs.engine().default_resources())


def _start(plan: ImputationPlan, table: OpenTable) -> None:
    known = None if plan.source.model else estimates.answer(_question(plan)).estimate
    started = runs.submit(
        JobKind.IMPUTE,
        plan.params,
        name=plan.name(shorten(table.name, 40)),
        seed=plan.seed,
        estimate=known,
    )
    memory.remember(SECTION, imputation=started.id)
