"""``pmae claims``: what the results of the experiments say about the claims of the paper."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pmae_core.cli.options import AsJson, with_examples
from pmae_core.cli.terminal import print_json, print_table, print_text

HELP = with_examples(
    "Say which claims of the paper the results of pmae benchmark reproduce.\n\n"
    "With --json, every comparison of every claim is printed, with its interval in points.",
    "pmae claims",
    "pmae claims --results-dir benchmarks/results --json",
)


def claims(
    results_dir: Annotated[
        Path, typer.Option(exists=True, file_okay=False, help="Folder of the results.")
    ] = Path("benchmarks/results"),
    as_json: AsJson = False,
) -> None:
    """Say which claims of the paper the results reproduce."""
    from pmae_core.replication import EXPERIMENTS, ResultFile, claims_table, judge_claims
    from pmae_core.replication.claim_words import in_short, tally

    judged = judge_claims({name: ResultFile(results_dir, name).table() for name in EXPERIMENTS})
    if as_json:
        print_json(claims_table(judged).to_dict(orient="records"))
        return
    rows = [(one.claim.sentence, str(one.verdict), in_short(one)) for one in judged]
    print_table(["Claim", "Verdict", "Stands on"], rows)
    print_text(tally(judged))
