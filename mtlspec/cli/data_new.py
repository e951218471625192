"""`mtlspec data new`: a card guessed from a file, with all that was guessed."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from mtlspec.data.guess.card import GuessedCard
    from mtlspec.io.project import Project

_VARIABLE = re.compile(r"^root:\s*[\"']?\$\{?(\w+)", re.MULTILINE)


def new(
    file: Annotated[Path, typer.Argument(help="A file of the corpus, best its training file.")],
    name: Annotated[str | None, typer.Option(help="Name of the card. Default: made from the file's name.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a card of that name without asking.")] = False,
    dry: Annotated[bool, typer.Option("--dry-run", help="Show the card and write nothing.")] = False,
) -> None:
    """Guess a card from a file: its format, its columns and labels, and the splits beside it.

    The card is written to registry/data with the digests of its files. What was guessed, how sure that is and what to
    look at is shown; so are the next commands.
    """
    from mtlspec.cli import console
    from mtlspec.data.guess.card import corpus_folder, guess_card, guess_reading
    from mtlspec.data.guess.text import card_text
    from mtlspec.data.pins import locked, pinned_text
    from mtlspec.io.project import Project
    from mtlspec.io.write import write_text
    from mtlspec.spec.yaml import parse_yaml

    project = Project.find()
    path = file.absolute()
    if not path.is_file():
        guess_reading(path, "")  # says what is wrong with it
    chosen = _name(name, path)
    target = project.data_cards / f"{chosen}.yaml"
    if not dry:
        _ask(target, overwrite, project)
    folder = corpus_folder(path)
    root, remark = _root(folder, project)
    found = guess_card(path, chosen, root, folder)
    text = pinned_text(card_text(found.values), locked(found.card, folder))
    parse_yaml(text.encode(), project.relative(target))  # a name of a file or a column may be none that a card can hold
    _show(found, file, remark)
    if dry:
        console.say("\n" + text.rstrip())
        return
    write_text(target, text)
    console.say(f"wrote {os.path.relpath(target)}, with the digests of its files")
    _show_next(found, project)


def _name(given: str | None, path: Path) -> str:
    from mtlspec.data.guess.splits import bare_name
    from mtlspec.errors import SpecError
    from mtlspec.spec.cards import NAME

    said = given if given is not None else (bare_name(path) or bare_name(path.parent) or path.parent.name.lower())
    if given is None:
        said = re.sub(r"[^a-z0-9]+", "_", said).strip("_")[:40]
        said = said if said[:1].isalpha() else f"corpus_{said}"[:40].rstrip("_")
    if re.fullmatch(NAME, said) is None:
        hint = "begin with a small letter; then small letters, digits and `_`, at most 40"
        raise SpecError("E830", f"'{said}' is not a name for a card", None, hint)
    return said


def _ask(target: Path, overwrite: bool, project: Project) -> None:
    """A card is never replaced in silence."""
    from mtlspec.errors import SpecError

    if overwrite or not target.exists():
        return
    if sys.stdin.isatty() and typer.confirm(f"{project.relative(target)} exists. Replace it?"):
        return
    hint = "choose another one with --name, or replace it with --overwrite"
    raise SpecError("E831", "there is a card of this name already", target, hint)


def _root(folder: Path, project: Project) -> tuple[str, str | None]:
    """How the card names the folder, and what to say about it."""
    for inside in (folder, folder.resolve()):
        if inside.is_relative_to(project.root):
            return inside.relative_to(project.root).as_posix() or ".", None
    for card in sorted(project.data_cards.glob("*.yaml")):
        for variable in _VARIABLE.findall(card.read_text("utf-8", errors="replace")):
            home = os.environ.get(variable)
            if home and folder.resolve().is_relative_to(Path(home).resolve()):
                below = folder.resolve().relative_to(Path(home).resolve()).as_posix()
                return f"${variable}/{below}".removesuffix("/."), None
    remark = (
        "root: the files lie outside of the project, where others do not have them; `$CORPORA/...` reads a variable"
    )
    return str(folder), remark


def _show(found: GuessedCard, path: Path, remark: str | None) -> None:
    from mtlspec.cli import console
    from mtlspec.data.guess.text import task_types
    from mtlspec.report.wording import noun

    console.say(f"{path}: {found.reading.what} ({found.sure})", style="bold")
    width = max(10, *map(len, found.reading.seen), 0)
    for what, where in found.reading.seen.items():
        classes = found.classes.get(what)
        listed = f": {', '.join(classes)}" if classes else ""
        console.say_field(f"  {what:<{width}} ", f"{where}{listed}")
    for split, size in found.sizes.items():
        named = found.values["files"][0]["paths"].get(split, "held out of train")
        listed = named if isinstance(named, str) else ", ".join(named)
        console.say_field(f"  {split:<{width}} ", f"{listed}: {size:,} {noun(size, 'sentence')}")
    tasks = ", ".join(f"{layer} ({task})" for layer, task in task_types(found).items())
    console.say_field(f"  {'tasks':<{width}} ", tasks)
    told = "language, licence and source are not known: write them into the card"
    for note in (*found.notes, *([remark] if remark else []), told):
        console.say_field(f"  {'check':<{width}} ", note)


def _show_next(found: GuessedCard, project: Project) -> None:
    from mtlspec.cli import console
    from mtlspec.data.guess.text import spec_text

    encoders = sorted(path.stem for path in project.encoder_cards.glob("*.yaml"))
    encoder = next((name for name in ("minilm", "tiny", *encoders) if name in encoders), "tiny")
    console.say(f"\nnext\n  mtlspec data sample {found.card.name}\n  mtlspec data stats {found.card.name}")
    console.say(f"  mtlspec run {found.card.name}, once specs/{found.card.name}.yaml holds, for instance:\n")
    console.say(
        "\n".join(f"    {line}" for line in spec_text(found, encoder, _training(encoder, project)).splitlines())
    )


def _training(encoder: str, project: Project) -> dict[str, Any]:
    """What a spec with this encoder should say about training: an encoder made on the spot is a small one."""
    from mtlspec.cli.init import rates_of_small_encoders
    from mtlspec.errors import MtlspecError
    from mtlspec.spec.load import load_encoder_card

    try:
        small = load_encoder_card(encoder, project).source.type == "pretrain"
    except MtlspecError:
        return {}  # there is no such card, or a wrong one: `mtlspec check` tells
    return rates_of_small_encoders() if small else {}
