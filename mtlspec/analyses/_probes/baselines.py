"""What attention probes find without any model: by position alone, and by attention at random.

Whether a head finds a relation does not depend on the relation's label, so shuffled labels control nothing here.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from mtlspec.analyses._probes.best import SCORED
from mtlspec.analyses._probes.gold import Gold
from mtlspec.analyses._probes.passes import Question
from mtlspec.data.prepared import PreparedSplit
from mtlspec.io.write import write_json

BASELINES = "baselines.json"
CHUNK = 4096  # items at a time: [items, rules] stays small


def write_baselines(
    out: Path, questions: list[Question], splits: Mapping[str, PreparedSplit], choosing: str, *, with_self: bool
) -> None:
    """`baselines.json`: task -> label -> the chosen rule, its accuracy on test, and that of attention at random."""
    found: dict[str, dict[str, Any]] = {}
    words = {name: torch.tensor([len(split.words(row)) for row in range(len(split))]) for name, split in splits.items()}
    longest = max((int(lengths.max()) for lengths in words.values() if len(lengths)), default=0)
    for question in questions:
        cls = question.task == "dep"
        rules = rule_names(longest, with_cls=cls, with_self=with_self)
        gold = {name: question.gold[name]["gold"] for name in splits}
        lengths = {name: _of_items(gold[name], words[name]) for name in splits}
        hits = {
            name: accuracy_of_rules(gold[name], lengths[name], longest, with_cls=cls, with_self=with_self)
            for name in {choosing, SCORED}
        }
        chosen = hits[choosing].argmax(1)
        chance = mean_of_labels(gold[SCORED], by_chance(gold[SCORED], lengths[SCORED], cls, with_self).unsqueeze(1))
        found[question.task] = {
            label: {
                "rule": rules[int(chosen[i])],
                "position": float(hits[SCORED][i, chosen[i]]),
                "chance": float(chance[i, 0]),
            }
            for i, label in enumerate(question.names)
        }
    write_json(out / BASELINES, found)


def _of_items(gold: Gold, words: Tensor) -> Tensor:
    """The number of words of each item's sentence: int64 [R]."""
    return torch.repeat_interleave(words, gold.offsets.diff())


def rule_names(longest: int, *, with_cls: bool, with_self: bool) -> list[str]:
    """`1 away`, `2 away` ...: the probe looks in both directions, so a distance has no side; then fixed places."""
    distances = [f"{distance} away" for distance in range(0 if with_self else 1, longest + 1)]
    return [*distances, "first word", "last word", *(["[CLS]"] if with_cls else [])]


def accuracy_of_rules(gold: Gold, words: Tensor, longest: int, *, with_cls: bool, with_self: bool) -> Tensor:
    """In percent, of a head that looks by each rule wherever it is: float64 [labels, rules]."""
    distance = torch.arange(0 if with_self else 1, longest + 1)
    parts = []
    for first in range(0, len(gold.label), CHUNK):
        part = slice(first, first + CHUNK)
        anchor, start, end, size = (column[part].unsqueeze(1) for column in (gold.anchor, gold.start, gold.end, words))
        ahead, behind = anchor + distance, anchor - distance
        away = ((ahead >= start) & (ahead < end)) | ((behind >= start) & (behind < end))
        places = torch.cat([torch.ones_like(size), size, *([torch.zeros_like(size)] if with_cls else [])], 1)
        looked_at = ((places >= start) & (places < end)) | (places == anchor)
        parts.append(torch.cat([away, looked_at], 1))
    hits = torch.cat(parts) if parts else torch.zeros(0, len(distance) + 2 + with_cls, dtype=torch.bool)
    return mean_of_labels(gold, hits.double())


def by_chance(gold: Gold, words: Tensor, with_cls: bool, with_self: bool) -> Tensor:
    """How likely each item is found if every position looks at one of its candidates at random: float64 [R].

    The anchor finds one of the span's positions, or one of these finds the anchor; each draws for itself.
    """
    candidates = (words + int(with_cls) - int(not with_self)).clamp(min=1).double()
    width = gold.end - gold.start
    inside = ((gold.anchor >= gold.start) & (gold.anchor < gold.end)).long()
    others = width - inside
    forward = (width if with_self else others) / candidates
    return 1 - (1 - forward) * (1 - 1 / candidates) ** others


def mean_of_labels(gold: Gold, values: Tensor) -> Tensor:
    """Means over the items of each label, in percent: values [R, ...] -> float64 [labels, ...]; 0 without items."""
    total = torch.zeros(len(gold.names), values.shape[1], dtype=torch.float64).index_add_(0, gold.label, values)
    return 100 * total / gold.counts().clamp(min=1).unsqueeze(1)
