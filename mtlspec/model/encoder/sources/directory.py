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


def fetch(options: Options, request: Request) -> dict[str, Any]:
    from mtlspec.errors import EncoderError
    from mtlspec.model.encoder.taking import take

    path = os.path.expandvars(options.path)
    if "$" in path:
        raise EncoderError("E328", f"'{options.path}' names an environment variable that is not set")
    return {"files": take(request.project_root / Path(path), request.out, options.sha256, all_pinned=True)}
