"""Sentences become Arrow files: tokenised once, byte-stable, readable by `datasets.Dataset.from_file`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from mtlspec.data import layers
from mtlspec.data.labels import kind_of, targets
from mtlspec.data.sentence import Sentence
from mtlspec.data.tokenizer import WordTokenizer
from mtlspec.errors import DataError, Place
from mtlspec.io.write import write_json
from mtlspec.spec.families import LayerKind

_CHUNK = 2000  # sentences held at once
_FIXED = (
    pa.field("id", pa.string()),
    pa.field("place", pa.string()),
    pa.field("words", layers.STRINGS),
    pa.field("pieces", layers.INTS),
    pa.field("word_pieces", layers.INTS),
)


def write_split(
    sentences: Iterable[Sentence], tokenizer: WordTokenizer, path: Path, kinds: Mapping[str, LayerKind] | None = None
) -> int:
    """Write one split as an Arrow IPC stream; returns the number of sentences.

    `kinds` are the layers to write (default: what the sentences show). The caller staged the directory of `path`.
    """
    if kinds is None:
        sentences = list(sentences)
        kinds = layer_kinds(sentences)
    schema = _schema(kinds)
    stream = iter(sentences)
    rows = 0
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, schema) as writer:
        while chunk := list(islice(stream, _CHUNK)):
            writer.write_batch(_batch(chunk, tokenizer, kinds, schema))
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
        kinds = layer_kinds([s for sentences in splits.values() for s in sentences])
    counts: dict[str, dict[str, Counter[str]]] = {split: {name: Counter() for name in kinds} for split in splits}
    sizes = {
        split: write_split(_counting(sentences, counts[split]), tokenizer, out / f"{split}.arrow", kinds)
        for split, sentences in splits.items()
    }
    write_json(out / "labels.json", _label_table(counts, kinds))
    about = {"layers": dict(kinds), "specials": asdict(tokenizer.specials), "sizes": sizes, **(facts or {})}
    write_json(out / "prepared.json", about)
    return sizes


def layer_kinds(sentences: Sequence[Sentence]) -> dict[str, LayerKind]:
    """Layers and their kinds as the sentences show them; one that is empty everywhere can only be frames."""
    kinds: dict[str, LayerKind | None] = {}
    for sentence in sentences:
        for name, value in sentence.layers.items():
            kinds[name] = kinds.get(name) or kind_of(value)
    return {name: kind or "srl" for name, kind in kinds.items()}


def _schema(kinds: Mapping[str, LayerKind]) -> pa.Schema:
    return pa.schema([*_FIXED, *(field for name, kind in kinds.items() for field in layers.fields(name, kind))])


def _batch(
    chunk: Sequence[Sentence], tokenizer: WordTokenizer, kinds: Mapping[str, LayerKind], schema: pa.Schema
) -> pa.RecordBatch:
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
        cells = [layers.cells(_layer(sentence, name), kind) for sentence in chunk]
        columns.extend([row[number] for row in cells] for number in range(len(layers.COLUMNS[kind])))
    arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.record_batch(arrays, schema=schema)


def _layer(sentence: Sentence, name: str) -> Any:
    try:
        return sentence.layers[name]
    except KeyError:
        raise DataError("E273", f"the sentence has no layer '{name}'", Place(*sentence.place)) from None


def _counting(sentences: Iterable[Sentence], counts: Mapping[str, Counter[str]]) -> Iterator[Sentence]:
    for sentence in sentences:
        for name, counter in counts.items():
            counter.update(targets(_layer(sentence, name)))
        yield sentence


def _label_table(
    counts: Mapping[str, Mapping[str, Counter[str]]], kinds: Mapping[str, LayerKind]
) -> dict[str, dict[str, Any]]:
    train = {name: dict(counts["train"][name]) if "train" in counts else {} for name in kinds}
    every = {name: {label for by_layer in counts.values() for label in by_layer[name]} for name in kinds}
    unseen = {name: sorted(every[name] - train[name].keys()) for name in kinds}
    return {"train": train, "unseen": unseen}
