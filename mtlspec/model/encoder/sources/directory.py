"""An encoder in a local directory, each of its files pinned by digest."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field

from mtlspec.spec.card_families import SourceOptions
from mtlspec.spec.families import Sha256

if TYPE_CHECKING:
    from mtlspec.model.encoder.request import Request


class Options(SourceOptions):
    all_pinned: ClassVar[bool] = True
    type: Literal["directory"]
    path: str = Field(
        description="Folder with config, safetensors and tokenizer, relative to the project; `$NAME/sub` reads an "
        "environment variable."
    )
    sha256: dict[str, Sha256] = Field(
        default_factory=dict, description="Digest of each file, written by `mtlspec encoder lock`."
    )

    def about(self) -> str:
        return self.path

    def pins(self) -> Mapping[str, str]:
        return self.sha256

    def folder(self, project_root: Path) -> Path:
        from mtlspec.errors import EncoderError

        path = os.path.expandvars(self.path)
        if "$" in path:
            raise EncoderError("E328", f"'{self.path}' names an environment variable that is not set")
        return project_root / Path(path)

    def fetch(self, request: Request) -> dict[str, Any]:
        from mtlspec.model.encoder.pinned_copy import copy_pinned

        found = self.folder(request.project_root)
        return {"files": copy_pinned(found, request, self.sha256, all_pinned=self.all_pinned)}
