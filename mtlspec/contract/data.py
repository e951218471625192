"""What every reader, generator, layer kind and metric promises."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa

from mtlspec import kinds
from mtlspec.contract.promise import promise
from mtlspec.data.layer import Kind
from mtlspec.data.layer_kinds import kind_of, layer_kind
from mtlspec.errors import DataError
from mtlspec.metrics.metric import Metric
from mtlspec.metrics.rebuild import METRICS, rebuild_metric
from mtlspec.spec.card_families import GeneratorOptions, ReaderOptions
from mtlspec.spec.families import LAYERS
from mtlspec.spec.families import METRICS as OWN_METRICS


def check_reader(options: ReaderOptions, file: Path, missing: Path) -> None:
    """Reads a file of one sentence, whose layers are the columns that it names; a file that is missing is an error."""
    (sentence,) = options.read(file)
    promise(sentence.place == (str(file), 1), f"the first sentence says that it is at {sentence.place}")
    columns = options.column_names()
    promise(set(sentence.layers) == set(columns), f"it gives {sorted(sentence.layers)} and names {sorted(columns)}")
    known = kinds.names(LAYERS)
    promise(all(options.layer_kind(column) in known for column in columns), "a column is of no known kind of layer")
    promise(options.layer_kind("no such column") is None, "it names the kind of a column that it has not")
    (block,) = options.blocks(file)
    promise(options.parse(block) == sentence, "a block alone is read otherwise than in its file")
    stream = options.read(missing)  # nothing is opened before the first sentence is asked for
    try:
        next(stream)
    except DataError as error:
        promise(error.code == "E200", f"a missing file is told as: {error}")
    else:
        promise(False, "a missing file is read as if it were there")


def check_generator(options: GeneratorOptions, folder: Path) -> None:
    """Writes the same bytes twice; options called `train`, `dev` and `test` are taken for numbers of sentences."""
    small = options.model_copy(update={split: 5 for split in ("train", "dev", "test") if hasattr(options, split)})
    contents: list[dict[str, bytes]] = []
    for number in range(2):
        out = folder / str(number)
        small.generate(out)
        contents.append({path.name: path.read_bytes() for path in sorted(out.iterdir())})
    promise(contents[0], "it writes no file")
    promise(contents[0] == contents[1], "it does not write the same bytes twice")


def check_layer(name: str, values: Iterable[Any], words: tuple[str, ...] = ("the", "cat", "sleeps")) -> None:
    """Values for sentences of three words go through Arrow, show no other kind, and can be read and counted."""
    kind = layer_kind(name)
    promise(isinstance(kind, Kind), "its `KIND` is not a `Kind`")
    types = list(kind.columns().values())
    for value in values:
        cells = [pa.array([cell], type_)[0].as_py() for cell, type_ in zip(kind.cells(value), types, strict=True)]
        promise(kind.value(cells) == value, f"{value!r} is another value when it comes back from Arrow")
        shown = [other for other in kinds.names(LAYERS) if layer_kind(other).shows(value)]
        promise(shown == [name] == [kind_of(value)], f"{value!r} is taken for {', '.join(shown) or 'nothing'}")
        lines = kind.lines(words, value)
        promise(lines and all(line and "\n" not in line for line in lines), f"{value!r} is shown as {lines}")
        labels = (*kind.labels(value), *kind.targets(value))
        promise(all(isinstance(label, str) for label in labels), f"not all labels of {value!r} are texts")
        promise(all(number >= 0 for number in kind.figures(value).values()), f"{value!r} counts below zero")
        problem = kind.problem(value, len(words))
        promise(problem is None, f"{value!r} is refused: {problem}")


def check_metric(name: str) -> None:
    """`METRIC` is called as its file is, as none of ours is, and is the same when it is rebuilt."""
    metric = kinds.load(OWN_METRICS, name).METRIC
    promise(isinstance(metric, type) and issubclass(metric, Metric), "its `METRIC` is not a class of metrics")
    promise(metric.kind == name, f"its `kind` is '{metric.kind}', and the file is called '{name}'")
    promise(name not in {ours.kind for ours in METRICS}, f"mtlspec has a metric '{name}'")
    again = rebuild_metric(json.loads(json.dumps(metric().describe())))
    promise(type(again) is metric and again.describe() == metric().describe(), "it is another one when it is rebuilt")
