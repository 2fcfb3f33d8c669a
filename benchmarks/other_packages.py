"""Impute tables with other packages, each in a process of its own with one thread.

miceforest and gcimpute are installed into environments of their own under build/peers, which needs
a package index; scikit-learn is that of our requirements; R's mice must be installed with R.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.environments import REQUIREMENTS, ROOT, EnvironmentUnavailable, environment
from benchmarks.exchange import categorical_codes, read_plain, write_plain
from pmae_core.errors import TableError
from pmae_core.table import Schema
from pmae_core.table.schema import Role
from pmae_core.threads import THREAD_VARIABLES
from pmae_core.words import duration, listed

HOW_TO_INSTALL_R = (
    "R's mice is left out, since Rscript or one of the packages mice and nnet is not installed. "
    "Install them with apt-get install r-base-core r-cran-mice r-cran-nnet, or the packages with "
    'install.packages(c("mice", "nnet")) in R.'
)


class RunFailed(Exception):
    """A method raised an error, or took too long."""


class RunSkipped(Exception):
    """A method could not even start."""


@dataclass(frozen=True)
class Peer:
    """An imputer of another package.

    Attributes
    ----------
    folder : str
        Where its worker is, in `benchmarks/peers`.
    how : str
        How it is used, in a sentence.
    n_pooled : int
        How many random imputations its answer is pooled from; 0 if it has an answer of its own.
    draws : bool
        Whether it can impute several times at random.
    options : tuple of str
        What its worker is told beside the folder, the seed and the number of imputations.
    """

    folder: str
    how: str
    n_pooled: int = 0
    draws: bool = True
    options: tuple[str, ...] = ()


PEERS = {
    "miceforest-package": Peer(
        "miceforest",
        "5 datasets, 3 iterations, its defaults otherwise; imputed is the mean of the datasets for "
        "numbers and the majority for categories (the first of several)",
        n_pooled=5,
    ),
    "gcimpute": Peer(
        "gcimpute",
        "Gaussian copula with its defaults; categories are ordinal codes in the order of the "
        "table; it chooses the types of numbers itself, but truncated columns are ordinal, because "
        "its type for them raises an error",
    ),
    "sklearn-knn": Peer(
        "scikit_learn",
        "KNNImputer with its defaults, on standardized columns; categories are ordinal codes in "
        "the order of the table, rounded to the nearest",
        draws=False,
        options=("knn",),
    ),
    "sklearn-iterative": Peer(
        "scikit_learn",
        "IterativeImputer with its defaults, on standardized columns; categories are ordinal codes "
        "in the order of the table, rounded to the nearest; random imputations with "
        "sample_posterior=True",
        options=("iterative",),
    ),
    "r-mice": Peer(
        "mice",
        "R's package with its defaults (5 datasets, 5 iterations, predictive mean matching), but "
        "multinomial regression for all categories with more than two levels; pooled as miceforest",
        n_pooled=5,
        options=("5", "pmm"),
    ),
}


def impute_with(
    peer: Peer,
    table: pd.DataFrame,
    schema: Schema,
    seed: int,
    limit: float | None = None,
    n_imputations: int = 0,
) -> tuple[list[pd.DataFrame], dict[str, Any]]:
    """Return what another package imputed, and its cost.

    Parameters
    ----------
    peer : Peer
        The package and how to use it.
    table : DataFrame
        The incomplete table.
    schema : Schema
        Roles of its columns.
    seed : int
        Seed of everything random.
    limit : float, optional
        Seconds after which the run is ended.
    n_imputations : int, default 0
        How many random imputations; 0 for the package's answer, which is one table.

    Raises
    ------
    RunSkipped
        If the package is not there, or cannot take the table.
    RunFailed
        If it raises an error, or takes too long.
    """
    command = worker_command(peer.folder)
    if isinstance(command, str):
        raise RunSkipped(command)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            constant = write_plain(folder, table, schema)
        except TableError as error:
            raise RunSkipped(str(error)) from error
        arguments = [name, str(seed), str(n_imputations or peer.n_pooled)]
        if peer.folder == "mice":
            arguments.append(",".join(categorical_codes(folder)))
        cost = run_worker([*command, *arguments, *peer.options], folder, limit)
        imputed = read_plain(folder, table, schema)
    if constant:
        cost["sentence"] = (
            f"Imputed without the package, because only one value is observed: {listed(constant)}."
        )
    return imputed if n_imputations else [pooled(imputed, schema)], cost


def pooled(imputations: list[pd.DataFrame], schema: Schema) -> pd.DataFrame:
    """Return the mean of numbers, and the majority of categories (the first of several)."""
    first, *more = imputations
    if not more:
        return first
    columns = {}
    for name in first.columns:
        values = pd.concat([one[name] for one in imputations], axis=1)
        is_number = schema.role(name) is Role.NUMERICAL
        columns[name] = values.mean(axis=1) if is_number else values.mode(axis=1)[0]
    return pd.DataFrame(columns)


@cache
def worker_command(folder: str) -> list[str] | str:
    """Return what starts the worker of a folder, or why nothing does; try it only once."""
    if (REQUIREMENTS / folder / "impute.R").exists():
        script = str(REQUIREMENTS / folder / "impute.R")
        return ["Rscript", script] if has_r_mice() else HOW_TO_INSTALL_R
    module = f"benchmarks.peers.{folder}.impute"
    if not (REQUIREMENTS / folder / "requirements.txt").exists():
        return [sys.executable, "-m", module]
    try:
        return [str(environment(folder)), "-m", module]
    except EnvironmentUnavailable as error:
        return str(error)


@cache
def has_r_mice() -> bool:
    """Whether R and its package mice are installed, with nnet for its multinomial regression."""
    if shutil.which("Rscript") is None:
        return False
    command = ["Rscript", "-e", "library(mice); library(nnet)"]
    asked = subprocess.run(command, capture_output=True, check=False)
    return asked.returncode == 0


def run_worker(command: list[str], folder: Path, limit: float | None) -> dict[str, Any]:
    """Impute the table of a folder in a process with one thread; return its cost."""
    # A path meant for our own packages would bring them into the environments of others.
    own = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    try:
        finished = subprocess.run(
            command,
            cwd=ROOT,
            env={**own, **dict.fromkeys(THREAD_VARIABLES, "1")},
            capture_output=True,
            text=True,
            timeout=limit,
        )
    except subprocess.TimeoutExpired as error:
        raise RunFailed(f"The run exceeded the time limit of {duration(error.timeout)}.") from None
    if finished.returncode:
        raise RunFailed(error_sentence(finished))
    cost: dict[str, Any] = json.loads((folder / "cost.json").read_text())
    return cost


def error_sentence(finished: subprocess.CompletedProcess[str]) -> str:
    """Return the first line of the error that ended a process, and of what it printed.

    gcimpute prints what is wrong and then raises an error without a message.
    """
    _, error, rest = finished.stderr.partition("Error in ")
    if error:  # of R, often on several lines, the last of which say where it was
        return " ".join((error + re.split(r"Calls: |Execution halted", rest)[0]).split())
    _, traceback, stack = finished.stderr.rpartition("Traceback (most recent call last):\n")
    lines = [line for line in stack.splitlines() if line and not line.startswith(" ")]
    if not traceback or not lines:
        return f"The process ended with exit code {finished.returncode} and no error message."
    printed = finished.stdout.strip().splitlines()
    return f"{lines[0]} (printed: {printed[0].strip()})" if printed else lines[0]
