"""Documents: strict reading, and refusals in one sentence of our own."""

import subprocess
import sys
from typing import Annotated, Literal

import pytest
from pydantic import Field

from pmae_core.documents import Document, part_of, whole_number
from pmae_core.errors import JobError, SchemaError


class Size(Document):
    error_class = SchemaError
    document_name = "The size object"

    rows: Annotated[int, whole_number(1, 99)] = 1


class Order(Document):
    error_class = JobError
    document_name = "The order"

    color: Literal["red", "blue"]
    size: Annotated[Size, part_of(Size), Field(default_factory=Size)]
    weight: Annotated[float | None, Field(gt=0, description="a positive number")] = None
    tags: Annotated[list[str], Field(default_factory=list, description="a list of texts")]
    express: Annotated[bool, Field(description="true or false")] = False


REFUSED = [
    ({}, "The order needs the field color."),
    ({"color": "green"}, "color must be 'red' or 'blue', not 'green'."),
    ({"colour": "red"}, "The order has no field colour; it has color, size, weight, tags and"),
    ({"color": "red", "size": {"rows": 0}}, "rows must be a whole number from 1 to 99, not 0."),
    ({"color": "red", "size": {"rows": True}}, "rows must be a whole number from 1 to 99, not T"),
    ({"color": "red", "size": {"rows": "1"}}, "rows must be a whole number from 1 to 99, not '1'"),
    ({"color": "red", "size": 3}, "The size object must be an object, not 3."),
    ({"color": "red", "size": {"n": 3}}, "The size object has no field n; it has rows."),
    ({"color": "red", "weight": 0}, "weight must be a positive number or null, not 0."),
    ({"color": "red", "weight": float("nan")}, "weight must be a positive number or null, not nan"),
    ({"color": "red", "tags": ["a", 1]}, "tags must be a list of texts, not ['a', 1]."),
    ({"color": "red", "tags": ["x" * 999, 1]}, "tags must be a list of texts, not ['xxx"),
    ({"color": "red", "express": 1}, "express must be true or false, not 1."),
    # Of two mistakes the unknown name is told, as it explains the other.
    ({"size": {"rows": 0}, 3: 4}, "The order has no field 3; it has"),
    ([1], "The order must be an object, not [1]."),
]


@pytest.mark.parametrize(("data", "sentence"), REFUSED)
def test_what_does_not_fit_is_refused_in_one_sentence(data, sentence):
    with pytest.raises(JobError) as raised:
        Order.read(data)

    assert str(raised.value).startswith(sentence)
    assert len(str(raised.value)) < 300
    assert raised.value.__cause__ is None


def test_the_constructor_refuses_in_the_same_words():
    with pytest.raises(SchemaError, match="rows must be a whole number from 1 to 99, not 0"):
        Size(rows=0)


def test_a_document_comes_back_and_a_change_is_checked():
    order = Order(color="red", size=Size(rows=3), weight=2.5)

    assert Order.read(order.model_dump()) == order
    assert Order.read(order) is order
    assert order.changed(color="blue") == Order(color="blue", size=Size(rows=3), weight=2.5)
    with pytest.raises(JobError, match="color must be"):
        order.changed(color="green")


@pytest.mark.parametrize("module", ["pmae_core", "pmae_core.cli.app"])
def test_the_library_and_the_command_line_start_without_pydantic(module):
    code = f"import sys, {module}; sys.exit('pydantic' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
