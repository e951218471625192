"""`mtlspec schema`: the JSON schema of specs and cards, and the reference page."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

EXAMPLES = (
    "mtlspec schema > spec.schema.json",
    "mtlspec schema --of data > data-card.schema.json",
    "mtlspec schema --docs docs/spec.md",
)


class Subject(StrEnum):
    """What the schema is of."""

    spec = "spec"
    data = "data"
    encoder = "encoder"


def command(
    of: Annotated[Subject, typer.Option(help="A spec, a data card or an encoder card.")] = Subject.spec,
    docs: Annotated[
        Path | None, typer.Option(help="Write the reference of the spec language to this file below the project.")
    ] = None,
) -> None:
    """Print the JSON schema of specs or cards, for editors.

    In VS Code's YAML extension, a first line `# yaml-language-server: $schema=spec.schema.json` turns on completion.
    """
    from mtlspec.cli.console import note, say_json

    if docs is None:
        from mtlspec.spec.schema import json_schema

        say_json(json_schema(of.value))
        return
    from mtlspec.cli.page import write_page
    from mtlspec.io.project import Project
    from mtlspec.spec.document import spec_document

    target = Project.find().inside(docs.absolute())
    changed = write_page(target, spec_document())
    note(f"{docs} {'written' if changed else 'is current'}")
