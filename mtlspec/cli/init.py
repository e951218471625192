"""`mtlspec init`: a commented spec to start from and, in an empty folder, a project around it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from mtlspec.errors import SetupError, SpecError

EXAMPLES = ("mtlspec init first", "mkdir study && cd study && mtlspec init first", "mtlspec init first --project")

_STARTER = Path(__file__).parent / "starter"
_CARDS = {"registry/data/english_mini.yaml": "english_mini.yaml", "registry/encoders/tiny.yaml": "tiny.yaml"}
_DOCUMENT, _COMMAND = "See docs/english_mini.md.", "`mtlspec data sample english_mini` shows some."
"""Where the cards point to: a page that only mtlspec's own repository has, and what every project has."""
_AROUND = {
    ".dvc/config": "dvc_config",
    ".dvc/.gitignore": "dvc_gitignore",
    ".dvcignore": "dvcignore",
    ".gitignore": "gitignore",
}
"""What makes a folder a DVC repository, and what git should not see; files that are there already stay."""


def command(
    name: Annotated[str, typer.Argument(help="Name of the experiment: small letters, digits and _.")],
    project: Annotated[
        bool, typer.Option("--project", help="Make this folder a project although it is not empty.")
    ] = False,
) -> None:
    """Write a commented starter spec to specs/NAME.yaml.

    In an empty folder outside of any project this also makes a project: the cards of the embedded corpus and its
    encoder in registry/, and what DVC needs. Nothing is ever overwritten.
    """
    import os

    from mtlspec.cli import console
    from mtlspec.io.write import write_text

    if not _is_name(name):
        hint = "begin with a small letter; then small letters, digits and `_`, at most 40"
        raise SpecError("E191", f"'{name}' is not a name for an experiment", None, hint)
    root, new = _root(project)
    texts = {root / "specs" / f"{name}.yaml": (_STARTER / "spec.yaml").read_text().replace("NAME", name)}
    if new:
        cards = {root / path: (_STARTER / source).read_text() for path, source in _CARDS.items()}
        texts |= {path: text.replace(_DOCUMENT, _COMMAND) for path, text in cards.items()}
        around = {root / path: (_STARTER / source).read_text() for path, source in _AROUND.items()}
        if not (root / ".git").exists():
            config = root / ".dvc" / "config"
            around[config] = around[config].replace("[core]\n", "[core]\n    no_scm = true\n")
        texts |= {path: text for path, text in around.items() if not path.exists()}
    existing = [path for path in texts if path.exists()]
    if existing:
        raise SetupError("E680", "the file exists and is not overwritten", existing[0], "choose another name")
    for path, text in texts.items():
        write_text(path, text)
        console.say(f"wrote {os.path.relpath(path)}")
    if root != Path.cwd():
        console.say(f"the project is {root}: this folder lies in it")
    console.say(f"next: mtlspec check {name}, then mtlspec run {name}")


def rates_of_small_encoders() -> dict[str, Any]:
    """The part of the starter's `train` that goes with its encoder, on whatever data: defaults are those of BERT."""
    from mtlspec.spec.yaml import parse_yaml

    train = parse_yaml((_STARTER / "spec.yaml").read_bytes(), "spec.yaml").plain()["train"]
    return {key: train[key] for key in ("batch", "lr")}


def _is_name(name: str) -> bool:
    import re

    from mtlspec.spec.cards import NAME

    return re.fullmatch(NAME, name) is not None


def _root(forced: bool) -> tuple[Path, bool]:
    """The project to write to, and whether it has to be made."""
    from mtlspec.io.project import Project

    try:
        return Project.find().root, False
    except SetupError:
        here = Path.cwd()
        if not forced and any(not entry.name.startswith(".") for entry in here.iterdir()):
            hint = "go to an empty folder, or add --project to make a project here"
            raise SetupError("E681", "not inside a project, and the folder is not empty", here, hint) from None
        return here, True
