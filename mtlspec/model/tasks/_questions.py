"""Questions whose choices are compared: which examples belong together, and the distribution over them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Questions:
    """The questions of a split of N choices; a choice that belongs to none is a question of its own."""

    number: Tensor  # int64 [N]: each choice's question
    first: Tensor  # int64 [questions], ascending: the first choice of each that has a name
    _order: Tensor  # int64 [N]: the choices, question by question
    _starts: Tensor  # int64 [questions + 1]: where each question's begin there

    @classmethod
    def of(cls, names: Sequence[str | None]) -> Questions:
        seen: dict[object, int] = {}
        keys: list[object] = [row if name is None else name for row, name in enumerate(names)]
        number = torch.tensor([seen.setdefault(key, len(seen)) for key in keys], dtype=torch.int64)
        order = number.argsort(stable=True)
        sizes = torch.bincount(number, minlength=len(seen))
        starts = torch.cat([sizes.new_zeros(1), sizes.cumsum(0)])
        named = torch.tensor([isinstance(key, str) for key in seen], dtype=torch.bool)
        return cls(number, order[starts[:-1]][named], order, starts)

    def with_others(self, rows: Tensor) -> Tensor:
        """Choices int64 [n], and behind them all others of their questions."""
        asked = torch.unique(self.number[rows]).tolist()
        every = torch.cat([rows[:0], *(self._order[self._starts[one] : self._starts[one + 1]] for one in asked)])
        return torch.cat([rows, every[~torch.isin(every, rows)]])

    def members(self, rows: Tensor) -> Tensor:
        """bool [questions, n]: which of some choices belong to each of their questions."""
        own = self.number[rows]
        found: Tensor = own.unsqueeze(0) == torch.unique(own).unsqueeze(1)
        return found


def comparison_loss(scores: Tensor, members: Tensor, right: Tensor) -> Tensor:
    """Minus the log-probability that a right choice is taken, the mean over questions that have one: [].

    scores float [B], members bool [questions, B], right bool [B]. A question without a right choice teaches nothing.
    """
    good = members & right
    asked = good.any(1)
    if not bool(asked.any()):
        return scores.sum() * 0.0
    every, best = (scores.masked_fill(~chosen[asked], -torch.inf).logsumexp(1) for chosen in (members, good))
    return (every - best).mean()


def comparison_entropy(scores: Tensor, members: Tensor) -> Tensor:
    """How unsure the choice of each example's question is, from 0 to 1: [B]."""
    likely = scores.masked_fill(~members, -torch.inf).softmax(1)  # [questions, B]
    most = members.sum(1).float().log()  # of the uniform distribution
    entropy = torch.special.entr(likely).sum(1)
    share = torch.where(most > 0, entropy / most.clamp(min=1e-9), 0.0).clamp(0.0, 1.0)
    return members.float().T @ share
