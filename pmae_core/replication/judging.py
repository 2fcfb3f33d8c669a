"""Judge the claims of the paper by the results of its experiments.

:mod:`~pmae_core.replication.verdicts` has the rule. Claims about PMAE are judged with each preset;
the verdict shown first is that of the preset with the most comparisons tested and, among those, the
closest to the paper: `paper`, `paper-steps`, then ours.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from pmae_core.replication.claims import CLAIMS, PAPER_MECHANISM, Claim, Contrast
from pmae_core.replication.experiments import COUPLING, EXPERIMENTS, MECHANISMS
from pmae_core.replication.printed_figures import PATTERNS
from pmae_core.replication.variants import Variant
from pmae_core.replication.verdicts import Finding, Verdict, find, overall

_NEEDED = ("pattern", "mechanism", "coupling", "method", "variant", "status")
# Runs that agree in these, in pattern and mechanism had the same missing cells.
_BLOCK = ["dataset", "n_rows", "seed"]


@dataclass(frozen=True, kw_only=True)
class JudgedClaim:
    """A claim with what the results say about it.

    Attributes
    ----------
    claim : Claim
        The claim.
    preset : str, optional
        The preset of PMAE that was judged; None if the claim is not about PMAE.
    findings : tuple of Finding
        One per comparison.
    others : tuple of JudgedClaim
        The same claim with the other presets that were tested.
    """

    claim: Claim
    preset: str | None
    findings: tuple[Finding, ...]
    others: tuple[JudgedClaim, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """The verdict on the claim."""
        return overall(finding.verdict for finding in self.findings)

    @property
    def n_tested(self) -> int:
        """The number of comparisons with a verdict."""
        return sum(finding.interval is not None for finding in self.findings)

    @property
    def command(self) -> str:
        """The command that tests what was not tested; empty if nothing is left."""
        return _command(self.claim, self.preset, self.findings)


def judge_claims(results: Mapping[str, pd.DataFrame]) -> list[JudgedClaim]:
    """Judge every claim.

    Parameters
    ----------
    results : mapping of experiment to DataFrame
        The rows of its results, as :meth:`~pmae_core.replication.ResultFile.table` returns them;
        experiments that were not run may be left out.

    Returns
    -------
    list of JudgedClaim
        In the order of :data:`CLAIMS`.
    """
    scores = _Scores(results)
    return [_judge(claim, scores) for claim in CLAIMS]


def claims_table(judged: Sequence[JudgedClaim]) -> pd.DataFrame:
    """Return one row per claim, preset and comparison, for reading elsewhere.

    Parameters
    ----------
    judged : sequence of JudgedClaim
        Claims with their verdicts.
    """
    rows = []
    for first in judged:
        for one in (first, *first.others):
            for finding in one.findings:
                interval, basis = finding.interval, finding.basis
                rows.append(
                    {
                        "claim": one.claim.name,
                        "sentence": one.claim.sentence,
                        "in_paper": one.claim.in_paper,
                        "preset": one.preset,
                        "verdict": str(one.verdict),
                        "comparison": finding.label,
                        "comparison_verdict": str(finding.verdict),
                        "difference_points": None if interval is None else interval.mean,
                        "low_points": None if interval is None else interval.low,
                        "high_points": None if interval is None else interval.high,
                        "n_tables": len(basis.tables),
                        "n_patterns": len(basis.patterns),
                        "seeds_min": min(basis.seeds.values(), default=0),
                        "seeds_max": max(basis.seeds.values(), default=0),
                        "rows_min": min(basis.rows.values(), default=0),
                        "rows_max": max(basis.rows.values(), default=0),
                    }
                )
    return pd.DataFrame(rows)


@dataclass(frozen=True)
class _Scores:
    """Results with the sides of comparisons side by side, kept for the next comparison."""

    results: Mapping[str, pd.DataFrame]
    _tables: dict[tuple[object, ...], pd.DataFrame] = field(default_factory=dict)

    def differences(self, claim: Claim, comparison: Contrast) -> pd.DataFrame:
        """Return the paired differences of a comparison in points, one column per pattern.

        Pairs are within an experiment, whose results were made together; of one that two
        experiments have, the first counts.
        """
        first, second = _side(comparison.first), _side(comparison.second)
        by = "mechanism" if isinstance(comparison.first, str) else "variant"
        found = pd.DataFrame()
        for experiment in claim.experiments:
            table: Any = self._table(experiment, comparison.metric, by, claim.only or {})
            if {first, second} <= set(table.columns.get_level_values(0)):
                difference = 100 * (table[first] - table[second])
                found = difference if found.empty else found.combine_first(difference)
        return found

    def _table(
        self, experiment: str, metric: str, by: str, only: Mapping[str, str]
    ) -> pd.DataFrame:
        key = (experiment, metric, by, *only.items())
        if key not in self._tables:
            rows = self.results.get(experiment, pd.DataFrame())
            self._tables[key] = _side_by_side(rows, metric, by, only)
        return self._tables[key]


def _side(side: Variant | str) -> str:
    return side if isinstance(side, str) else side.label


def _side_by_side(
    rows: pd.DataFrame, metric: str, by: str, only: Mapping[str, str]
) -> pd.DataFrame:
    """Return the scores of finished runs: one row per block, one column per side and pattern."""
    if not {*_BLOCK, *_NEEDED, metric, *only} <= set(rows.columns):
        return pd.DataFrame()
    chosen = (rows["status"] == "done") & (rows["coupling"] == COUPLING)
    for column, value in only.items():
        chosen &= rows[column] == value
    found = rows[chosen]
    found = found.assign(**{metric: pd.to_numeric(found[metric]).astype(float)})
    if by == "mechanism":
        return _by_mechanism(found, metric)
    found = found[found["mechanism"] == PAPER_MECHANISM]
    return found.pivot_table(metric, _BLOCK, ["variant", "pattern"], aggfunc="mean")


def _by_mechanism(rows: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Average over the methods that have every mechanism in a table, pattern and seed."""
    keys = [*_BLOCK, "pattern", "method", "variant"]
    by_variant: Any = rows.pivot_table(metric, keys, "mechanism", aggfunc="mean")
    if not set(MECHANISMS) <= set(by_variant.columns):
        return pd.DataFrame()
    complete = by_variant[list(MECHANISMS)].dropna()
    # A method with several presets counts once.
    by_method: Any = complete.groupby(level=[*_BLOCK, "pattern", "method"]).mean()
    return by_method.groupby(level=[*_BLOCK, "pattern"]).mean().unstack("pattern")


