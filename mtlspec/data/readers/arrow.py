"""Arrow and Parquet files, an example a row, as the hub's data sets have them; class labels come with their names."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal

from mtlspec.data.blocks import Block, no_file
from mtlspec.data.malformed import refuse
from mtlspec.data.readers._examples import Column, ExampleOptions
from mtlspec.data.readers._json import field, record
from mtlspec.data.sentence import Sentence
from mtlspec.errors import DataError, Place, did_you_mean
from mtlspec.spec.families import Layout

_ROWS = 1024  # held at once: packed columns may hold one long text in all of them


class Options(ExampleOptions):
    layout: ClassVar[Layout] = "jsonl"
    type: Literal["arrow"]

    def problem(self) -> str | None:
        numbers = [place for place in self.places() if isinstance(place, int)]
        if self.skip:
            return "`skip` is for files of lines"
        return f"a column has a name, not the number {numbers[0]}" if numbers else super().problem()

    def blocks(self, path: Path) -> Iterator[Block]:
        """Rows as lines of JSON, so that what can be wrong with them is said in the same words; lines count rows."""
        number = 0
        for schema, rows in batches(path):
            if not number:
                self._check_columns(schema, path)
            for row in rows:
                number += 1
                yield Block(str(path), number, number, (json.dumps(row, default=_as_text),))

    def parse(self, block: Block) -> Sentence:
        found = record(block)
        return self.example(lambda place: field(found, place), block)

    def _class(self, name: str, cell: Any, place: Column, block: Block) -> str | None:
        """A bare -1 is refused unless the card says what it means: data sets without names of classes have it, too."""
        if type(cell) is int and cell == -1 and "-1" not in self.missing and name not in self.classes:
            hint = 'for none, say `missing: ["", "_", "-1"]`; if it is a class, list all of them in `classes`'
            raise DataError("E737", f"-1 in '{place}' is a class, or the hub's sign for none", block.place(), hint)
        return super()._class(name, cell, place, block)

    def _check_columns(self, names: list[str], path: Path) -> None:
        lacking = [str(place) for place in self.places() if {str(place), str(place).split(".")[0]}.isdisjoint(names)]
        refuse(
            [DataError("E731", f"the file has no column '{one}'", path, did_you_mean(one, names)) for one in lacking]
        )


def batches(path: Path) -> Iterator[tuple[list[str], list[dict[str, Any]]]]:
    """The column names with some rows at a time, and an empty first batch; class labels by their names."""
    import pyarrow as pa
    from datasets import Features

    if not path.exists():
        raise no_file(path)
    number = 0
    try:
        schema, batches = _opened(path)
        features = Features.from_arrow_schema(schema)
        yield list(schema.names), []
        for batch in batches:
            rows = [{name: _plain(cell, features[name]) for name, cell in row.items()} for row in batch.to_pylist()]
            yield list(schema.names), rows
            number += len(rows)
    except (pa.ArrowException, OSError, UnicodeDecodeError, ValueError, KeyError, TypeError) as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        hint = "Arrow or Parquet; tables and JSON lines have the readers `table` and `jsonl`"
        raise DataError("E730", f"not an Arrow file: {reason}", Place(str(path), number + 1), hint) from None


def _opened(path: Path) -> tuple[Any, Iterator[Any]]:
    """Schema and record batches of a Parquet file, an Arrow stream (as `datasets` writes) or an Arrow file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with path.open("rb") as file:
        start = file.read(6)
    if start.startswith(b"PAR1"):
        table = pq.ParquetFile(path)
        return table.schema_arrow, table.iter_batches(_ROWS)
    source = pa.memory_map(str(path))
    if start == b"ARROW1":
        reader = pa.ipc.open_file(source)
        return reader.schema, (reader.get_batch(at) for at in range(reader.num_record_batches))
    stream = pa.ipc.open_stream(source)
    return stream.schema, iter(stream)


def _plain(cell: Any, feature: Any) -> Any:
    """A cell as JSON has it: names for class labels (-1 is the hub's sign for none), null for what is not a number."""
    from datasets import ClassLabel

    if isinstance(feature, ClassLabel) and isinstance(cell, int):
        names = feature.names
        return (names[cell] if cell < len(names) else str(cell)) if cell >= 0 else None
    if isinstance(cell, float) and math.isnan(cell):
        return None
    if isinstance(cell, list):
        below = getattr(feature, "feature", feature[0] if isinstance(feature, list) else None)
        return [_plain(item, below) for item in cell]
    if isinstance(cell, Mapping):
        below = feature if isinstance(feature, Mapping) else getattr(feature, "feature", {})
        return {name: _plain(item, below.get(name)) for name, item in cell.items()}
    return cell


def _as_text(value: Any) -> str:
    """What JSON has no form for, as text: bytes are UTF-8, dates and the like are written as usual."""
    if isinstance(value, bytes):
        return value.decode(errors="surrogateescape")  # half characters are refused where a text is read
    return str(value)
