"""`mtlspec data`: data cards and what they hold."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mtlspec.cli.data_new import new
from mtlspec.cli.options import Json

if TYPE_CHECKING:
    from mtlspec.io.project import Project
    from mtlspec.spec.cards import DataCard

app = typer.Typer(
    help="Data cards: guess one, list, show, lock, count, look at sentences, write a page.", no_args_is_help=True
)
EXAMPLES = (
    "mtlspec data new corpora/reviews/train.tsv",
    "mtlspec data list",
    "mtlspec data stats {data}",
    "mtlspec data stats {data} --layer {layer}",
    "mtlspec data sample {data} --split dev -n 2",
    "mtlspec data lock {data}",
    "mtlspec data page {data} docs/{data}.md",
)
_LEGIBLE = 14  # columns that a licence or a title needs
_UNWRITTEN = ": write it here"  # in cards that were guessed
Card = Annotated[str, typer.Argument(help="Name of a card in registry/data.")]


app.command()(new)


@app.command("list")
def list_(json_: Json = False) -> None:
    """All data cards of the project."""
    from mtlspec.cli import console
    from mtlspec.io.project import Project

    project = Project.find()
    cards = [_card(path.stem, project) for path in sorted(project.data_cards.glob("*.yaml"))]
    rows = [_summary(card) for card in cards]
    if json_:
        console.say_json(rows)
    elif rows:
        console.say_table(*_listed(rows))
    else:
        console.say("the project has no data cards yet; they lie in registry/data")


@app.command()
def show(card: Card, json_: Json = False) -> None:
    """One card: its files, its layers, and whether the files are those it recorded."""
    from mtlspec.cli import console
    from mtlspec.data.card_folder import card_folder
    from mtlspec.data.pins import locked
    from mtlspec.io.project import Project

    project = Project.find()
    loaded = _card(card, project)
    with card_folder(loaded, project) as root:
        found = locked(loaded, root)
    states = {path: _state(loaded.sha256.get(path), digest) for path, digest in found.items()}
    if json_:
        console.say_json({"card": loaded.model_dump(mode="json"), "files": states})
        return
    for key, value in _summary(loaded).items():
        console.say(f"{key:<9} {_text(value)}")
    console.say_table(("file", "sha256", "state"), [(path, found[path][:16], states[path]) for path in found])


@app.command()
def lock(card: Card) -> None:
    """Record the digests of a card's files as they are now; only the card's sha256 block is written."""
    from mtlspec.cli import console
    from mtlspec.data.card_folder import card_folder
    from mtlspec.data.pins import lock_card, locked
    from mtlspec.io.project import Project

    project = Project.find()
    loaded = _card(card, project)
    with card_folder(loaded, project) as root:
        found = locked(loaded, root)
    changed = [path for path, digest in found.items() if loaded.sha256.get(path) != digest]
    file = project.data_cards / f"{card}.yaml"
    written = lock_card(file, found)
    for path in changed:
        console.say(f"{path}: {loaded.sha256.get(path, 'new')} -> {found[path]}")
    console.say(f"{project.relative(file)}: {'written' if written else 'already up to date'}")


@app.command()
def stats(
    card: Card,
    layer: Annotated[str | None, typer.Option(help="All labels of this layer, and nothing else.")] = None,
    encoder: Annotated[str | None, typer.Option(help="Card of an encoder, to count its sub-tokens.")] = None,
    json_: Json = False,
) -> None:
    """Sizes, lengths, labels and overlaps of the splits, and what was left out."""
    from mtlspec.cli import console, corpus
    from mtlspec.data.card_folder import card_folder
    from mtlspec.data.corpus import read_split
    from mtlspec.data.statistics import Statistics
    from mtlspec.errors import DataError, did_you_mean
    from mtlspec.io.project import Project

    project = Project.find()
    loaded = _card(card, project)
    if layer is not None and layer not in loaded.layer_kinds:
        hint = did_you_mean(layer, loaded.layer_kinds)
        raise DataError("E290", f"the data card '{card}' has no layer '{layer}'", hint=hint)
    tokenizer = corpus.tokenizer_of(encoder, project) if encoder is not None else None
    statistics = Statistics(loaded.layer_kinds)
    dropped: dict[str, list[DataError]] = {split: [] for split in loaded.splits}
    with card_folder(loaded, project) as root:
        _check_files(loaded, root, project)
        for split in loaded.splits:
            for _ in statistics.watch(split, read_split(loaded, root, split, dropped[split])):
                pass
    result = statistics.result(tokenizer, dropped)
    if tokenizer is not None and "sub-tokens per word" not in result:
        console.note("sub-tokens of raw texts are counted when they are prepared: the report of a run has them")
    if json_:
        console.say_json(result)
    elif layer is not None:
        corpus.say_labels(result, layer)
    else:
        corpus.say_corpus(loaded, result, dropped)
    _note_unlocked(loaded)


@app.command()
def sample(
    card: Card,
    split: Annotated[str, typer.Option(help="train, dev, test or a further split of the card.")] = "train",
    number: Annotated[int, typer.Option("--number", "-n", min=1, help="How many sentences.")] = 3,
    start: Annotated[int, typer.Option(min=1, help="Number of the first one.")] = 1,
) -> None:
    """Some sentences with all their layers."""
    from itertools import islice

    from mtlspec.cli import console
    from mtlspec.data.card_folder import card_folder
    from mtlspec.data.corpus import read_split
    from mtlspec.data.samples import lines
    from mtlspec.errors import SpecError, did_you_mean
    from mtlspec.io.project import Project

    project = Project.find()
    loaded = _card(card, project)
    if split not in loaded.splits:
        raise SpecError("E195", f"'{card}' has no split '{split}'", hint=did_you_mean(split, loaded.splits))
    with card_folder(loaded, project) as root:
        for sentence in islice(read_split(loaded, root, split), start - 1, start - 1 + number):
            console.say(
                "\n".join([f"{sentence.id} ({Path(sentence.place[0]).name}:{sentence.place[1]})", *lines(sentence), ""])
            )


@app.command()
def page(card: Card, file: Annotated[Path, typer.Argument(help="Markdown file below the project.")]) -> None:
    """Write samples and statistics into a Markdown page; what stands above its mark is kept."""
    from mtlspec.cli import console
    from mtlspec.cli.page import write_page
    from mtlspec.data.card_folder import card_folder
    from mtlspec.data.corpus import read_split
    from mtlspec.data.page import page as render
    from mtlspec.data.page import replaced
    from mtlspec.io.project import Project

    project = Project.find()
    loaded = _card(card, project)
    target = project.inside(file.absolute())
    with card_folder(loaded, project) as root:
        _check_files(loaded, root, project)
        generated = render({split: list(read_split(loaded, root, split)) for split in loaded.splits}, card)
    text = target.read_text("utf-8") if target.is_file() else f"# {loaded.title or loaded.name}\n"
    written = write_page(target, replaced(text, generated))
    console.say(f"{project.relative(target)}: {'written' if written else 'already up to date'}")
    _note_unlocked(loaded)


def _listed(rows: Sequence[dict[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """One line a card: what is long is cut to the room that a terminal has; `show` tells all of it."""
    from mtlspec.cli import console

    whole, long = ["name", "layers", "files", "locked"], ["licence", "title"]
    cells = [[row["name"], ", ".join(row["layers"]), str(row["files"]), row["locked"]] for row in rows]
    room = console.output().width - sum(console.column_widths(whole, cells))
    if not console.output().is_terminal:
        return whole + long, [[*cell, *(row[key] for key in long)] for cell, row in zip(cells, rows, strict=True)]
    while long and room < len(long) * _LEGIBLE:
        long.pop()
    widths = {key: room // len(long) - console.GAP for key in long[:-1]}
    if long:
        widths[long[-1]] = room // len(long)  # nothing follows it
    cut = [[console.shortened(row[key].removesuffix(_UNWRITTEN), widths[key]) for key in long] for row in rows]
    return whole + long, [[*cell, *rest] for cell, rest in zip(cells, cut, strict=True)]


def _card(name: str, project: Project) -> DataCard:
    from mtlspec.spec.load import load_data_card

    return load_data_card(name, project)


def _check_files(card: DataCard, root: Path, project: Project) -> None:
    """The files are those that the card recorded, as in a run."""
    from mtlspec.data.pins import check_pins

    if card.sha256:
        check_pins(card, root, project.data_cards / f"{card.name}.yaml")


def _note_unlocked(card: DataCard) -> None:
    """A card that recorded nothing yet may be looked at, but not run; generated files need no digests."""
    from mtlspec.cli import console

    if not card.sha256 and card.generator is None:
        console.note(f"the card '{card.name}' records no sha256 yet; `mtlspec data lock {card.name}` does it")


def _summary(card: DataCard) -> dict[str, Any]:
    from mtlspec.spec.cards import is_pattern

    named = [path for path in card.paths if not is_pattern(path)]
    pinned = sum(path in card.sha256 for path in named) if named else len(card.sha256)
    return {
        "name": card.name,
        "title": card.title,
        "licence": card.licence,
        "source": card.source,
        "splits": ", ".join(card.splits),
        "layers": {name: str(kind) for name, kind in card.layer_kinds.items()},
        "files": len(card.sha256) or len(card.paths),
        "locked": "yes" if pinned and pinned >= len(named) else f"{pinned} of {len(card.paths)}",
    }


def _state(recorded: str | None, found: str) -> str:
    if recorded is None:
        return "not locked"
    return "as recorded" if recorded == found else f"changed; recorded {recorded[:16]}"


def _text(value: Any) -> str:
    return ", ".join(f"{k} ({v})" for k, v in value.items()) if isinstance(value, dict) else str(value)
