"""Properties of the deep merge and of overrides."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from mtlspec.errors import Place
from mtlspec.io.digest import canonical_json
from mtlspec.spec.nodes import merge, wrap
from mtlspec.spec.overrides import apply_override
from mtlspec.spec.words import shorten

KEYS = st.sampled_from(["a", "b", "c", "type"])
LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 5), st.sampled_from(["x", "y"]), st.lists(st.integers(0, 3))
)
TREES = st.recursive(LEAVES, lambda inner: st.dictionaries(KEYS, inner, max_size=4), max_leaves=12)
MAPPINGS = st.dictionaries(KEYS, TREES, max_size=4)
BASE, OVER = Place("base"), Place("over")


def laid(base: Any, over: Any) -> Any:
    return merge(wrap(base, BASE), wrap(over, OVER)).plain()


def expected(base: Any, over: Any) -> Any:
    """The definition, on plain data."""
    if not isinstance(over, dict):
        return over
    if isinstance(base, str):
        return over if over.keys() & {"type", "card"} else {"type": base, **over}
    if not isinstance(base, dict) or ("type" in base and "type" in over and base["type"] != over["type"]):
        return over
    return {
        key: expected(base[key], over[key]) if key in base and key in over else (base | over)[key]
        for key in base | over
    }


@given(MAPPINGS, MAPPINGS)
def test_merge_is_its_definition(base: dict[str, Any], over: dict[str, Any]) -> None:
    assert laid(base, over) == expected(base, over)


@given(MAPPINGS)
def test_nothing_changes_nothing_and_the_same_changes_nothing(base: dict[str, Any]) -> None:
    assert laid(base, {}) == base
    assert laid({}, base) == base
    assert laid(base, base) == base


@given(MAPPINGS, MAPPINGS)
def test_every_leaf_of_the_upper_tree_wins_and_keeps_its_place(base: dict[str, Any], over: dict[str, Any]) -> None:
    merged = merge(wrap(base, BASE), wrap(over, OVER))
    waiting: list[tuple[tuple[str, ...], Any]] = [((), over)]
    while waiting:
        path, value = waiting.pop()
        node = merged.get(*path)
        assert node is not None
        if isinstance(value, dict):
            waiting += [((*path, key), child) for key, child in value.items()]
        else:
            assert node.plain() == value
            assert node.place == OVER


@given(MAPPINGS, MAPPINGS)
def test_merge_leaves_its_inputs_alone(base: dict[str, Any], over: dict[str, Any]) -> None:
    low, high = wrap(base, BASE), wrap(over, OVER)
    merge(low, high)
    assert (low.plain(), high.plain()) == (base, over)


@given(MAPPINGS, st.lists(st.sampled_from(["p", "q", "r"]), min_size=1, max_size=4), LEAVES)
def test_an_override_is_found_where_it_was_put(base: dict[str, Any], path: list[str], value: Any) -> None:
    text = f"{'.'.join(path)}={canonical_json(value)}"
    changed = apply_override(wrap(base, BASE), text)
    node = changed.get(*path)
    assert node is not None
    assert node.plain() == value
    assert str(node.place) == f"--set {shorten(text)}"
    assert {key: child.plain() for key, child in changed.children().items() if key != path[0]} == base
