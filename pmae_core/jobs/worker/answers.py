"""Answers of a fit that goes on: the imputed table so far, in the job's folder."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pmae_core.errors import DamagedFileError
from pmae_core.events import AnswerImproved, Event
from pmae_core.storage.files import read_sealed, write_sealed
from pmae_core.storage.json_values import without_nan
from pmae_core.words import listed

if TYPE_CHECKING:
    import pandas as pd

ANSWER_FOLDER = "answer"
ANSWER_FILE = "answer.json"
# Imputing a larger table takes too long to do it while the fit waits.
MOST_CELLS = 5_000_000
_MEMBERS = {"gaussian": "Gaussian"}


class AnswerKeeper:
    """Writes the imputed table of each answer of a fit into ``answer/`` of a job's folder.

    The files are those of a result, and ``answer.json`` with the members, the skill and the
    seconds. The fit waits meanwhile.

    Parameters
    ----------
    imputer : BaseImputer
        The imputer that is being fitted.
    frame : DataFrame
        The table. Where it has more than 5 million cells, no answer is written.
    kept_missing : DataFrame of bool, optional
        True for cells that stay missing.
    folder : Path
        The job's folder.
    """

    def __init__(
        self, imputer: Any, frame: pd.DataFrame, kept_missing: pd.DataFrame | None, folder: Path
    ) -> None:
        self.imputer = imputer
        self.frame = frame
        self.kept_missing = kept_missing
        self.folder = folder

    def __call__(self, event: Event) -> None:
        """Write the answer that an event announces; other events are ignored."""
        if isinstance(event, AnswerImproved) and self.frame.size <= MOST_CELLS:
            self._write(event)

    def _write(self, event: AnswerImproved) -> None:
        from pmae_core.jobs.worker.results import replacing_folder, write_imputed

        imputed = self.imputer.transform(self.frame)
        with replacing_folder(self.folder / ANSWER_FOLDER) as out:
            numbers = write_imputed(self.frame, imputed, self.kept_missing, out)
            content = {**without_nan(asdict(event)), **blend_of(self.imputer), **numbers}
            write_sealed(out / ANSWER_FILE, content)


def read_answer(folder: Path) -> dict[str, Any] | None:
    """Return what ``answer.json`` of a job's folder says.

    It is None if the job has no answer, or a damaged one, which the next answer replaces.
    """
    try:
        return read_sealed(folder / ANSWER_FOLDER / ANSWER_FILE)
    except (FileNotFoundError, DamagedFileError):
        return None


def remove_answer(folder: Path) -> None:
    """Remove the answer of a job that has a result."""
    shutil.rmtree(folder / ANSWER_FOLDER, ignore_errors=True)


def blend_of(imputer: Any) -> dict[str, Any]:
    """Return the answers of a blend, and how much each member counts in each column."""
    answers = getattr(imputer, "answers_", None)
    if not answers:
        return {}
    shares = {
        column: {member: round(share, 4) for member, share in of_column.items()}
        for column, of_column in imputer.settings_["shares"].items()
    }
    return {"answers": [without_nan(asdict(one)) for one in answers], "shares": shares}


def answer_words(answer: Mapping[str, Any]) -> str:
    """Return the members of an answer and its skill, where it is known, in words.

    Examples
    --------
    >>> answer_words({"members": ["gaussian", "trees"], "skill": 0.412})
    'Gaussian and trees, skill 0.41 on held-out cells'
    """
    members = listed(_MEMBERS.get(name, name) for name in answer["members"])
    skill = answer["skill"]
    return members if skill is None else f"{members}, skill {skill:.2f} on held-out cells"
