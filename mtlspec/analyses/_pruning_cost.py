"""One model whole, masked and pruned: equal predictions, multiply-adds, and samples per second."""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from mtlspec.analyses._inputs import load_proven_model, prepared_corpora, undefined_scores
from mtlspec.data.batching import EXTRA, Batch, collate, sequential
from mtlspec.data.corpora import Corpora
from mtlspec.data.prepared import PreparedSplit
from mtlspec.io.write import write_json
from mtlspec.model.encoder.encoder import Encoder
from mtlspec.model.multitask import MultiTaskModel
from mtlspec.model.predict import count_corpora, metric_for, predict_corpora, score
from mtlspec.model.prune import prune, ungated
from mtlspec.results.jobs import Measured, Measurement
from mtlspec.results.kept import kept_by_layer, kept_share
from mtlspec.spec.models import BatchLimits

LIMITS = BatchLimits()
FILE = "pruning.json"
COUNTS = "counts.npz"  # `<form>/<task>`: the rows of the task's metric on test


Readings = Sequence[tuple[PreparedSplit, Sequence[int]]]
"""Test splits of the corpora of a model, each with the tasks (their numbers) that learn from it."""


def measure_pruning(job: Measurement, rounds: int, sentences: int) -> Measured:
    """Masked and pruned scores on test; a model without gates is measured as it is.

    A task whose test data are not annotated, or whose gold allows no score, has predictions, which may change, and no
    scores.
    """
    corpora, masked = prepared_corpora(job), load_proven_model(job)
    gates = masked.sharing.head_gates("gate")
    job.progress(0, 3, "masked")
    predictions = {"masked": predict_corpora(masked, corpora, "test", LIMITS)}
    forms = {"masked": masked} if gates is None else {"whole": ungated(masked), "masked": masked}
    read = _readings(masked, corpora)
    whole = sum(multiply_adds(masked.encoder, split) for split, _ in read)
    facts: dict[str, Any] = {"gated": gates is not None, **_shares(masked.encoder, gates)}
    if gates is not None:
        job.progress(1, 3, "pruned")
        data = corpora.of(masked.tasks[0])
        batch = _batches(data.dev if len(data.dev) else data.test, masked, 1)[0]
        pruned, report = prune(masked, gates, batch)
        predictions["pruned"] = predict_corpora(pruned, corpora, "test", LIMITS)
        forms["pruned"] = pruned
        facts |= report.facts()
        facts["multiply_adds"] = sum(multiply_adds(pruned.encoder, split) for split, _ in read) / whole
        facts["changed_predictions"] = {
            task.name: sum(
                a != b for a, b in zip(predictions["masked"][task.name], predictions["pruned"][task.name], strict=True)
            )
            for task in masked.tasks
        }
    undefined = undefined_scores(masked, corpora, "test")
    counts = {
        form: {
            task: rows for task, rows in count_corpora(masked, corpora, "test", found).items() if task not in undefined
        }
        for form, found in predictions.items()
    }
    scores = {form: score(masked, found) for form, found in counts.items()}
    facts["tasks"] = {
        task.name: {
            "main": task.metric.main,
            "metric": metric_for(task, corpora).describe(),
            **({"undefined": undefined[task.name]} if task.name in undefined else {}),
            **{form: found[task.name] for form, found in scores.items() if task.name in found},
        }
        for task in masked.tasks
    }
    write_json(job.out / FILE, facts)
    rows = {f"{form}/{task}": found for form, by_task in counts.items() for task, found in by_task.items()}
    np.savez(job.out / COUNTS, allow_pickle=False, **rows)
    job.progress(2, 3, "speed")
    return Measured({"share_kept": facts["share"]}, speeds(forms, read, rounds, sentences))


def _readings(model: MultiTaskModel, corpora: Corpora) -> Readings:
    numbers: dict[str | None, list[int]] = {}
    for number, task in enumerate(model.tasks):
        numbers.setdefault(task.corpus, []).append(number)
    return [(corpora.named(name).test, own) for name, own in numbers.items()]


