"""All measurements of a probe, brought together: encoders, their control and every model, per probed task."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mtlspec.analyses._probes.baselines import BASELINES
from mtlspec.analyses._probes.best import Best, Floats, best_heads, best_of_layers
from mtlspec.analyses._probes.hits import ABOUT, HITS, read_hits
from mtlspec.analyses._probes.options import ProbeOptions
from mtlspec.io.write import write_bytes, write_json
from mtlspec.results.jobs import AnalysisJob
from mtlspec.results.lengths import Lengths, but_unequal, length_of, read_lengths, times
from mtlspec.results.variants import Variant, variants

PRETRAINED, RANDOM = "pretrained", "random"


@dataclass(frozen=True)
class Compared:
    """One model that learnt the probed layer: a column of the table."""

    title: str
    variant: Variant
    seeds: Mapping[int, Best]

    @property
    def score(self) -> Floats:
        """The mean over seeds of each label's score: [labels]."""
        return np.asarray(np.mean([best.score for best in self.seeds.values()], axis=0), np.float64)

    @property
    def source(self) -> str:
        stages = " · ".join(f"measured {run.train}" for run in self.variant.runs)
        return f"{stages} | seeds {', '.join(map(str, self.variant.seeds))}"


@dataclass(frozen=True)
class Control:
    """What is reached without knowing anything of language: a column of the table."""

    title: str
    score: Floats  # [labels]
    source: str


@dataclass(frozen=True)
class TaskResults:
    """What one probed task showed."""

    task: str
    labels: tuple[int, ...]  # those with enough items, the most frequent first
    pretrained: Best
    layers: Floats  # [labels, layers]: the best pre-trained head of each layer
    baseline: Compared | None
    others: tuple[Compared, ...]
    controls: tuple[Control, ...]
    lengths: Lengths  # of the training of all models

    def but_unequal(self, other: Compared) -> str:
        """The end of a sentence that compares a model with the baseline."""
        if self.baseline is None or not set(self.baseline.variant.tasks) <= set(other.variant.tasks):
            return ""
        (task,) = self.baseline.variant.tasks
        found = times(other.variant, self.baseline.variant, task, self.lengths)
        return but_unequal(other.variant.group, self.baseline.variant.group, [found])

    def names(self) -> list[str]:
        return [self.pretrained.names[i] for i in self.labels]

    def mean(self, values: Floats) -> float:
        """Over the shown labels."""
        return float(self.of(values).mean())

    @property
    def control_means(self) -> dict[str, float]:
        return {one.title: self.mean(one.score) for one in self.controls}

    def of(self, values: Floats) -> Floats:
        """The shown labels of an array [labels, ...]."""
        return values[list(self.labels)]


def gather(options: ProbeOptions, job: AnalysisJob) -> tuple[TaskResults, ...]:
    """The results of every probed task, in the order of the options."""
    encoder = read_hits(job.inputs["measure-encoder"])
    place = job.inputs["measure-encoder"] / BASELINES
    baselines = json.loads(place.read_bytes()) if place.is_file() else {}
    found = variants(job.models)
    lengths = read_lengths(found, job.inputs)
    measured: dict[str, dict[int, Mapping[tuple[str, int, str], Any]]] = {}
    layers: dict[str, dict[str, str]] = {}
    for variant in found:
        places = {run.seed: job.measurement(run) for run in variant.runs}
        measured[variant.slug] = {seed: read_hits(place) for seed, place in places.items()}
        first = next(iter(places.values()))
        layers[variant.slug] = json.loads((first / ABOUT).read_bytes())["layers"]
    results = []
    for task, layer in options.probed().items():
        own = {key[0]: value for key, value in encoder.items() if key[2] == task}
        pretrained = best_heads(own[PRETRAINED], options.choosing)
        columns = []
        for variant in found:
            if layer in layers[variant.slug].values():
                seeds = {
                    seed: best_heads(next(v for key, v in hits.items() if key[2] == task), options.choosing)
                    for seed, hits in measured[variant.slug].items()
                }
                columns.append(Compared("", variant, seeds))
        base = [c for c in columns if c.variant.group == options.baseline and len(c.variant.tasks) == 1]
        results.append(
            TaskResults(
                task=task,
                labels=tuple(pretrained.shown(options.least)),
                pretrained=pretrained,
                layers=best_of_layers(own[PRETRAINED], options.choosing),
                baseline=_titled(base, layers, layer)[0] if base else None,
                others=tuple(_titled([c for c in columns if c not in base], layers, layer)),
                controls=_controls(
                    pretrained, best_heads(own[RANDOM], options.choosing), baselines.get(task), base[:1]
                ),
                lengths=lengths,
            )
        )
    return tuple(results)


def _controls(
    pretrained: Best, random: Best, baselines: Mapping[str, Any] | None, base: Sequence[Compared]
) -> tuple[Control, ...]:
    """The random encoder, and then shuffled labels where heads are asked for them, or what needs no model at all."""
    made = [Control("random encoder", random.score, "control: an encoder with random weights")]
    if pretrained.shuffled is not None:
        whose, asked = (base[0].variant.group, base[0].seeds.values()) if base else ("pre-trained", [pretrained])
        shuffled = np.mean([best.shuffled for best in asked if best.shuffled is not None], axis=0)
        source = f"control: heads of {whose}, asked for shuffled labels"
        made.append(Control(f"shuffled labels ({whose})", np.asarray(shuffled, np.float64), source))
    if baselines is not None:
        for title, key, source in (
            ("position alone", "position", "control: the best fixed distance or place for each label"),
            ("random attention", "chance", "control: every word attends to any word, expected accuracy"),
        ):
            made.append(Control(title, np.array([baselines[name][key] for name in pretrained.names]), source))
    return tuple(made)


def _titled(columns: Sequence[Compared], layers: Mapping[str, Mapping[str, str]], layer: str) -> list[Compared]:
    """Columns with short and distinct titles: the group, with the partner where two tasks were trained together."""
    titles = []
    for column in columns:
        learnt = layers[column.variant.slug]
        partners = [task for task in column.variant.tasks if learnt[task] != layer]
        pair = f" + {partners[0]}" if len(column.variant.tasks) == 2 and partners else ""
        titles.append(column.variant.group + pair + column.variant.point)
    return [
        Compared(title if titles.count(title) == 1 else column.variant.label, column.variant, column.seeds)
        for title, column in zip(titles, columns, strict=True)
    ]


def write_all_hits(options: ProbeOptions, job: AnalysisJob) -> None:
    """One `probe.parquet` of all measurements; in `probe.json` what was probed, how, and what each model learns."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    places = [job.inputs["measure-encoder"], *map(job.measurement, job.models)]
    buffer = io.BytesIO()
    tables = [pq.read_table(place / HITS) for place in places]
    pq.write_table(pa.concat_tables(tables).unify_dictionaries(), buffer)
    write_bytes(job.out / HITS, buffer.getvalue())
    found = variants(job.models)
    lengths = read_lengths(found, job.inputs)
    learnt = {
        variant.slug: {
            "group": variant.group,
            "seeds": list(variant.seeds),
            "layers": json.loads((job.measurement(variant.runs[0]) / ABOUT).read_bytes())["layers"],
            "length": length_of(variant, lengths).stored(),
        }
        for variant in found
    }
    about = {"models": learnt, "probed": options.probed(), "choosing": options.choosing, "least": options.least}
    write_json(job.out / ABOUT, about)
