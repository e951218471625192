"""What is probed: a trained model, or the pre-trained encoder and a random one of the same shape as its control."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from mtlspec.analyses._inputs import load_proven_model
from mtlspec.data.batching import Batch, collate, sequential
from mtlspec.data.prepared import PreparedSplit
from mtlspec.model.encoder.encoder import Encoder
from mtlspec.model.encoder.loading import build_model
from mtlspec.model.encoder.proof import require_sound_heads
from mtlspec.model.encoder.transformer import Transformer
from mtlspec.model.multitask import MultiTaskModel
from mtlspec.results.jobs import Measurement
from mtlspec.spec.models import BatchLimits

if TYPE_CHECKING:
    from mtlspec.model.encoder.seam import Captured

PRETRAINED, RANDOM = "pretrained", "random"


@dataclass(frozen=True)
class Subject:
    """An encoder, alone or as part of a trained model."""

    name: str  # of the model without its seed; `pretrained` or `random` for encoders
    seed: int
    encoder: Encoder
    model: MultiTaskModel | None = None
    corpus: str | None = None  # the one that is probed

    @property
    def layers(self) -> dict[str, str]:
        """Task -> the layer that it learns; one of another corpus is `corpus/layer`: it may bear the same name."""
        tasks = () if self.model is None else self.model.tasks
        own = {task.name: task.corpus in (None, self.corpus) for task in tasks}
        return {task.name: task.layer if own[task.name] else f"{task.corpus}/{task.layer}" for task in tasks}

    def passes(self, probed: Mapping[str, str]) -> list[tuple[int, tuple[str, ...]]]:
        """Which probed tasks (-> layer) share a forward pass: all, unless the encoder reads differently for each task.

        Then a task is probed as the model reads it, and one that the model does not know as its first task reads it.
        """
        if self.model is None or self.model.sharing.task_free:
            return [(0, tuple(probed))]
        known = list(self.layers.values())
        grouped: dict[int, list[str]] = {}
        for task, layer in probed.items():
            grouped.setdefault(known.index(layer) if layer in known else 0, []).append(task)
        return [(index, tuple(tasks)) for index, tasks in sorted(grouped.items())]

    @torch.inference_mode()
    def read(
        self, split: PreparedSplit, task: int, *, attention: bool = False, contexts: bool = False
    ) -> Iterator[tuple[Tensor, Batch, Captured]]:
        """Every sentence once: (rows int64 [B], their batch, what the heads did)."""
        self.encoder.eval()
        limits = BatchLimits()
        device = next(self.encoder.parameters()).device
        for rows in sequential(split.lengths, limits.sentences, limits.tokens):
            batch = collate(split, rows, self.encoder.specials).to(device)
            with self.encoder.heads.captured(attention=attention, contexts=contexts) as seen:
                if self.model is None:
                    self.encoder(batch)
                else:
                    self.model.states(batch, task)
            yield rows, batch, seen


def subjects(job: Measurement, corpus: str, seed: int) -> list[Subject]:
    """The model of the job, or, where there is none, the pre-trained encoder and its control."""
    if job.model is not None:
        model = load_proven_model(job)
        return [Subject(job.model.slug, job.model.seed, model.encoder, model, corpus)]
    pretrained = Encoder.load(job.inputs["encoder"]).to(job.device)
    require_sound_heads(pretrained)
    control = random_encoder(pretrained, seed).to(job.device)
    return [Subject(PRETRAINED, 0, pretrained), Subject(RANDOM, seed, control)]


def random_encoder(like: Encoder, seed: int) -> Encoder:
    """The same architecture with fresh weights."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = build_model(like.heads.config)
    return Transformer(model, like.options, like.specials).eval()
