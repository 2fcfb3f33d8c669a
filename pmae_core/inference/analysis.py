"""A regression of the user's own on several imputations, pooled by Rubin's rules."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from pmae_core.errors import AnalysisError
from pmae_core.events import Callback
from pmae_core.expressions import (
    CategoryFactor,
    ColumnName,
    Formula,
    Term,
    check_names,
    parse_formula,
)
from pmae_core.imputers.run import ProgressMeter
from pmae_core.inference.analysis_model import AnalysisModel
from pmae_core.inference.analysis_sentences import pooling_sentences
from pmae_core.inference.analysis_text import ShownTable, analysis_text, latex_table
from pmae_core.inference.design import NamedTable
from pmae_core.inference.fitting import Family, FloatArray, RegressionFit
from pmae_core.inference.pooling import Pooled, PooledWald, pool_estimates, pool_wald
from pmae_core.table import Schema

EFFECTS = {"logistic": "odds ratio", "poisson": "rate ratio", "cox": "hazard ratio"}
_COLUMNS = (
    *("term", "estimate", "std_error", "statistic", "df", "p_value", "low", "high"),
    *("missing_information", "relative_increase", "monte_carlo_error", "n_rows", "n_imputations"),
)


@dataclass(frozen=True)
class Analysis:
    """A regression on several imputations, as `analyze` returns it.

    Attributes
    ----------
    formula : Formula
        What was fitted.
    family : {"ols", "logistic", "poisson", "cox"}
        The kind of regression.
    confidence : float
        Nominal coverage of the confidence intervals.
    table : DataFrame
        One row per coefficient: ``term``, ``estimate``, ``std_error``, ``statistic``, ``df``
        (Barnard and Rubin), ``p_value``, ``low``, ``high``, ``missing_information`` (fraction of
        missing information), ``relative_increase`` (in variance because values are missing),
        ``monte_carlo_error`` (how much the estimate would vary if the table were imputed again),
        ``n_rows`` and ``n_imputations``.
    terms : DataFrame
        A test per term with several coefficients, such as a category: ``term``, ``statistic``
        (F), ``df1``, ``df2``, ``p_value`` and ``relative_increase``.
    complete_cases : DataFrame or None
        The same as `table` from the complete rows of the original table alone.
    sentences : tuple of str
        What to know when reading the table.
    """

    formula: Formula
    family: Family
    confidence: float
    table: pd.DataFrame
    terms: pd.DataFrame
    complete_cases: pd.DataFrame | None
    sentences: tuple[str, ...]
    _model: AnalysisModel = field(repr=False)
    _fits: tuple[RegressionFit, ...] = field(repr=False)

    @property
    def n_imputations(self) -> int:
        """How many imputations were fitted."""
        return len(self._fits)

    @property
    def n_rows(self) -> int:
        """Rows of each imputation."""
        return self._fits[0].n_rows

    @property
    def effect(self) -> str | None:
        """What an exponentiated coefficient is, e.g. "odds ratio"; None for a linear regression."""
        return EFFECTS.get(self.family)

    def exponentiated(self) -> pd.DataFrame:
        """Return the table with estimates and intervals as odds, rate or hazard ratios.

        The standard error is transformed by the delta method; tests stay as they are.

        Raises
        ------
        AnalysisError
            If the regression is linear, whose coefficients are not logarithms.
        """
        if self.effect is None:
            raise AnalysisError(
                "The coefficients of a linear regression are differences, not logarithms of "
                "ratios, so they cannot be exponentiated."
            )
        return exponentiate(self.table)

    def test_terms(self, terms: Sequence[str]) -> PooledWald:
        """Test whether several terms are zero together (D1, see `pool_wald`).

        Parameters
        ----------
        terms : sequence of str
            Terms of the formula as they are written there, e.g. ``["C(sex)", "age:education"]``.
        """
        texts = [] if isinstance(terms, str) else terms
        wanted = [term for text in texts for term in parse_formula(f"y ~ {text}").terms]
        if not wanted:
            raise AnalysisError("Name at least one term, in a list.")
        parts = {_plain(part.term): part.term for part in self._model.design.parts}
        for term in wanted:
            if _plain(term) not in parts:
                names = [str(part.term) for part in self._model.design.parts if part.term.factors]
                raise AnalysisError(
                    f"The formula has no term {term}.", advice=f"Its terms are {', '.join(names)}."
                )
        return _wald(self._fits, self._model, [parts[_plain(term)] for term in wanted])

    def predict(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Predict the mean outcome of rows, pooled over imputations.

        Parameters
        ----------
        rows : DataFrame
            Rows with the columns of the terms, in which nothing is missing.

        Returns
        -------
        DataFrame
            With the index of `rows`: ``prediction``, ``low`` and ``high``. A linear regression
            predicts the outcome as the formula has it (the logarithm for ``log(y) ~ ...``), a
            logistic one a probability, a Poisson one a rate, and a Cox regression the hazard
            relative to a row with the mean of every column. The intervals are of this mean, not of
            a single outcome; they are pooled on the scale of the coefficients.
        """
        design = self._model.design.matrix(NamedTable(rows, "the rows to predict"))
        if self.family == "cox":
            design = design - np.mean([fit.means for fit in self._fits], axis=0)
        estimates = [design @ fit.estimates for fit in self._fits]
        variances = [np.einsum("ij,jk,ik->i", design, fit.covariance, design) for fit in self._fits]
        of_rows = zip(np.transpose(estimates), np.transpose(variances), strict=True)
        pooled = [_pool(*of_row, self._fits) for of_row in of_rows]
        center = np.array([one.estimate for one in pooled])
        reach = np.array([_reach(one, self.confidence) for one in pooled])
        back = _INVERSE_LINKS[self.family]
        ends = {"prediction": center, "low": center - reach, "high": center + reach}
        return pd.DataFrame({name: back(ends[name]) for name in ends}, index=rows.index)

    def to_text(self, *, exponentiated: bool = False) -> str:
        """Return the results as text for people: tables, tests and sentences.

        Parameters
        ----------
        exponentiated : bool, default False
            Whether to show odds, rate or hazard ratios.
        """
        return analysis_text(self._shown(exponentiated), self.terms, self.sentences)

    def to_latex(self, *, exponentiated: bool = False) -> str:
        r"""Return the table as a LaTeX tabular, which needs ``\usepackage{booktabs}``.

        Parameters
        ----------
        exponentiated : bool, default False
            Whether to show odds, rate or hazard ratios.
        """
        return latex_table(self._shown(exponentiated)[0])

    def to_csv(self, *, exponentiated: bool = False) -> str:
        """Return the table as CSV, with all digits.

        Parameters
        ----------
        exponentiated : bool, default False
            Whether to show odds, rate or hazard ratios.
        """
        return str((self.exponentiated() if exponentiated else self.table).to_csv(index=False))

    def to_dict(self, *, exponentiated: bool = False) -> dict[str, Any]:
        """Return the results as data for JSON.

        Parameters
        ----------
        exponentiated : bool, default False
            Whether to give odds, rate or hazard ratios.
        """
        table = self.exponentiated() if exponentiated else self.table
        complete = self.complete_cases
        if complete is not None and exponentiated:
            complete = exponentiate(complete)
        return {
            "formula": str(self.formula),
            "family": self.family,
            "effect": self.effect if exponentiated else None,
            "confidence": self.confidence,
            "n_imputations": self.n_imputations,
            "n_rows": self.n_rows,
            "coefficients": table.to_dict("records"),
            "terms": self.terms.to_dict("records"),
            "complete_cases": None if complete is None else complete.to_dict("records"),
            "sentences": list(self.sentences),
        }

    def _shown(self, exponentiated: bool) -> list[ShownTable]:
        """Return the tables to show, the pooled one first."""
        heading = self.effect if exponentiated and self.effect else "estimate"
        tables = {str(self.formula): self.exponentiated() if exponentiated else self.table}
        if self.complete_cases is not None:
            complete = self.complete_cases
            tables["Complete cases"] = exponentiate(complete) if exponentiated else complete
        return [
            ShownTable(title, table, heading, self.confidence) for title, table in tables.items()
        ]


