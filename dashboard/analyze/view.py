"""What the page Analyze draws: settings at the left, the answer and its figure at the right."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard.analyze import answers, formulas, tables, whatif
from dashboard.analyze.fits import FittedModel, ModelRequest, fit_model, is_pooled
from dashboard.analyze.scales import EffectScale
from dashboard.export.files import stem_of
from dashboard.figures.analyze import MOST_TERMS, forest_figure, shift_figure
from dashboard.impute.choose import choose_run
from dashboard.impute.completed_tables import CompletedTable, load
from dashboard.runs import shown_result
from dashboard.state import memory, session
from dashboard.state.table_state import OpenTable
from dashboard.text import plain
from dashboard.widgets import choose_view, errors_as_notices, fragment, show_figure, shown_errors
from dashboard.widgets.links import page_link
from pmae_core.colors import MISSING
from pmae_core.errors import AnalysisError, ExpressionError
from pmae_core.inference.fitting import FAMILIES, ROBUST_ERRORS, Family
from pmae_core.jobs import JobRecord
from pmae_core.words import count, duration

SECTION = "analyze"
SUGGESTED = "suggested"
FAMILY_NAMES = {"ols": "Linear", "logistic": "Logistic", "poisson": "Poisson", "cox": "Cox"}
COEFFICIENTS, WHAT_IF, CHECKS, COPY = "Coefficients", "What if", "Checks", "Copy"
NO_COLUMN = "None"
FORMULA_HELP = """Outcome ~ terms, as in R. Enter applies it.

- `log(pay) ~ age + sex`: text and booleans are categories
- `a:b` is an interaction, `a * b` is `a + b + a:b`
- `C(code)` makes categories, `I(age ** 2)` is arithmetic
- `Surv(time, status == 2) ~ age` is for a Cox regression
- `` `body mass (g)` ``: backticks around unusual names

