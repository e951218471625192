"""Examples from named cells, one a row: what tables, JSON lines and Arrow files have in common."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, Self, TypeAlias

from pydantic import Field

from mtlspec.data.blocks import Block, cells
from mtlspec.data.malformed import refuse, tried
from mtlspec.data.sentence import Layer, Sentence
from mtlspec.errors import DataError, did_you_mean
from mtlspec.io.words import counted
from mtlspec.kinds import Sequence_
from mtlspec.spec.card_families import ReaderOptions
from mtlspec.spec.families import LayerKind
from mtlspec.spec.words import shorten, show

Column: TypeAlias = str | int
Classes: TypeAlias = Sequence_[str] | dict[str, str]
Get: TypeAlias = Callable[[Column], Any]
_EXACT = 2.0**53  # below it every whole float is one whole number
_NUMBER = re.compile(r"\s*[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?\s*")


class ExampleOptions(ReaderOptions):
    """Where the parts of an example stand. A name in `label`, `value` or `tags` is a column that the card may name."""

    text: Annotated[Sequence_[Column], Field(max_length=2)] = Field(
        default=(), description="Where the raw text stands; two columns are a pair of texts."
    )
    words: Column | None = Field(
        default=None, description="Where the words stand, separated by blanks or as a list; instead of `text`."
    )
    label: dict[str, Column] = Field(
        default_factory=dict, description="Column name -> where it stands; each holds a class of the example."
    )
    value: dict[str, Column] = Field(
        default_factory=dict, description="Column name -> where it stands; each holds a number."
    )
    tags: dict[str, Column] = Field(
        default_factory=dict,
        description="Column name -> where it stands; each holds one tag for every word, as `words` holds the words.",
    )
    classes: dict[str, Classes] = Field(
        default_factory=dict,
        description="Columns of `label` or `tags` whose classes are known: a list, or what stands in the file -> the "
        "class it means, such as `{0: no, 1: yes}`. Anything else is then a defect.",
    )
    missing: Sequence_[str] = Field(
        default=("", "_"),
        description='Texts that mean: no label, number or tag here. A null always does. Where `_` is a class: `[""]`.',
    )
    id: Column | None = Field(default=None, description="Where the example's name stands; default: its number.")
    skip: Annotated[int, Field(ge=0)] = Field(default=0, description="Lines at the top that are not data.")

    def _columns(self) -> dict[LayerKind, dict[str, Column]]:
        return {"label": self.label, "value": self.value, "tags": self.tags}

    def layer_kind(self, column: str) -> LayerKind | None:
        return next((kind for kind, named in self._columns().items() if column in named), None)

    def column_names(self) -> tuple[str, ...]:
        return (*self.label, *self.value, *self.tags)

    def named_by(self, column: str) -> str:
        option = self.layer_kind(column)
        if option is None:
            return super().named_by(column)
        return f"`{option}: {{{column}: {self._columns()[option][column]}}}` of the reader"

    def known_labels(self, column: str) -> tuple[str, ...] | None:
        known = self.classes.get(column)
        return None if known is None else tuple(dict.fromkeys(known.values() if isinstance(known, dict) else known))

    def unlabelled(self) -> Self:
        return self.model_copy(update={"label": {}, "value": {}, "tags": {}, "classes": {}})

    def places(self) -> tuple[Column, ...]:
        """Everything that is read of a row."""
        return (*self.needed(), *self.label.values(), *self.value.values(), *self.tags.values())

    def needed(self) -> tuple[Column, ...]:
        """What some row must have; labels may be missing in all of them."""
        return (*self.text, *(place for place in (self.words, self.id) if place is not None))

    def problem(self) -> str | None:
        if bool(self.text) == (self.words is not None):
            return f"say `text` or `words`, not {'both' if self.text else 'neither'}"
        names = self.column_names()
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            return f"'{twice}' stands twice in `label`, `value` and `tags`"
        if self.tags and self.words is None:
            return "`tags` need `words`"
        unknown = sorted(self.classes.keys() - self.label.keys() - self.tags.keys())
        if unknown:
            return f"`classes` names '{unknown[0]}', which neither `label` nor `tags` does"
        both = next((said for known in self.classes.values() for said in known if said in self.missing), None)
        return None if both is None else f"`classes` and `missing` both name '{both}'; if it is a class, set `missing`"

    def example(self, get: Get, block: Block) -> Sentence:
        """The example of one row; `get` gives what stands at a place, None where nothing does."""
        defects: list[DataError] = []
        texts = [tried(defects, partial(_text, get(place), place, block)) for place in self.text]
        listed = None if self.words is None else _listed(get(self.words))
        words = () if self.words is None else tried(defects, partial(_words, get(self.words), self.words, block))
        layers: dict[str, Layer | None] = {}
        for name, place in self.label.items():
            layers[name] = tried(defects, partial(self._class, name, get(place), place, block))
        for name, place in self.value.items():
            layers[name] = tried(defects, partial(self._number, get(place), place, block))
        for name, place in self.tags.items():
            size = len(listed) if isinstance(listed, list) and listed else None
            tags = tried(defects, partial(self._tags, name, get(place), place, size, block))
            layers[name] = tags if tags and any(tag is not None for tag in tags) else None
        name_ = None if self.id is None else tried(defects, partial(_scalar, get(self.id), self.id, block))
        refuse(defects)
        found = {column: layer for column, layer in layers.items() if layer is not None}
        read = tuple(text for text in texts if text is not None)
        return Sentence(name_ or str(block.number), words or (), found, (block.file, block.first), texts=read)

    def _class(self, name: str, cell: Any, place: Column, block: Block) -> str | None:
        """Blanks around a label are no part of it, `x ` and `x` are one class, unless `classes` says what it means."""
        known, said = self.classes.get(name), _scalar(cell, place, block)
        if said is not None and (known is None or said not in known):
            said = said.strip()
        if said is None or said in self.missing:
            return None
        if known is None:
            return said
        if said not in known:
            hint = did_you_mean(said, known) or f"`classes` of the reader knows {len(known)}"
            raise DataError("E711", f"'{shorten(said)}' is no class of '{name}'", block.place(), hint)
        return known[said] if isinstance(known, dict) else said

    def _number(self, cell: Any, place: Column, block: Block) -> float | None:
        text = _scalar(cell, place, block)
        if text is None or text.strip() in self.missing:
            return None
        number = float(text[:400]) if not isinstance(cell, bool) and _NUMBER.fullmatch(text[:400]) else math.nan
        if not math.isfinite(number):
            message = f"'{shorten(text)}' is not a number, but '{place}' holds numbers"
            raise DataError("E712", message, block.place(), "list it in `missing` if it means that there is none")
        return number

    def _tags(self, name: str, cell: Any, place: Column, size: int | None, block: Block) -> tuple[str | None, ...]:
        """`size`: the number of words, if they can be read."""
        if cell is None or cell in self.missing:
            return ()
        found = _listed(cell)
        if not isinstance(found, list):
            raise DataError("E719", f"'{place}' must be a list of tags, not {show(cell)}", block.place())
        defects: list[DataError] = []
        tags = tuple([tried(defects, partial(self._class, name, tag, place, block)) for tag in found])
        if size is not None and len(found) != size:
            defects.append(
                DataError(
                    "E718", f"{counted(len(found), 'tag')} in '{place}', but {counted(size, 'word')}", block.place()
                )
            )
        refuse(defects)
        return tags


def _text(cell: Any, place: Column, block: Block) -> str:
    """A text as it stands; an empty one is a defect, because nothing could be read from it."""
    if cell is not None and not isinstance(cell, str):
        raise DataError("E715", f"'{place}' must be a text, not {show(cell)}", block.place())
    if cell is None or not cell.strip():
        hint = "`on_invalid: drop` leaves such examples out"
        raise DataError("E713", f"the text '{place}' is empty", block.place(), hint)
    return _clean(cell, place, block)


def _listed(cell: Any) -> Any:
    """A text as the list of what stands between its blanks."""
    return cells(cell) if isinstance(cell, str) else cell


def _words(cell: Any, place: Column, block: Block) -> tuple[str, ...]:
    found = _listed(cell)
    if not isinstance(found, list) or not found:
        raise DataError("E716", f"'{place}' must be words, not {show(cell)}", block.place())
    refuse(
        [
            DataError("E990", f"word {number} of '{place}' must be a text, not {show(word)}", block.place())
            for number, word in enumerate(found, 1)
            if not (isinstance(word, str) and word.strip())
        ]
    )
    return tuple(_clean(word, place, block) for word in found)


def _scalar(cell: Any, place: Column, block: Block) -> str | None:
    """A label as a text: `true` and `1` as JSON writes them; `1.0` is `1`, because tables with gaps hold only that."""
    if isinstance(cell, list | dict):
        raise DataError("E714", f"'{place}' must be one label or number, not {show(cell)}", block.place())
    if cell is None or isinstance(cell, str):
        return None if cell is None else _clean(cell, place, block)
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < _EXACT:
        return repr(int(cell))
    return str(cell).lower() if isinstance(cell, bool) else repr(cell)


def _clean(text: str, place: Column, block: Block) -> str:
    """JSON can say what no file can hold: half of a character."""
    if "\0" in text:
        raise DataError("E710", f"'{place}' holds a NUL character", block.place(), "such a file is damaged")
    if not text.isascii() and any("\ud800" <= sign <= "\udfff" for sign in text):
        raise DataError("E717", f"'{place}' holds half of a surrogate pair", block.place(), "such a file is damaged")
    return text
