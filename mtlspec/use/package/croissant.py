"""A Croissant description of a corpus: files with digests, splits and layers. The data stay where they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from pydantic import ValidationError

from mtlspec.data.file_patterns import split_files
from mtlspec.spec.cards import DataCard
from mtlspec.use.package.known import Known

CONFORMS = "http://mlcommons.org/croissant/1.0"
_FORMATS = {
    ".json": "application/json",
    ".jsonl": "application/jsonlines",
    ".csv": "text/csv",
    ".tsv": "text/tab-separated-values",
}
_Row = Mapping[str, Any]


def croissant(known: Known, corpus: str) -> dict[str, Any]:
    """JSON-LD. `contentUrl` of a file is its path below the corpus's folder, wherever that is."""
    import mlcroissant as mlc

    card, files = known.cards[corpus], known.data_files(corpus)
    splits = list(_splits(card, files, known.sizes(corpus)))
    metadata = mlc.Metadata(
        name=card["name"],
        description=_description(card),
        license=[card["licence"]],
        cite_as=card["source"],
        in_language=[card["language"]],
        distribution=[
            mlc.FileObject(id=name, name=name, content_url=name, encoding_formats=[_format(name)], sha256=sha)
            for name, sha in sorted(files.items())
        ],
        record_sets=[
            *_table(mlc, "splits", "Splits, their files and examples.", ["cr:Split"], splits),
            *_table(mlc, "layers", "Annotations, with the format of their files.", None, list(_layers(card))),
        ],
    )
    found: dict[str, Any] = metadata.to_json()
    return found


def _description(card: Mapping[str, Any]) -> str:
    made = f" Made by the generator {card['generator']['type']} of mtlspec." if card["generator"] else ""
    return f"{card['title'] or card['name']}. {card['source']}.{made}"


def _splits(card: Mapping[str, Any], files: Mapping[str, str], sizes: Mapping[str, int]) -> Iterator[_Row]:
    """`held_out` is the share of the training files that a split without files is; examples only if all are known."""
    shares = card.get("hold_out") or {}
    held = {split: share for split in ("dev", "test") if (share := shares.get(split)) is not None}
    names = dict.fromkeys([*(split for group in card["files"] for split in group["paths"]), *held])
    counted = all(split in sizes for split in names)
    for split in names:
        own = split_files(card["files"], "train" if split in held else split, files)
        about = {"name": split, "files": ", ".join(own), "held_out": float(held.get(split, 0))}
        yield {**about, **({"examples": sizes[split]} if counted else {})}


def _layers(card: Mapping[str, Any]) -> Iterator[_Row]:
    kinds = _layer_kinds(card)
    for group in card["files"]:
        for layer, column in group["layers"].items():
            about = {"name": layer, "kind": kinds.get(layer, "unknown"), "column": str(column)}
            yield {**about, "reader": group["reader"]["type"]}


def _layer_kinds(card: Mapping[str, Any]) -> Mapping[str, str]:
    """Nothing of a card whose readers are not known here, or not any more."""
    try:
        return DataCard.model_validate(card).layer_kinds
    except ValidationError:
        return {}


def _table(mlc: Any, name: str, about: str, types: Sequence[str] | None, rows: Sequence[_Row]) -> Iterator[Any]:
    """A record set whose records stand in the description itself; none where there are no records."""
    if not rows:
        return
    kinds = {str: mlc.DataType.TEXT, int: mlc.DataType.INTEGER, float: mlc.DataType.FLOAT}
    fields = [
        mlc.Field(id=f"{name}/{column}", name=column, data_types=[kinds[type(value)]])
        for column, value in rows[0].items()
    ]
    data = [{f"{name}/{column}": value for column, value in row.items()} for row in rows]
    key = f"{name}/name"
    yield mlc.RecordSet(id=name, name=name, description=about, key=key, data_types=types, fields=fields, data=data)


def _format(name: str) -> str:
    return _FORMATS.get(PurePosixPath(name).suffix, "text/plain")
