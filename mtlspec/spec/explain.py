"""From pydantic's errors to ours: one line a place, in plain words, with the position in the file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, ValidationError

from mtlspec import kinds
from mtlspec.errors import Place, SpecError, did_you_mean
from mtlspec.spec import shapes
from mtlspec.spec.families import FAMILIES
from mtlspec.spec.nodes import Node
from mtlspec.spec.scalars import resolve
from mtlspec.spec.words import shorten, show


@dataclass(frozen=True)
class _Spot:
    """Where an error is."""

    path: tuple[str | int, ...]
    shape: shapes.Shape  # what may stand there
    record: shapes.Record  # the model around it
    is_key: bool = False  # the error is about the key, not about its value
    is_union: bool = False  # no alternative fits, so one line must speak of all of them


def explain(error: ValidationError, model: type[BaseModel], node: Node) -> list[SpecError]:
    """Every problem once, in the order in which pydantic found them."""
    locator = _Locator(shapes.Record(model), node)
    found: dict[tuple[Place | None, str], SpecError] = {}
    for item in error.errors(include_url=False):
        spot = locator.find(item["loc"])
        if spot is not None and not _is_echo(item, spot, node):
            problem = _translate(item, spot, node)
            found.setdefault((problem.place, problem.message), problem)
    return list(found.values())


@dataclass
class _Locator:
    """Follows pydantic's locations through the shapes, leaving out the names of union members that stand in them."""

    root: shapes.Record
    node: Node
    members: dict[tuple[Any, ...], list[Any]] = field(default_factory=dict)  # of each union met, in their order

    def find(self, loc: Sequence[str | int]) -> _Spot | None:
        """None: the error belongs to a member of a union that the value was not meant for."""
        shape: shapes.Shape = self.root
        record = self.root
        path: tuple[str | int, ...] = ()
        for position, part in enumerate(loc):
            shape = shapes.unwrap(shape)
            if isinstance(shape, shapes.Either):
                chosen = self.choose(shape, tuple(loc[:position]), part, self.node.near(path).plain())
                if chosen is None:
                    return None
                if chosen is shape:
                    return _Spot(path, shape, record, is_union=True)
                shape = chosen
                continue
            if isinstance(shape, shapes.Kind):
                shape = shape.record(str(part))
                continue
            path = (*path, part)
            if isinstance(shape, shapes.Record):
                record = shape
                known = shape.field(str(part))
                shape = shapes.of_field(known) if known is not None else shapes.Anything()
            elif isinstance(shape, shapes.Mapping):
                if tuple(loc[position + 1 :]) == ("[key]",):
                    return _Spot(path, shape.key, record, is_key=True)
                shape = shape.value
            elif isinstance(shape, shapes.Items):
                shape = shape.item
        return _Spot(path, shapes.unwrap(shape), record)

    def choose(self, union: shapes.Either, where: tuple[Any, ...], member: Any, value: Any) -> shapes.Shape | None:
        """The member that the value was meant for; the union itself if that is unclear; None if it was another one."""
        names = self.members.setdefault(where, [])
        if member not in names:
            names.append(member)
        meant = union.meant(value)
        if len(meant) != 1:
            return union
        return meant[0] if union.options.index(meant[0]) == names.index(member) else None


def _is_echo(item: Any, spot: _Spot, node: Node) -> bool:
    """A list is called too short when its items are wrong; their own errors say it."""
    at = node.near(spot.path).value
    return item["type"] == "too_short" and isinstance(at, list | dict) and len(at) >= item["ctx"]["min_length"]


def _translate(item: Any, spot: _Spot, node: Node) -> SpecError:
    kind = item["type"]
    if kind == "missing":
        return _missing(str(spot.path[-1]), node.near(spot.path[:-1]).place, shapes.unwrap(spot.shape).words())
    if kind == "extra_forbidden":
        return _unknown_key(spot, node)
    if kind == "union_tag_invalid" and isinstance(spot.shape, shapes.Kind):
        return _unknown_kind(spot.shape.family, spot.path, node)
    if kind == "union_tag_not_found" and isinstance(spot.shape, shapes.Kind):
        return _missing("type", node.near(spot.path).place, "one of: " + ", ".join(kinds.names(spot.shape.family)))
    if kind in ("value_error", "assertion_error"):
        reason = str(item.get("ctx", {}).get("error", item["msg"]))
        return SpecError("E133", f"{_subject(spot)}: {reason}", node.near(spot.path).place)
    return _wrong_value(spot, node)


def _missing(key: str, place: Place, expected: str) -> SpecError:
    return SpecError("E131", f"the key '{key}' is missing", place, f"it holds {expected}")


def _unknown_key(spot: _Spot, node: Node) -> SpecError:
    key = str(spot.path[-1])
    around = node.near(spot.path[:-1])
    present = around.value if isinstance(around.value, dict) else {}
    fields = spot.record.cls.model_fields
    hint = _guess(key, fields.keys() - present.keys()) or did_you_mean(key, fields)
    child = node.near(spot.path)
    return SpecError("E130", f"unknown key '{shorten(key)}'", child.key or child.place, hint)


def _unknown_kind(family: str, path: tuple[str | int, ...], node: Node) -> SpecError:
    at = node.near((*path, "type"))
    word = FAMILIES[family]
    names = kinds.names(family)
    if not isinstance(at.value, str):
        return SpecError("E134", f"'type' must be the name of a {word}, not {show(at.plain())}", at.place)
    return SpecError("E132", f"unknown {word} '{shorten(at.value)}'", at.place, did_you_mean(at.value, names))


def _wrong_value(spot: _Spot, node: Node) -> SpecError:
    at = node.near(spot.path)
    value = spot.path[-1] if spot.is_key else at.plain()
    place = (at.key or at.place) if spot.is_key else at.place
    hint = None
    if isinstance(value, str) and not spot.is_key and _is_quoted(value, spot.shape):
        hint = "write it without quotes"
    elif isinstance(value, int | float) and shapes.takes_any_text(spot.shape):
        hint = "put it in quotes"
    elif isinstance(spot.shape, shapes.Choice) and isinstance(value, str):
        hint = _guess(value, [choice for choice in spot.shape.values if isinstance(choice, str)])
    return SpecError("E135", f"{_subject(spot)} must be {spot.shape.words()}, not {show(value)}", place, hint)


def _is_quoted(text: str, shape: shapes.Shape) -> bool:
    """Whether quotes made a text of what would fit without them."""
    try:
        value = resolve(text)
    except ValueError:
        return False
    if isinstance(value, str) or value is None:
        return False
    if isinstance(shape, shapes.Choice):
        return any(type(choice) is type(value) and choice == value for choice in shape.values)
    return shapes.accepts(shape, value)


def _guess(word: str, known: Iterable[str]) -> str | None:
    """A hint only if there is a near word; where the list of words is no help."""
    hint = did_you_mean(word, known)
    return hint if hint and hint.startswith("did") else None


def _subject(spot: _Spot) -> str:
    """What the line is about: `'epochs'`, `item 2 of 'seeds'`, `the key`."""
    if spot.is_key:
        return "the key"
    if not spot.path:
        return "the file"
    last = spot.path[-1]
    if isinstance(last, int):
        owner = next((part for part in reversed(spot.path) if isinstance(part, str)), "the list")
        return f"item {last + 1} of '{shorten(owner)}'"
    return f"'{shorten(last)}'"
