"""Linear-chain CRF: tags that know their neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from mtlspec.model.tagger import UNKNOWN, Tagger
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
        self._l2 = transition_l2
        allowed = allowed_transitions(tags, scheme)
        self._penalties = tuple(
            (~torch.from_numpy(may)).float() * FORBIDDEN for may in (allowed.pairs, allowed.start, allowed.end)
        )

    def loss(self, words: Tensor, mask: Tensor, tags: Tensor) -> Tensor:
        """Negative log-likelihood of the known tags, per word that has one; plus the L2 penalty.

        Where some are unknown, that is the probability of all taggings that agree with the known ones.
        """
        from mtlspec.structs.linear_chain import log_partition, nll

        scores = self._scores
        # The chain is summed in float32 whatever the precision of the encoder: log-sum-exp over a sentence needs it.
        emissions, chain = self._emissions(words).float(), (scores["transitions"], scores["start"], scores["end"], mask)
        known = (tags != UNKNOWN) & mask
        if bool((known | ~mask).all()):
            losses = nll(emissions, *chain, tags.clamp(min=0))
        else:
            agreeing = emissions.masked_fill(_excluded(tags, known, emissions.shape[2]), float("-inf"))
            losses = log_partition(emissions, *chain) - log_partition(agreeing, *chain)
        loss: Tensor = losses.sum() / known.sum().clamp(min=1)
        return loss + self._l2 * scores["transitions"].square().sum() if self._l2 else loss

    def decode(self, words: Tensor, mask: Tensor) -> Tensor:
        from mtlspec.structs.linear_chain import viterbi

        names = ("transitions", "start", "end")
        transitions, start, end = (
            self._scores[name] + penalty.to(words.device) for name, penalty in zip(names, self._penalties, strict=True)
        )
        tags, _ = viterbi(self._emissions(words).float(), transitions, start, end, mask)
        return tags

    def probabilities(self, words: Tensor, mask: Tensor) -> Tensor:
        from mtlspec.structs.linear_chain import marginals

        scores = self._scores
        return marginals(self._emissions(words).float(), scores["transitions"], scores["start"], scores["end"], mask)


def _excluded(tags: Tensor, known: Tensor, count: int) -> Tensor:
    """bool [B, W, C]: the tags that are not the known one of their word."""
    import torch

    others = torch.arange(count, device=tags.device) != tags.unsqueeze(2)
    return others & known.unsqueeze(2)
