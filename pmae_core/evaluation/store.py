"""Results of a comparison on disk: one small file per task, so that a comparison can be resumed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from pmae_core.errors import DamagedFileError, ScoringError
from pmae_core.evaluation.tasks import TaskResult
from pmae_core.events import Callback
from pmae_core.storage.files import read_sealed, report_damage, write_sealed
from pmae_core.words import listed

SPECIFICATION = "specification.json"


class ResultStore:
    """A folder with the results of one comparison.

    A damaged result counts as none: its task runs again.

    Parameters
    ----------
    folder : path
        Created if it does not exist.
    specification : mapping
        JSON-able: the settings that results must share. A folder with others is refused.
    callbacks : sequence of callables
        Each is called with :class:`~pmae_core.events.DamageFound`.
    """

    def __init__(
        self,
        folder: str | Path,
        specification: Mapping[str, Any],
        callbacks: Sequence[Callback] = (),
    ) -> None:
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self._callbacks = callbacks
        self._specification = json.loads(json.dumps(specification))
        # Each result names it, too, so that it stays usable if the folder's file is damaged.
        self._key = _digest(self._specification)
        self._is_folder_known = self._check_specification()

    def load(self, method: str, seed: int, params: Mapping[str, Any]) -> TaskResult | None:
        """Return the result of a task, or None if it has none yet, or a damaged one.

        Raises
        ------
        ScoringError
            If the method was run with other parameters.
        """
        path = self._path(method, seed)
        try:
            saved = read_sealed(path)
        except FileNotFoundError:
            return None
        except DamagedFileError:
            self._run_again(method, seed, "is damaged")
            return None
        # Results of earlier releases name no specification: there the folder decides.
        of_earlier_release = "specification" not in saved and self._is_folder_known
        if saved.get("specification") != self._key and not of_earlier_release:
            self._run_again(method, seed, "may belong to another comparison")
            return None
        if saved.get("params") != json.loads(json.dumps(params)):
            raise ScoringError(
                f"{self.folder} holds results of {method} with other parameters "
                f"({saved.get('params')}). Use another folder, or remove {path.name}."
            )
        return TaskResult.from_dict(saved["result"])

    def save(self, result: TaskResult, params: Mapping[str, Any]) -> None:
        """Write a result, all or nothing."""
        about = {"specification": self._key, "params": dict(params)}
        content = {**about, "result": result.to_dict()}
        write_sealed(self._path(result.method, result.seed), content)

    def _run_again(self, method: str, seed: int, why: str) -> None:
        result = f"The stored result of {method} (seed {seed})"
        report_damage(self._callbacks, f"{result} {why}, so this run is repeated.")

    def _path(self, method: str, seed: int) -> Path:
        return self.folder / f"{method}-seed{seed}.json"

    def _check_specification(self) -> bool:
        """Refuse the folder of another comparison; say whether it is known to be of this one."""
        path, specification = self.folder / SPECIFICATION, self._specification
        try:
            saved = read_sealed(path)
        except (FileNotFoundError, DamagedFileError) as error:
            write_sealed(path, specification)
            return isinstance(error, FileNotFoundError)
        keys = sorted({*saved, *specification})
        changed = [key for key in keys if saved.get(key) != specification.get(key)]
        if changed:
            raise ScoringError(
                f"{self.folder} holds the results of another comparison (different: "
                f"{listed(changed, most=len(changed))}). Use another folder, or remove that one."
            )
        return True


def _digest(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def table_digest(table: pd.DataFrame) -> str:
    """Return a short text that changes with the content of a table."""
    digest = hashlib.sha256()
    for name in table.columns:
        column = table[name]
        digest.update(f"{name!r} {column.dtype}".encode())
        try:
            hashes = pd.util.hash_pandas_object(column)
        except TypeError:
            # Lists and the like have no hash; their text distinguishes them.
            hashes = pd.util.hash_pandas_object(column.map(repr))
        digest.update(hashes.to_numpy().tobytes())
    return digest.hexdigest()[:16]


def read_json(path: Path) -> dict[str, Any]:
    """Return the content of a file of results."""
    try:
        return read_sealed(path)
    except (OSError, DamagedFileError) as error:
        raise ScoringError(f"{path} cannot be read ({error}). Remove it to start again.") from error
