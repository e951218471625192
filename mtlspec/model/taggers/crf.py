"""Linear-chain CRF: tags that know their neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import Field

from mtlspec.model.tagger import UNKNOWN, Tagger, some_outputs
from mtlspec.spec.families import TaggerOptions

if TYPE_CHECKING:
    from torch import Tensor

    from mtlspec.metrics.schemes import Scheme

# Finite: if the scheme forbids every sequence of the known tags, the best of them is still found.
FORBIDDEN = -1e4


class Options(TaggerOptions):
    type: Literal["crf"]
    transition_l2: Annotated[float, Field(ge=0)] = Field(
        default=0.0, description="L2 penalty on the transition scores."
    )
    constrained: bool = Field(default=True, description="Forbid tag sequences that the scheme forbids when decoding.")

    def build(self, width: int, tags: Sequence[str], scheme: Scheme) -> Tagger:
        return Crf(width, tags, scheme if self.constrained else "plain", self.transition_l2)


class Crf(Tagger):
    """Emissions by a linear layer; transitions [C, C], start [C] and end [C] start at zero."""

    def __init__(self, width: int, tags: Sequence[str], scheme: Scheme, transition_l2: float) -> None:
        import torch
        from torch import nn

        from mtlspec.metrics.schemes import allowed_transitions

        count = len(tags)
        self._emissions = nn.Linear(width, count)
        self._scores = nn.ParameterDict(
            {
                "transitions": nn.Parameter(torch.zeros(count, count)),
                "start": nn.Parameter(torch.zeros(count)),
                "end": nn.Parameter(torch.zeros(count)),
            }
        )
        self.module = nn.ModuleDict({"emissions": self._emissions, "scores": self._scores})
        self._columns: Tensor | None = None  # the tags of the parameters that are ours; None: all
        self._l2 = transition_l2
        allowed = allowed_transitions(tags, scheme)
        self._penalties = tuple(
            (~torch.from_numpy(may)).float() * FORBIDDEN for may in (allowed.pairs, allowed.start, allowed.end)
        )

    def borrow(self, whole: Self, columns: Tensor) -> None:
        """The parameters of another CRF; what the scheme forbids stays our own."""
        self._emissions, self._scores, self.module = whole._emissions, whole._scores, whole.module
        self._columns = columns

    def _chain(self) -> tuple[Tensor, Tensor, Tensor]:
        """transitions [C, C], start [C] and end [C] of our own tags."""
        transitions, start, end = (self._scores[name] for name in ("transitions", "start", "end"))
        if self._columns is None:
            return transitions, start, end
        own = self._columns.to(start.device)
        return transitions[own.unsqueeze(1), own], start[own], end[own]

    def loss(self, words: Tensor, mask: Tensor, tags: Tensor) -> Tensor:
        """Negative log-likelihood of the known tags, per word that has one; plus the L2 penalty.

        Where some are unknown, that is the probability of all taggings that agree with the known ones.
        """
        from mtlspec.structs.linear_chain import log_partition, nll

        # The chain is summed in float32 whatever the precision of the encoder: log-sum-exp over a sentence needs it.
        emissions, chain = self._emit(words), (*self._chain(), mask)
        known = (tags != UNKNOWN) & mask
        if bool((known | ~mask).all()):
            losses = nll(emissions, *chain, tags.clamp(min=0))
        else:
            agreeing = emissions.masked_fill(_excluded(tags, known, emissions.shape[2]), float("-inf"))
            losses = log_partition(emissions, *chain) - log_partition(agreeing, *chain)
        loss: Tensor = losses.sum() / known.sum().clamp(min=1)
        return loss + self._l2 * self._scores["transitions"].square().sum() if self._l2 else loss

    def decode(self, words: Tensor, mask: Tensor) -> Tensor:
        from mtlspec.structs.linear_chain import viterbi

        transitions, start, end = (
            score + penalty.to(words.device) for score, penalty in zip(self._chain(), self._penalties, strict=True)
        )
        tags, _ = viterbi(self._emit(words), transitions, start, end, mask)
        return tags

    def probabilities(self, words: Tensor, mask: Tensor) -> Tensor:
        from mtlspec.structs.linear_chain import marginals

        return marginals(self._emit(words), *self._chain(), mask)

    def _emit(self, words: Tensor) -> Tensor:
        """Scores of our own tags, float32 [B, W, C]."""
        return some_outputs(self._emissions, words, self._columns).float()


def _excluded(tags: Tensor, known: Tensor, count: int) -> Tensor:
    """bool [B, W, C]: the tags that are not the known one of their word."""
    import torch

    others = torch.arange(count, device=tags.device) != tags.unsqueeze(2)
    return others & known.unsqueeze(2)
