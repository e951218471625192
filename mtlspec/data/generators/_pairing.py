"""Pairs of labelled things, each in exactly two of them: half of the pairs of one label, half of two."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from itertools import pairwise
from typing import TypeVar

from mtlspec.data.generators._dice import Dice

_TRIES = 50  # of other orders, where pairs came twice
Pair = tuple[int, int]
T = TypeVar("T")


def paired(labels: Sequence[Hashable], seed: str) -> list[Pair] | None:
    """As many pairs as labels, in random order; None if there are none such.

    Everything stands once in front and once behind. Pairs of one label and of two differ in number by at most two, and
    by nothing where that is possible.
    """
    dice = Dice(0, seed)
    by_label: dict[Hashable, list[int]] = defaultdict(list)
    for number, label in enumerate(labels):
        by_label[label].append(number)
    for across in _halves(len(labels)):
        places = _places([len(group) for group in by_label.values()], across)
        for _ in range(_TRIES if places is not None else 0):
            groups = [_shuffled(dice, group) for group in by_label.values()]
            outside = [_shared_out(group, number) for group, number in zip(groups, places or (), strict=True)]
            edges = _across(_shuffled(dice, outside))
            for given in outside:
                edges += _within([(thing, 2 - times) for thing, times in given])
            if len({frozenset(edge) for edge in edges}) == len(labels):
                return _shuffled(dice, _in_turn(edges))
    return None


def _halves(total: int) -> list[int]:
    """How many pairs may be of two labels, best first."""
    near = range(max(total // 2 - 1, 0), total // 2 + 3)
    return sorted((number for number in near if abs(2 * number - total) <= 2), key=lambda n: (abs(2 * n - total), n))


def _places(sizes: Sequence[int], across: int) -> list[int] | None:
    """How many places each label has in pairs of two labels, near its size; None if there is no such choice.

    The number is even, or the places that remain would not pair up; no label has more than all others together; and
    one or two things cannot form a ring of their own.
    """
    most = [min(2 * size, across - across % 2) for size in sizes]
    least = [2 if size < 3 else 0 for size in sizes]
    found = [max(min(size + size % 2, top), low) for size, top, low in zip(sizes, most, least, strict=True)]
    while sum(found) != 2 * across:
        step = 2 if sum(found) < 2 * across else -2
        free = [at for at, number in enumerate(found) if least[at] <= number + step <= most[at]]
        if not free:
            return None
        found[max(free, key=lambda at: (sizes[at] - found[at]) * step)] += step
    return found if all(number <= top for number, top in zip(found, most, strict=True)) else None


def _shared_out(group: Sequence[int], places: int) -> list[Pair]:
    """(thing, how many of these places it has): as evenly as they go."""
    each, more = divmod(places, len(group))
    return [(thing, each + (at < more)) for at, thing in enumerate(group)]


def _across(groups: Sequence[Sequence[Pair]]) -> list[Pair]:
    """Places outside, label by label, each with the one half of them further on: never the same label."""
    places = [thing for group in groups for turn in (1, 2) for thing, times in group if times >= turn]
    half = len(places) // 2
    return list(zip(places[:half], places[half:], strict=True))


def _within(wanted: Sequence[Pair]) -> list[Pair]:
    """Pairs of one label, as many of each thing as it wants: a path through those of two, and pairs of the others."""
    twice = [thing for thing, times in wanted if times == 2]
    once = [thing for thing, times in wanted if times == 1]
    if not once:
        return list(zip(twice, [*twice[1:], *twice[:1]], strict=True))
    path = [once[0], *twice, *once[1:2]]
    rest = once[2:]
    return [*pairwise(path), *zip(rest[::2], rest[1::2], strict=False)]


def _in_turn(edges: Sequence[Pair]) -> list[Pair]:
    """Pairs form rings; walked round, everything comes once in front and once behind."""
    at: dict[int, list[int]] = defaultdict(list)
    for place, edge in enumerate(edges):
        for thing in edge:
            at[thing].append(place)
    left = set(range(len(edges)))
    turned: list[Pair] = []
    number: int | None
    for start, edge in enumerate(edges):
        number, thing = start if start in left else None, edge[0]
        while number is not None:
            left.remove(number)
            one, other = edges[number]
            following = other if one == thing else one
            turned.append((thing, following))
            thing = following
            number = next((n for n in at[thing] if n in left), None)
    return turned


def _shuffled(dice: Dice, items: Sequence[T]) -> list[T]:
    mixed = list(items)
    for at in range(len(mixed) - 1, 0, -1):
        other = dice.number(0, at)
        mixed[at], mixed[other] = mixed[other], mixed[at]
    return mixed
