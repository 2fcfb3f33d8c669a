"""The experiments of the paper: its printed figures, and how to measure the same here."""

from pmae_core.replication.experiments import EXPERIMENTS, Experiment, ExperimentPlan, Selection
from pmae_core.replication.results import ResultFile
from pmae_core.replication.run import Runner
from pmae_core.replication.variants import Variant

__all__ = [
    "EXPERIMENTS",
    "Experiment",
    "ExperimentPlan",
    "ResultFile",
    "Runner",
    "Selection",
    "Variant",
]
