"""Similarities of all pairs of tasks, seed by seed, from what was measured of their models."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from mtlspec.analyses._similarity.brain import most_informative, same_voxels
from mtlspec.analyses._similarity.measure import ABOUT, BRAIN, VECTORS
from mtlspec.analyses._similarity.relation import Pair
from mtlspec.analyses._similarity.representations import Floats, direct_similarity, dissimilarities, same_geometry
from mtlspec.analyses._similarity.transfer import affinities, example_scores, mutual
from mtlspec.errors import StageError
from mtlspec.plan.rows import ModelRow
from mtlspec.results.evaluations import Evaluation
from mtlspec.results.jobs import AnalysisJob

if TYPE_CHECKING:
    from mtlspec.analyses.task_similarity import Options

Measure = Literal["cnm", "dse", "ahp", "cra"]
Runs = Mapping[tuple[str, int], ModelRow]
"""(task, seed) -> the model that stands for the task"""


@dataclass(frozen=True)
class Similarity:
    """One measure of all pairs of tasks that it is known of."""

    measure: Measure
    pairs: Mapping[Pair, Floats]  # [seeds]
    between_seeds: Mapping[str, float]  # task -> the same of two seeds' models of one task, mean over pairs of seeds

    @property
    def means(self) -> dict[Pair, float]:
        return {pair: float(values.mean()) for pair, values in self.pairs.items()}

    def stored(self) -> dict[str, Any]:
        return {
            "measure": self.measure,
            "pairs": [{"tasks": list(pair), "seeds": values.tolist()} for pair, values in self.pairs.items()],
            "between_seeds": dict(self.between_seeds),
        }


@dataclass(frozen=True)
class Compared:
    """The tasks, the seeds in which each of them has a model, and every measure that could be taken."""

    tasks: tuple[str, ...]
    seeds: tuple[int, ...]
    sentences: int
    corpus: str
    similarities: tuple[Similarity, ...]
    left_out: tuple[str, ...]  # measures that were asked for and could not be taken, in sentences


def compare(options: Options, job: AnalysisJob) -> Compared:
    runs = _standing_for_tasks(options, job.models)
    tasks = tuple(dict.fromkeys(task for task, _ in runs))
    seeds = tuple(sorted({seed for _, seed in runs if all((task, seed) in runs for task in tasks)}))
    if len(tasks) < 3 or not seeds:
        message = (
            f"a relation needs three tasks with single-task models in '{options.single}', and there are {len(tasks)}"
        )
        raise nothing_to_relate(message, "name their group as `single`, and among `models`")
    places = {key: job.measurement(row) for key, row in runs.items()}
    about = json.loads((places[tasks[0], seeds[0]] / ABOUT).read_bytes())
    vectors = {key: np.load(place / VECTORS, allow_pickle=False).astype(np.float64) for key, place in places.items()}
    made = [_of_models("dse", tasks, seeds, vectors, direct_similarity)]
    geometries = {key: dissimilarities(own) for key, own in vectors.items()}
    made.append(_of_models("cra", tasks, seeds, geometries, same_geometry))
    left_out = []
    if options.transfer:
        found, why = _by_transfer(options, job, tasks, seeds)
        made, left_out = [*made, *found], [*why]
    if options.brain:
        made.insert(0, _by_brain(options, tasks, seeds, {key: place / BRAIN for key, place in places.items()}))
    return Compared(tasks, seeds, int(about["sentences"]), str(about["corpus"]), tuple(made), tuple(left_out))


def nothing_to_relate(message: str, hint: str) -> StageError:
    return StageError("E897", message, hint=hint)


def _standing_for_tasks(options: Options, models: Sequence[ModelRow]) -> dict[tuple[str, int], ModelRow]:
    found: dict[tuple[str, int], ModelRow] = {}
    for row in models:
        if row.group == options.single and len(row.tasks) == 1 and row.select is None:
            _put(found, (row.tasks[0], row.seed), row, f"models of {row.tasks[0]}", options.single)
    return found


def _put(found: dict[Any, ModelRow], key: Any, row: ModelRow, what: str, where: str) -> None:
    if key in found:
        message = f"'{where}' has several {what}: {found[key].name} and {row.name}"
        raise StageError("E898", message, hint="name groups that are not swept")
    found[key] = row


def _of_models(
    measure: Measure,
    tasks: Sequence[str],
    seeds: Sequence[int],
    known: Mapping[tuple[str, int], Floats],
    alike: Callable[[Floats, Floats], float],
) -> Similarity:
    pairs = {
        (a, b): np.array([alike(known[a, seed], known[b, seed]) for seed in seeds]) for a, b in combinations(tasks, 2)
    }
    between = {
        task: float(np.mean([alike(known[task, one], known[task, other]) for one, other in combinations(seeds, 2)]))
        for task in (tasks if len(seeds) > 1 else ())
    }
    return Similarity(measure, pairs, between)


def _by_brain(
    options: Options, tasks: Sequence[str], seeds: Sequence[int], files: Mapping[tuple[str, int], Any]
) -> Similarity:
    """The mean over participants, each with the voxels that all models together predict best."""
    loaded = {}
    for key, file in files.items():
        with np.load(file, allow_pickle=False) as arrays:
            loaded[key] = {name: arrays[name] for name in arrays.files}
    by_participant = []
    for number in map(str, range(len(options.brain))):
        chosen = most_informative(np.stack([own[number] for own in loaded.values()]), options.voxels)
        known = {key: own[number][chosen] for key, own in loaded.items()}
        by_participant.append(_of_models("cnm", tasks, seeds, known, same_voxels))
    first = by_participant[0]
    return Similarity(
        "cnm",
        {pair: np.mean([own.pairs[pair] for own in by_participant], axis=0) for pair in first.pairs},
        {task: float(np.mean([own.between_seeds[task] for own in by_participant])) for task in first.between_seeds},
    )


def _by_transfer(
    options: Options, job: AnalysisJob, tasks: Sequence[str], seeds: Sequence[int]
) -> tuple[list[Similarity], list[str]]:
    """From models that learn a target and started from the model of a source; none from itself."""
    sources = {row.train: row.tasks[0] for row in job.models if row.group == options.single and len(row.tasks) == 1}
    moved: dict[tuple[str, str, int], ModelRow] = {}
    for row in job.models:
        if row.group in options.transfer and len(row.tasks) == 1 and row.starts and row.starts[0] in sources:
            source, target = sources[row.starts[0]], row.tasks[0]
            if source != target:
                what = f"models of {target} that start from {source}"
                _put(moved, (source, target, row.seed), row, what, ", ".join(options.transfer))
    by_seed = [_affinity(job, tasks, seed, moved) for seed in seeds]
    known = [pair for pair in combinations(tasks, 2) if all(pair in own for own in by_seed)]
    if not known:
        return [], [
            "Nothing can be said of transfer: two tasks need models that start from each other, and each of them a "
            "second task that is started from."
        ]
    return [Similarity("ahp", {pair: np.array([own[pair] for own in by_seed]) for pair in known}, {})], []


def _affinity(
    job: AnalysisJob, tasks: Sequence[str], seed: int, moved: Mapping[tuple[str, str, int], ModelRow]
) -> dict[Pair, float]:
    to: dict[str, dict[str, float]] = {}
    for target in tasks:
        rows = {source: moved[source, target, seed] for source in tasks if (source, target, seed) in moved}
        scores = {source: _scores(job, row, target) for source, row in rows.items()}
        if len(scores) > 1:
            to[target] = affinities(scores)
    return mutual(to, list(combinations(tasks, 2)))


def _scores(job: AnalysisJob, row: ModelRow, task: str) -> Floats:
    """What each test example gives to the score."""
    evaluation = Evaluation.read(job.inputs[row.evaluate])
    counts, metric = evaluation.counts[task], evaluation.metrics[task]
    whole = float(metric.score_rows(counts)[metric.main])
    return example_scores(whole, np.asarray(metric.without_each(counts), np.float64))