_INVERSE_LINKS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "ols": lambda linear: linear,
    "logistic": lambda linear: 1 / (1 + np.exp(-linear)),
    "poisson": np.exp,
    "cox": np.exp,
}


def analyze(
    imputations: pd.DataFrame | Sequence[pd.DataFrame],
    formula: str | Formula,
    family: Family = "ols",
    *,
    weights: str | None = None,
    errors: str = "nonrobust",
    original: pd.DataFrame | None = None,
    confidence: float = 0.95,
    schema: Schema | None = None,
    callbacks: Sequence[Callback] = (),
    cancel: Callable[[], bool] | None = None,
) -> Analysis:
    """Fit a regression to every imputation and pool the coefficients by Rubin's rules.

    Parameters
    ----------
    imputations : sequence of DataFrame, or DataFrame
        Imputations of one table with the same rows. One table alone is fitted as if its imputed
        values had been observed, and a sentence says so.
    formula : str or Formula
        E.g. ``"log(wage) ~ education + age + C(sex)"``; see `pmae_core.expressions.parse_formula`.
        Text and booleans are categories, numbers are numbers. The outcome of a Cox regression is
        ``Surv(time, event)``.
    family : {"ols", "logistic", "poisson", "cox"}
        Linear, logistic, Poisson or Cox regression (the latter with Efron's handling of ties).
    weights : str, optional
        Column of positive weights: precisions in a linear regression, numbers of equal rows in the
        others. With sampling weights, choose robust errors.
    errors : str, default "nonrobust"
        Standard errors: "nonrobust", "HC0" to "HC3", or the name of a column of clusters.
    original : DataFrame, optional
        The table with its missing values: adds the same regression on its complete rows.
    confidence : float, default 0.95
        Nominal coverage of the confidence intervals.
    schema : Schema, optional
        Roles of the columns: numbers with the role categorical are categories too.
    callbacks : sequence of callables
        Each is called with progress, one unit per imputation.
    cancel : callable, optional
        Returns ``True`` to stop.

    Returns
    -------
    Analysis
        Pooled coefficients, tests and predictions.

    Raises
    ------
    ExpressionError
        If the formula cannot be read or names a column that does not exist.
    AnalysisError
        If the model cannot be fitted to an imputation; the sentence says which and why.

    Notes
    -----
    Degrees of freedom are those of Barnard and Rubin (1999), from the rows (Cox: events; clustered
    errors: clusters) less the coefficients. ``mice::pool`` in R gives the same figures.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=50)
    >>> tables = [pd.DataFrame({"x": x, "y": x + rng.normal(size=50)}) for _ in range(5)]
    >>> analyze(tables, "y ~ x").table[["term", "estimate"]].round(2).values.tolist()
    [['Intercept', -0.07], ['x', 0.99]]
    """
    if not 0 < confidence < 1:
        raise AnalysisError(f"confidence must be between 0 and 1, not {confidence}.")
    tables = _named(imputations)
    asked = parse_formula(formula) if isinstance(formula, str) else formula
    every = (
        [*tables, NamedTable(original, "the original table")] if original is not None else tables
    )
    model = AnalysisModel.prepare(
        asked, family, every, weights=weights, errors=errors, schema=schema
    )
    progress = ProgressMeter(len(tables), "imputation", callbacks, cancel or (lambda: False))
    fits = []
    for table in tables:
        progress.check()
        fits.append(model.fit(table))
        progress.advance()
    complete, sentence = _complete_cases(model, original, confidence)
    pooled = coefficient_table(model, fits, confidence)
    return Analysis(
        formula=model.formula,
        family=family,
        confidence=confidence,
        table=pooled,
        terms=_term_tests(model, fits),
        complete_cases=complete,
        sentences=(*pooling_sentences(model, pooled), *sentence),
        _model=model,
        _fits=tuple(fits),
    )


