"""Results of a comparison on disk: one small file per task, so that a comparison can be resumed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from pmae_core.errors import ScoringError
from pmae_core.evaluation.tasks import TaskResult
from pmae_core.storage.files import write_whole
from pmae_core.words import listed

SPECIFICATION = "specification.json"


class ResultStore:
    """A folder with the results of one comparison.

    Parameters
    ----------
    folder : path
        Created if it does not exist.
    specification : mapping
        JSON-able: the settings that results must share. A folder with others is refused.
    """

    def __init__(self, folder: str | Path, specification: Mapping[str, Any]) -> None:
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self._check(json.loads(json.dumps(specification)))

    def load(self, method: str, seed: int, params: Mapping[str, Any]) -> TaskResult | None:
        """Return the result of a task, or None if it has none yet.

        Raises
        ------
        ScoringError
            If the method was run with other parameters, or if the file is not a result.
        """
        path = self._path(method, seed)
        if not path.exists():
            return None
        saved = read_json(path)
        if saved.get("params") != json.loads(json.dumps(params)):
            raise ScoringError(
                f"{self.folder} holds results of {method} with other parameters "
                f"({saved.get('params')}). Use another folder, or remove {path.name}."
            )
        return TaskResult.from_dict(saved["result"])

    def save(self, result: TaskResult, params: Mapping[str, Any]) -> None:
        """Write a result, all or nothing."""
        content = {"params": dict(params), "result": result.to_dict()}
        write_json(self._path(result.method, result.seed), content)

    def _path(self, method: str, seed: int) -> Path:
        return self.folder / f"{method}-seed{seed}.json"

    def _check(self, specification: dict[str, Any]) -> None:
        path = self.folder / SPECIFICATION
        if not path.exists():
            write_json(path, specification)
            return
        saved = read_json(path)
        keys = sorted({*saved, *specification})
        changed = [key for key in keys if saved.get(key) != specification.get(key)]
        if changed:
            raise ScoringError(
                f"{self.folder} holds the results of another comparison (different: "
                f"{listed(changed, most=len(changed))}). Use another folder, or remove that one."
            )


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
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ScoringError(f"{path} cannot be read ({error}). Remove it to start again.") from error
    if not isinstance(content, dict):
        raise ScoringError(f"{path} is not a file of a comparison. Remove it to start again.")
    return content


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write a file of results, all or nothing."""
    text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)
    write_whole(path, text + "\n")
