"""Raw data that remembers where it was said: the tree between a YAML file and the validated models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from mtlspec.errors import Place
from mtlspec.spec.cards import is_inline

Scalar: TypeAlias = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Node:
    """A value, its place and, if it stands under a key, the key's place."""

    value: Scalar | dict[str, Node] | list[Node]
    place: Place
    key: Place | None = None

    def plain(self) -> Any:
        """The value without places."""
        if isinstance(self.value, dict):
            return {key: child.plain() for key, child in self.value.items()}
        if isinstance(self.value, list):
            return [child.plain() for child in self.value]
        return self.value

    def get(self, *path: str | int) -> Node | None:
        """The node at a path, if there is one."""
        node: Node = self
        for part in path:
            child = node.child(part)
            if child is None:
                return None
            node = child
        return node

    def child(self, part: str | int) -> Node | None:
        if isinstance(self.value, dict) and isinstance(part, str):
            return self.value.get(part)
        if isinstance(self.value, list) and isinstance(part, int) and 0 <= part < len(self.value):
            return self.value[part]
        return None

    def children(self, key: str | None = None) -> dict[str, Node]:
        """The entries of a mapping, here or under a key; none if it is not there or no mapping."""
        node = self if key is None else self.child(key)
        return node.value if node is not None and isinstance(node.value, dict) else {}

    def items(self, key: str | None = None) -> list[Node]:
        """The items of a list, here or under a key; none if it is not there or no list."""
        node = self if key is None else self.child(key)
        return node.value if node is not None and isinstance(node.value, list) else []

    def near(self, path: Sequence[str | int]) -> Node:
        """The node at a path, or the deepest one on the way to it."""
        node = self
        for part in path:
            child = node.child(part)
            if child is None:
                break
            node = child
        return node

    def without(self, *keys: str) -> Node:
        """A mapping with some keys left out."""
        assert isinstance(self.value, dict)
        return Node({k: v for k, v in self.value.items() if k not in keys}, self.place, self.key)

    def with_child(self, key: str, child: Node) -> Node:
        """A mapping with one child put in or replaced."""
        assert isinstance(self.value, dict)
        return Node({**self.value, key: child}, self.place, self.key)

    def replaced(self, path: tuple[str, ...], node: Node) -> Node:
        """The tree with another node at a path that exists."""
        if not path:
            return node
        child = self.child(path[0])
        assert child is not None
        return self.with_child(path[0], child.replaced(path[1:], node))


# A bare name here stands for a card; anywhere else it is short for `{type: name}`.
_CORPORA = ("data",)  # a card, or cards under names
_CARDS = (_CORPORA, (*_CORPORA, "*"), ("encoder", "card"))


def merge(base: Node, over: Node, path: tuple[str, ...] = ()) -> Node:
    """`over` laid on `base`: mappings merge key by key, everything else is replaced; `path` is where they stand.

    The options of one kind do not leak into another: a mapping whose `type` differs replaces the whole mapping.
    A mapping without `type` laid on a bare name refines what the name stands for: `{alpha: 0.5}` on `power` is a
    `power` sampler with that alpha, `{root: x}` on the name of a card is that card with another root.
    """
    if not isinstance(over.value, dict):
        return over
    if isinstance(base.value, str):
        known_by = "extends" if path in _CARDS else "type"
        if path == _CORPORA and not is_inline(over.value):  # several corpora in place of one
            return over
        if known_by in over.value or over.value.keys() & {"type", "card"}:
            return over
        return Node({known_by: Node(base.value, base.place, base.key), **over.value}, over.place, over.key)
    if not isinstance(base.value, dict) or _kinds_differ(base.value, over.value):
        return over
    corpora = path == _CORPORA and not is_inline(over.value)
    if path == _CORPORA and is_inline(base.value) is corpora:  # one is a card, the other several corpora
        return over
    merged = dict(base.value)
    for key, child in over.value.items():
        below = merged.get(key)
        merged[key] = child if below is None else merge(below, child, (*path, "*" if corpora else key))
    return Node(merged, over.place, over.key)


def _kinds_differ(base: dict[str, Node], over: dict[str, Node]) -> bool:
    ours, theirs = over.get("type"), base.get("type")
    return ours is not None and theirs is not None and ours.plain() != theirs.plain()


def wrap(value: Any, place: Place) -> Node:
    """A tree in which everything was said at one place."""
    if isinstance(value, dict):
        return Node({key: wrap(child, place) for key, child in value.items()}, place, place)
    if isinstance(value, list | tuple):
        return Node([wrap(child, place) for child in value], place, place)
    return Node(value, place, place)
