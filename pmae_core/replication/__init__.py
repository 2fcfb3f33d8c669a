"""The experiments of the paper: its printed figures, and how to measure the same here."""

from pmae_core.replication.experiments import EXPERIMENTS, Experiment, ExperimentPlan, Selection
from pmae_core.replication.judging import JudgedClaim, claims_table, judge_claims
from pmae_core.replication.results import ResultFile
from pmae_core.replication.run import Runner
from pmae_core.replication.variants import Variant
from pmae_core.replication.verdicts import Verdict

__all__ = [
    "EXPERIMENTS",
    "Experiment",
    "ExperimentPlan",
    "JudgedClaim",
    "ResultFile",
    "Runner",
    "Selection",
    "Variant",
    "Verdict",
    "claims_table",
    "judge_claims",
]
