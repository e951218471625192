"""The JSON schema and the reference page follow the models."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from mtlspec import kinds
from mtlspec.spec import shapes
from mtlspec.spec.cards import DataCard, EncoderCard
from mtlspec.spec.document import spec_document
from mtlspec.spec.families import FAMILIES, SAMPLERS
from mtlspec.spec.models import ExperimentSpec
from mtlspec.spec.schema import json_schema

ROOT = Path(__file__).parents[3]


def test_the_reference_page_is_current() -> None:
    page = (ROOT / "docs/spec.md").read_text()
    assert page == spec_document(), "run `mtlspec schema --docs docs/spec.md`"


def all_models() -> Iterator[type[BaseModel]]:
    """Every model that a spec or a card can hold."""
    waiting: list[type[BaseModel]] = [ExperimentSpec, DataCard, EncoderCard]
    waiting += [kinds.options_class(family, name) for family in FAMILIES for name in kinds.names(family)]
    seen = set()
    while waiting:
        model = waiting.pop()
        if model not in seen:
            seen.add(model)
            yield model
            waiting += [shape.cls for field in model.model_fields.values() for shape in records(shapes.of_field(field))]


def records(shape: shapes.Shape) -> Iterator[shapes.Record]:
    match shape:
        case shapes.Record():
            yield shape
        case shapes.Mapping(value=inner) | shapes.Items(item=inner):
            yield from records(inner)
        case shapes.Either(options):
            for option in options:
                yield from records(option)


MODELS = list(all_models())


@pytest.mark.parametrize("model", MODELS, ids=lambda model: f"{model.__module__}.{model.__name__}")
def test_every_key_says_what_it_means(model: type[BaseModel]) -> None:
    silent = [name for name, field in model.model_fields.items() if name != "type" and not field.description]
    assert silent == []


@pytest.mark.parametrize("model", MODELS, ids=lambda model: f"{model.__module__}.{model.__name__}")
def test_every_key_has_a_shape(model: type[BaseModel]) -> None:
    """A field that shapes cannot read would be documented and explained as `any value`."""
    vague = [name for name, field in model.model_fields.items() if shapes.of_field(field) == shapes.Anything()]
    assert vague == []


def test_the_schema_knows_short_forms_and_extends() -> None:
    schema = json_schema()
    sampler = schema["$defs"]["TrainOptions"]["properties"]["sampler"]
    assert sampler["anyOf"][0] == {"enum": list(kinds.names(SAMPLERS))}
    assert len(sampler["anyOf"][1]["oneOf"]) == len(kinds.names(SAMPLERS))
    assert schema["properties"]["extends"]["type"] == "string"
    assert {"required": ["extends"]} in schema["anyOf"]
    assert schema["additionalProperties"] is False


def test_a_kind_that_needs_options_has_no_short_form() -> None:
    balance = json_schema()["$defs"]["TrainOptions"]["properties"]["balance"]
    assert "static" not in balance["anyOf"][0]["enum"]
    assert "none" in balance["anyOf"][0]["enum"]


@pytest.mark.parametrize("subject", ["spec", "data", "encoder"])
def test_every_reference_of_the_schema_leads_somewhere(subject: Any) -> None:
    schema = json_schema(subject)
    text = json.dumps(schema)
    targets = {part.split('"')[0] for part in text.split('"$ref": "#/$defs/')[1:]}
    assert targets <= schema["$defs"].keys()
    assert schema == json_schema(subject)