Nothing in it is run as code."""


# Which imputations


def show_nothing(*, has_unfinished: bool) -> None:
    """Say that there are no imputations of the open table yet."""
    st.title("Analyze", anchor=False)
    waiting = (
        " A run is in progress; its imputations appear here when it is done."
        if has_unfinished
        else ""
    )
    st.info(
        "There are no imputations of this table yet. Impute it with several imputations (20 are "
        f"a good start), then analyze it here with your own regression.{waiting}",
        icon=":material/healing:",
    )
    page_link("impute.py", "Go to Impute", ":material/healing:")


def _choose_run(runs: Sequence[JobRecord], table: OpenTable) -> JobRecord:
    """Ask which run to analyze, the newest with several imputations at first."""
    several = [run for run in runs if (run.result or {}).get("n_imputations", 0) > 1]
    return choose_run(
        runs,
        table,
        "Imputations",
        section=SECTION,
        name="run",
        first=(several or list(runs))[0],
        help_text="The finished runs of this table, the newest first.",
    )


# The model


@fragment
def show_analysis(runs: Sequence[JobRecord], table: OpenTable) -> None:
    """Draw settings and results of a regression on the imputations of a run.

    Parameters
    ----------
    runs : sequence of JobRecord
        The finished runs of the table, the newest first.
    table : OpenTable
        The open table.
    """
    title_place, formula_place = st.columns([1, 3], gap="medium", vertical_alignment="bottom")
    title_place.title("Analyze", anchor=False)
    with st.container(key="settings-beside"):
        settings_place, answer_place = st.columns([1, 3], gap="medium")
    wide_place = st.container()
    with settings_place:
        run = _choose_run(runs, table)
        boxes_place, coefficient_place = st.container(), st.container()
    with answer_place, shown_result(run, section=SECTION, choice="run"):
        completed = load(run, table)
        usable, first = _columns(completed.key, completed)
        with formula_place:
            text = _choose_formula(completed, usable, first, boxes_place)
        with settings_place:
            request = _choose_model(completed, text, usable)
        fitted = _fitted(completed, request)
        if fitted is None:
            return
        with coefficient_place:
            name = _choose_coefficient(fitted)
        _show_answer(completed, fitted, name)
        _show_views(completed, fitted, name, wide_place)


def _fitted(completed: CompletedTable, request: ModelRequest) -> FittedModel | None:
    """Return the regression; if there is none, say why in place of the answer."""
    if not request.formula.strip():
        st.info("Pick an outcome, or type a formula.")
        return None
    try:
        return fit_model(completed, request)
    except (ExpressionError, AnalysisError) as error:
        st.error(plain(error), icon=":material/error:")
        return None


@st.cache_data(max_entries=8, show_spinner=False)
def _columns(key: tuple[Any, ...], _completed: CompletedTable) -> tuple[list[str], str]:
    """Return the columns that a formula can use, and a formula to begin with."""
    table = _completed.frame, _completed.schema
    return formulas.usable_columns(*table), formulas.first_formula(*table)


@st.cache_data(max_entries=64, show_spinner=False)
def _suggested_family(key: tuple[Any, ...], text: str, _completed: CompletedTable) -> Family:
    return formulas.suggested_family(text, _completed.frame)


def _choose_formula(
    completed: CompletedTable, usable: Sequence[str], first: str, boxes_place: DeltaGenerator
) -> str:
    name = f"formula_{(completed.record.spec.table or '')[:12]}"
    text = memory.remembered(
        st.text_input,
        "Formula",
        section=SECTION,
        name=name,
        default=first,
        help=FORMULA_HELP,
        placeholder="outcome ~ terms",
    )
    with boxes_place:
        _pick_columns(text, usable, name)
    return str(text)


def _choose_model(completed: CompletedTable, text: str, usable: Sequence[str]) -> ModelRequest:
    suggested = _suggested_family(completed.key, text, completed)
    family = memory.remembered(
        st.selectbox,
        "Regression",
        section=SECTION,
        name="family",
        default=SUGGESTED,
        options=[SUGGESTED, *FAMILIES],
        format_func=lambda one: (
            f"{FAMILY_NAMES[suggested]} (suggested)" if one == SUGGESTED else FAMILY_NAMES[one]
        ),
        help="Linear for numbers, logistic for two categories, Poisson for counts, Cox for times "
        "until an event. The suggestion follows the outcome.",
    )
    family = suggested if family == SUGGESTED else family
    errors, weights = _choose_options(completed, usable, family)
    return ModelRequest(text, family, errors, weights)


def _pick_columns(text: str, usable: Sequence[str], formula_name: str) -> None:
    """Draw the boxes, which show the columns of the formula and write into it."""
    shown = formulas.picked(text, usable)
    outcome_key, predictors_key = f"{SECTION}:outcome", f"{SECTION}:predictors"
    st.session_state[outcome_key] = shown.outcome
    st.session_state[predictors_key] = shown.predictors

    def write(new_text: str) -> None:
        memory.remember(SECTION, **{formula_name: new_text})

    st.selectbox(
        "Outcome",
        usable,
        index=None,
        key=outcome_key,
        placeholder="Pick a column",
        on_change=errors_as_notices(
            lambda: write(
                formulas.with_outcome(text, st.session_state[outcome_key])
                if st.session_state[outcome_key]
                else text
            )
        ),
        help="What the model explains. It is written into the formula.",
    )
    st.multiselect(
        "Predictors",
        [name for name in usable if name != shown.outcome],
        key=predictors_key,
        placeholder="Pick columns",
        on_change=errors_as_notices(
            lambda: write(formulas.with_predictors(text, st.session_state[predictors_key], usable))
        ),
        help="They are written into the formula. Type there for interactions and functions.",
    )


def _choose_options(
    completed: CompletedTable, usable: Sequence[str], family: str
) -> tuple[str, str | None]:
    with st.expander("Errors and weights", icon=":material/tune:"):
        numbers = {"nonrobust": "Usual", **{one: f"Robust ({one})" for one in ROBUST_ERRORS}}
        names = [str(name) for name in completed.frame.columns]
        options = ["nonrobust"] if family == "cox" else [*numbers, *names]
        errors = memory.remembered(
            st.selectbox,
            "Standard errors",
            section=SECTION,
            name="errors",
            default="nonrobust",
            options=options,
            format_func=lambda one: numbers.get(one, f"Clustered by {one}"),
            help="Robust ones hold if the variance differs between rows. Choose a column if its "
            "rows belong together. A Cox regression has only the usual ones.",
        )
        weights = memory.remembered(
            st.selectbox,
            "Weights",
            section=SECTION,
            name="weights",
            default=NO_COLUMN,
            options=[NO_COLUMN, *usable],
            help="A column of positive weights. With sampling weights, choose robust errors.",
        )
    return errors, None if weights == NO_COLUMN else weights


def _choose_coefficient(fitted: FittedModel) -> str:
    names = fitted.names or list(fitted.coefficients)
    return str(
        memory.remembered(
            st.selectbox,
            "Your question is about",
            section=SECTION,
            name="coefficient",
            default=names[0],
            options=names,
            help="The coefficient that the answer and **What if** are about.",
        )
    )


# The answer


def _show_answer(completed: CompletedTable, fitted: FittedModel, name: str) -> None:
    st.markdown(answers.answer(fitted, name))
    if not is_pooled(completed):
        st.warning(answers.SINGLE, icon=":material/warning:")
        page_link("impute.py", "Go to Impute", ":material/healing:")


def _show_views(
    completed: CompletedTable, fitted: FittedModel, name: str, wide_place: DeltaGenerator
) -> None:
    views = {
        COEFFICIENTS: lambda: _show_coefficients(fitted, name, wide_place),
        WHAT_IF: lambda: _show_what_if(completed, fitted, name),
        CHECKS: lambda: _show_checks(completed, fitted),
        COPY: lambda: _show_copies(completed, fitted),
    }
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        view = choose_view("What do you want to see?", views, section=SECTION)
        n_warnings = len(answers.warnings(completed, fitted))
        st.caption(f":material/info: {answers.caveat(n_warnings)}", width="content")
    views[view]()


# Coefficients


def _show_coefficients(fitted: FittedModel, name: str, wide_place: DeltaGenerator) -> None:
    if fitted.names:
        _show_forest(fitted, name)
    with wide_place:
        _show_table(fitted)
        if fitted.names:
            _choose_units()


def _choose_units() -> None:
    memory.remembered(
        st.toggle,
        "Figure per standard deviation",
        section=SECTION,
        name="per_spread",
        default=True,
        help="Makes coefficients of numbers with different units comparable. The table always has "
        "them per unit.",
    )


def _show_forest(fitted: FittedModel, name: str) -> None:
    per_spread = bool(session.workspace().get(SECTION).get("per_spread", True))
    data = tables.forest_data(fitted, per_spread=per_spread)
    scale = EffectScale.of(fitted)
    effect = fitted.analysis.effect or "coefficient"
    show_figure(
        forest_figure(
            data,
            null=1.0 if fitted.analysis.effect else 0.0,
            title=f"{effect} per<br>standard deviation" if per_spread else effect,
            chosen=name,
        ),
        question=f"What goes with {scale.subject}?",
        key="analyze-forest",
        data=data,
        caption=_forest_caption(fitted, per_spread),
    )


def _forest_caption(fitted: FittedModel, per_spread: bool) -> str:
    words = ["Lines are 95% intervals; the dashed line is no association."]
    if per_spread:
        words.append("Numbers are per standard deviation, categories against their reference.")
    if len(fitted.names) > MOST_TERMS:
        words.append(
            f"The first {MOST_TERMS} of {len(fitted.names)} are shown; **Coefficients** has all."
        )
    return " ".join(words)


def _show_table(fitted: FittedModel) -> None:
    analysis = fitted.analysis
    st.dataframe(
        tables.coefficient_table(analysis),
        hide_index=True,
        width="stretch",
        key=f"{SECTION}:coefficients",
        alt="The pooled coefficients",
        column_config={
            "Term": st.column_config.TextColumn(pinned=True, width=130),
            tables.interval_heading(analysis): st.column_config.TextColumn(width=140),
            "p": st.column_config.TextColumn(width=60),
            tables.estimate_heading(analysis): st.column_config.NumberColumn(
                format="%.4g", width=80
            ),
            "Missing information": st.column_config.ProgressColumn(
                format="%.1f%%",
                min_value=0,
                max_value=100,
                color=MISSING,
                width=150,
                help="Fraction of the information about the coefficient that is lost to missing "
                "values.",
            ),
        },
    )
    tests = tables.term_table(analysis)
    if len(tests):
        st.markdown("**Terms with several coefficients**, tested together (D1):")
        st.dataframe(
            tests,
            hide_index=True,
            width="content",
            key=f"{SECTION}:terms",
            alt="Tests of terms with several coefficients",
        )


# Checks and copies


def _show_checks(completed: CompletedTable, fitted: FittedModel) -> None:
    for warning in answers.warnings(completed, fitted):
        st.warning(warning, icon=":material/warning:")
    known = [*map(plain, fitted.analysis.sentences), answers.MAR]
    st.markdown("\n".join(f"- {sentence}" for sentence in known))


def _show_copies(completed: CompletedTable, fitted: FittedModel) -> None:
    analysis, ratios = fitted.analysis, fitted.analysis.effect is not None
    forms = {
        "Text": (analysis.to_text(exponentiated=ratios), "txt", "text/plain"),
        "LaTeX": (analysis.to_latex(exponentiated=ratios), "tex", "application/x-tex"),
        "CSV": (tables.csv_text(analysis), "csv", "text/csv"),
    }
    for place, (form, (content, ending, mime)) in zip(
        st.tabs(list(forms)), forms.items(), strict=True
    ):
        with place:
            st.download_button(
                f"Download as .{ending}",
                content,
                file_name=f"{stem_of(completed)}-analysis.{ending}",
                mime=mime,
                on_click="ignore",
                key=f"{SECTION}:copy-{ending}",
                icon=":material/download:",
            )
            st.code(content, language="latex" if form == "LaTeX" else None)


# What if


def _show_what_if(completed: CompletedTable, fitted: FittedModel, name: str) -> None:
    shifts = whatif.column_shifts(completed, fitted.analysis.formula)
    if not shifts:
        st.info("No column of the formula has imputed values, so there is nothing to shift.")
        return
    shifts = shifts[: whatif.MOST_SLIDERS]
    sentence_place = st.container()
    with st.container(key="settings-beside-what-if"):
        left, right = st.columns([1, 2], gap="medium")
    with left:
        varied = _choose_varied(shifts)
        deltas = {shift: _choose_delta(shift) for shift in shifts}
    with right:
        if not _may_start(fitted):
            return
        with st.spinner("Fitting the model to shifted imputations …"):
            others = {shift: delta for shift, delta in deltas.items() if shift != varied}
            found = whatif.shift_curve(completed, fitted, name, varied, others)
        sentence_place.markdown(f":material/balance: {found.curve.sentence}")
        with shown_errors():
            here = whatif.here_sentence(completed, fitted, name, deltas)
            _show_curve(found, fitted, name, varied, deltas[varied], here)


def _choose_varied(shifts: Sequence[whatif.ColumnShift]) -> whatif.ColumnShift:
    by_name = {shift.column: shift for shift in shifts}
    if len(shifts) == 1:
        return shifts[0]
    chosen = memory.remembered(
        st.selectbox,
        "Curve over",
        section=SECTION,
        name="varied",
        default=shifts[0].column,
        options=list(by_name),
        help="The column whose imputed values are shifted along the figure.",
    )
    return by_name[chosen]


def _choose_delta(shift: whatif.ColumnShift) -> float:
    kind = f", odds of {plain(shift.category)}" if shift.kind == "odds" else ""
    known = hashlib.sha256(shift.column.encode()).hexdigest()[:12]
    return float(
        memory.remembered(
            st.select_slider,
            f"Missing {plain(shift.column)}{kind}",
            section=SECTION,
            name=f"shift_{known}",
            default=0.0,
            options=list(whatif.DELTAS),
            format_func=shift.label,
            help="How the missing values differ from the imputed ones. Columns whose logarithm "
            "is in the formula change by a percentage, categories by their odds.",
        )
    )


def _may_start(fitted: FittedModel) -> bool:
    """Ask before a curve that takes long."""
    seconds = len(whatif.DELTAS) * fitted.seconds
    if seconds <= whatif.PATIENCE_SECONDS:
        return True
    st.caption(f"The curve takes about {duration(seconds)} the first time.")
    return bool(
        memory.remembered(
            st.toggle,
            "Compute the curve",
            section=SECTION,
            name="what_if_long",
            default=False,
        )
    )


def _show_curve(
    found: whatif.ShiftCurve,
    fitted: FittedModel,
    name: str,
    varied: whatif.ColumnShift,
    delta: float,
    here: str | None,
) -> None:
    scale = EffectScale.of(fitted)
    effect = {"percent": "change, %", "ratio": fitted.analysis.effect}.get(scale.kind)
    show_figure(
        shift_figure(
            found.curve,
            delta,
            words=f"{name}: {effect or 'coefficient'}",
            column=varied.column,
            labels={delta: varied.label(delta) for delta in whatif.DELTAS},
        ),
        question="When does the conclusion change?",
        key="analyze-shift",
        data=found.curve.table,
        caption=_curve_caption(found, fitted, here),
    )


def _curve_caption(found: whatif.ShiftCurve, fitted: FittedModel, here: str | None) -> str:
    words = [
        *([here] if here else []),
        f"Each of {len(found.curve.table)} shifts is fitted to "
        f"{count(fitted.analysis.n_imputations, 'imputation')}; between them, the curve is "
        "interpolated. Values imputed in other columns stay as they are.",
    ]
    if found.failed:
        words.append(f"Some shifts cannot be fitted: {plain(found.failed)}")
    return " ".join(words)
