"""A guarded YAML reader: parser events only, no constructors.

No tags, anchors, aliases, merge keys, directives, second documents or duplicate keys; size, depth and number of values
are limited; keys are texts. Whatever the bytes, the answer is a tree with places or a `SpecError` with file, line and
column.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from yaml import events
from yaml.cyaml import CParser  # type: ignore[attr-defined]  # libyaml's parser; its stub hides it
from yaml.error import MarkedYAMLError, YAMLError

from mtlspec.errors import Place, Problems, SpecError
from mtlspec.spec.nodes import Node
from mtlspec.spec.scalars import resolve
from mtlspec.spec.words import shorten

MAX_BYTES = 1 << 20
MAX_DEPTH = 32
MAX_VALUES = 20_000
_MAX_PROBLEMS = 20
# Control characters, lone surrogates and the line breaks of YAML 1.1 that editors do not count as lines.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")


def read_yaml(path: Path, label: str) -> Node:
    """The tree of a file; `label` is how messages call the file."""
    place = Place(label)
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise SpecError("E101", "the file does not exist", place) from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = getattr(error, "strerror", None) or error
        raise SpecError("E102", f"the file cannot be read: {reason}", place) from None
    return parse_yaml(data, label)


def parse_yaml(data: bytes, label: str) -> Node:
    """The tree of a document given as bytes."""
    if len(data) > MAX_BYTES:
        raise SpecError("E103", f"larger than {MAX_BYTES >> 20} MiB", Place(label))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode(errors="replace").removeprefix("\ufeff")
        raise SpecError("E104", "not UTF-8", _place_at(label, before, len(before)), "save the file as UTF-8") from None
    if bad := _FORBIDDEN.search(text):
        message = f"the character U+{ord(bad.group()):04X} is not allowed"
        raise SpecError("E105", message, _place_at(label, text, bad.start()), "delete it")
    return _Builder(label).build(text)


def _place_at(label: str, text: str, index: int) -> Place:
    lines = re.split(r"\r\n|\r|\n", text[:index])
    return Place(label, len(lines), len(lines[-1]) + 1)


class _Builder:
    """Turns events into a tree, without recursion."""

    def __init__(self, label: str) -> None:
        self.label = label
        self.problems: list[SpecError] = []
        self.open: list[Node] = []  # the containers that are not closed yet
        self.keys: list[tuple[str, Place] | None] = []  # for each of them the key that waits for its value
        self.values = 0
        self.root: Node | None = None

    def build(self, text: str) -> Node:
        parser = CParser(text)
        try:
            while not isinstance(event := parser.get_event(), events.StreamEndEvent):
                self.take(event)
                if len(self.problems) >= _MAX_PROBLEMS:
                    break
        except YAMLError as error:
            self.problems.append(self.syntax_error(error, text))
        if self.problems:
            raise Problems(self.problems)
        return self.root or Node(None, Place(self.label, 1, 1))

    def take(self, event: Any) -> None:
        place = Place(self.label, event.start_mark.line + 1, event.start_mark.column + 1)
        if isinstance(event, events.NodeEvent):
            self.take_node(event, place)
        elif isinstance(event, events.CollectionEndEvent):
            self.open.pop()
            self.keys.pop()
        elif isinstance(event, events.DocumentStartEvent):
            if event.version or event.tags:
                self.complain("E106", "YAML directives (`%`) are not allowed", place)
            if self.root is not None:
                raise Problems([*self.problems, SpecError("E107", "a file holds one document", place, "delete `---`")])

    def take_node(self, event: Any, place: Place) -> None:
        self.values += 1
        if self.values > MAX_VALUES:
            raise Problems([*self.problems, SpecError("E108", f"more than {MAX_VALUES} values", place)])
        if isinstance(event, events.AliasEvent):
            self.complain(
                "E109",
                f"aliases (`*{shorten(str(event.anchor))}`) are not allowed",
                place,
                "use `extends`, or say it twice",
            )
        elif event.anchor is not None:
            self.complain(
                "E110",
                f"anchors (`&{shorten(str(event.anchor))}`) are not allowed",
                place,
                "use `extends`, or say it twice",
            )
        elif event.tag is not None:
            self.complain("E111", f"tags (`{shorten(event.tag)}`) are not allowed", place)
        if isinstance(event, events.ScalarEvent):
            self.take_scalar(event, place)
        elif isinstance(event, events.AliasEvent):
            self.take_scalar(events.ScalarEvent(None, None, (True, False), "null"), place)
        else:
            self.enter({} if isinstance(event, events.MappingStartEvent) else [], place)

    def take_scalar(self, event: Any, place: Place) -> None:
        plain = event.implicit[0]
        if self.expects_key():
            self.take_key(event.value, plain, place)
            return
        value = event.value
        if plain:
            try:
                value = resolve(value)
            except ValueError as error:
                self.complain("E112", str(error), place)
        if isinstance(value, str) and (bad := _FORBIDDEN.search(value)):  # written as an escape
            self.complain("E113", f"the character U+{ord(bad.group()):04X} is not allowed", place)
        self.put(Node(value, place, self.pending_place()))

    def take_key(self, key: str, plain: bool, place: Place) -> None:
        container = self.open[-1].value
        assert isinstance(container, dict)
        if not key or (plain and key == "~"):
            self.complain("E114", "a key is empty", place)
        elif plain and key == "<<":
            self.complain("E115", "merge keys (`<<`) are not allowed", place, "use `extends`")
        elif key in container:
            first = container[key].key
            line = f"it stands first in line {first.line}" if first else None
            self.complain("E116", f"the key '{shorten(key)}' stands twice", place, line)
        elif bad := _FORBIDDEN.search(key):
            self.complain("E117", f"the character U+{ord(bad.group()):04X} is not allowed in a key", place)
        self.keys[-1] = (key, place)

    def enter(self, container: dict[str, Node] | list[Node], place: Place) -> None:
        if len(self.open) >= MAX_DEPTH:
            raise Problems([*self.problems, SpecError("E118", f"nested deeper than {MAX_DEPTH} levels", place)])
        if self.expects_key():
            raise Problems([*self.problems, SpecError("E119", "a key must be a text", place)])
        node = Node(container, place, self.pending_place())
        self.put(node)
        self.open.append(node)
        self.keys.append(None)

    def put(self, node: Node) -> None:
        if not self.open:
            self.root = node
        elif isinstance(container := self.open[-1].value, list):
            container.append(node)
        else:
            assert isinstance(container, dict)
            pending = self.keys[-1]
            assert pending is not None
            container[pending[0]] = node
            self.keys[-1] = None

    def expects_key(self) -> bool:
        return bool(self.open) and isinstance(self.open[-1].value, dict) and self.keys[-1] is None

    def pending_place(self) -> Place | None:
        pending = self.keys[-1] if self.keys else None
        return pending[1] if pending else None

    def complain(self, code: str, message: str, place: Place, hint: str | None = None) -> None:
        self.problems.append(SpecError(code, message, place, hint))

    def syntax_error(self, error: YAMLError, text: str) -> SpecError:
        if not isinstance(error, MarkedYAMLError) or error.problem_mark is None:
            return SpecError("E120", f"not valid YAML: {error}", Place(self.label))
        mark, begun = error.problem_mark, error.context_mark
        message = f"not valid YAML: {error.problem}"
        lines = text.split("\n")
        ended = mark.line >= len(lines) or (mark.line == len(lines) - 1 and not lines[-1][mark.column :])
        if ended and begun is not None:
            mark, message = begun, "not valid YAML: what begins here is not closed"
        elif begun is not None and begun.line != mark.line:
            message = f"{message} {error.context} begun in line {begun.line + 1}"
        tab = mark.line < len(lines) and lines[mark.line][mark.column : mark.column + 1] == "\t"
        hint = "indent with spaces, not tabs" if tab else None
        return SpecError("E121", message, Place(self.label, mark.line + 1, mark.column + 1), hint)
