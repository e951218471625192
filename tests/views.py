"""A view for samplers that are tested without a model."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from mtlspec.spec.models import BatchLimits
from mtlspec.train.feed import Feed
from mtlspec.train.sampling import Part, TaskSizes
from mtlspec.train.view import View


def view(sizes: TaskSizes, epoch: int = 1) -> View:
    """Tasks with so many examples of equal length; the model is the surer of one, the higher its number."""

    def judge(candidates: Sequence[Part]) -> list[Tensor]:
        return [1 / (1 + part.rows.float()) for part in candidates]

    limits = BatchLimits(sentences=8, tokens=9999)
    feeds = [
        Feed(str(task), torch.arange(size), torch.full((size,), 5), limits, 1)
        for task, size in enumerate(sizes.examples)
    ]
    return View(epoch, 1, 100, sizes, (None,) * len(sizes), [], feeds, judge)
