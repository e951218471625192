"""Files of which a part is read: where a benchmark keeps its test labels, one file serves as dev and as test."""

from __future__ import annotations

import hashlib
import json
from abc import abstractmethod
from typing import Annotated, Any, Literal

from pydantic import Field

from mtlspec.data.readers._several import Record, SeveralOptions


class PartedOptions(SeveralOptions):
    """A reader that can cut a file in two; what is about the same text stays together."""

    part: Literal["all", "dev", "test"] = Field(
        default="all", description="Which part of the file is read; `dev` and `test` are the two that it is cut into."
    )
    dev_share: Annotated[float, Field(gt=0, lt=1)] = Field(
        default=0.5,
        description=(
            "About this share of the file is the part `dev`; a hash of passages, premises or texts (of WiC, of the "
            "words) decides."
        ),
    )

    @abstractmethod
    def together(self, found: Record) -> Any:
        """What decides about the part of an object, as JSON; objects with the same belong to the same part."""

    def is_read(self, found: Record) -> bool:
        if self.part == "all":
            return True
        key = json.dumps(self.together(found), sort_keys=True)
        share = int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "big") / 2**64  # even in [0, 1)
        return (share < self.dev_share) == (self.part == "dev")
