"""Where a spec's text comes from: its file, the files it extends, and cards by name."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from mtlspec.errors import Place, SpecError, did_you_mean
from mtlspec.io.project import Project
from mtlspec.spec.cards import NAME
from mtlspec.spec.nodes import Node, merge
from mtlspec.spec.words import shorten, show
from mtlspec.spec.yaml import read_yaml

MAX_EXTENDS = 16
_NAME = re.compile(NAME)


@dataclass
class Sources:
    """Reads the files of one spec and remembers which they were."""

    project: Project
    files: list[Path] = field(default_factory=list)

    def spec(self, path: Path) -> Node:
        """The file with everything it extends below it; the key `extends` is gone."""
        return self._extended(path.absolute(), ())

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
