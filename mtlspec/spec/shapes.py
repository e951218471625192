"""The shape of the spec language, read off the pydantic models: what may stand where.

Pydantic validates; shapes are for people: they find the place of an error, say what was expected, check sweep keys and
write the documentation.
"""

from __future__ import annotations

import types
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias, Union, get_args, get_origin

import annotated_types as at
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from mtlspec import kinds
from mtlspec.kinds import OneOf
from mtlspec.spec.cards import NAME
from mtlspec.spec.words import either

Shape: TypeAlias = "Record | Kind | Mapping | Items | Choice | Single | Either | Anything"


@dataclass(frozen=True)
class Record:
    """The fields of one model."""

    cls: type[BaseModel]

    def field(self, name: str) -> FieldInfo | None:
        return self.cls.model_fields.get(name)

    def words(self) -> str:
        return "a mapping"


@dataclass(frozen=True)
class Kind:
    """The options of one kind of a family, or just the kind's name."""

    family: str

    def record(self, name: str) -> Record:
        return Record(kinds.options_class(self.family, name))

    def words(self) -> str:
        return "the name of a kind, or a mapping with `type`"


@dataclass(frozen=True)
class Mapping:
    key: Shape
    value: Shape
    least: int

    def words(self) -> str:
        return "a mapping" if not self.least else f"a mapping with {_at_least(self.least, 'entry', 'entries')}"


@dataclass(frozen=True)
class Items:
    item: Shape
    least: int

    def words(self) -> str:
        return "a list" if not self.least else f"a list with {_at_least(self.least, 'item', 'items')}"


@dataclass(frozen=True)
class Choice:
    values: tuple[Any, ...]

    def words(self) -> str:
        return either([f"'{value}'" if isinstance(value, str) else str(value) for value in self.values])


@dataclass(frozen=True)
class Single:
    """A number, a text or a truth value, with its limits."""

    type: type
    limits: tuple[str, ...]
    pattern: str | None

    def words(self) -> str:
        names = {int: "a whole number", float: "a number", str: "a text", bool: "true or false"}
        if self.pattern is not None:
            return _PATTERNS.get(self.pattern, f"a text that matches {self.pattern}")
        return " ".join([names.get(self.type, self.type.__name__), " and ".join(self.limits)]).strip()


@dataclass(frozen=True)
class Either:
    """Several shapes; None among them is left out and told by `nullable`."""

    options: tuple[Shape, ...]
    nullable: bool

    def words(self) -> str:
        record = any(isinstance(option, Record) for option in self.options)  # it is a mapping too: said once
        words = [option.words() for option in self.options if not (record and isinstance(option, Mapping))]
        return either([*words, *(["null"] if self.nullable else [])])

    def meant(self, value: Any) -> list[Shape]:
        """The options that a raw value may have been written for; a key of a record tells it from other mappings."""
        fitting = [option for option in self.options if accepts(option, value)]
        records = [option for option in fitting if isinstance(option, Record)]
        if isinstance(value, dict) and records and len(fitting) > 1:
            known = [record for record in records if any(record.field(str(key)) for key in value)]
            return list(known) or [option for option in fitting if not isinstance(option, Record)]
        return fitting


@dataclass(frozen=True)
class Anything:
    def words(self) -> str:
        return "any value"


_PATTERNS = {
    NAME: "a name (a small letter, then small letters, digits and `_`, at most 40)",
    r"^[0-9a-f]{64}$": "a sha256 digest (64 hexadecimal digits)",
    r"^(cpu|cuda(:\d+)?)$": "`cpu`, `cuda` or `cuda:N`",
}


def of_field(field: FieldInfo) -> Shape:
    return _shape(field.annotation, tuple(field.metadata))


def unwrap(shape: Shape) -> Shape:
    """`X or null` is an X where it is not null."""
    return shape.options[0] if isinstance(shape, Either) and len(shape.options) == 1 else shape


def accepts(shape: Shape, value: Any) -> bool:
    """Whether a raw value is of the right sort; its limits are not looked at."""
    match shape:
        case Record() | Mapping():
            return isinstance(value, dict)
        case Kind():
            return isinstance(value, dict | str)
        case Items():
            return isinstance(value, list)
        case Choice(values):
            return any(isinstance(value, type(choice)) for choice in values)
        case Single(type=sort):
            return type(value) is sort or (sort is float and type(value) is int)
        case Either(options, nullable):
            return (value is None and nullable) or any(accepts(option, value) for option in options)
    return True


def takes_any_text(shape: Shape) -> bool:
    match shape:
        case Single(type=sort, pattern=pattern):
            return sort is str and pattern is None
        case Either(options, _):
            return any(map(takes_any_text, options))
    return False


def _shape(annotation: Any, metadata: Sequence[Any]) -> Shape:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _shape(arguments[0], (*arguments[1:], *metadata))
    metadata = tuple(_flatten(metadata))
    family = next((m.family for m in metadata if isinstance(m, OneOf)), None)
    if family is not None:
        return Kind(family)
    if origin in (Union, types.UnionType):
        options = tuple(_shape(argument, ()) for argument in arguments if argument is not type(None))
        nullable = type(None) in arguments
        return Either(options, nullable)
    if origin is Literal:
        return Choice(arguments)
    least = next((m.min_length for m in metadata if isinstance(m, at.MinLen)), 0)
    if origin in (tuple, list):
        return Items(_shape(arguments[0], ()), least)
    if origin is dict:
        return Mapping(_shape(arguments[0], ()), _shape(arguments[1], ()), least)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return Record(annotation)
    if annotation in (int, float, str, bool):
        return Single(annotation, tuple(_limits(metadata)), next((p for m in metadata if (p := _pattern(m))), None))
    return Anything()


def _flatten(metadata: Iterable[Any]) -> Iterable[Any]:
    """`Field(ge=0)` inside `Annotated` carries its constraints in a list of its own."""
    for item in metadata:
        if isinstance(item, FieldInfo):
            yield from item.metadata
        else:
            yield item


def _limits(metadata: Sequence[Any]) -> Iterable[str]:
    least = next((m.ge for m in metadata if isinstance(m, at.Ge)), None)
    most = next((m.le for m in metadata if isinstance(m, at.Le)), None)
    if least is not None and most is not None:
        yield f"from {least} to {most}"
        metadata = [m for m in metadata if not isinstance(m, at.Ge | at.Le)]
    for limit in metadata:
        match limit:
            case at.Ge(ge=least):
                yield f"of at least {least}"
            case at.Gt(gt=bound):
                yield f"above {bound}"
            case at.Le(le=most):
                yield f"of at most {most}"
            case at.Lt(lt=bound):
                yield f"below {bound}"
            case at.MinLen(min_length=length):
                yield f"of at least {length} characters"


def _pattern(item: Any) -> str | None:
    pattern = getattr(item, "pattern", None)
    return pattern if isinstance(pattern, str) else None


def _at_least(number: int, one: str, many: str) -> str:
    return f"at least one {one}" if number == 1 else f"at least {number} {many}"
