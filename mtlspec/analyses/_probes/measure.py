"""The measurement of one model by a probe, from its files to `probe.parquet`."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import cast

from mtlspec.analyses._inputs import prepared_corpora
from mtlspec.analyses._probes.gold import ProbedTask
from mtlspec.analyses._probes.hits import Tally, write_hits
from mtlspec.analyses._probes.options import ProbeOptions
from mtlspec.analyses._probes.passes import Question, ask
from mtlspec.analyses._probes.subjects import Subject, subjects
from mtlspec.data.prepared import PreparedSplit
from mtlspec.errors import StageError
from mtlspec.results.jobs import Measured, Measurement

Baselines = Callable[[list[Question], Mapping[str, PreparedSplit]], None]
Probe = Callable[[Subject, Mapping[str, PreparedSplit], Sequence[Question]], Sequence[Tally]]


def measure_subjects(
    options: ProbeOptions, job: Measurement, probe: Probe, baselines: Baselines | None = None
) -> Measured:
    """Writes `probe.parquet` and `probe.json`; with the pre-trained encoder also what needs no model."""
    ((corpus, data),) = prepared_corpora(job).items()
    splits = {name: data.split(name) for name in options.splits}
    questions = [
        ask(cast(ProbedTask, task), _known(layer, splits), splits, options.seed)
        for task, layer in options.probed().items()
    ]
    measured = []
    seconds = 0.0
    found = subjects(job, corpus, options.seed)
    for done, subject in enumerate(found):
        job.progress(done, len(found), subject.name)
        started = time.perf_counter()
        measured.append((subject.name, subject.seed, probe(subject, splits, questions)))
        seconds += time.perf_counter() - started
    if job.model is None and baselines is not None:
        baselines(questions, splits)
    heads = found[0].encoder.heads.counts
    write_hits(job.out, measured, heads, {"layers": found[0].layers})
    sentences = len(found) * sum(len(split) for split in splits.values())
    return Measured(
        facts={"heads": sum(heads), "labels": {question.task: len(question.names) for question in questions}},
        timings={"probe_seconds": seconds, "probed_sentences_per_second": sentences / max(seconds, 1e-9)},
    )


def _known(layer: str, splits: Mapping[str, PreparedSplit]) -> str:
    layers = next(iter(splits.values())).layers
    if layer not in layers:
        raise StageError(
            "E460", f"the data have no layer '{layer}' to probe", hint=f"known: {', '.join(sorted(layers))}"
        )
    return layer