def _named(imputations: pd.DataFrame | Sequence[pd.DataFrame]) -> list[NamedTable]:
    """Return the imputations with what errors call them, after checking that they fit together."""
    tables = [imputations] if isinstance(imputations, pd.DataFrame) else list(imputations)
    if not tables:
        raise AnalysisError("There are no imputations. Give at least one table.")
    for table in tables:
        if not isinstance(table, pd.DataFrame):
            raise AnalysisError(f"An imputation is a DataFrame, not {type(table).__name__}.")
        if len(table) != len(tables[0]):
            raise AnalysisError(
                f"The imputations have different numbers of rows: {len(tables[0]):,} and "
                f"{len(table):,}.",
                advice="Give imputations of one table.",
            )
        texts = pd.Index(map(str, table.columns))
        if texts.has_duplicates:
            twice = texts[texts.duplicated()][0]
            raise AnalysisError(f"Two columns are named {twice}. Rename one of them.")
        check_names(map(str, tables[0].columns), texts)
    if len(tables) == 1:
        return [NamedTable(tables[0], "the table")]
    return [NamedTable(table, f"imputation {i}") for i, table in enumerate(tables, start=1)]


# ---------------------------------------------------------------- tables of results


def coefficient_table(
    model: AnalysisModel, fits: Sequence[RegressionFit], confidence: float
) -> pd.DataFrame:
    """Return the coefficients, pooled if there are several fits."""
    rows = []
    for j, name in enumerate(model.design.names):
        estimates = [fit.estimates[j] for fit in fits]
        pooled = _pool(estimates, [fit.covariance[j, j] for fit in fits], fits)
        error, reach = pooled.std_error, _reach(pooled, confidence)
        statistic = pooled.estimate / error if error > 0 else math.nan
        is_pooled = len(fits) > 1
        rows.append(
            {
                "term": name,
                "estimate": pooled.estimate,
                "std_error": error,
                "statistic": statistic,
                "df": pooled.df,
                "p_value": float(2 * stats.t.sf(abs(statistic), pooled.df)),
                "low": pooled.estimate - reach,
                "high": pooled.estimate + reach,
                "missing_information": pooled.missing_information if is_pooled else math.nan,
                "relative_increase": pooled.relative_increase if is_pooled else math.nan,
                "monte_carlo_error": pooled.monte_carlo_error if is_pooled else math.nan,
                "n_rows": fits[0].n_rows,
                "n_imputations": len(fits),
            }
        )
    return pd.DataFrame(rows, columns=list(_COLUMNS))


