"""Sentences become Arrow files: tokenised once, byte-stable, readable by `datasets.Dataset.from_file`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from mtlspec.data.layer_kinds import layer_kind, shown_kinds
from mtlspec.data.layers._kind import Kind, transposed
from mtlspec.data.sentence import Sentence
from mtlspec.data.tokenizer import WordTokenizer
from mtlspec.errors import DataError, Place
from mtlspec.io.write import write_json
from mtlspec.spec.families import LayerKind

_CHUNK = 2000  # sentences held at once
_INTS, _STRINGS = pa.list_(pa.int32()), pa.list_(pa.string())
_FIXED = (
    pa.field("id", pa.string()),
    pa.field("place", pa.string()),
    pa.field("words", _STRINGS),
    pa.field("pieces", _INTS),
    pa.field("word_pieces", _INTS),
)
Kinds = Mapping[str, Kind[Any]]


def write_split(
    sentences: Iterable[Sentence], tokenizer: WordTokenizer, path: Path, kinds: Mapping[str, LayerKind] | None = None
) -> int:
    """Write one split as an Arrow IPC stream; returns the number of sentences.

    `kinds` are the layers to write (default: what the sentences show); a sentence that lacks one has nulls there. The
    caller staged the directory of `path`.
    """
    if kinds is None:
        sentences = list(sentences)
        kinds = shown_kinds(sentences)
    found = {name: layer_kind(kind) for name, kind in kinds.items()}
    schema = _schema(found)
    stream = iter(sentences)
    rows = 0
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, schema) as writer:
        while chunk := list(islice(stream, _CHUNK)):
            writer.write_batch(_batch(chunk, tokenizer, found, schema))
            rows += len(chunk)
    return rows


def write_prepared(
    splits: Mapping[str, Iterable[Sentence]],
    tokenizer: WordTokenizer,
    out: Path,
    kinds: Mapping[str, LayerKind] | None = None,
    facts: Mapping[str, Any] | None = None,
) -> dict[str, int]:
    """Fill `out` with a whole prepared directory but for its statistics; returns sentences per split.

    `facts` are kept in prepared.json.
    """
    if kinds is None:
        splits = {split: list(sentences) for split, sentences in splits.items()}
        kinds = shown_kinds(s for sentences in splits.values() for s in sentences)
    counts = {split: {name: _Count(layer_kind(kind)) for name, kind in kinds.items()} for split in splits}
    sizes = {
        split: write_split(_counting(sentences, counts[split]), tokenizer, out / f"{split}.arrow", kinds)
        for split, sentences in splits.items()
    }
    if sizes.get("train"):
        _require_labels(counts["train"])
    write_json(out / "labels.json", _label_table(counts, kinds))
    labelled = {name: {split: counts[split][name].labelled for split in splits} for name in kinds}
    specials = asdict(tokenizer.specials)
    about = {"layers": dict(kinds), "specials": specials, "sizes": sizes, "labelled": labelled, **(facts or {})}
    write_json(out / "prepared.json", about)
    return sizes


@dataclass
class _Count:
    """What a split has of one layer."""

    kind: Kind[Any]
    labelled: int = 0  # sentences that carry it
    targets: Counter[str] = field(default_factory=Counter)

    def add(self, name: str, sentence: Sentence) -> None:
        if name not in sentence.layers:
            return
        value = sentence.layers[name]
        problem = self.kind.problem(value, len(sentence.words))
        if sentence.texts and self.kind.about_words:
            problem = "it is about words, and raw text has none"
        if problem is not None:
            raise DataError("E273", f"layer '{name}' does not fit its sentence: {problem}", Place(*sentence.place))
        self.labelled += 1
        self.targets.update(self.kind.targets(value))


def _schema(kinds: Kinds) -> pa.Schema:
    columns = {name + suffix: type_ for name, kind in kinds.items() for suffix, type_ in kind.columns().items()}
    return pa.schema([*_FIXED, *(pa.field(name, type_) for name, type_ in columns.items())])


def _batch(chunk: Sequence[Sentence], tokenizer: WordTokenizer, kinds: Kinds, schema: pa.Schema) -> pa.RecordBatch:
    table = tokenizer.pieces(word for sentence in chunk for word in sentence.words)
    pieces = [[table[word] for word in sentence.words] for sentence in chunk]
    columns: list[list[Any]] = [
        [sentence.id for sentence in chunk],
        [f"{Path(sentence.place[0]).name}:{sentence.place[1]}" for sentence in chunk],
        [sentence.words for sentence in chunk],
        [[piece for word in words for piece in word] for words in pieces],
        [[len(word) for word in words] for words in pieces],
    ]
    for name, kind in kinds.items():
        missing = (None,) * len(kind.columns())
        cells = [kind.cells(s.layers[name]) if name in s.layers else missing for s in chunk]
        columns.extend(map(list, transposed(cells, len(missing))))
    arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.record_batch(arrays, schema=schema)


def _counting(sentences: Iterable[Sentence], counts: Mapping[str, _Count]) -> Iterator[Sentence]:
    for sentence in sentences:
        for name, count in counts.items():
            count.add(name, sentence)
        yield sentence


def _require_labels(train: Mapping[str, _Count]) -> None:
    """Nothing can be learnt of a layer that no training sentence carries."""
    for name, count in train.items():
        if not count.labelled:
            hint = "correct the layer's column in the data card, or leave the layer out"
            raise DataError("E278", f"no training example carries the layer '{name}'", hint=hint)


def _label_table(
    counts: Mapping[str, Mapping[str, _Count]], kinds: Mapping[str, LayerKind]
) -> dict[str, dict[str, Any]]:
    train = {name: dict(counts["train"][name].targets) if "train" in counts else {} for name in kinds}
    every = {name: {label for by_layer in counts.values() for label in by_layer[name].targets} for name in kinds}
    unseen = {name: sorted(every[name] - train[name].keys()) for name in kinds}
    return {"train": train, "unseen": unseen}
