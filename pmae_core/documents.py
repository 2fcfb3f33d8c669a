"""Documents that cross a process or a disk: one declaration to read, check, write and explain.

A document is a pydantic model. The ``description`` of a field completes the sentence "<field> must
be ...", so that one line declares what is allowed and how a refusal reads. Only modules that make
documents import this one: pydantic takes a moment to load.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from pmae_core.errors import PMAEError
from pmae_core.words import listed

_MOST_CHARACTERS = 200


class Document(BaseModel):
    """Base of all documents: strict about types, never changed, refused in one sentence.

    Attributes
    ----------
    error_class : type of PMAEError
        What is raised when the content does not fit.
    document_name : str
        The subject of sentences about the whole document, such as "The job's document".
    field_noun : str
        What a field is called in these sentences.

    Examples
    --------
    >>> class Point(Document):
    ...     x: int = whole_number(0, 9)
    >>> Point(x=10)
    Traceback (most recent call last):
    ...
    pmae_core.errors.PMAEError: x must be a whole number from 0 to 9, not 10.
    """

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", allow_inf_nan=False)

    error_class: ClassVar[type[PMAEError]] = PMAEError
    document_name: ClassVar[str] = "The document"
    field_noun: ClassVar[str] = "field"

    def __init__(self, /, **data: Any) -> None:
        try:
            super().__init__(**data)
        except ValidationError as error:
            raise self.error_class(refusal(error, type(self), data)) from None

    @classmethod
    def read(cls, data: object) -> Self:
        """Return the document that was written as a JSON object.

        Raises
        ------
        PMAEError
            Of the document's own class, if the data do not fit.
        """
        if isinstance(data, cls):
            return data
        if not isinstance(data, Mapping):
            raise cls.error_class(f"{cls.document_name} must be an object, not {_shown(data)}.")
        return cls(**{str(name): value for name, value in data.items()})

    def changed(self, **changes: Any) -> Self:
        """Return a copy with other values, checked like a new document."""
        return type(self)(**{**self.model_dump(by_alias=True), **changes})


class _Refused(ValueError):
    """An error of ours among those that pydantic collects."""


@contextmanager
def collected() -> Iterator[None]:
    """Let pydantic collect an error of ours, so that unknown fields are still named first."""
    try:
        yield
    except PMAEError as error:
        raise _Refused(str(error)) from error


def part_of(document: type[Document]) -> Any:
    """Return the declaration of a document within another one, for ``Annotated``."""

    def read(value: object) -> Document:
        with collected():
            return document.read(value)

    return BeforeValidator(read)


def refusal(error: ValidationError, document: type[Document], data: Mapping[str, Any]) -> str:
    """Say in one sentence why data do not fit a document.

    Parameters
    ----------
    error : ValidationError
        What pydantic found.
    document : type of Document
        What was to be read.
    data : mapping
        What it was to be read from.

    Returns
    -------
    str
        The field, what it must be, and its value. Unknown fields come first: a misspelled name
        is one, and explains why another field is missing.
    """
    found = error.errors(include_url=False)
    unknown = [one["loc"][0] for one in found if one["type"] == "extra_forbidden"]
    noun = document.field_noun
    if unknown:
        known = listed(_names(document), most=len(_names(document)))
        return f"{document.document_name} has no {noun} {listed(unknown)}; it has {known}."
    first = found[0]
    cause = first.get("ctx", {}).get("error")
    if isinstance(cause, PMAEError | _Refused):
        return str(cause)
    if not first["loc"]:  # about the name itself
        return f"{document.document_name} has a {noun} whose name is not text."
    name = str(first["loc"][0])
    if first["type"] == "missing":
        return f"{document.document_name} needs the {noun} {name}."
    return f"{name} must be {_wanted(document, name, first)}, not {_shown(data.get(name))}."


def whole_number(least: int, most: int) -> Any:
    """Return the declaration of a whole number within bounds, for ``Annotated[int, ...]``."""
    return Field(ge=least, le=most, description=f"a whole number from {least} to {most}")


def _names(document: type[Document]) -> list[str]:
    return [field.alias or name for name, field in document.model_fields.items()]


def _wanted(document: type[Document], name: str, error: Mapping[str, Any]) -> str:
    """Return what a field must be, in words."""
    field = next(
        field for key, field in document.model_fields.items() if (field.alias or key) == name
    )
    # Where a field declares no words of its own, it is one of some fixed ones.
    wanted = str(field.description or error.get("ctx", {}).get("expected") or error["msg"])
    if field.default is not None:
        return wanted
    return f"{wanted if field.description else wanted.replace(' or ', ', ')} or null"


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}…"
