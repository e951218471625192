"""Distillation: a student learns what its teachers compute, beside or instead of the labels.

All teachers are in evaluation mode and draw nothing at random, so that a student resumes to the bit without them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from mtlspec.data.batching import collate
from mtlspec.errors import StageError
from mtlspec.model.mixed import Reading
from mtlspec.model.multitask import MultiTaskModel, load_model
from mtlspec.spec.train_parts import Distil
from mtlspec.train.inside import Inside, inside, mean_square

ROLE = "teacher-"


def load_teachers(inputs: Mapping[str, Path], device: torch.device) -> dict[str, MultiTaskModel]:
    """Task -> its teacher, of the inputs of a stage; a teacher of several tasks is loaded once."""
    paths = {role.removeprefix(ROLE): path for role, path in inputs.items() if role.startswith(ROLE)}
    models = {path: load_model(path, str(device)) for path in dict.fromkeys(paths.values())}
    for model in models.values():
        model.module.requires_grad_(False)
    return {task: models[path] for task, path in paths.items()}


class Distiller:
    """The loss of a student's batch, of what its task's teacher says about the same examples."""

    def __init__(self, options: Distil, student: MultiTaskModel, teachers: Mapping[str, MultiTaskModel]) -> None:
        self._options, self._student = options, student
        self._places = [_place(task.name, teachers.get(task.name)) for task in student.tasks]
        self._teachers = [teachers[task.name] for task in student.tasks]
        self._layers: tuple[int, ...] = ()
        if options.hidden or options.attention:
            self._layers = self._layer_map()

    def loss(self, reading: Reading, gold: Any) -> Tensor:
        """Of one task's examples []: the weighted sum of the losses that the options name."""
        options, student = self._options, self._student
        task, teacher = student.tasks[reading.task], self._teachers[reading.task]
        place = self._places[reading.task]
        batch = collate(reading.split, reading.rows, student.encoder.specials).to(student.device)
        looks = bool(options.hidden or options.embeddings), bool(options.attention)
        with inside(student.encoder, *looks) as ours:
            states = student.states(batch, reading.task)
        with torch.no_grad(), inside(teacher.encoder, *looks) as theirs:
            taught = teacher.states(batch, place)
        parts = self._inner(ours, theirs)
        if options.prediction:
            distance = task.distance(states, batch, teacher.tasks[place], taught, options.temperature)
            parts.append(options.prediction * distance)
        if options.labels:
            parts.append(options.labels * task.loss(states, batch.for_task(reading.task), gold))
        return torch.stack(parts).sum() if len(parts) > 1 else parts[0]

    def _inner(self, ours: Inside, theirs: Inside) -> list[Tensor]:
        """Losses of embeddings, of layers and of attention scores, the last two summed over the student's layers."""
        options, parts = self._options, []
        pairs = list(enumerate(self._layers, start=1))
        if options.embeddings:
            parts.append(options.embeddings * mean_square(ours.states[0], theirs.states[0], ours.tokens.unsqueeze(2)))
        if options.hidden:
            tokens = ours.tokens.unsqueeze(2)
            found = [mean_square(ours.states[own], theirs.states[other], tokens) for own, other in pairs]
            parts.append(options.hidden * torch.stack(found).sum())
        if options.attention:
            there = ours.pairs
            if self._student.encoder.causal:
                there = there & torch.ones_like(there).tril()
            found = [mean_square(ours.scores[own], theirs.scores[other], there) for own, other in pairs]
            parts.append(options.attention * torch.stack(found).sum())
        return parts

    def _layer_map(self) -> tuple[int, ...]:
        """The teacher's layer for each of the student's, from 1; an error where there is none to compare with."""
        own = self._student.encoder
        depth = len(own.places.layers)
        wanted = tuple(self._options.layers or range(1, depth + 1))
        if len(wanted) != depth:
            message = f"`distil.layers` names {len(wanted)} layers of the teacher, and the student has {depth}"
            raise StageError("E884", message, hint="name one for each layer of the student")
        for teacher in dict.fromkeys(self._teachers):
            there = len(teacher.encoder.places.layers)
            if max(wanted) > there:
                raise StageError("E885", f"`distil.layers` names layer {max(wanted)}, and the teacher has {there}")
            if self._options.attention:
                heads = own.heads.counts, tuple(teacher.encoder.heads.counts[number - 1] for number in wanted)
                if heads[0] != heads[1]:
                    message = "the student's layers and the teacher's have different numbers of attention heads"
                    raise StageError("E886", message, hint="write `distil: {attention: 0}`")
        return wanted


def _place(task: str, teacher: MultiTaskModel | None) -> int:
    """Which of a teacher's tasks this one is."""
    names = [own.name for own in teacher.tasks] if teacher is not None else []
    if task not in names:
        raise StageError("E883", f"the teacher has not learnt the task '{task}'")
    return names.index(task)