def exponentiate(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table of coefficients as ratios."""
    ratios = table.copy()
    ratios[["estimate", "low", "high"]] = np.exp(table[["estimate", "low", "high"]])
    ratios["std_error"] = table["std_error"] * ratios["estimate"]
    ratios["monte_carlo_error"] = table["monte_carlo_error"] * ratios["estimate"]
    return ratios


def _pool(estimates: Any, variances: Any, fits: Sequence[RegressionFit]) -> Pooled:
    if len(fits) == 1:
        (value,), (variance,) = estimates, variances
        return Pooled(float(value), variance, 0.0, float(variance), fits[0].df_alone, 0.0, 1)
    return pool_estimates(estimates, variances, _df_complete(fits))


def _df_complete(fits: Sequence[RegressionFit]) -> float:
    """Return the degrees of freedom of the imputation with the least, should they differ."""
    return max(1, min(fit.df_complete for fit in fits))


def _reach(pooled: Pooled, confidence: float) -> float:
    return pooled.std_error * float(stats.t.ppf((1 + confidence) / 2, pooled.df))


def _term_tests(model: AnalysisModel, fits: Sequence[RegressionFit]) -> pd.DataFrame:
    rows = []
    for part in model.design.parts:
        if len(part.names) > 1:
            test = _wald(fits, model, [part.term])
            rows.append({"term": str(part.term), **asdict(test)})
    columns = ["term", "statistic", "df1", "df2", "p_value", "relative_increase"]
    return pd.DataFrame(rows, columns=columns)


def _wald(fits: Sequence[RegressionFit], model: AnalysisModel, terms: Iterable[Term]) -> PooledWald:
    at = sorted({position for term in terms for position in model.design.positions(term)})
    estimates = np.array([fit.estimates[at] for fit in fits])
    covariances = np.array([fit.covariance[np.ix_(at, at)] for fit in fits])
    if len(fits) > 1:
        return pool_wald(estimates, covariances, _df_complete(fits))
    statistic = float(estimates[0] @ np.linalg.solve(covariances[0], estimates[0])) / len(at)
    df = fits[0].df_alone
    # The survival function of F does not take infinite degrees of freedom.
    p_value = (
        stats.chi2.sf(statistic * len(at), len(at))
        if math.isinf(df)
        else stats.f.sf(statistic, len(at), df)
    )
    return PooledWald(statistic, len(at), df, float(p_value), math.nan)


def _plain(term: Term) -> Term:
    """Return a term with categories as plain columns: ``C(sex)`` is the same term as ``sex``."""
    return Term(
        tuple(
            ColumnName(factor.column) if isinstance(factor, CategoryFactor) else factor
            for factor in term.factors
        )
    )


def _complete_cases(
    model: AnalysisModel, original: pd.DataFrame | None, confidence: float
) -> tuple[pd.DataFrame | None, list[str]]:
    """Return the coefficients from complete rows, and a sentence about them."""
    if original is None:
        return None, []
    table = NamedTable(original, "the original table")
    check_names(model.columns, table.columns)
    needed = original[[table.columns[name] for name in model.columns]]
    complete = NamedTable(original[needed.notna().all(axis=1)], "the complete cases")
    share = f"{len(complete.frame):,} of {len(original):,} rows"
    try:
        found = coefficient_table(model, [model.fit(complete)], confidence)
    except AnalysisError as error:
        return None, [f"The complete cases ({share}) cannot be analyzed: {error}"]
    return found, [
        f"Complete cases are the {share} without a missing value in the columns of the formula."
    ]
