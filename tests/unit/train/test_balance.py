"""Loss balancing, by hand."""

from __future__ import annotations

import math
from typing import Any, cast

import pytest
import torch
from pydantic import ValidationError

from mtlspec.kinds import names, options_class
from mtlspec.spec.families import BALANCE, BalanceOptions
from mtlspec.train.balancing import Balance


def options(kind: str, **values: Any) -> BalanceOptions:
    return cast(BalanceOptions, options_class(BALANCE, kind).model_validate({"type": kind, **values}))


def build(kind: str, tasks: tuple[str, ...] = ("pos", "ner"), **values: Any) -> Balance:
    return options(kind, **values).build(tasks)


def weigh(balance: Balance, task: int, loss: float) -> tuple[float, float]:
    weighted, weight = balance.weigh(task, torch.tensor(loss))
    return weighted.item(), weight


def test_running_mean_by_hand() -> None:
    """Window 2: means are over the last two losses of each task, the current one included."""
    balance = build("running_mean", window=2)
    assert weigh(balance, 0, 4.0) == (4.0, 1.0)  # the other task has not been drawn
    assert weigh(balance, 1, 1.0) == (5.0, 5.0)  # (4 + 1) / 1
    assert weigh(balance, 0, 2.0) == pytest.approx((2 * 4 / 3, 4 / 3))  # mean 3: (3 + 1) / 3
    assert weigh(balance, 0, 1.0) == pytest.approx((2.5 / 1.5, 2.5 / 1.5))  # 4 is forgotten, mean 1.5
    assert weigh(balance, 1, 3.0) == pytest.approx((3 * 3.5 / 2, 3.5 / 2))  # means 1.5 and 2


def test_running_mean_weight_is_a_constant() -> None:
    balance = build("running_mean")
    balance.weigh(1, torch.tensor(3.0))
    loss = torch.tensor(2.0, requires_grad=True)
    weighted, weight = balance.weigh(0, loss)
    weighted.backward()
    assert loss.grad is not None
    assert loss.grad.item() == weight == 2.5


def test_running_mean_survives_a_loss_of_zero() -> None:
    balance = build("running_mean")
    assert weigh(balance, 0, 0.0) == (0.0, 1.0)


def test_running_mean_continues_from_its_state() -> None:
    balance, other = build("running_mean", window=3), build("running_mean", window=3)
    for task, loss in ((0, 1.5), (1, 2.5), (0, 0.1), (0, 0.7), (0, 0.3)):
        weigh(balance, task, loss)
    other.load_state(balance.state())
    assert weigh(balance, 1, 0.9) == weigh(other, 1, 0.9)


def test_static_weights_and_none() -> None:
    balance = build("static", weights={"ner": 0.25, "pos": 2.0, "other": 9.0})
    assert weigh(balance, 0, 3.0) == (6.0, 2.0)
    assert weigh(balance, 1, 3.0) == (0.75, 0.25)
    assert weigh(build("none"), 1, 3.0) == (3.0, 1.0)


def test_static_says_what_does_not_fit() -> None:
    assert options("static", weights={"pos": 1.0, "ner": 1.0}).problem(["pos"]) is None
    assert (
        options("static", weights={"pso": 1.0}).problem(["pos"]) == "no weight for the task 'pos' (did you mean 'pso'?)"
    )
    assert options("static", weights={"pos": 0.0}).problem(["pos"]) == "the weights of all tasks are zero"
    with pytest.raises(ValidationError):
        options("static", weights={"pos": -1.0})


def test_uncertainty_by_hand_and_learnt() -> None:
    balance = build("uncertainty")
    (log_variance,) = balance.module.parameters()
    with torch.no_grad():
        log_variance.copy_(torch.tensor([0.0, math.log(4.0)]))
    assert weigh(balance, 0, 3.0) == pytest.approx((3.0, 1.0))
    assert weigh(balance, 1, 8.0) == pytest.approx((8 / 4 + math.log(2.0), 0.25))
    optimiser = torch.optim.SGD([log_variance], lr=0.1)
    for _ in range(400):
        optimiser.zero_grad()
        balance.weigh(1, torch.tensor(3.0))[0].backward()
        optimiser.step()
    assert log_variance[1].exp().item() == pytest.approx(6.0, rel=1e-3)  # loss/v + log(v)/2 is least at v = 2 loss
    assert log_variance[0].item() == 0.0


@pytest.mark.parametrize("kind", ["none", "running_mean", "uncertainty"])
def test_one_task_alone_keeps_its_loss_at_first(kind: str) -> None:
    assert kind in names(BALANCE)
    assert weigh(build(kind, ("pos",)), 0, 1.25) == (1.25, 1.0)
