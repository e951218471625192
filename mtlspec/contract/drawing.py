"""What every sampler, loss balancing and task set promises."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from mtlspec.contract.promise import promise
from mtlspec.spec.families import BalanceOptions, SamplerOptions, TaskSetOptions
from mtlspec.spec.models import BatchLimits
from mtlspec.train.feed import Feed
from mtlspec.train.sampling import Part, Sampler, TaskSizes
from mtlspec.train.view import View

THREE = ("pos", "names", "ner")


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


def check_sampler(options: SamplerOptions) -> None:
    """Draws known tasks, at most once each; continues from its saved state."""
    _fits(options.problem(THREE))
    sizes = TaskSizes((90, 40, 10), (9, 4, 1))
    sampler, seen = options.build(sizes, 12, 3, 5), view(sizes)
    for _ in range(20):
        tasks = [part.task for part in sampler.draw(seen)]
        sound = tasks and len(tasks) == len(set(tasks)) and set(tasks) <= {0, 1, 2}
        promise(sound, f"it draws {tasks} of the tasks 0, 1 and 2 for one batch")
    promise(sampler.batches_per_epoch() > 0, "an epoch of it has no batches")
    saved = json.loads(json.dumps(sampler.state()))
    rest = _drawn(sampler, 30)
    other = options.build(sizes, 12, 3, 5)
    other.load_state(saved)
    promise(_drawn(other, 30) == rest, "it draws otherwise when it goes on from its saved state")


def _drawn(sampler: Sampler, number: int) -> list[Any]:
    seen = view(sampler.sizes, 2)
    return [[(part.task, part.rows.tolist()) for part in sampler.draw(seen)] for _ in range(number)]


def check_balance(options: BalanceOptions) -> None:
    """Passes gradients on; saved after any of many losses, it goes on as the one that was not."""
    _fits(options.problem(THREE))
    balance = options.build(THREE)
    for step in range(40):  # more than any window holds
        loss = torch.tensor(1.0 + step * step % 7, requires_grad=True)
        weighted, weight = balance.weigh(step % 3, loss)
        weighted.backward()  # type: ignore[no-untyped-call]
        promise(float(weight) > 0, f"a loss has the weight {float(weight)}")
        promise(loss.grad is not None and loss.grad.item() > 0, "no gradient reaches the loss")
        other = options.build(THREE)
        other.load_state(json.loads(json.dumps(balance.state())))
        other.module.load_state_dict(balance.module.state_dict())
    for step in range(20):
        loss = torch.tensor(3.0 + step)
        same = other.weigh(step % 3, loss) == balance.weigh(step % 3, loss)
        promise(same, "it weighs otherwise when it goes on from its saved state")


def check_task_set(options: TaskSetOptions) -> None:
    """As many sets as it counts, each of known tasks under a label of its own."""
    _fits(options.problem(THREE))
    sets = options.sets(THREE)
    count = options.count(THREE)
    promise(len(sets) == count, f"it counts {count} task sets and makes {len(sets)}")
    promise(len({label for label, _ in sets}) == len(sets), "two of its task sets have the same label")
    for label, tasks in sets:
        sound = tasks and len(set(tasks)) == len(tasks) and set(tasks) <= set(THREE)
        promise(sound, f"the set '{label}' has the tasks {', '.join(tasks)} of {', '.join(THREE)}")


def _fits(problem: str | None) -> None:
    promise(problem is None, f"it does not fit the tasks {', '.join(THREE)}: {problem}")