def _judge(claim: Claim, scores: _Scores) -> JudgedClaim:
    """Judge a claim with every preset; the one with the most comparisons tested comes first."""
    if not claim.presets:
        return _judge_with(claim, None, scores)
    judged = [_judge_with(claim, preset, scores) for preset in claim.presets]
    # Of equals, max takes the first: the closest to the paper.
    best = max(judged, key=lambda one: one.n_tested)
    if best.n_tested == 0:
        usual = EXPERIMENTS[claim.experiments[0]].presets[0]
        return next(one for one in judged if one.preset == usual)
    others = tuple(one for one in judged if one is not best and one.n_tested)
    return JudgedClaim(claim=claim, preset=best.preset, findings=best.findings, others=others)


def _judge_with(claim: Claim, preset: str | None, scores: _Scores) -> JudgedClaim:
    comparisons = claim.compare(preset or "")
    findings = tuple(
        find(
            comparison.label,
            scores.differences(claim, comparison),
            region=comparison.region,
            patterns=comparison.patterns,
            replication=claim.replication,
            n_comparisons=len(comparisons),
        )
        for comparison in comparisons
    )
    return JudgedClaim(claim=claim, preset=preset, findings=findings)


def _command(claim: Claim, preset: str | None, findings: Sequence[Finding]) -> str:
    """Return the command that runs both sides of the comparisons that were not tested."""
    untested = [
        comparison
        for comparison, finding in zip(claim.compare(preset or ""), findings, strict=True)
        if finding.interval is None
    ]
    if not untested:
        return ""
    experiment = EXPERIMENTS[claim.experiments[0]]
    words = ["pmae", "benchmark", experiment.name, "--seeds", str(claim.replication.min_seeds)]
    sides = [side for one in untested for side in (one.first, one.second)]
    methods = list(dict.fromkeys(side.imputer for side in sides if isinstance(side, Variant)))
    if methods and set(methods) < set(experiment.methods):
        words += ["--methods", ",".join(methods)]
    patterns = [name for name in PATTERNS if any(name in one.patterns for one in untested)]
    if set(patterns) < set(experiment.patterns):
        words += ["--patterns", ",".join(patterns)]
    if preset is not None and preset not in experiment.presets:
        words += ["--presets", preset]
    if "remasker" in methods and experiment.name != "table4" and preset == "paper":
        words += ["--param", "remasker.preset=paper"]
    return shlex.join(words)
