"""Probing one subject: every head and every label in one forward pass over the data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from mtlspec.analyses._probes.attention import found, most_attended_of_layers, positions
from mtlspec.analyses._probes.gold import Gold, ProbedTask, read_gold
from mtlspec.analyses._probes.hits import Labels, Tally
from mtlspec.analyses._probes.subjects import Subject
from mtlspec.analyses._probes.values import Centroids, nearest, span_values, word_values
from mtlspec.data.prepared import PreparedSplit

LABELLINGS: tuple[Labels, ...] = ("gold", "shuffled")
KEPT_BYTES = (
    1 << 30
)  # vectors of the centroids' split stay in memory up to this size; beyond it they are computed twice


@dataclass(frozen=True)
class Question:
    """A task to probe: its layer, and its items in each split under each labelling."""

    task: ProbedTask
    layer: str
    gold: Mapping[str, Mapping[Labels, Gold]]  # split -> labelling -> items

    @property
    def names(self) -> tuple[str, ...]:
        return next(iter(self.gold.values()))["gold"].names

    def tallies(self, heads: int, labellings: Sequence[Labels]) -> dict[tuple[str, Labels], Tally]:
        return {
            (split, labels): Tally.empty(self.task, split, labels, self.names, heads)
            for split in self.gold
            for labels in labellings
        }


def ask(task: ProbedTask, layer: str, splits: Mapping[str, PreparedSplit], seed: int) -> Question:
    read = read_gold(list(splits.values()), layer, task)
    gold = {name: {"gold": items, "shuffled": items.shuffled(seed)} for name, items in zip(splits, read, strict=True)}  # type: dict[str, dict[Labels, Gold]]
    return Question(task, layer, gold)


def probe_attention(
    subject: Subject, splits: Mapping[str, PreparedSplit], questions: Sequence[Question], *, with_self: bool
) -> list[Tally]:
    """Tallies of every question and split. Only dependency parsing knows a root, which is [CLS]."""
    tallies = {q.task: q.tallies(sum(subject.encoder.heads.counts), ("gold",)) for q in questions}
    by_task = {question.task: question for question in questions}
    for index, tasks in subject.passes({question.task: question.layer for question in questions}):
        asked = [by_task[task] for task in by_task if task in tasks]
        for name, split in splits.items():
            for rows, batch, seen in subject.read(split, index, attention=True):
                best = most_attended_of_layers(
                    seen.attention,
                    positions(batch),
                    batch.word_mask,
                    with_cls=[question.task == "dep" for question in asked],
                    with_self=with_self,
                )
                for question, chosen in zip(asked, best, strict=True):
                    gold = question.gold[name]["gold"]
                    items, place = gold.of(rows)
                    columns = (column.index_select(0, items) for column in (gold.anchor, gold.start, gold.end))
                    hit = found(chosen, *(column.to(chosen.device) for column in (place, *columns)))
                    tallies[question.task][name, "gold"].add(hit.cpu(), gold.label.index_select(0, items))
    return [tally for made in tallies.values() for tally in made.values()]


def probe_values(
    subject: Subject, splits: Mapping[str, PreparedSplit], questions: Sequence[Question], *, centroids: str
) -> list[Tally]:
    """Tallies of every question, split and labelling; the centroids come from the split named `centroids`."""
    made: list[Tally] = []
    by_task = {question.task: question for question in questions}
    for index, tasks in subject.passes({question.task: question.layer for question in questions}):
        made += _values_of_pass(subject, splits, [by_task[task] for task in by_task if task in tasks], index, centroids)
    return made


def _values_of_pass(
    subject: Subject, splits: Mapping[str, PreparedSplit], questions: Sequence[Question], index: int, source: str
) -> list[Tally]:
    heads = sum(subject.encoder.heads.counts)
    kept: list[tuple[int, Tensor, Tensor]] | None = []
    size = 0
    learned: dict[tuple[int, Labels], Centroids] = {}
    for number, items, values in _vectors(subject, splits[source], questions, index, source):
        for labels in LABELLINGS:
            key = (number, labels)
            if key not in learned:
                learned[key] = Centroids(len(questions[number].names), heads, values.shape[2], values.device)
            label = questions[number].gold[source][labels].label.index_select(0, items).to(values.device)
            learned[key].add(values, label)
        size += values.numel() * values.element_size()
        if kept is not None and size <= KEPT_BYTES:
            kept.append((number, items, values))
        else:
            kept = None
    directions = {key: means.directions() for key, means in learned.items()}
    tallies = [question.tallies(heads, LABELLINGS) for question in questions]
    for name, split in splits.items():
        stream = kept if name == source and kept is not None else _vectors(subject, split, questions, index, name)
        for number, items, values in stream:
            for labels in LABELLINGS:
                label = questions[number].gold[name][labels].label.index_select(0, items)
                known = directions.get((number, labels))  # None: the split of the centroids has no such items at all
                said = torch.full((len(items), heads), -1) if known is None else nearest(values, known).cpu()
                tallies[number][name, labels].add(said == label.unsqueeze(1), label)
    return [tally for task in tallies for tally in task.values()]


def _vectors(
    subject: Subject, split: PreparedSplit, questions: Sequence[Question], index: int, name: str
) -> Iterator[tuple[int, Tensor, Tensor]]:
    """(question's number, its items int64 [r], their vectors [r, heads, D]) batch by batch."""
    for rows, batch, seen in subject.read(split, index, contexts=True):
        words = word_values(seen.contexts, batch)
        for number, question in enumerate(questions):
            gold = question.gold[name]["gold"]
            items, place = gold.of(rows)
            if len(items):
                columns = [column.index_select(0, items).to(words.device) for column in (gold.start, gold.end)]
                with torch.inference_mode():
                    vectors = span_values(words, place.to(words.device), *columns)
                yield number, items, vectors
