"""Our span ranking against the usual one, which builds the vector of every span and of every pair. One thread.

Both have the same parameters and give the same scores and gradients (checked first); rounds are interleaved and the CPU
time counts.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import relu

from mtlspec.model.span_ranking import Ranked, Ranker, RankerSizes, Scorer, Spans, keep

ROUNDS, REPEATS = 5, 2
SHAPES = [(32, 12, 128), (32, 25, 128), (8, 60, 128), (32, 12, 768), (32, 25, 768)]  # sentences, words, width
ROLES = 40


@dataclass(frozen=True)
class Case:
    ranker: Ranker
    words: Tensor  # [B, N, D]
    mask: Tensor  # bool [B, N]


def make_case(rows: int, words: int, width: int, dtype: torch.dtype = torch.float32) -> Case:
    torch.manual_seed(1)
    sizes = RankerSizes(width, 20, 150, 100, ROLES, max_width=30, span_ratio=0.8, predicate_ratio=0.4)
    ranker = Ranker(sizes, "true_width", dropout=0.0, given_predicates=False).to(dtype)
    lengths = torch.randint(max(1, words - 3), words + 1, (rows,))
    lengths[0] = words
    states = torch.randn(rows, words, width, dtype=dtype, requires_grad=True)
    return Case(ranker, states, torch.arange(words) < lengths.unsqueeze(1))


def perceptron(first: nn.Linear, rest: Scorer, inputs: Tensor) -> Tensor:
    hidden: Tensor = relu(rest.hidden(relu(first(inputs))))
    return rest.output(hidden)


def span_vectors(ranker: Ranker, words: Tensor, spans: Spans) -> Tensor:
    """[B, T, 3 * D + E]: first word, last word, width, mean; the words of all spans are gathered for their means."""
    width = spans.lasts - spans.starts + 1
    reach = torch.arange(ranker.sizes.max_width)
    inside = (reach < width.unsqueeze(1)).to(words.dtype)  # [T, W]
    places = (spans.starts.unsqueeze(1) + reach).clamp(max=words.shape[1] - 1)
    texts = words[:, places] * inside.unsqueeze(2)  # [B, T, W, D]
    divisor = width.unsqueeze(1) if ranker.mean == "true_width" else ranker.sizes.max_width
    widths = ranker.widths[width - 1].expand(len(words), -1, -1)
    return torch.cat([words[:, spans.starts], words[:, spans.lasts], widths, texts.sum(2) / divisor], 2)


def plain_ranking(case: Case) -> Ranked:
    ranker, words, mask = case.ranker, case.words, case.mask
    lengths, rows = mask.sum(1), torch.arange(len(words)).unsqueeze(1)
    spans = ranker.spans(words.shape[1], words.device)
    vectors = span_vectors(ranker, words, spans)
    span_scores = perceptron(ranker.span.whole, ranker.span_scorer, vectors).squeeze(2)
    predicate_scores = perceptron(ranker.predicate, ranker.predicate_scorer, words).squeeze(2)
    inside = spans.lasts < lengths.unsqueeze(1)
    chosen, span_mask = keep(span_scores, inside, lengths, ranker.sizes.span_ratio)
    predicates, predicate_mask = keep(predicate_scores, mask, lengths, ranker.sizes.predicate_ratio)
    shape = (-1, chosen.shape[1], predicates.shape[1], -1)
    pairs = torch.cat(
        [vectors[rows, chosen].unsqueeze(2).expand(shape), words[rows, predicates].unsqueeze(1).expand(shape)], 3
    )
    scores = perceptron(ranker.pair.whole, ranker.pair_scorer, pairs)
    unary = span_scores[rows, chosen].unsqueeze(2) + predicate_scores[rows, predicates].unsqueeze(1)
    both = span_mask.unsqueeze(2) & predicate_mask.unsqueeze(1)
    return Ranked(scores + unary.unsqueeze(3), chosen, predicates, both)


def our_ranking(case: Case) -> Ranked:
    ranked: Ranked = case.ranker(case.words, case.mask)
    return ranked


def gradients(ranking: Callable[[Case], Ranked], case: Case) -> tuple[Tensor, ...]:
    ranked = ranking(case)
    value = nn.functional.pad(ranked.scores, (1, 0)).logsumexp(3).masked_fill(~ranked.mask, 0.0).sum()
    return torch.autograd.grad(value / ranked.mask.sum(), [case.words, *case.ranker.parameters()])


def check(case: Case) -> None:
    """The two agree, or the comparison means nothing."""
    ours, plain = our_ranking(case), plain_ranking(case)
    if not torch.equal(ours.mask, plain.mask):
        raise RuntimeError("different numbers of pairs are kept")
    for one, other in zip(gradients(our_ranking, case), gradients(plain_ranking, case), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-4)


def main() -> None:
    torch.set_num_threads(1)
    print("span ranking against built span vectors, forward and backward, one thread")
    print(f"{'sentences x words x width':>26} {'ours ms':>9} {'plain ms':>9} {'faster':>7}")
    for shape in SHAPES:
        case = make_case(*shape)
        check(case)
        times: tuple[list[float], list[float]] = ([], [])
        for _ in range(ROUNDS):
            for ranking, kept in zip((our_ranking, plain_ranking), times, strict=True):
                started = time.process_time()
                for _ in range(REPEATS):
                    gradients(ranking, case)
                kept.append(1000 * (time.process_time() - started) / REPEATS)
        ratio = statistics.median(p / o for o, p in zip(*times, strict=True))
        ours, plain = map(statistics.median, times)
        print(f"{' x '.join(map(str, shape)):>26} {ours:9.1f} {plain:9.1f} {ratio:6.1f}x")
