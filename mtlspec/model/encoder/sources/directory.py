"""An encoder in a local directory, each of its files pinned by digest."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from mtlspec.spec.families import Sha256, SourceOptions

if TYPE_CHECKING:
    from mtlspec.model.encoder.request import Request


class Options(SourceOptions):
    type: Literal["directory"]
    path: str = Field(
        description="Folder with config, safetensors and tokenizer, relative to the project; `$NAME/sub` reads an "
        "environment variable."
    )
    sha256: dict[str, Sha256] = Field(
        default_factory=dict, description="Digest of each file; the error for a missing one names what to add."
    )

    def fetch(self, request: Request) -> dict[str, Any]:
        from mtlspec.errors import EncoderError
        from mtlspec.model.encoder.pinned_copy import copy_pinned

        path = os.path.expandvars(self.path)
        if "$" in path:
            raise EncoderError("E328", f"'{self.path}' names an environment variable that is not set")
        found = request.project_root / Path(path)
        return {"files": copy_pinned(found, request.out, self.sha256, all_pinned=True, weights=request.weights)}
