"""What if missing values differ from the imputed ones: where a conclusion tips."""

from __future__ import annotations

import hashlib

import streamlit as st

from dashboard.figures.imputation import delta_figure
from dashboard.impute import shift
from dashboard.impute.choose import SECTION
from dashboard.impute.completed_tables import CompletedTable, method_of
from dashboard.state import memory
from dashboard.text import plain
from dashboard.widgets import fragment, show_figure, shown_errors
from dashboard.widgets.conclusions import CONCLUSIONS, number_columns
from dashboard.widgets.methods import known_methods
from pmae_core.inference import DeltaCurve, Estimand


@fragment
def show_shift(completed: CompletedTable) -> None:
    """Ask for a conclusion and a shift, and draw the conclusion over all shifts."""
    numbers = number_columns(completed.frame, completed.schema)
    imputed = [name for name in numbers if completed.n_imputed[name]]
    if not imputed:
        st.info("No numerical column has imputed cells, so there is nothing to shift.")
        return
    with st.container(key="settings-beside-shift"):
        settings_place, curve_place = st.columns([1, 2], gap="medium")
    with settings_place:
        conclusion = _choose_conclusion(numbers, imputed)
        column = _choose_shifted([name for name in conclusion[1:] if name in imputed])
        null = _choose_null(completed, conclusion)
        delta = memory.remembered(
            st.slider,
            "Missing values are higher by",
            section=SECTION,
            name="delta",
            default=0.0,
            min_value=shift.SMALLEST,
            max_value=shift.LARGEST,
            step=shift.STEP,
            format="%.1f sd",
            help="In standard deviations of the observed cells; only this column is shifted. "
            "Methods assume 0: that missing values are like observed ones of similar rows. No "
            "data can show whether that is true.",
        )
    with curve_place, shown_errors():
        _show_curve(completed, column, conclusion, null, float(delta))


def _choose_conclusion(numbers: list[str], imputed: list[str]) -> shift.Conclusion:
    kinds = list(CONCLUSIONS) if len(numbers) > 1 else ["mean"]
    kind = memory.remembered(
        st.selectbox,
        "Your conclusion is about",
        section=SECTION,
        name="conclusion",
        default="mean",
        options=kinds,
        format_func=CONCLUSIONS.get,
    )
    first = memory.remembered(
        st.selectbox,
        "of",
        section=SECTION,
        name="of",
        default=imputed[0],
        options=imputed,
        help="The numerical columns with imputed cells.",
    )
    if kind == "mean":
        return kind, first
    others = [name for name in numbers if name != first]
    second = memory.remembered(
        st.selectbox,
        {"correlation": "and", "slope": "on"}[kind],
        section=SECTION,
        name="other",
        default=others[0],
        options=others,
    )
    return kind, first, second


def _choose_shifted(columns: list[str]) -> str:
    if len(columns) == 1:
        return columns[0]
    chosen = memory.remembered(
        st.selectbox,
        "Shift the imputed cells of",
        section=SECTION,
        name="shifted",
        default=columns[0],
        options=columns,
    )
    return str(chosen)


def _choose_null(completed: CompletedTable, conclusion: shift.Conclusion) -> float:
    asked = repr((completed.record.spec.table, conclusion))  # another table has another mean
    key = hashlib.sha256(asked.encode()).hexdigest()[:12]
    null = memory.remembered(
        st.number_input,
        "Compared with",
        section=SECTION,
        name=f"null_{key}",
        default=shift.sensible_null(completed, conclusion),
        format="%g",
        help="The conclusion is whether the 95% interval lies above or below this value, or "
        "includes it. The default is the mean of the observed cells, or 0 for a correlation or a "
        "slope.",
    )
    return float(null)


def _show_curve(
    completed: CompletedTable, column: str, conclusion: shift.Conclusion, null: float, delta: float
) -> None:
    curve = shift.delta_curve(completed, column, conclusion, null)
    words = Estimand.read(conclusion).label
    st.markdown(f":material/balance: **{plain(curve.sentence)}** {_here(curve, delta, words)}")
    show_figure(
        delta_figure(curve, delta, words, column),
        question="How far may imputed values be off before the conclusion changes?",
        key="impute-delta",
        data=curve.table,
        caption=_curve_caption(completed),
    )


def _here(curve: DeltaCurve, delta: float, words: str) -> str:
    """Say what the estimate is at the chosen shift, as Markdown."""
    here = shift.at_delta(curve, delta)
    side = {
        "above": f"above {curve.null:g}",
        "below": f"below {curve.null:g}",
        "open": f"not distinguishable from {curve.null:g}",
    }[here["conclusion"]]
    interval = f"{here['low']:.4g} to {here['high']:.4g}"
    where = "As imputed" if not delta else f"Shifted by {delta:+.1f} standard deviations"
    return f"{where}, the {plain(words)} is **{here['estimate']:.4g}** ({interval}): {side}."


def _curve_caption(completed: CompletedTable) -> str:
    n_pooled = shift.n_pooled_imputations(completed)
    words = [
        "The dashed line is the value you compare with; dotted lines show where the conclusion "
        "changes."
    ]
    if n_pooled:
        info = known_methods().get(method_of(completed.record) or "")
        words.append(f"Estimates are pooled over {n_pooled} imputations by Rubin's rules.")
        if info is None or not info.is_proper:
            words.append("They come from one fitted model, so the interval is too narrow.")
    else:
        words.append(
            "The interval treats imputed values as observed, so it is too narrow: make several "
            "imputations to include the spread between them."
        )
    return " ".join(words)
