"""The JSON schema of specs and cards, for editors that complete and check while one types."""

from __future__ import annotations

from typing import Any, Literal

from mtlspec.spec.cards import DataCard, EncoderCard
from mtlspec.spec.models import ExperimentSpec

Subject = Literal["spec", "data", "encoder"]
_MODELS: dict[Subject, type[ExperimentSpec | DataCard | EncoderCard]] = {
    "spec": ExperimentSpec,
    "data": DataCard,
    "encoder": EncoderCard,
}


def json_schema(subject: Subject = "spec") -> dict[str, Any]:
    """The schema of a file as a user writes it: with `extends` and the short forms."""
    schema = _MODELS[subject].model_json_schema()
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = {"spec": "mtlspec experiment", "data": "mtlspec data card", "encoder": "mtlspec encoder card"}[
        subject
    ]
    if subject == "spec":
        _allow_extends(schema, "A spec whose values this one replaces or completes, relative to this file.")
        for name in ("DataCard", "EncoderCard"):
            _allow_extends(schema["$defs"][name], "The name of a card that this inline card changes.")
    return schema


def _allow_extends(schema: dict[str, Any], description: str) -> None:
    """What a file extends may hold the keys that are required."""
    schema["properties"]["extends"] = {"type": "string", "description": description}
    schema["anyOf"] = [{"required": ["extends"]}, {"required": schema.pop("required")}]
