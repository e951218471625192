"""Where a spec's text comes from: its file, the files it extends, cards by name, and `--set` overrides."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mtlspec.errors import MtlspecError, Place, Problems, SpecError, did_you_mean
from mtlspec.io.project import Project
from mtlspec.spec.cards import NAME
from mtlspec.spec.nodes import Node, merge
from mtlspec.spec.words import shorten, show
from mtlspec.spec.yaml import parse_yaml, read_yaml

MAX_EXTENDS = 16
_NAME = re.compile(NAME)
_SEGMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


@dataclass
class Sources:
    """Reads the files of one spec and remembers which they were."""

    project: Project
    files: list[Path] = field(default_factory=list)

    def spec(self, path: Path, overrides: Sequence[str]) -> Node:
        """The file with everything it extends below it and the overrides on top; the key `extends` is gone."""
        node = self._extended(path.absolute(), ())
        problems: list[MtlspecError] = []
        for text in overrides:
            try:
                node = apply_override(node, text)
            except MtlspecError as error:
                problems.extend(error.problems)
        if problems:
            raise Problems(problems)
        return node

    def card(self, folder: Path, name: Node) -> Node:
        """The card that a name stands for."""
        if not isinstance(name.value, str) or not _NAME.fullmatch(name.value):
            raise SpecError(
                "E124", f"a card has a name of small letters, digits and `_`, not {show(name.plain())}", name.place
            )
        path = folder / f"{name.value}.yaml"
        label = self.project.relative(folder)
        if not path.is_file():
            known = [p.stem for p in folder.glob("*.yaml") if p.is_file()]
            message, hint = f"there is no card '{name.value}' in {label}", did_you_mean(name.value, known)
            if (found := instead_of_file(path)) is not None:
                message, hint = f"the card '{name.value}' is no file: {label}/{path.name} is {found}", None
            raise SpecError("E122", message, name.place, hint or f"cards are files in {label}")
        begins = "card: data" if folder == self.project.data_cards else "card: encoder"
        node = self._mapping(path, "a card", begins)
        said = node.get("name")
        if said is not None and isinstance(said.value, str) and said.value != name.value:
            message = f"the card is called '{shorten(said.value)}', its file '{path.name}'"
            raise SpecError("E123", message, said.place, "give both the same name")
        return node

    def refined(self, folder: Path, node: Node) -> Node:
        """An inline card that `extends` a card by name, laid on that card; any other node as it is."""
        if not isinstance(node.value, dict) or "extends" not in node.value:
            return node
        return merge(self.card(folder, node.value["extends"]), node.without("extends"))

    def _mapping(self, path: Path, what: str, begins: str) -> Node:
        node = read_yaml(path, self.project.relative(path))
        self.files.append(path)
        if node.value is None:
            raise SpecError("E149", "the file is empty", node.place, f"{what} begins with `{begins}`")
        if not isinstance(node.value, dict):
            raise SpecError("E125", f"{what} is a mapping, not {show(node.plain())}", node.place)
        return node

    def _extended(self, path: Path, above: tuple[Path, ...]) -> Node:
        node = self._mapping(path, "a spec", "mtlspec: 1")
        extends = node.child("extends")
        if extends is None:
            return node
        if not isinstance(extends.value, str) or not extends.value or "\0" in extends.value:
            message = f"`extends` must be the path of a spec, not {show(extends.plain())}"
            raise SpecError("E126", message, extends.place)
        base, exists = _follow(path.parent / extends.value, extends.place)
        if not base.is_relative_to(self.project.root):
            raise SpecError("E127", "`extends` leaves the project", extends.place)
        chain = (*above, _follow(path, extends.place)[0])
        if base in chain:
            names = " -> ".join(self.project.relative(p) for p in (*chain[chain.index(base) :], base))
            raise SpecError("E128", f"specs extend each other in a circle: {names}", extends.place)
        if len(chain) > MAX_EXTENDS:
            raise SpecError("E129", f"more than {MAX_EXTENDS} specs extend each other", extends.place)
        if not exists:
            known = [p.name for p in base.parent.glob("*.yaml") if p.is_file()]
            hint = did_you_mean(base.name, known)
            raise SpecError("E136", f"there is no file '{shorten(extends.value)}'", extends.place, hint)
        return merge(self._extended(base, chain), node.without("extends"))


def _follow(path: Path, place: Place) -> tuple[Path, bool]:
    """The real path, without links, and whether a file is there."""
    try:
        real = path.resolve()
        return real, real.is_file()
    except (OSError, RuntimeError):  # a name that is too long, a circle of links
        raise SpecError("E137", "the path cannot be followed", place) from None


def instead_of_file(path: Path) -> str | None:
    """What stands where a file was looked for, in words; None if nothing does."""
    try:
        if path.is_dir():
            return "a folder"
        if path.is_symlink():
            return "a link that leads nowhere"
        return "something else" if path.exists() else None
    except OSError:  # a name that is too long for the file system
        return None


def apply_override(node: Node, text: str) -> Node:
    """`a.b.c=value` laid on a spec; the value is YAML: a scalar, `[1, 2]` or `{a: 1}`."""
    printable = shorten(" ".join(text.encode(errors="replace").decode().split()))
    place = Place(f"--set {printable}")
    dotted, equals, raw = text.partition("=")
    segments = dotted.strip().split(".")
    if not equals or not all(_SEGMENT.fullmatch(segment) for segment in segments):
        raise SpecError("E138", "an override is written `key.key=value`", place)
    if segments == ["extends"]:
        raise SpecError("E175", "`extends` cannot be set", place, "write it in the spec's file")
    if not raw.strip():
        raise SpecError("E139", "the value is missing", place, "write `null` to unset a key")
    try:
        parsed = parse_yaml(raw.encode(errors="surrogateescape"), place.file)
    except MtlspecError as error:
        problems = [SpecError(p.code, p.message, place, _override_hint(p)) for p in error.problems]
        raise Problems(problems) from None
    over = _said_at(parsed, place)
    for depth in reversed(range(len(segments))):
        below = node.get(*segments[:depth])
        if below is not None and not isinstance(below.value, dict | str | None):
            through = ".".join(segments[:depth])
            raise SpecError("E140", f"'{through}' is {show(below.plain())} and has no keys", place, "set it as a whole")
        over = Node({segments[depth]: over}, place, place)
    return merge(node, over)


def _override_hint(problem: MtlspecError) -> str | None:
    """Hints of the YAML reader speak of files."""
    return "use a UTF-8 locale" if problem.code == "E104" else problem.hint


def _said_at(node: Node, place: Place) -> Node:
    """The same tree, with one place for everything in it."""
    if isinstance(node.value, dict):
        return Node({key: _said_at(child, place) for key, child in node.value.items()}, place, place)
    if isinstance(node.value, list):
        return Node([_said_at(child, place) for child in node.value], place, place)
    return Node(node.value, place, place)
