"""Table 1 of the sequence-tagging paper, of any tasks: computed from the prepared data."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from mtlspec.data.corpora import Corpora
from mtlspec.data.prepared import Prepared
from mtlspec.model.multitask import ABOUT
from mtlspec.results.findings import Findings
from mtlspec.results.jobs import AnalysisJob
from mtlspec.results.tables import Cell, Row, Table

_SPLITS = ("train", "dev", "test")
_FEW = 1000  # training sentences: below this the summary names a task


@dataclass(frozen=True)
class Sample:
    """Examples that carry a task's layer, and their words; types do not tell capitals from small letters."""

    sentences: int
    tokens: int
    types: int

    @property
    def tokens_per_type(self) -> float:
        return self.tokens / self.types if self.types else 0.0


@dataclass(frozen=True)
class TaskStatistics:
    task: str
    corpus: str
    train: Sample
    all: Sample
    labels: int  # of the training data
    entropy: float  # of these, in nats


def find(job: AnalysisJob) -> dict[str, Any]:
    """Write everything; facts for the stage's record."""
    corpora = Corpora.load(job.inputs)
    found = [
        statistics_of(
            name, corpora.named(about.get("data")), str(about["layer"]), about.get("data") or next(iter(corpora))
        )
        for name, about in _tasks(job).items()
    ]
    numbers = {"tasks": [asdict(one) for one in found]}
    Findings("task_statistics", "What tasks learn from", _summary(found), (_table(found),), (), numbers).write(job.out)
    return {"tasks": len(found)}


def statistics_of(name: str, data: Prepared, layer: str, corpus: str) -> TaskStatistics:
    samples = {split: _words(data, layer, split) for split in _SPLITS}
    every = Counter[str]()
    for _, words in samples.values():
        every.update(words)
    rows, words = samples["train"]
    train = Sample(rows, words.total(), len(words))
    whole = Sample(sum(count for count, _ in samples.values()), every.total(), len(every))
    counts = [count for count in data.labels.get(layer, {}).values() if count]
    return TaskStatistics(name, corpus, train, whole, len(counts), entropy(counts))


def entropy(counts: Iterable[int]) -> float:
    """In nats."""
    known = [count for count in counts if count]
    total = sum(known)
    return -sum(count / total * math.log(count / total) for count in known)


def _words(data: Prepared, layer: str, split: str) -> tuple[int, Counter[str]]:
    part = data.split(split)
    rows = part.labelled(layer).tolist()
    return len(rows), Counter(word.lower() for row in rows for word in part.words(row))


def _tasks(job: AnalysisJob) -> dict[str, Mapping[str, Any]]:
    """Name -> options of every task that a model learnt, in the order of the models."""
    found: dict[str, Mapping[str, Any]] = {}
    for row in job.models:
        about = json.loads((job.inputs[row.train] / ABOUT).read_bytes())
        options = {task["name"]: task["options"] for task in about["tasks"]}
        found |= {task: options[task] for task in row.tasks if task not in found}
    return found


def _summary(found: list[TaskStatistics]) -> tuple[str, ...]:
    few = [f"{one.task} ({one.train.sentences})" for one in found if one.train.sentences < _FEW]
    most, least = max(found, key=lambda one: one.entropy), min(found, key=lambda one: one.entropy)
    told = [f"Labels of {most.task} are spread most evenly (entropy {most.entropy:.1f}), of {least.task} least"]
    told[0] += f" ({least.entropy:.1f})."
    return (*told, *([f"Fewer than {_FEW} training sentences: {', '.join(few)}."] if few else []))


def _table(found: list[TaskStatistics]) -> Table:
    rows: tuple[Row, ...] = tuple(
        (
            Cell(one.task, one.task),
            Cell(one.corpus, one.corpus),
            _both(f"{one.train.sentences} / {one.all.sentences}", one.train.sentences, one.all.sentences),
            _both(
                f"{one.train.tokens_per_type:.1f} / {one.all.tokens_per_type:.1f}",
                one.train.tokens_per_type,
                one.all.tokens_per_type,
            ),
            Cell(str(one.labels), one.labels),
            Cell(f"{one.entropy:.1f}", one.entropy),
        )
        for one in found
    )
    caption = (
        "Sentences that carry a task's labels and tokens per word type (capitals do not count), each of the training"
        " data / of all splits; labels of the training data and their entropy in nats."
    )
    columns = ("task", "corpus", "sentences", "tokens per type", "labels", "label entropy")
    return Table("tasks", "Tasks and their data", caption, columns, (("", rows),))


def _both(text: str, train: float, whole: float) -> Cell:
    return Cell(text, train, data={"all": whole})
