"""One model without the important heads of each of its tasks, and without random ones: scores of all tasks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mtlspec.analyses._iap.choice import Ranking, ranking, step_by_step
from mtlspec.analyses._iap.sample import Sample, sample
from mtlspec.analyses._inputs import load_proven_model, prepared_corpora, undefined_scores
from mtlspec.data.corpora import Corpora
from mtlspec.io.write import write_json
from mtlspec.model.head_sets import Floats, Mask, head_count, top_heads
from mtlspec.model.importance import annotated_corpora
from mtlspec.model.multitask import MultiTaskModel
from mtlspec.model.predict import count_corpora, metric_for
from mtlspec.model.predict_masked import predict_masked
from mtlspec.results.contrast import same_counts
from mtlspec.results.jobs import Measured, Measurement
from mtlspec.spec.models import BatchLimits

if TYPE_CHECKING:
    from mtlspec.analyses.iap import Options

FILE = "masked.json"
COUNTS = "counts.npz"
"""`counts/<task>` [1 + T, examples, K]: rows of its metric, of the whole model and without the heads of each task;
`examples/<task>` int64 [examples]: their places in the split."""
Arrays = npt.NDArray[Any]
LIMITS = BatchLimits()  # of importance
ROWS = BatchLimits(sentences=1024, tokens=3200)  # of all maskings of a batch together


def measure_dissociation(options: Options, job: Measurement) -> Measured:
    """A model with fewer than two tasks that can be ranked and scored is written as such."""
    corpora, model = prepared_corpora(job), load_proven_model(job)
    heads = model.encoder.heads
    count = head_count(options.alpha, sum(heads.counts))
    job.progress(0, 3, "importance")
    found = annotated_corpora(
        model.tasks, corpora, "train", model.encoder.specials, LIMITS, options.sentences, options.seed
    )
    asked = [task for task in model.tasks if not options.tasks or task.name in options.tasks]
    places = [model.tasks.index(task) for task in asked]
    batches = [(batch, golds) for batch, golds in found if any(golds[place] is not None for place in places)]
    rank = ranking(options, model, [(batch.to(model.device), golds) for batch, golds in batches])
    importance = rank(None, None)
    drawn = sample(corpora, asked, options.split, options.scored, options.seed)
    left_out = _left_out(model, drawn.corpora, options.split, importance)
    numbers = [place for place in places if model.tasks[place].name not in left_out]
    facts: dict[str, Any] = {
        "tasks": [model.tasks[number].name for number in numbers],
        "left_out": {task.name: left_out[task.name] for task in asked if task.name in left_out},
        "heads": list(heads.counts),
        "masked_heads": count,
    }
    if len(numbers) < 2:
        write_json(job.out / FILE, facts)
        np.savez(job.out / COUNTS, allow_pickle=False)
        return Measured({"tasks": len(numbers), "masked_heads": count})
    once = np.stack([top_heads(importance[number], count) for number in numbers])
    job.progress(1, 3, "sets of heads")
    sets = _in_steps(options, rank, importance, numbers, count) if options.iterative else once
    job.progress(2, 3, "masked evaluation")
    counts, random = _evaluate(options, model, drawn, numbers, sets)
    facts |= {"sets": _places(sets), "random": random.tolist(), **_about(model, corpora, options, numbers)}
    if options.iterative:
        facts["one_shot_sets"] = _places(once)
    write_json(job.out / FILE, facts)
    np.savez(job.out / COUNTS, allow_pickle=False, **counts)
    return Measured({"tasks": len(numbers), "masked_heads": count, "maskings": 1 + len(numbers) * (1 + options.draws)})


def _left_out(model: MultiTaskModel, corpora: Corpora, split: str, importance: Floats) -> dict[str, str]:
    """Tasks of which nothing can be said -> why."""
    undefined = undefined_scores(model, corpora, split)
    reasons: dict[str, str] = {}
    for number, task in enumerate(model.tasks):
        data = corpora.of(task)
        if np.isnan(importance[number]).all():
            reasons[task.name] = "train has no labels"
        elif split not in data.splits or not len(task.rows(data.split(split))):
            reasons[task.name] = f"{split} has no labels"
        elif task.name in undefined:
            reasons[task.name] = f"{split} has {undefined[task.name]}"
    return reasons


def _in_steps(options: Options, rank: Ranking, importance: Floats, numbers: Sequence[int], count: int) -> Mask:
    return np.stack([step_by_step(rank, number, importance[number], count, options.step) for number in numbers])


def _evaluate(
    options: Options, model: MultiTaskModel, drawn: Sample, numbers: Sequence[int], sets: Mask
) -> tuple[dict[str, Arrays], Floats]:
    """Counts of the whole model and without each set, as COUNTS has them; scores without random sets [draws, T, T].

    Random sets of a draw have, task by task, as many heads in every layer as the task's own.
    """
    corpora, counts = drawn.corpora, np.array(model.encoder.heads.counts)
    there = np.arange(sets.shape[2]) < counts[:, None]
    draws = [same_counts(own, there)(options.draws, (options.seed << 32) + place) for place, own in enumerate(sets)]
    shuffled = np.stack(draws, axis=1).reshape(-1, *sets.shape[1:])  # [draws * T, L, H]
    masks = np.concatenate([np.zeros((1, *sets.shape[1:]), np.bool_), sets, shuffled])
    found = [
        count_corpora(model, corpora, options.split, predictions)
        for predictions in predict_masked(model, corpora, options.split, ROWS, masks, numbers)
    ]
    tasks, told = [model.tasks[number] for number in numbers], 1 + len(sets)
    stored: dict[str, Arrays] = {}
    random = np.zeros((len(shuffled), len(tasks)))
    for place, task in enumerate(tasks):
        metric, rows = metric_for(task, corpora), [one[task.name] for one in found]
        stored[f"counts/{task.name}"] = np.asarray(rows[:told])
        stored[f"examples/{task.name}"] = drawn.places(task, options.split).numpy()
        random[:, place] = metric.score_rows(np.asarray(rows[told:]))[metric.main]
    return stored, random.reshape(options.draws, len(sets), len(tasks))


def _about(model: MultiTaskModel, corpora: Corpora, options: Options, numbers: Sequence[int]) -> dict[str, Any]:
    tasks = [model.tasks[number] for number in numbers]
    return {
        "metrics": {task.name: metric_for(task, corpora).describe() for task in tasks},
        "corpora": {task.name: task.corpus or "" for task in tasks},
        "split": options.split,
    }


def _places(sets: Mask) -> list[list[list[int]]]:
    """For each set its (layer, head), counted from 1."""
    return [[[int(layer) + 1, int(head) + 1] for layer, head in np.argwhere(one)] for one in sets]
