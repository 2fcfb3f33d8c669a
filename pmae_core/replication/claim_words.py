"""What the verdicts on the claims of the paper stand on, in sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from pmae_core.evaluation.ranking import Interval
from pmae_core.replication.judging import JudgedClaim
from pmae_core.replication.verdicts import Basis, Finding, Verdict
from pmae_core.table import list_datasets
from pmae_core.words import count, listed

COMPARISONS = {
    Verdict.REPRODUCED: "for",
    Verdict.NOT_REPRODUCED: "against",
    Verdict.NOT_DECIDED: "undecided",
    Verdict.NOT_TESTED: "untested",
}
"""What a comparison says about its claim."""

_PRESETS = {
    "paper": "the paper's settings",
    "paper-steps": "the paper's network with shorter training",
    "balanced": "our settings",
    "fast": "our settings with shorter training",
}


def tally(judged: Sequence[JudgedClaim]) -> str:
    """Say how many claims have which verdict."""
    counts = Counter(one.verdict for one in judged)
    parts = [
        f"{count(counts[verdict], 'is', 'are')} {verdict}" for verdict in Verdict if counts[verdict]
    ]
    return f"Of {count(len(judged), 'claim')} in the paper, {listed(parts)}."


def points(value: float) -> str:
    """Return a difference in points with its sign.

    Examples
    --------
    >>> points(0.04), points(-2.25), points(3.0)
    ('0.0', '−2.2', '+3.0')
    """
    text = f"{value:+.1f}"
    return "0.0" if text in ("+0.0", "-0.0") else text.replace("-", "−")


def interval_text(interval: Interval) -> str:
    """Return the mean difference and its interval.

    Examples
    --------
    >>> interval_text(Interval(1.5, -0.5, 3.5))
    '+1.5 points (−0.5 to +3.5)'
    """
    return f"{points(interval.mean)} points ({points(interval.low)} to {points(interval.high)})"


def basis_text(basis: Basis) -> str:
    """Return how many tables, patterns, seeds and rows a figure stands on.

    Examples
    --------
    >>> basis_text(Basis(patterns=("general",), seeds={"wine": 2}, rows={"wine": 1599}))
    '1 table, 1 pattern, 2 seeds, 1,599 rows'
    """
    parts = [count(len(basis.tables), "table"), count(len(basis.patterns), "pattern")]
    if basis.tables:
        parts += [_range(basis.seeds.values(), "seed"), _range(basis.rows.values(), "row")]
    return ", ".join(parts)


def in_short(judged: JudgedClaim) -> str:
    """Return the figures of a verdict in half a line."""
    tested = [finding.basis for finding in judged.findings if finding.interval is not None]
    if not tested:
        return f"needs {_need(judged)}"
    n_tables = _range([len(basis.tables) for basis in tested], "table")
    most_rows = max(n for basis in tested for n in basis.rows.values())
    stands_on = [n_tables, f"up to {count(most_rows, 'row')}"]
    if judged.preset not in (None, "paper"):
        stands_on.append(f"preset {judged.preset}")  # not that of the paper, which made the claim
    return f"{_figures(judged)}; {', '.join(stands_on)}"


def stands_on(judged: JudgedClaim) -> list[str]:
    """Return sentences on what decided a verdict, on what it stands and what is missing."""
    if judged.n_tested == 0:
        complete = max(len(finding.basis.tables) for finding in judged.findings)
        has = count(complete, "table has", "tables have")
        return [f"It needs {_need(judged)}, in every pattern. So far {has} that."]
    sentences = [_decided_by(judged), _sampled(judged)]
    unit = "seeds within tables" if judged.claim.replication.tables else "tables"
    sentences.append(f"The interval reflects the variation between {unit}.")
    if judged.preset is not None:
        sentences.append(f"PMAE: {_PRESETS[judged.preset]} ({judged.preset}).")
    for other in judged.others:
        whose = _PRESETS[str(other.preset)]
        sentences.append(f"With {whose} ({other.preset}): {other.verdict}.")
    return [sentence for sentence in sentences if sentence]


def _need(judged: JudgedClaim) -> str:
    replication = judged.claim.replication
    tables = listed(replication.tables) or count(replication.min_tables, "table")
    return f"{tables} with {count(replication.min_seeds, 'seed')} each"


def _figures(judged: JudgedClaim) -> str:
    """Return the difference of a single comparison, or how many comparisons say what."""
    interval = judged.findings[0].interval
    if len(judged.findings) == 1 and interval is not None:
        return interval_text(interval)
    counts = Counter(one.verdict for one in judged.findings)
    return ", ".join(
        f"{counts[verdict]} {word}" for verdict, word in COMPARISONS.items() if counts[verdict]
    )


def _decided_by(judged: JudgedClaim) -> str:
    """Name the comparison that speaks most clearly against the claim."""
    finding = min(judged.findings, key=_support)
    if finding.interval is None:
        return ""
    found = f"{finding.label}: {interval_text(finding.interval)}, {basis_text(finding.basis)}."
    if len(judged.findings) == 1:
        return found
    is_against = finding.verdict == Verdict.NOT_REPRODUCED
    word = "Most clearly against" if is_against else "Least certain"
    return f"{count(len(judged.findings), 'comparison')}: {_figures(judged)}. {word}: {found}"


def _support(finding: Finding) -> tuple[bool, float]:
    """Order comparisons: those against the claim first, then by how far they are inside."""
    return finding.verdict != Verdict.NOT_REPRODUCED, finding.slack


def _sampled(judged: JudgedClaim) -> str:
    """Say that the tables were smaller than the paper's, if they were."""
    whole = {info.name: info.n_rows for info in list_datasets()}
    used = {name: n for one in judged.findings for name, n in one.basis.rows.items()}
    capped = [n for name, n in used.items() if n < whole.get(name, n)]
    if not capped:
        return ""
    return f"Larger tables were sampled down to {_range(capped, 'row')}; the paper uses all rows."


def _range(values: Iterable[int], noun: str) -> str:
    known = list(values)
    low, high = min(known), max(known)
    return count(low, noun) if low == high else f"{low:,} to {count(high, noun)}"
