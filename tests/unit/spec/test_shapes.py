"""Shapes: what the models allow, in words and as a test of raw values."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from pydantic import Field, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from mtlspec.kinds import OneOf, Sequence_
from mtlspec.spec import shapes
from mtlspec.spec.families import SAMPLERS, SamplerOptions
from mtlspec.spec.models import BatchLimits

VALUES: list[Any] = [None, True, 0, 3, 0.5, "x", "power", [], ["x"], [1], {}, {"x": 1}, {"type": "power"}]

TYPES: list[tuple[Any, str]] = [
    (int, "a whole number"),
    (Annotated[int, Field(ge=1)], "a whole number of at least 1"),
    (Annotated[float, Field(gt=0, lt=1)], "a number above 0 and below 1"),
    (Annotated[float, Field(ge=0, le=1)], "a number from 0 to 1"),
    (str, "a text"),
    (bool, "true or false"),
    (float | None, "a number or null"),
    (Literal["x", "y"], "'x' or 'y'"),
    (Literal["auto"] | float, "'auto' or a number"),
    (Sequence_[str], "a list"),
    (dict[str, int], "a mapping"),
    (BatchLimits, "a mapping"),
    (Annotated[SamplerOptions, OneOf(SAMPLERS)], "the name of a kind, or a mapping with `type`"),
]


@pytest.mark.parametrize(("annotation", "words"), TYPES, ids=[words for _, words in TYPES])
def test_a_shape_says_what_it_is(annotation: Any, words: str) -> None:
    assert shapes.of_field(FieldInfo.from_annotation(annotation)).words() == words


@pytest.mark.parametrize("annotation", [annotation for annotation, _ in TYPES], ids=[words for _, words in TYPES])
def test_what_validates_is_of_the_right_sort(annotation: Any) -> None:
    """`accepts` may be laxer than validation, never stricter; and it tells the sorts of scalars apart."""
    shape = shapes.of_field(FieldInfo.from_annotation(annotation))
    adapter: TypeAdapter[Any] = TypeAdapter(annotation)
    for value in VALUES:
        try:
            adapter.validate_python(value, strict=True)
        except ValidationError:
            continue
        assert shapes.accepts(shape, value), value


@pytest.mark.parametrize(
    ("annotation", "value"), [(str, 3), (int, 0.5), (int, True), (float, "x"), (bool, 1), (str, None)]
)
def test_scalars_of_another_sort_are_not_accepted(annotation: Any, value: Any) -> None:
    assert not shapes.accepts(shapes.of_field(FieldInfo.from_annotation(annotation)), value)
