"""Supply: where training batches come from, whether a sampler draws them or all tasks are trained jointly."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from mtlspec.data.corpora import Corpora
from mtlspec.data.prepared import PreparedSplit
from mtlspec.errors import StageError
from mtlspec.model.mixed import Reading
from mtlspec.model.task import Task
from mtlspec.spec.models import TrainOptions
from mtlspec.train.drawing import draw_examples, sample
from mtlspec.train.feed import Feed
from mtlspec.train.sampling import TaskSizes
from mtlspec.train.view import View


class Supply:
    """Every task's training data, and a stream of batches of them.

    An epoch is as many batches as the sampler says. With joint batches a batch holds examples of every corpus, and an
    epoch is one pass over the corpus with the most batches; smaller ones come round again. Where updates are counted in
    total, an epoch is as many batches as one of single-task models on average.
    """

    def __init__(self, tasks: Sequence[Task], corpora: Corpora, options: TrainOptions, seed: int) -> None:
        self._tasks = tasks
        self.splits = [corpora.of(task).train for task in tasks]
        self.labelled = [task.drawn(split) for task, split in zip(tasks, self.splits, strict=True)]
        for task, rows in zip(tasks, self.labelled, strict=True):
            if not len(rows):
                raise StageError("E432", f"there are no training sentences for the task '{task.name}'")
        self._joint = list(self._joint_feeds(tasks, options, seed)) if options.batching == "joint" else []
        self.feeds = [
            Feed(task.name, rows, split.lengths[rows], options.batch, seed)
            for task, split, rows in zip(tasks, self.splits, self._samples(tasks, options, seed), strict=True)
        ]
        batches, names = (feed.batches_per_pass for feed in self.feeds), (task.name for task in tasks)
        self.sizes = TaskSizes(tuple(map(len, self.feeds)), tuple(batches), tuple(names))
        self.sampler = options.sampler.build(self.sizes, options.batch.sentences, options.epochs, seed)
        self.batches_per_epoch = max(
            (joint.feed.batches_per_pass for joint in self._joint), default=self.sampler.batches_per_epoch()
        )
        if options.updates == "total":
            alone = self._epochs_alone(options, seed)
            self.batches_per_epoch = math.ceil(sum(alone) / len(alone))

    def draw(self, view: View) -> list[Reading]:
        """The next batch: which tasks read which examples."""
        if self._joint:
            return [self.completed(reading) for joint in self._joint for reading in joint.next()]
        parts = [part for part in self.sampler.draw(view) if len(part.rows)]
        if not parts:
            raise StageError("E434", f"the sampler drew no examples for update {view.update}")
        return [self.completed(Reading(task, self.splits[task], rows)) for task, rows in parts]

    def completed(self, reading: Reading) -> Reading:
        """With the examples that a task must have beside those that were drawn."""
        return reading._replace(rows=self._tasks[reading.task].completed(reading.split, reading.rows))

    def rows(self) -> dict[PreparedSplit, Tensor]:
        """Of every split the examples int64 [n] that can be drawn, or are read beside those, ascending."""
        if self._joint:
            return {joint.split: joint.feed.rows for joint in self._joint}
        found: dict[PreparedSplit, Tensor] = {}
        for task, split, feed in zip(self._tasks, self.splits, self.feeds, strict=True):
            rows = task.completed(split, feed.rows).sort().values
            found[split] = torch.unique(torch.cat([found[split], rows])) if split in found else rows
        return found

    def cursors(self) -> list[Any]:
        """Where every stream stands, as JSON."""
        return [feed.state() for feed in self._streams]

    def load_cursors(self, saved: Sequence[Any]) -> None:
        for feed, state in zip(self._streams, saved, strict=True):
            feed.load_state(state)

    def _epochs_alone(self, options: TrainOptions, seed: int) -> list[int]:
        """How many batches an epoch of every task's single-task model has."""
        if self._joint:
            return list(self.sizes.batches)
        each = zip(self.sizes.examples, self.sizes.batches, self.sizes.names, strict=True)
        own = [TaskSizes((n,), (batches,), (name,)) for n, batches, name in each]
        samplers = [options.sampler.build(size, options.batch.sentences, options.epochs, seed) for size in own]
        return [sampler.batches_per_epoch() for sampler in samplers]

    @property
    def _streams(self) -> list[Feed]:
        return [*self.feeds, *(joint.feed for joint in self._joint)]

    def _samples(self, tasks: Sequence[Task], options: TrainOptions, seed: int) -> Iterator[Tensor]:
        """Of every task the examples that it trains on; of joint batches, those in them that it has labels for."""
        joint = {joint.split: joint.feed.rows for joint in self._joint}
        for task, rows, split in zip(tasks, self.labelled, self.splits, strict=True):
            if self._joint:
                yield rows[torch.isin(rows, joint[split])]
            else:
                yield draw_examples(task, split, rows, options, seed)

    def _joint_feeds(self, tasks: Sequence[Task], options: TrainOptions, seed: int) -> Iterator[JointFeed]:
        """One for every corpus."""
        corpora = list(dict.fromkeys(task.corpus for task in tasks))
        for corpus in corpora:
            own = {number: self.labelled[number] for number, task in enumerate(tasks) if task.corpus == corpus}
            split = self.splits[next(iter(own))]
            name = "joint" if len(corpora) == 1 else f"joint/{corpus}"
            joint = JointFeed(name, split, own, options, seed)
            for number, rows in own.items():
                if not torch.isin(rows, joint.feed.rows).any():
                    message = f"none of the {options.examples} sampled sentences is labelled for '{tasks[number].name}'"
                    raise StageError("E433", message, hint="raise `train.examples`, or use `train.batching: sampled`")
            yield joint


class JointFeed:
    """Batches of one corpus that train all its tasks: sentences with at least one task's labels."""

    def __init__(
        self, name: str, split: PreparedSplit, labelled: Mapping[int, Tensor], options: TrainOptions, seed: int
    ) -> None:
        self.split, self._labelled = split, labelled
        rows = sample(torch.unique(torch.cat(list(labelled.values()))), len(split), options.examples, seed)
        self.feed = Feed(name, rows, split.lengths[rows], options.batch, seed)

    def next(self) -> Iterator[Reading]:
        """Each task reads the sentences that are labelled for it."""
        rows = self.feed.next()
        for task, labelled in self._labelled.items():
            own = rows[torch.isin(rows, labelled)]
            if len(own):
                yield Reading(task, self.split, own)
