"""What is to be predicted: lines of text or words, pairs of texts, or files of any reader, one example after another.

An example that is malformed comes as its error, so that whoever reads on can go on; nothing but the example at hand is
held.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, BinaryIO, Literal

from mtlspec.data.card_folder import card_folder
from mtlspec.data.corpus import read_split
from mtlspec.data.defects import renamed
from mtlspec.data.sentence import Sentence
from mtlspec.errors import DataError, Place, SpecError, did_you_mean
from mtlspec.io.project import Project
from mtlspec.io.words import counted
from mtlspec.kinds import Frozen, OneOf
from mtlspec.spec.card_families import ReaderOptions
from mtlspec.spec.cards import DataCard
from mtlspec.spec.families import READERS, LayerKind, Layout
from mtlspec.use.documents import Sentences, sentences_in

Form = Literal["text", "words", "pairs"]
"""What a line of a plain file is: a text, words with blanks between them, or two texts with a tab between them."""
PlainForm = Form | Literal["documents"]
"""What a plain file is: lines, or one document."""

Example = Sentence | DataError
STDIN = "-"
_LONGEST_LINE = 2**20  # characters: more is a file without line ends


class Format(Frozen):
    """The format of files, as a data card says it."""

    reader: Annotated[ReaderOptions, OneOf(READERS)]


@dataclass(frozen=True)
class Input:
    """Examples, and which layers they may carry."""

    examples: Iterator[Example]
    kinds: Mapping[str, LayerKind]  # layer -> kind
    layout: Layout = "tsv"  # in which predictions of labels and numbers are written


def plain(names: Sequence[str], form: PlainForm, stdin: BinaryIO, sentences: Sentences = "rules") -> Input:
    """Lines of plain files, or the sentences of documents, `-` for standard input."""

    def read(file: BinaryIO, name: str) -> Iterator[Example]:
        return sentences_in(file, name, sentences) if form == "documents" else _lines(file, name, form)

    def examples() -> Iterator[Example]:
        for name in names:
            if name == STDIN:
                yield from read(stdin, "standard input")
            else:
                with Path(name).open("rb") as file:
                    yield from read(file, name)

    return Input(_some(examples(), names), {})


def read_files(names: Sequence[str], reader: ReaderOptions, layers: Mapping[str, str] | None, stdin: BinaryIO) -> Input:
    """Files of a reader's format; `layers` are those to take, with their columns (None: every column by its name).

    What is missing in the files is missing in the examples: nothing of them needs gold.
    """
    taken = {name: name for name in reader.column_names()} if layers is None else layers

    def examples() -> Iterator[Example]:
        for name in names:
            if name == STDIN:
                yield from _copied(reader, stdin, "standard input", taken)
            elif Path(name).is_file():
                yield from _parsed(reader, Path(name), name, taken)
            else:  # a pipe that has a name
                with Path(name).open("rb") as file:
                    yield from _copied(reader, file, name, taken)

    kinds = {layer: kind for layer, column in taken.items() if (kind := reader.layer_kind(column)) is not None}
    return Input(_some(examples(), names), kinds, reader.layout)


def read_card(card: DataCard, split: str, project: Project, keep_going: bool) -> Input:
    """A split of a corpus, with all layers of its card: the very sentences that a run prepares."""
    if split not in card.splits:
        hint = did_you_mean(split, card.splits)
        raise SpecError("E545", f"the corpus '{card.name}' has no split '{split}'", Place("--split"), hint)
    read = card.model_copy(update={"on_invalid": "drop"}) if keep_going else card

    def examples() -> Iterator[Example]:
        dropped: list[DataError] = []
        with card_folder(card, project) as root:
            for sentence in read_split(read, root, split, dropped):
                yield from _emptied(dropped)
                yield sentence
            yield from _emptied(dropped)

    return Input(examples(), card.layer_kinds, card.files[0].reader.layout)


def require_files(names: Sequence[str]) -> None:
    """Before anything is loaded: every file is there. It may be a pipe, as of the shell's `<(command)`."""
    for name in names:
        if name != STDIN and (Path(name).is_dir() or not Path(name).exists()):
            what = "this is a folder, not a file" if Path(name).is_dir() else "there is no such file"
            raise DataError("E530", what, Path(name))


def limited(examples: Iterator[Example], check: Callable[[Sentence], DataError | None]) -> Iterator[Example]:
    """The same examples; those in which `check` finds something wrong as their errors."""
    for example in examples:
        yield example if isinstance(example, DataError) else check(example) or example


def _lines(file: BinaryIO, name: str, form: Form) -> Iterator[Example]:
    for number, raw in enumerate(iter(lambda: file.readline(4 * _LONGEST_LINE), b""), 1):
        place = Place(name, number)
        try:
            text = raw.decode("utf-8-sig" if number == 1 else "utf-8").strip(" \t\r\n" if form != "pairs" else "\r\n")
        except UnicodeDecodeError as error:
            yield DataError("E531", f"not UTF-8: {error.reason}", place, "save the file as UTF-8")
            continue
        yield _problem(text, place) or _example(text, place, form)


def _problem(text: str, place: Place) -> DataError | None:
    if not text.strip():
        return DataError("E532", "an empty line", place, "a line is a sentence; leave empty ones out")
    long = len(text) >= _LONGEST_LINE
    if long or "\0" in text:
        damage = f"a line of more than {_LONGEST_LINE:,} characters" if long else "a line with a NUL byte"
        return DataError("E533", damage, place, "is this a text file?")
    return None


def _example(text: str, place: Place, form: Form) -> Example:
    at = (place.file, place.line)
    if form == "words":
        return Sentence(str(place.line), tuple(text.split()), {}, at)
    texts = tuple(text.split("\t")) if form == "pairs" else (text,)
    if form == "pairs" and (len(texts) != 2 or not all(part.strip() for part in texts)):
        message = f"{counted(sum(bool(part.strip()) for part in texts), 'text')} instead of two"
        return DataError("E535", message, place, "a line of pairs is two texts with a tab between them")
    return Sentence(str(place.line), (), {}, at, texts=texts)


def _copied(reader: ReaderOptions, file: BinaryIO, shown: str, taken: Mapping[str, str]) -> Iterator[Example]:
    """What a pipe brings; readers may look at a file twice."""
    with tempfile.NamedTemporaryFile(prefix="mtlspec-") as copy:
        shutil.copyfileobj(file, copy)
        copy.flush()
        yield from _parsed(reader, Path(copy.name), shown, taken)


def _parsed(reader: ReaderOptions, path: Path, shown: str, taken: Mapping[str, str]) -> Iterator[Example]:
    try:
        for block in reader.blocks(path):
            try:
                found = reader.parse(replace(block, file=shown))
            except DataError as defect:
                yield defect
                continue
            layers = {layer: found.layers[column] for layer, column in taken.items() if column in found.layers}
            yield replace(found, layers=layers)
    except DataError as end:
        yield renamed(end, path, shown)


def _some(examples: Iterator[Example], names: Sequence[str]) -> Iterator[Example]:
    """An error where there is not one example."""
    count = 0
    for example in examples:
        count += 1
        yield example
    if not count:
        name = "standard input" if names[0] == STDIN else names[0]
        more = f" (nor in {len(names) - 1} more)" if len(names) > 1 else ""
        raise DataError("E536", f"there are no sentences in the file{more}", Place(name))


def _emptied(dropped: list[DataError]) -> Iterator[DataError]:
    yield from dropped
    dropped.clear()
