"""A card from a file: how it is read, the splits beside it, the classes of its labels, and how sure all that is."""

from __future__ import annotations

import codecs
import gzip
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from mtlspec.data.blocks import lines
from mtlspec.data.corpus import read_split
from mtlspec.data.defects import renamed
from mtlspec.data.guess.reading import SAMPLE, Reading, fits, shown
from mtlspec.data.guess.rows import fitting, guess_arrow, guess_json, is_arrow
from mtlspec.data.guess.splits import splits_beside
from mtlspec.data.guess.tables import guess_tables
from mtlspec.data.guess.words import guess_words
from mtlspec.data.layer_kinds import layer_kind
from mtlspec.data.span_tags import strange_tags
from mtlspec.errors import DataError, MtlspecError, Place, visible
from mtlspec.io.words import counted
from mtlspec.spec.cards import DataCard

_MOST_CLASSES = 20  # that a card lists
_HELD_OUT = 0.1
_EXPECTED = (
    "expected: a table, JSON or Parquet with a column of texts and one of labels (few different ones) or scores; a "
    "word a line with its tags; CoNLL-U, CoNLL-2012 or bracketed trees. `mtlspec schema --docs FILE` describes cards"
)
Sure = Literal["sure", "likely", "a guess"]


@dataclass(frozen=True)
class GuessedCard:
    """A card, and what its reader should know before trusting it."""

    card: DataCard
    values: dict[str, Any]  # the card as it is written
    reading: Reading
    sizes: dict[str, int]  # sentences of each split
    classes: dict[str, list[str]]  # layer -> its classes, where they are few
    spans: frozenset[str]  # layers of tags that spell spans, everywhere
    notes: tuple[str, ...]  # what should be looked at
    malformed: int  # sentences

    @property
    def sure(self) -> Sure:
        if not self.reading.told:
            return "a guess"
        sound = not self.malformed and all(self.sizes.values())
        return "sure" if self.reading.distinctive and not self.reading.doubts and sound else "likely"


def guess_card(path: Path, name: str, root: str, folder: Path) -> GuessedCard:
    """`root` is how the card names `folder`, in which all files of the corpus lie."""
    files = splits_beside(path)
    doubts: list[str] = []
    if "train" not in files:
        found = next(split for split, named in files.items() if path in named) if files else "test"
        doubts.append(f"no training file was found beside it: this {found} file is taken as train")
        files = {"train": [path]}
    reading = guess_reading(files["train"][0], name)
    paths, unlabelled = _readable(files, reading, folder, doubts)
    if path.relative_to(folder).as_posix() not in [entry for split in paths for entry in _entries(paths[split])]:
        doubts[:] = ["the files beside it are of another layout: this one is taken as train"]
        reading = guess_reading(path, name)
        paths, unlabelled = _readable({"train": [path]}, reading, folder, doubts)
    held_out = {split: _HELD_OUT for split in ("dev", "test") if split not in paths}
    if held_out:
        each = "each" if len(held_out) > 1 else "it"
        doubts.append(f"{' and '.join(held_out)}: no file, so a tenth of train is held out for {each}")
    group: dict[str, Any] = {"reader": reading.reader, "paths": paths, "layers": reading.layers}
    values: dict[str, Any] = {
        "card": "data",
        "name": name,
        "title": name.replace("_", " "),
        "language": "en",
        "licence": "not known: write it here",
        "source": f"not known: write it here; the card was guessed from {path.name}",
        "root": root,
        "files": [group | ({"unlabelled": unlabelled} if unlabelled else {})],
        **({"hold_out": held_out | {"seed": 1}} if held_out else {}),
    }
    return _read_through(values, reading, folder, doubts)


def guess_reading(path: Path, name: str) -> Reading:
    """How one file can be read."""
    if not path.is_file():
        what = "this is a folder" if path.is_dir() else "there is no such file"
        raise DataError("E750", what, Place(shown(path)), "name one file of the corpus, such as its training file")
    if is_arrow(path):
        found = guess_arrow(path)
    else:
        sample = _first_lines(path)
        readings = (guess_json(path, sample), guess_words(path, sample, name))
        found = fitting(readings, path) or fitting(guess_tables(sample), path)
    if found is None:
        raise DataError("E751", "nothing to learn from was found", Place(shown(path)), _EXPECTED)
    return found


def _first_lines(path: Path) -> list[str]:
    """Corpora from before UTF-8, such as those of CoNLL-2002, are told what to do: no card can say how to read them."""
    try:
        return list(islice(lines(path), SAMPLE))
    except DataError as defect:
        if defect.code != "E201":
            raise renamed(defect, path, shown(path)) from None
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            old = "UTF-16" if file.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "ISO-8859-1"
        hint = f"convert all files of the corpus, such as with `iconv -f {old} -t UTF-8`, and try again"
        raise renamed(DataError(defect.code, defect.message, defect.place, hint), path, shown(path)) from None


