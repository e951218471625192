"""One short joint training, in which every task's gradient is held against the others' gradients and losses."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from mtlspec.analyses._inputs import prepared_corpora
from mtlspec.data.corpora import Corpora
from mtlspec.data.streams import philox
from mtlspec.io.write import write_json
from mtlspec.kinds import parse
from mtlspec.model.mixed import Reading, encode_parts
from mtlspec.model.multitask import ABOUT, MultiTaskModel, build_model, load_model
from mtlspec.results.jobs import Measured, Measurement
from mtlspec.spec.families import SHARING, TASKS, SharingOptions, TaskOptions

if TYPE_CHECKING:
    from mtlspec.analyses.task_affinity import Options

FILE = "affinity.json"
"""`tasks`; `cosine` and `look_ahead` [T, T]: what a task (row) does to another (column), means over `looks`."""


def measure_affinity(options: Options, job: Measurement) -> Measured:
    """Of a model of one task nothing is measured."""
    if job.model is None or len(job.model.tasks) < 2:
        write_json(job.out / FILE, {"tasks": []})
        return Measured()
    corpora = prepared_corpora(job)
    model = fresh_model(job, corpora, job.model.seed)
    found = Looks(len(model.tasks))
    batches = _batches(model, corpora, options, job.model.seed)
    gold = [task.encode(corpora.of(task).train) for task in model.tasks]
    adam = torch.optim.Adam(model.module.parameters(), lr=options.lr)
    for update in range(options.updates):
        job.progress(update, options.updates, "updates")
        readings = next(batches)
        if update % options.every == 0:
            model.module.eval()
            found.add(model, readings, gold, options.step)
            model.module.train()
        adam.zero_grad()
        torch.stack(losses(model, readings, gold)).mean().backward()  # type: ignore[no-untyped-call]
        adam.step()
    told = {"tasks": [task.name for task in model.tasks], "looks": found.count, **found.means()}
    write_json(job.out / FILE, told)
    return Measured({"looks": found.count, "tasks": len(model.tasks)})


def fresh_model(job: Measurement, corpora: Corpora, seed: int) -> MultiTaskModel:
    """The model of a training before its first update; drawn from its seed, but not the very same numbers."""
    trained = load_model(job.inputs["train"])
    about = json.loads((job.inputs["train"] / ABOUT).read_bytes())
    tasks = {task["name"]: parse(TASKS, TaskOptions, task["options"]) for task in about["tasks"]}
    torch.manual_seed(seed)
    encoder = trained.encoder.options.build(job.inputs["encoder"])
    sharing = parse(SHARING, SharingOptions, about["sharing"])
    model = build_model(encoder, sharing, tasks, corpora.labels(tasks)).to(torch.device(job.device))
    model.module.train()
    return model


def losses(model: MultiTaskModel, readings: Sequence[Reading], gold: Sequence[Any]) -> list[Tensor]:
    """Each task's mean loss on its own part of a mixed batch."""
    parts = zip(readings, encode_parts(model, readings), strict=True)
    return [model.tasks[reading.task].loss(states, batch, gold[reading.task]) for reading, (states, batch) in parts]


class Looks:
    """Sums over looks of cosines and of relative changes of losses, [T, T]."""

    def __init__(self, tasks: int) -> None:
        self.count = 0
        self._cosine = torch.zeros(tasks, tasks, dtype=torch.float64)
        self._ahead = torch.zeros(tasks, tasks, dtype=torch.float64)

    def add(self, model: MultiTaskModel, readings: Sequence[Reading], gold: Sequence[Any], step: float) -> None:
        """One look at a batch; the model is as it was afterwards."""
        shared = _shared(model)
        before = losses(model, readings, gold)
        gradients = [
            _flat(torch.autograd.grad(loss, shared, retain_graph=True, allow_unused=True), shared) for loss in before
        ]
        lengths = torch.stack([gradient.norm() for gradient in gradients]).clamp(min=1e-12)
        matrix = torch.stack(gradients)
        self._cosine += (matrix @ matrix.T / torch.outer(lengths, lengths)).double().cpu()
        now = torch.stack([loss.detach() for loss in before]).double().cpu()
        for source, gradient in enumerate(gradients):
            with torch.no_grad(), _moved(shared, gradient, -step):
                after = torch.stack(losses(model, readings, gold)).double().cpu()
            self._ahead[source] += 1 - after / now.clamp(min=1e-12)
        self.count += 1

    def means(self) -> dict[str, list[list[float]]]:
        return {"cosine": (self._cosine / self.count).tolist(), "look_ahead": (self._ahead / self.count).tolist()}


class _moved:  # noqa: N801  # used as a statement
    """Parameters shifted along a flat direction, and put back to the bit."""

    def __init__(self, parameters: Sequence[nn.Parameter], direction: Tensor, step: float) -> None:
        self._parameters, self._direction, self._step = parameters, direction, step
        self._kept: list[Tensor] = []

    def __enter__(self) -> None:
        self._kept = [parameter.detach().clone() for parameter in self._parameters]
        parts = torch.split(self._direction, [parameter.numel() for parameter in self._parameters])
        for parameter, part in zip(self._parameters, parts, strict=True):
            parameter.add_(part.view_as(parameter), alpha=self._step)

    def __exit__(self, *_: object) -> None:
        for parameter, kept in zip(self._parameters, self._kept, strict=True):
            parameter.copy_(kept)


def _shared(model: MultiTaskModel) -> list[nn.Parameter]:
    """What all tasks have in common: everything that learns and is no task's own decoder."""
    own = {id(parameter) for task in model.tasks for parameter in task.module.parameters()}
    return [p for p in model.module.parameters() if p.requires_grad and id(p) not in own]


def _flat(gradients: Sequence[Tensor | None], shared: Sequence[nn.Parameter]) -> Tensor:
    pairs = zip(gradients, shared, strict=True)
    return torch.cat([torch.zeros(p.numel(), device=p.device) if g is None else g.flatten() for g, p in pairs])


def _batches(model: MultiTaskModel, corpora: Corpora, options: Options, seed: int) -> Iterator[list[Reading]]:
    """As many examples of each task in every batch; all come once before any comes again."""
    splits = [corpora.of(task).train for task in model.tasks]
    rows = [task.rows(split) for task, split in zip(model.tasks, splits, strict=True)]
    orders = [_endless(own, f"affinity/{task.name}", seed) for own, task in zip(rows, model.tasks, strict=True)]
    while True:
        yield [
            Reading(number, split, torch.stack([next(order) for _ in range(options.examples)]))
            for number, (split, order) in enumerate(zip(splits, orders, strict=True))
        ]


def _endless(rows: Tensor, name: str, seed: int) -> Iterator[Tensor]:
    turn = 0
    while True:
        keys = philox(seed, f"{name}/{turn}").bit_generator.random_raw(len(rows)).astype("int64")
        yield from rows[torch.from_numpy(keys).argsort(stable=True)]
        turn += 1
