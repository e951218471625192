"""How each kind of layer lies in Arrow columns: the one home of that arrangement, in both directions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa

from mtlspec.data.sentence import ConTree, DepTree, Frame, Layer
from mtlspec.spec.families import LayerKind

INTS = pa.list_(pa.int32())
STRINGS = pa.list_(pa.string())

# Column suffix -> type. The first string column of a kind holds its labels.
COLUMNS: dict[LayerKind, dict[str, pa.DataType]] = {
    "tags": {"": STRINGS},
    "dep": {".heads": INTS, ".rels": STRINGS},
    "con": {".start": INTS, ".end": INTS, ".label": STRINGS, ".pos": STRINGS},
    "srl": {
        ".predicate": INTS,
        ".sense": STRINGS,
        ".frame": INTS,
        ".start": INTS,
        ".end": INTS,
        ".role": STRINGS,
    },
    "label": {"": pa.string()},
    "value": {"": pa.float64()},
}
LABELS: dict[LayerKind, str] = {"tags": "", "dep": ".rels", "con": ".label", "srl": ".role", "label": ""}


def fields(layer: str, kind: LayerKind) -> list[pa.Field]:
    return [pa.field(layer + suffix, dtype) for suffix, dtype in COLUMNS[kind].items()]


def cells(value: Any, kind: LayerKind) -> tuple[Sequence[Any], ...]:
    """One sentence's layer as the cells of its columns, in the order of `COLUMNS`."""
    if kind in ("tags", "label", "value"):
        return (value,)
    if kind == "dep":
        return value.heads, value.rels
    if kind == "con":
        return (*_transpose(value.spans, 3), value.pos)
    roles = [(number, *role) for number, frame in enumerate(value) for role in frame.roles]
    return ([f.predicate for f in value], [f.sense for f in value], *_transpose(roles, 4))


def value(cells: Sequence[Sequence[Any]], kind: LayerKind) -> Layer:
    """The inverse of `cells`."""
    if kind in ("label", "value"):
        found: str | float = cells[0]  # type: ignore[assignment]
        return found
    if kind == "tags":
        return tuple(cells[0])
    if kind == "dep":
        return DepTree(tuple(cells[0]), tuple(cells[1]))
    if kind == "con":
        start, end, label, pos = cells
        return ConTree(tuple(zip(start, end, label, strict=True)), tuple(pos))
    predicates, senses, *roles = cells
    spans: list[list[tuple[int, int, str]]] = [[] for _ in predicates]
    for number, start, end, role in zip(*roles, strict=True):
        spans[number].append((start, end, role))
    triples = zip(predicates, senses, spans, strict=True)
    return tuple(Frame(predicate, sense, tuple(span)) for predicate, sense, span in triples)


def _transpose(rows: Iterable[Sequence[Any]], width: int) -> tuple[Sequence[Any], ...]:
    columns = tuple(zip(*rows, strict=True))
    return columns if columns else ((),) * width
