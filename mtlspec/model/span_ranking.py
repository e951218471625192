"""Span ranking: all spans and all words are scored, the best of both are kept, and every kept pair gets role scores.

The vector of a span is [its first word; its last word; a width embedding; the mean of its words]. It is never built:
a linear layer over it is a sum of linear layers over its parts, so words are projected once, and spans add up what
they need in one matrix product with a constant matrix. Its backward pass is a matrix product too, which adds up in a
fixed order on every device.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

Mean = Literal["true_width", "max_width"]


class Spans(NamedTuple):
    """All T spans of up to W words in N words, by start and then by width."""

    starts: Tensor  # int64 [T]
    lasts: Tensor  # int64 [T], inclusive
    rows: Tensor  # int64 [N]: number of the first span of each start
    sums: Tensor  # [T, 3 * N]: which of (first, last, mean) of which word a span adds up
    widths: Tensor  # [T, W]: one-hot


class Ranked(NamedTuple):
    """B sentences, K kept spans, P kept predicates, R roles; scores of roles are relative to 0 for no role."""

    scores: Tensor  # [B, K, P, R]
    spans: Tensor  # int64 [B, K]: numbers in `all_spans`
    predicates: Tensor  # int64 [B, P]: words
    mask: Tensor  # bool [B, K, P]


class RankerSizes(NamedTuple):
    """Widths of the layers, limits and ratios of a ranker."""

    words: int
    width_embedding: int
    scorer: int
    pair: int
    roles: int
    max_width: int
    span_ratio: float
    predicate_ratio: float


@lru_cache(maxsize=64)
def all_spans(words: int, max_width: int, mean: Mean, device: torch.device) -> Spans:
    with torch.inference_mode(False):  # a constant that training uses as well
        sizes = (words - torch.arange(words)).clamp(max=max_width)
        rows = sizes.cumsum(0) - sizes
        starts = torch.repeat_interleave(torch.arange(words), sizes)
        each = torch.arange(len(starts))
        lasts = starts + each - rows[starts]
        width = lasts - starts + 1
        word = torch.arange(words)
        inside = (word >= starts.unsqueeze(1)) & (word <= lasts.unsqueeze(1))
        sums = torch.zeros(len(starts), words, 3)
        sums[each, starts, 0] = 1.0
        sums[each, lasts, 1] = 1.0
        sums[:, :, 2] = inside / (width if mean == "true_width" else torch.full_like(width, max_width)).unsqueeze(1)
        one_hot = functional.one_hot(width - 1, max_width).float()
        return Spans(*(t.to(device) for t in (starts, lasts, rows, sums.flatten(1), one_hot)))


class SpanLinear(nn.Module):
    """A linear layer over span vectors followed by `extra` other inputs, computed from its parts."""

    def __init__(self, words: int, width_embedding: int, extra: int, size: int) -> None:
        super().__init__()
        self.whole = linear(3 * words + width_embedding + extra, size)
        self._sizes = [words, words, width_embedding, words, extra]

    def project(self, words: Tensor, widths: Tensor) -> tuple[Tensor, Tensor]:
        """words [B, N, D], widths [W, E] -> the parts of words [B, 3 * N, size] and of widths [W, size]."""
        first, last, width, mean, _ = torch.split(self.whole.weight, self._sizes, 1)
        batch, count, _ = words.shape
        parts = functional.linear(words, torch.cat([first, last, mean])).view(batch, 3 * count, -1)
        return parts, functional.linear(widths, width, self.whole.bias)

    def forward(self, projected: tuple[Tensor, Tensor], sums: Tensor, one_hot: Tensor) -> Tensor:
        """What `project` gave, sums [B, X, 3 * N], one_hot [X, W] or [B, X, W] -> [B, X, size]."""
        parts, by_width = projected
        by_width = one_hot.to(by_width.dtype) @ by_width
        return torch.baddbmm(by_width.expand(len(parts), -1, -1), sums.to(parts.dtype), parts)

    def of_extra(self, inputs: Tensor) -> Tensor:
        """inputs [..., extra] -> [..., size], to be added to what spans give."""
        return functional.linear(inputs, torch.split(self.whole.weight, self._sizes, 1)[-1])


class Scorer(nn.Module):
    """A perceptron of two hidden layers after its first linear map: [B, X, size] -> [B, X, outputs].

    Dropout is the same for all spans of a sentence: their ranking should not depend on luck.
    """

    def __init__(self, size: int, outputs: int, dropout: float) -> None:
        super().__init__()
        self.hidden, self.output = linear(size, size), linear(size, outputs)
        self.dropout = dropout

    def draw(self, batch: int) -> Tensor | None:
        """Factors [2, B, 1, size] of the hidden layers of one pass, None if nothing is dropped."""
        if not self.training or self.dropout == 0.0:
            return None
        bias = self.hidden.bias
        factors = torch.empty(2, batch, 1, len(bias), dtype=bias.dtype, device=bias.device)
        return factors.bernoulli_(1 - self.dropout).div_(1 - self.dropout)

    def forward(self, inputs: Tensor, factors: Tensor | None) -> Tensor:
        """`inputs` are overwritten."""
        hidden = _scaled(functional.relu(inputs, inplace=True), factors, 0)
        hidden = _scaled(functional.relu(self.hidden(hidden), inplace=True), factors, 1)
        result: Tensor = self.output(hidden)
        return result


def _scaled(hidden: Tensor, factors: Tensor | None, layer: int) -> Tensor:
    """In place where no gradient needs the old values: memory is what scoring all spans costs."""
    if factors is None:
        return hidden
    return hidden * factors[layer] if torch.is_grad_enabled() else hidden.mul_(factors[layer])


class Ranker(nn.Module):
    """Scores of (predicate, span, role); predicates may be given, then they are not scored."""

    def __init__(self, sizes: RankerSizes, mean: Mean, dropout: float, given_predicates: bool) -> None:
        super().__init__()
        self.sizes, self.mean = sizes, mean
        self.widths = nn.Parameter(nn.init.xavier_uniform_(torch.empty(sizes.max_width, sizes.width_embedding)))
        self.span = SpanLinear(sizes.words, sizes.width_embedding, 0, sizes.scorer)
        self.span_scorer = Scorer(sizes.scorer, 1, dropout)
        self.pair = SpanLinear(sizes.words, sizes.width_embedding, sizes.words, sizes.pair)
        self.pair_scorer = Scorer(sizes.pair, sizes.roles, dropout)
        if not given_predicates:
            self.predicate = linear(sizes.words, sizes.scorer)
            self.predicate_scorer = Scorer(sizes.scorer, 1, dropout)

    def spans(self, words: int, device: torch.device) -> Spans:
        return all_spans(words, self.sizes.max_width, self.mean, device)

    def forward(
        self,
        words: Tensor,
        mask: Tensor,
        given: tuple[Tensor, Tensor] | None = None,
        wanted: tuple[Tensor, Tensor] | None = None,
    ) -> Ranked:
        """words [B, N, D], mask bool [B, N]; `given` predicates: words int64 [B, P] and their mask bool [B, P].

        `wanted` spans bool [B, T] and predicates bool [B, N] are kept whatever their score.
        """
        batch, count, _ = words.shape
        spans, lengths = self.spans(count, words.device), mask.sum(1)
        factors, projected = self.span_scorer.draw(batch), self.span.project(words, self.widths)
        with torch.no_grad():  # only kept spans have a gradient, so they are scored once more
            hidden = self.span(projected, spans.sums.expand(batch, -1, -1), spans.widths)
            all_scores = self.span_scorer(hidden, factors).squeeze(2)
        good_spans, good_predicates = wanted or (None, None)
        inside = spans.lasts < lengths.unsqueeze(1)
        chosen, span_mask = keep(all_scores, inside, lengths, self.sizes.span_ratio, good_spans)
        sums, widths = (t.index_select(0, chosen.flatten()).view(*chosen.shape, -1) for t in (spans.sums, spans.widths))
        unary = self.span_scorer(self.span(projected, sums, widths), factors)  # [B, K, 1]
        if given is None:
            scores = self.predicate_scorer(self.predicate(words), self.predicate_scorer.draw(batch)).squeeze(2)
            predicates, predicate_mask = keep(scores, mask, lengths, self.sizes.predicate_ratio, good_predicates)
            unary = unary + scores.gather(1, predicates).unsqueeze(1)  # [B, K, P]
        else:
            predicates, predicate_mask = given
        pairs = self.pair_scores(words, sums, widths, predicates)
        both = span_mask.unsqueeze(2) & predicate_mask.unsqueeze(1)
        return Ranked(pairs + unary.unsqueeze(3), chosen, predicates, both)

    def pair_scores(self, words: Tensor, sums: Tensor, widths: Tensor, predicates: Tensor) -> Tensor:
        """sums [B, K, 3 * N], widths [B, K, W], predicates int64 [B, P] -> [B, K, P, R]"""
        batch, count, _ = words.shape
        of_spans = self.pair(self.pair.project(words, self.widths), sums, widths)  # [B, K, H]
        of_words = self.pair.of_extra(words)
        of_predicates = torch.bmm(functional.one_hot(predicates, count).to(of_words.dtype), of_words)  # [B, P, H]
        both = of_spans.unsqueeze(2) + of_predicates.unsqueeze(1)
        scores: Tensor = self.pair_scorer(both.flatten(1, 2), self.pair_scorer.draw(batch))
        return scores.view(*both.shape[:3], self.sizes.roles)


def keep(
    scores: Tensor, possible: Tensor, lengths: Tensor, ratio: float, wanted: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """The best floor(ratio * words) candidates of each sentence, at least one: numbers int64 [B, K], mask bool [B, K].

    scores [B, T], possible bool [B, T], lengths int64 [B]; of equal scores the lower number is better. Those `wanted`
    bool [B, T] come first, all of them.
    """
    counts = (lengths.double() * ratio + 1e-9).floor().long().clamp(min=1).minimum(possible.sum(1))
    scores = scores.detach().masked_fill(~possible, -torch.inf)
    if wanted is not None:
        scores, counts = scores.masked_fill(wanted, torch.inf), counts.maximum(wanted.sum(1))
    size = int(counts.max())
    numbers = scores.sort(dim=1, descending=True, stable=True).indices[:, :size]
    return numbers, torch.arange(size, device=scores.device) < counts.unsqueeze(1)


def linear(inputs: int, outputs: int) -> nn.Linear:
    layer = nn.Linear(inputs, outputs)
    nn.init.xavier_uniform_(layer.weight)
    nn.init.zeros_(layer.bias)
    return layer
