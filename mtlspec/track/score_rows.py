"""The scores of two records side by side: means and deviations over seeds, and whether luck could explain it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

ALPHA = 0.05


@dataclass(frozen=True)
class ScoreRow:
    """A model's score in both records; `difference` is b - a."""

    model: str
    score: str  # split/task/metric
    a: float | None  # means over seeds; None: the record has no such score
    b: float | None
    a_std: float | None = None  # None also where there is only one seed
    b_std: float | None = None
    seeds: tuple[int, int] = (0, 0)  # how many, of a and of b
    interval: tuple[float, float] | None = None  # of the difference, 95 %
    p: float | None = None  # Welch's test over seeds; None where one side has fewer than two, or where all are equal
    p_holm: float | None = None  # corrected over all tests of the split
    why: str = ""  # nothing could be tested although there are runs enough

    @property
    def difference(self) -> float | None:
        return None if self.a is None or self.b is None else self.b - self.a

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "difference": self.difference}


@dataclass(frozen=True)
class _Score:
    """What a record has of one score of one model."""

    mean: float | None = None
    std: float | None = None
    n: int = 0
    seeds: tuple[float, ...] = ()  # the score of each
    starts: frozenset[str] = frozenset()  # digests of trained models that several of its runs descend from


_NOTHING = _Score()


def score_rows(a: Mapping[str, Any], b: Mapping[str, Any]) -> tuple[ScoreRow, ...]:
    """Every score of either record, those of `a` first, in their order."""
    first, second = _scores(a), _scores(b)
    keys = [*first, *(key for key in second if key not in first)]
    return _corrected([_row(*key, first.get(key, _NOTHING), second.get(key, _NOTHING)) for key in keys])


def _scores(record: Mapping[str, Any]) -> dict[tuple[str, str], _Score]:
    made_by = {stage["artifact"]: stage for stage in record["stages"].values() if stage.get("kind") == "train"}
    found = {}
    for model in record["models"]:
        starts = _shared_starts(record, model, made_by)
        for score, values in model["scores"].items():
            seeds = _of_seeds(record, model, score)
            found[model["name"], score] = _Score(values["mean"], values["std"], values["n"], seeds, starts)
    return found


def _shared_starts(
    record: Mapping[str, Any], model: Mapping[str, Any], made_by: Mapping[str, Mapping[str, Any]]
) -> frozenset[str]:
    """As `Variant.shared_starts`, by what was recorded: digests are the same in records of different specs."""
    met: Counter[str] = Counter()
    for run in model["runs"]:
        stage = record["stages"].get(run["train"], {})
        while (start := stage.get("inputs", {}).get("start")) is not None:
            met[start] += 1
            stage = made_by.get(start, {})
    return frozenset(start for start, times in met.items() if times > 1)


def _of_seeds(record: Mapping[str, Any], model: Mapping[str, Any], score: str) -> tuple[float, ...]:
    found = (record["stages"].get(run["evaluate"], {}).get("scores", {}).get(score) for run in model["runs"])
    return tuple(float(value) for value in found if value is not None)


def _row(model: str, score: str, a: _Score, b: _Score) -> ScoreRow:
    row = ScoreRow(model, score, a.mean, b.mean, a.std, b.std, (a.n, b.n))
    if not a.seeds or not b.seeds or sorted(a.seeds) == sorted(b.seeds):  # alike, or the same models: nothing to test
        return row
    from mtlspec.results.inference import ONE_START, compare_scores

    if a.starts != b.starts and min(len(a.seeds), len(b.seeds)) > 1:
        return replace(row, why=ONE_START)
    found = compare_scores(b.seeds, a.seeds)
    return replace(row, interval=found.interval, p=found.p)


def _corrected(rows: Sequence[ScoreRow]) -> tuple[ScoreRow, ...]:
    """The tests of a split are one family."""
    from mtlspec.results.inference import corrected

    splits: dict[str, list[int]] = {}
    for index, row in enumerate(rows):
        splits.setdefault(row.score.partition("/")[0], []).append(index)
    adjusted: dict[int, float | None] = {}
    for split, places in splits.items():
        adjusted |= dict(zip(places, corrected(split, [rows[index].p for index in places], ALPHA)[1], strict=True))
    return tuple(replace(row, p_holm=adjusted[index]) for index, row in enumerate(rows))
