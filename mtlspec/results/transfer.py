"""Who helps whom: scores of tasks alone, in pairs, all together, without one, and with the tasks that help them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from mtlspec.spec.tagging_pack import Arrow, Printed, TaggingPack

SIGNS: Mapping[Arrow, str] = {"up": " ↑", "down": " ↓", "": ""}  # behind a number


@dataclass(frozen=True)
class Score:
    """A mean over seeds, and whether it is higher or lower than what it is compared with, for sure."""

    mean: float
    std: float | None = None
    arrow: Arrow = ""
    runs: tuple[float, ...] = ()  # of every seed
    source: str = ""  # stages and seeds

    @classmethod
    def restored(cls, raw: Mapping[str, Any]) -> Score:
        return cls(**{**raw, "runs": tuple(raw["runs"])})


Scores = Mapping[str, Score]  # scored task -> score
ByTask = Mapping[str, Scores]  # the task that is added or left out -> scores


@dataclass(frozen=True)
class Transfer:
    """One way of sharing. Arrows of pairs, `all` and `oracle` are against `alone`, those of `without` against `all`."""

    name: str
    tasks: tuple[str, ...]
    alone: Scores
    pairs: ByTask
    all: Scores = field(default_factory=dict)
    oracle: Scores = field(default_factory=dict)
    chosen: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # task -> its oracle set
    without: ByTask = field(default_factory=dict)

    def column(self, task: str) -> dict[str, Score]:
        """Partner -> score of a task in its pairs."""
        return {partner: self.pairs[partner][task] for partner in self.tasks if task in self.pairs.get(partner, {})}

    def average(self, task: str) -> float | None:
        """Of a task over its pairs."""
        found = [score.mean for score in self.column(task).values()]
        return sum(found) / len(found) if found else None

    def helpers(self, task: str) -> tuple[str, ...]:
        """The oracle set as the scores of the pairs give it."""
        return tuple(partner for partner, score in self.column(task).items() if score.arrow == "up")

    def improvement(self, task: str, score: Score | None) -> float | None:
        """Relative to the task alone, in percent of its score."""
        alone = self.alone.get(task)
        if score is None or alone is None or alone.mean == 0:
            return None
        return 100 * (score.mean - alone.mean) / alone.mean

    def stored(self) -> dict[str, Any]:
        return {**asdict(self), "tasks": list(self.tasks)}

    @classmethod
    def restored(cls, raw: Mapping[str, Any]) -> Transfer:
        return cls(
            raw["name"],
            tuple(raw["tasks"]),
            alone=_scores(raw["alone"]),
            pairs={task: _scores(scores) for task, scores in raw["pairs"].items()},
            all=_scores(raw["all"]),
            oracle=_scores(raw["oracle"]),
            chosen={task: tuple(found) for task, found in raw["chosen"].items()},
            without={task: _scores(scores) for task, scores in raw["without"].items()},
        )


def arrows(scores: Iterable[Score]) -> tuple[int, int]:
    """How many are higher, and how many lower."""
    found = [score.arrow for score in scores]
    return found.count("up"), found.count("down")


def published_transfer(pack: TaggingPack) -> Transfer:
    """The tables of the paper; what the diagonal of the pairs has is STL."""
    rows = {partner: pack.row(text).cells for partner, text in pack.pairs.items()}
    return Transfer(
        pack.title,
        pack.tasks,
        alone={task: _of(rows[task][task]) for task in pack.tasks},
        pairs={p: {task: _of(cell) for task, cell in cells.items() if task != p} for p, cells in rows.items()},
        all={task: _of(cell) for task, cell in pack.row(pack.all).cells.items()},
        oracle={task: _of(cell) for task, cell in pack.row(pack.oracle).cells.items()},
        without={p: {t: _of(cell) for t, cell in pack.row(text).cells.items()} for p, text in pack.without.items()},
    )


def _of(cell: Printed) -> Score:
    return Score(cell.mean, arrow=cell.arrow)


def _scores(raw: Mapping[str, Any]) -> dict[str, Score]:
    return {task: Score.restored(score) for task, score in raw.items()}
