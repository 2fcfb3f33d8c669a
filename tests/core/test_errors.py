import pickle

import pytest

from pmae_core import errors
from pmae_core.errors import JobError, PMAEError, UnreadableFileError

KINDS = [
    kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, PMAEError)
]


def test_error_without_code_has_none():
    error = JobError("There is no such job.")
    assert str(error) == "There is no such job."
    assert error.code is None


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_error_keeps_message_and_code_across_processes(kind):
    error = pickle.loads(pickle.dumps(kind("This file has no rows.", code="empty")))
    assert type(error) is kind
    assert str(error) == "This file has no rows."
    assert error.args == ("This file has no rows.",)
    assert error.code == "empty"


def test_message_is_the_problem_and_the_advice():
    error = UnreadableFileError("The file is a PDF document.", advice="Save the table as .csv.")
    error = pickle.loads(pickle.dumps(error))
    assert str(error) == "The file is a PDF document. Save the table as .csv."
    assert (error.problem, error.advice) == (
        "The file is a PDF document.",
        "Save the table as .csv.",
    )


def test_code_is_given_by_name_only():
    with pytest.raises(TypeError):
        UnreadableFileError("The file cannot be read.", "delimiter")
