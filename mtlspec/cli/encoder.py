"""`mtlspec encoder`: encoder cards, and whether what they name is on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from mtlspec.cli.options import Json
from mtlspec.errors import EncoderError, Place

if TYPE_CHECKING:
    from mtlspec.io.project import Project
    from mtlspec.model.encoder.pinned_files import NeededFiles
    from mtlspec.spec.cards import EncoderCard

app = typer.Typer(help="Encoder cards: list, show, lock.", no_args_is_help=True)
EXAMPLES = ("mtlspec encoder list", "mtlspec encoder show minilm", "mtlspec encoder lock minilm")
Card = Annotated[str, typer.Argument(help="Name of a card in registry/encoders.")]


@app.command("list")
def list_(json_: Json = False) -> None:
    """All encoder cards of the project, and whether their files are on this machine."""
    from mtlspec.cli import console
    from mtlspec.io.project import Project
    from mtlspec.spec.load import load_encoder_card

    project = Project.find()
    names = sorted(path.stem for path in project.encoder_cards.glob("*.yaml"))
    rows = [_summary(load_encoder_card(name, project), project) for name in names]
    if json_:
        console.say_json(rows)
    elif rows:
        keys = ("name", "source", "from", "locked", "here")
        console.say_table(keys, [[row[key] for key in keys] for row in rows])
    else:
        console.say("the project has no encoder cards yet; they lie in registry/encoders")


@app.command()
def show(card: Card, json_: Json = False) -> None:
    """One card: where the encoder comes from, its files, and whether they are those it recorded."""
    from mtlspec.cli import console
    from mtlspec.io.project import Project
    from mtlspec.spec.load import load_encoder_card

    project = Project.find()
    loaded = load_encoder_card(card, project)
    try:
        files = _files(loaded, project)
    except EncoderError:  # `here` says what is missing
        files = None
    digests, pins = files.digests() if files is not None else {}, loaded.source.pins()
    states = {name: _state(pins.get(name), digests.get(name)) for name in sorted({*digests, *pins})}
    if json_:
        console.say_json({"card": loaded.model_dump(mode="json"), "files": states, **_summary(loaded, project)})
        return
    for key, value in _summary(loaded, project).items():
        console.say(f"{key:<8} {value}")
    if states:
        rows = [(name, (digests.get(name) or pins[name])[:16], state) for name, state in states.items()]
        console.say_table(("file", "sha256", "state"), rows)


@app.command()
def lock(card: Card) -> None:
    """Record the digests of an encoder's files as they are now; only the card's sha256 block is written."""
    from mtlspec.cli import console
    from mtlspec.io.project import Project
    from mtlspec.io.write import write_text_if_changed
    from mtlspec.spec.edit import with_mapping
    from mtlspec.spec.load import load_encoder_card

    project = Project.find()
    loaded = load_encoder_card(card, project)
    source, file = loaded.source, project.encoder_cards / f"{card}.yaml"
    place = Place(project.relative(file))
    if source.learns_from_data:
        message = f"the encoder '{card}' is learnt here, from data with digests of their own: there is nothing to lock"
        raise EncoderError("E387", message, place)
    files = _files(loaded, project)
    if files is None:
        hint = f"`mtlspec doctor --encoder {card}` fetches and examines them"
        raise EncoderError("E388", f"the files of '{card}' are not on this machine yet", place, hint)
    if not files.names:
        raise EncoderError("E389", f"there is no file of an encoder for '{card}'", files.folder)
    digests, pins = files.digests(), source.pins()
    written = write_text_if_changed(file, with_mapping(file.read_text("utf-8"), ("source", "sha256"), digests))
    for name, digest in digests.items():
        if pins.get(name) != digest:
            console.say(f"{name}: {pins.get(name, 'new')} -> {digest}")
    for name in sorted(pins.keys() - digests.keys()):
        console.say(f"{name}: {pins[name]} -> not there")
    console.say(f"{project.relative(file)}: {'written' if written else 'already up to date'}")


def _files(card: EncoderCard, project: Project) -> NeededFiles | None:
    """What would be taken; None if it is made, or not on this machine."""
    from mtlspec.model.encoder.pinned_files import needed_files

    folder = card.source.folder(project.root)
    return None if folder is None else needed_files(folder)


def _summary(card: EncoderCard, project: Project) -> dict[str, Any]:
    locked = "yes" if (pins := card.source.pins()) else "no"
    if card.source.learns_from_data:
        locked, here = "by its data", "made by a run"
    else:
        try:
            files = _files(card, project)
            here = "no: fetched by a run" if files is None else "yes"
        except EncoderError as error:
            files, here = None, f"no: {error.message}" + (f"; {error.hint}" if error.hint else "")
        if files is not None and pins and not pins.keys() >= set(files.names):
            locked = f"{len(pins.keys() & set(files.names))} of {len(files.names)}"
    if not pins and card.source.type == "hub":
        locked = "by its commit"
    return {
        "name": card.name,
        "title": card.title,
        "licence": card.licence,
        "source": card.source.type,
        "from": card.source.about(),
        "locked": locked,
        "here": here,
    }


def _state(recorded: str | None, found: str | None) -> str:
    if found is None:
        return "not here"
    if recorded is None:
        return "not locked"
    return "as recorded" if recorded == found else f"changed; recorded {recorded[:16]}"
