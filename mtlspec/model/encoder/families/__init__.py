"""Families of encoders, one file each.

They are imported by name, not found in the folder: the imports make them part of a stage's code fingerprint.
"""

from __future__ import annotations

from typing import Any

from mtlspec.errors import EncoderError
from mtlspec.model.encoder.families import albert, bert, deberta, deberta_v2, distilbert, gpt, gpt2, modernbert
from mtlspec.model.encoder.families.family import Family

_MODULES = (albert, bert, deberta, deberta_v2, distilbert, gpt, gpt2, modernbert)
FAMILIES: dict[str, Family] = {name: module.FAMILY for module in _MODULES for name in module.FAMILY.model_types}
"""model_type of a transformers config -> family"""


def family_of(config: Any) -> Family:
    """The family of an encoder; an error if its heads cannot be reached, never a seam that does nothing."""
    family = FAMILIES.get(config.model_type)
    if family is None:
        raise EncoderError(
            "E340",
            f"the heads of '{config.model_type}' encoders cannot be reached",
            hint="supported: " + ", ".join(sorted(FAMILIES)),
        )
    reason = family.refuses(config)
    if reason is not None:
        raise EncoderError("E341", f"the heads of this '{config.model_type}' encoder cannot be reached: {reason}")
    return family