def _readable(
    files: Mapping[str, Sequence[Path]], reading: Reading, folder: Path, doubts: list[str]
) -> tuple[dict[str, str | list[str]], list[str]]:
    """Split -> files as a card names them, of those that can be read like the training file; and which lack labels."""
    paths: dict[str, str | list[str]] = {}
    unlabelled: list[str] = []
    for split, named in files.items():
        if split != "train":
            good, bad = fits(reading.reader, named[0])
            if not good or bad > good:
                if not _reads_without_labels(reading, named[0]):
                    doubts.append(f"{named[0].name} is left out: it does not read like the training file")
                    continue
                if split == "dev":
                    doubts.append(f"{named[0].name} is left out: it has no labels, and dev must have them")
                    continue
                unlabelled.append(split)
                doubts.append(f"{named[0].name} seems to have no labels: it is predicted, not scored")
        relative = [file.relative_to(folder).as_posix() for file in named]
        paths[split] = relative[0] if len(relative) == 1 else relative
    return paths, unlabelled


def _entries(named: str | list[str]) -> list[str]:
    return [named] if isinstance(named, str) else named


def _reads_without_labels(reading: Reading, path: Path) -> bool:
    bare = {key: reading.reader[key] for key in reading.reader if key not in ("label", "value", "tags", "classes")}
    if "text" not in bare and "words" not in bare:
        return False
    good, bad = fits(bare, path)
    return good > bad


def _read_through(values: dict[str, Any], reading: Reading, folder: Path, doubts: list[str]) -> GuessedCard:
    """Read all of it once: sizes, malformed sentences, and all classes of the labels."""
    lenient = DataCard.model_validate(values | {"on_invalid": "drop"})
    sizes: dict[str, int] = {}
    malformed = 0
    kinds = {layer: layer_kind(kind) for layer, kind in lenient.layer_kinds.items()}
    met: dict[str, Counter[str]] = {layer: Counter() for layer in lenient.layer_kinds}
    first: dict[tuple[str, str], Place] = {}  # of a layer and a class
    for split in lenient.splits:
        dropped: list[DataError] = []
        sizes[split] = 0
        try:
            for sentence in read_split(lenient, folder, split, dropped, shown(folder)):
                sizes[split] += 1
                for layer, value in sentence.layers.items():
                    met[layer].update(kinds[layer].labels(value))
                    if isinstance(value, str):
                        first.setdefault((layer, value), Place(*sentence.place))
        except MtlspecError as error:
            _require_several_texts(lenient, folder)
            if split == "train" and not sizes[split]:
                raise
            doubts.append(f"{split}: {error.problems[0]}")
        malformed += len(dropped)
        if dropped:
            share = f"{len(dropped):,} of {len(dropped) + sizes[split]:,}"
            are = "is" if len(dropped) == 1 else "are"
            doubts.append(f"{share} sentences of {split} {are} malformed, the first at {dropped[0]}")
    strange = {layer: strange_tags(tags) for layer, tags in met.items() if kinds[layer].per_word and tags}
    for layer, tags in strange.items():
        if tags and len(tags) < len(met[layer]) / 2:
            doubts.append(f"tags of '{layer}' that spell no part of a span, as the others do: {', '.join(tags)}")
    classes = {layer: met[layer] for layer in reading.reader.get("label", {})}
    few = {layer: sorted(found, key=_as_number) for layer, found in classes.items() if 1 < len(found) <= _MOST_CLASSES}
    few = {layer: classes for layer, classes in few.items() if all(visible(name) == name for name in classes)}
    doubts += [doubt for layer in few for doubt in _rare(layer, met[layer], first)]
    if few:
        group = values["files"][0]
        values = values | {"files": [group | {"reader": group["reader"] | {"classes": few}}]}
        reading = replace(reading, reader=values["files"][0]["reader"])
    counts = {layer: counted(len(met[layer]), "tag") for layer in reading.seen if layer in strange}
    reading = replace(
        reading, seen=reading.seen | {layer: f"{reading.seen[layer]}, {n}" for layer, n in counts.items()}
    )
    card = DataCard.model_validate(values)
    return GuessedCard(
        card,
        values,
        reading,
        sizes,
        few,
        frozenset(layer for layer in strange if not strange[layer]),
        (*reading.doubts, *doubts),
        malformed,
    )


def _require_several_texts(card: DataCard, folder: Path) -> None:
    """Equal texts are held out together: of one text nothing can be."""
    if card.hold_out is None:
        return
    whole = card.model_copy(update={"hold_out": None})
    texts = {sentence.texts or sentence.words for sentence in read_split(whole, folder, "train")}
    if len(texts) == 1:
        message = f"all sentences have the same text, so none can be held out for {' or '.join(card.hold_out.shares)}"
        file = folder / card.files[0].entries("train")[0]
        raise DataError("E753", message, Place(shown(file)), "put files of other sentences beside it, or mend this one")


def _rare(layer: str, counts: Counter[str], first: Mapping[tuple[str, str], Place]) -> list[str]:
    """Classes that are misspelt, perhaps."""
    total = sum(counts.values())
    once = 1 if total >= 10 * len(counts) else 0  # where all are rare, none is
    rare = [label for label in sorted(counts) if counts[label] <= once or counts[label] < total / 100]
    if not rare:
        return []
    told = ", ".join(f"{label} ({counts[label]:,} of {total:,}, first at {first[layer, label]})" for label in rare)
    return [f"rare classes of '{layer}', perhaps misspelt: {told}"]


def _as_number(text: str) -> tuple[float, str]:
    try:
        return float(text), text
    except ValueError:
        return float("inf"), text


def corpus_folder(path: Path) -> Path:
    """The folder that has all files of a file's corpus."""
    files = [file for named in splits_beside(path).values() for file in named] or [path]
    return Path(os.path.commonpath([str(file.parent) for file in files]))
