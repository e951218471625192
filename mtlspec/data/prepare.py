"""Sentences become Arrow files: tokenised once, byte-stable, readable by `datasets.Dataset.from_file`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from mtlspec.data.layer import Kind, transposed
from mtlspec.data.layer_kinds import layer_kind, shown_kinds
from mtlspec.data.sentence import Sentence
from mtlspec.data.text_tokenizer import EncodedText, TextTokenizer
from mtlspec.data.tokenizer import WordTokenizer
from mtlspec.errors import DataError, Place
from mtlspec.io.write import write_json
from mtlspec.spec.families import LayerKind, Layout

_CHUNK = 2000  # sentences held at once
_INTS, _STRINGS = pa.list_(pa.int32()), pa.list_(pa.string())
_FIXED = (
    pa.field("id", pa.string()),
    pa.field("place", pa.string()),
    pa.field("words", _STRINGS),
    pa.field("pieces", _INTS),
    pa.field("word_pieces", _INTS),
)
_RAW = (pa.field("texts", _STRINGS), pa.field("types", _INTS), pa.field("segments", _INTS))
_LOCATED = (pa.field("starts", _INTS), pa.field("ends", _INTS))
Kinds = Mapping[str, Kind[Any]]


@dataclass
class TextCounts:
    """What became of the raw texts of a split."""

    pieces: int = 0  # sub-tokens that are no specials
    longest: int = 0  # sub-tokens of the longest example, specials included
    examples_cut: int = 0
    pieces_cut: int = 0

    def add(self, encoded: EncodedText) -> None:
        self.pieces += sum(segment >= 0 for segment in encoded.segments)
        self.longest = max(self.longest, len(encoded.pieces))
        self.examples_cut += encoded.cut > 0
        self.pieces_cut += encoded.cut


class Written(NamedTuple):
    """What was written of each split."""

    sizes: dict[str, int]  # examples
    texts: dict[str, TextCounts]  # of splits of raw text only


def write_split(
    sentences: Iterable[Sentence],
    tokenizer: WordTokenizer,
    path: Path,
    kinds: Mapping[str, LayerKind] | None = None,
    texts: Callable[[], TextTokenizer] | None = None,
) -> tuple[int, TextCounts | None]:
    """Write one split as an Arrow IPC stream; returns the number of examples, and counts if they are raw texts.

    `kinds` are the layers to write (default: what the sentences show); a sentence that lacks one has nulls there.
    `texts` gives what encodes raw text (default: the text tokenizer of the same directory). The caller staged the
    directory of `path`.
    """
    if kinds is None:
        sentences = list(sentences)
        kinds = shown_kinds(sentences)
    stream = iter(sentences)
    chunk = list(islice(stream, _CHUNK))
    raw = bool(chunk) and bool(chunk[0].texts)
    found = {name: layer_kind(kind) for name, kind in kinds.items()}
    encode = _RawText(texts() if texts is not None else _texts(tokenizer), found) if raw else _Words(tokenizer)
    columns = {name + suffix: type_ for name, kind in found.items() for suffix, type_ in kind.columns().items()}
    layers = [pa.field(name, type_) for name, type_ in columns.items()]
    schema = pa.schema([*_FIXED, *(encode.fields if isinstance(encode, _RawText) else ()), *layers])
    rows = 0
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, schema) as writer:
        while chunk:
            writer.write_batch(_batch(chunk, encode, found, schema))
            rows += len(chunk)
            chunk = list(islice(stream, _CHUNK))
    return rows, encode.counts if isinstance(encode, _RawText) else None


def write_prepared(
    splits: Mapping[str, Iterable[Sentence]],
    tokenizer: WordTokenizer,
    out: Path,
    kinds: Mapping[str, LayerKind] | None = None,
    texts: Callable[[], TextTokenizer] | None = None,
    layout: Layout = "tsv",
) -> Written:
    """Fill `out` with a whole prepared directory but for its statistics; `layout`: of predictions for it."""
    if kinds is None:
        splits = {split: list(sentences) for split, sentences in splits.items()}
        kinds = shown_kinds(s for sentences in splits.values() for s in sentences)
    counts = {split: {name: _Count(layer_kind(kind)) for name, kind in kinds.items()} for split in splits}
    written = {
        split: write_split(_counting(sentences, counts[split]), tokenizer, out / f"{split}.arrow", kinds, texts)
        for split, sentences in splits.items()
    }
    sizes = {split: rows for split, (rows, _) in written.items()}
    if sizes.get("train"):
        _require_labels(counts["train"])
    write_json(out / "labels.json", _label_table(counts, kinds))
    labelled = {name: {split: counts[split][name].labelled for split in splits} for name in kinds}
    specials = asdict(tokenizer.specials)
    about = {"layers": dict(kinds), "specials": specials, "sizes": sizes, "labelled": labelled, "layout": layout}
    write_json(out / "prepared.json", about)
    return Written(sizes, {split: found for split, (_, found) in written.items() if found is not None})


def _texts(tokenizer: WordTokenizer) -> TextTokenizer:
    """What reads raw text where the words of other corpora are read by `tokenizer`."""
    if tokenizer.directory is None:
        raise DataError("E284", "raw text needs a tokenizer that was loaded from an encoder's directory")
    return TextTokenizer.load(tokenizer.directory)


class _Words:
    """Sub-tokens of sentences of words, without specials."""

    def __init__(self, tokenizer: WordTokenizer) -> None:
        self._tokenizer = tokenizer

    def columns(self, chunk: Sequence[Sentence]) -> list[list[Any]]:
        """`pieces` and `word_pieces`."""
        _require(all(not sentence.texts for sentence in chunk), chunk)
        table = self._tokenizer.pieces(word for sentence in chunk for word in sentence.words)
        pieces = [[table[word] for word in sentence.words] for sentence in chunk]
        return [
            [[piece for word in words for piece in word] for words in pieces],
            [[len(word) for word in words] for words in pieces],
        ]


class _RawText:
    """Sub-tokens of raw texts, with the specials of their encoder."""

    def __init__(self, tokenizer: TextTokenizer, kinds: Kinds) -> None:
        self._tokenizer = tokenizer
        self._pointing = {name: kind for name, kind in kinds.items() if kind.in_text}
        self._whole = any(kind.whole_text for kind in kinds.values())
        self.fields = (*_RAW, *(_LOCATED if self._pointing else ()))
        self.counts = TextCounts()

    def columns(self, chunk: Sequence[Sentence]) -> list[list[Any]]:
        """`pieces` and `word_pieces`, then those of `fields`."""
        _require(all(sentence.texts for sentence in chunk), chunk)
        encoded = self._tokenizer.encode(chunk, self._whole, located=bool(self._pointing))
        for one in encoded:
            self.counts.add(one)
        for name, kind in self._pointing.items():
            _require_places(name, kind, chunk, encoded)
        return [
            [one.pieces for one in encoded],
            [[] for _ in chunk],
            [sentence.texts for sentence in chunk],
            [one.types for one in encoded],
            [one.segments for one in encoded],
            *([[one.starts for one in encoded], [one.ends for one in encoded]] if self._pointing else []),
        ]


def _require_places(name: str, kind: Kind[Any], chunk: Sequence[Sentence], encoded: Sequence[EncodedText]) -> None:
    """What a layer points at has become sub-tokens, and its end is not cut off."""
    for sentence, one in zip(chunk, encoded, strict=True):
        for segment, start, end in kind.places(sentence.layers[name]) if name in sentence.layers else ():
            pieces = zip(one.segments, one.starts, one.ends, strict=True)
            own = [(first, behind) for of, first, behind in pieces if of == segment]
            held = any(first < end and behind > start for first, behind in own)
            if not held or (one.cut and max(behind for _, behind in own) < end):
                where = f"characters {start} to {end} of text {segment + 1}"
                message = f"layer '{name}' is about {where}, which the encoder does not read"
                hint = "read longer texts (`max_pieces` under `encoder`)" if one.cut else "what it points at is no text"
                raise DataError("E921", message, Place(*sentence.place), hint)


def _require(alike: bool, chunk: Sequence[Sentence]) -> None:
    """A split is all words or all raw text."""
    if not alike:
        other = next(s for s in chunk if bool(s.texts) != bool(chunk[0].texts) or not (s.texts or s.words))
        raise DataError("E283", "words and raw texts are mixed in one split", Place(*other.place))


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
        self.labelled += self.kind.labelled(value)
        self.targets.update(self.kind.targets(value))


def _batch(chunk: Sequence[Sentence], encode: _Words | _RawText, kinds: Kinds, schema: pa.Schema) -> pa.RecordBatch:
    columns: list[list[Any]] = [
        [sentence.id for sentence in chunk],
        [f"{Path(sentence.place[0]).name}:{sentence.place[1]}" for sentence in chunk],
        [sentence.words for sentence in chunk],
        *encode.columns(chunk),
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