def multiply_adds(encoder: Encoder, split: PreparedSplit) -> int:
    """Of the layers over a split, without padding: projections, attention and feed-forward blocks."""
    config, heads = encoder.heads.config, encoder.heads
    lengths = (split.lengths + EXTRA).double()
    tokens, pairs = int(lengths.sum()), int((lengths * lengths).sum())
    total = 0
    for layer, number in enumerate(heads.counts):
        weights = [found for found in heads.slices(layer) if found.parameter.dim() == 2]
        projections = sum(found.part(head).numel() for found in weights for head in range(number))
        total += tokens * projections + 2 * pairs * number * heads.width
    inner = next((size for name in _INNER if isinstance(size := getattr(config, name, None), int)), 4 * encoder.width)
    return total + tokens * 2 * encoder.width * inner * len(heads.counts)


_INNER = ("intermediate_size", "hidden_dim", "n_inner")  # what configs call the width of the feed-forward block


def speeds(forms: Mapping[str, MultiTaskModel], read: Readings, rounds: int, sentences: int) -> dict[str, float]:
    """Samples per second of every form, decoding included and for the encoder alone, and how much pruning gains.

    Corpora share the sentences equally, and each is decoded by its own tasks. Rounds are interleaved after one that
    warms up, and the median counts. With one thread, CPU time is what the model would take on an idle machine.
    """
    first = next(iter(forms.values()))
    alone = torch.get_num_threads() == 1 and first.device.type == "cpu"
    clock = time.process_time if alone else time.perf_counter
    share = max(sentences // len(read), 1)
    batches = [(batch, tasks) for split, tasks in read for batch in _batches(split, first, share)]
    samples = sum(len(batch.rows) for batch, _ in batches)
    found: dict[str, list[float]] = {}
    for number in range(rounds + 1):
        for decode in (True, False):
            for form, model in forms.items():
                started = clock()
                _pass(model, batches, decode)
                if number:
                    name = f"{form}_samples_per_second" if decode else f"{form}_encoder_samples_per_second"
                    found.setdefault(name, []).append(samples / max(clock() - started, 1e-9))
    told = {name: statistics.median(values) for name, values in found.items()}
    for form in ("whole", "masked"):
        if {form, "pruned"} <= forms.keys():
            for part in ("", "encoder_"):
                ours, theirs = (found[f"{which}_{part}samples_per_second"] for which in ("pruned", form))
                told[f"{part}speed_up_over_{form}"] = statistics.median(
                    a / b for a, b in zip(ours, theirs, strict=True)
                )
    return told


@torch.inference_mode()
def _pass(model: MultiTaskModel, batches: Sequence[tuple[Batch, Sequence[int]]], decode: bool) -> None:
    for batch, tasks in batches:
        states = model.states(batch, tasks[0])
        for number in tasks if decode else ():
            seen = states if number == tasks[0] or model.sharing.task_free else model.states(batch, number)
            model.tasks[number].decode(seen, batch)
    if model.device.type == "cuda":
        torch.cuda.synchronize()


def _shares(encoder: Encoder, gates: Tensor | None) -> dict[str, Any]:
    """The share of heads that is kept, of all and of each layer's."""
    counts = encoder.heads.counts
    if gates is None:
        return {"share": 1.0, "share_by_layer": [float(count > 0) for count in counts]}
    found = gates.double().cpu().numpy()
    return {"share": kept_share(found, counts), "share_by_layer": kept_by_layer(found, counts)}


def _batches(split: PreparedSplit, model: MultiTaskModel, sentences: int) -> list[Batch]:
    """The first sentences of a split; one at least."""
    lengths = split.lengths[:sentences]
    return [
        collate(split, rows, model.encoder.specials).to(model.device)
        for rows in sequential(lengths, LIMITS.sentences, LIMITS.tokens)
    ]
