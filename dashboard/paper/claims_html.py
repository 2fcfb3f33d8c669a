"""The claims of the paper as HTML: a line each, which opens to what its verdict stands on."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from pmae_core.replication import JudgedClaim, Verdict
from pmae_core.replication.claim_words import (
    COMPARISONS,
    basis_text,
    in_short,
    interval_text,
    stands_on,
)
from pmae_core.replication.verdicts import Finding

_HEADER = ("Comparison", "Verdict", "Difference (95% interval)", "Stands on")


def claims_html(judged: Sequence[JudgedClaim]) -> str:
    """Return all claims with their verdicts."""
    lines = "".join(_line(one) for one in judged)
    return f'<section class="claims" aria-label="Claims of the paper">{lines}</section>'


def _line(judged: JudgedClaim) -> str:
    return (
        f"<details><summary>{_chip(judged.verdict)}"
        f'<span class="claim">{escape(judged.claim.sentence)}</span>'
        f'<span class="short">{escape(in_short(judged))}</span></summary>'
        f'<div class="details">{_details(judged)}</div></details>'
    )


def _chip(verdict: Verdict) -> str:
    """Return the verdict in words; the style sheet adds a mark for the eye."""
    return f'<span class="verdict {verdict.replace(" ", "-")}">{verdict.capitalize()}</span>'


def _details(judged: JudgedClaim) -> str:
    parts = [f"<p>In the paper: {escape(judged.claim.in_paper)}. {escape(judged.claim.note)}</p>"]
    parts += [f"<p>{escape(' '.join(stands_on(judged)))}</p>"]
    if judged.n_tested and len(judged.findings) > 1:
        parts.append(_table(judged.findings))
    if judged.command:
        rest = "the rest" if judged.n_tested else "it"
        parts.append(f"<p>This command tests {rest}: <code>{escape(judged.command)}</code></p>")
    return "".join(parts)


def _table(findings: Sequence[Finding]) -> str:
    """Return the comparisons, those that decide about the claim first."""
    order = (Verdict.NOT_REPRODUCED, Verdict.NOT_DECIDED, Verdict.REPRODUCED, Verdict.NOT_TESTED)
    rows = [
        (
            finding.label,
            COMPARISONS[finding.verdict].capitalize(),
            "" if finding.interval is None else interval_text(finding.interval),
            "" if finding.interval is None else basis_text(finding.basis),
        )
        for finding in sorted(findings, key=lambda finding: order.index(finding.verdict))
    ]
    header = "".join(f'<th scope="col">{name}</th>' for name in _HEADER)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    # It scrolls, so the keyboard has to reach it.
    return (
        '<div class="scroll" tabindex="0" role="region" aria-label="Comparisons">'
        f"<table><thead><tr>{header}</tr></thead><tbody>{body}</tbody></table></div>"
    )
