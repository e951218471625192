"""Our linear-chain CRF against the usual one: a loop over words in torch, with autograd through it. One thread.

Both compute the same loss, gradients and best paths (checked first); rounds are interleaved and the CPU time counts.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from mtlspec.structs import linear_chain

ROUNDS, REPEATS = 7, 5
SHAPES = [(32, 20, 9), (32, 20, 45), (64, 40, 20), (8, 100, 17)]  # sentences, words, tags


@dataclass(frozen=True)
class Case:
    scores: tuple[Tensor, Tensor, Tensor, Tensor]  # emissions [B, N, C], transitions [C, C], start [C], end [C]
    mask: Tensor
    tags: Tensor


def make_case(rows: int, words: int, tags: int) -> Case:
    generator = torch.Generator().manual_seed(1)
    shapes = [(rows, words, tags), (tags, tags), (tags,), (tags,)]
    emissions, transitions, start, end = (torch.randn(s, generator=generator).requires_grad_() for s in shapes)
    lengths = torch.randint(words // 2, words + 1, (rows,), generator=generator)
    lengths[0] = words
    gold = torch.randint(0, tags, (rows, words), generator=generator)
    return Case((emissions, transitions, start, end), torch.arange(words) < lengths.unsqueeze(1), gold)


def plain_nll(case: Case) -> Tensor:
    """[B]"""
    emissions, transitions, start, end = case.scores
    mask, tags = case.mask, case.tags
    rows = torch.arange(len(tags))
    alpha = start + emissions[:, 0]
    gold = start[tags[:, 0]] + emissions[rows, 0, tags[:, 0]]
    for t in range(1, emissions.shape[1]):
        step = torch.logsumexp(alpha.unsqueeze(2) + transitions + emissions[:, t].unsqueeze(1), 1)
        alpha = torch.where(mask[:, t].unsqueeze(1), step, alpha)
        move = transitions[tags[:, t - 1], tags[:, t]] + emissions[rows, t, tags[:, t]]
        gold = gold + move * mask[:, t]
    last = tags[rows, mask.sum(1) - 1]
    return torch.logsumexp(alpha + end, 1) - gold - end[last]


@torch.no_grad()
def plain_viterbi(case: Case) -> list[list[int]]:
    emissions, transitions, start, end = case.scores
    score, history = start + emissions[:, 0], []
    for t in range(1, emissions.shape[1]):
        best, origin = (score.unsqueeze(2) + transitions).max(1)
        score = torch.where(case.mask[:, t].unsqueeze(1), best + emissions[:, t], score)
        history.append(origin)
    found = []
    for row, length in enumerate(case.mask.sum(1).tolist()):
        path = [int((score[row] + end).argmax())]
        for origin in reversed(history[: length - 1]):
            path.append(int(origin[row][path[-1]]))
        found.append(path[::-1])
    return found


def our_nll(case: Case) -> Tensor:
    return linear_chain.nll(*case.scores, case.mask, case.tags)


def our_viterbi(case: Case) -> list[list[int]]:
    tags, _ = linear_chain.viterbi(*case.scores, case.mask)
    return [row[:length] for row, length in zip(tags.tolist(), case.mask.sum(1).tolist(), strict=True)]


def gradients(loss: Callable[[Case], Tensor], case: Case) -> tuple[Tensor, ...]:
    return torch.autograd.grad(loss(case).mean(), case.scores)


def check(case: Case) -> None:
    """The two agree, or the comparison means nothing."""
    torch.testing.assert_close(our_nll(case), plain_nll(case), rtol=1e-4, atol=1e-4)
    for ours, plain in zip(gradients(our_nll, case), gradients(plain_nll, case), strict=True):
        torch.testing.assert_close(ours, plain, rtol=1e-4, atol=1e-4)
    if our_viterbi(case) != plain_viterbi(case):
        raise RuntimeError("the best paths differ")


def ratio(ours: Callable[[], object], plain: Callable[[], object]) -> tuple[float, float]:
    """Milliseconds of ours, and how many times longer the plain one takes; medians over interleaved rounds."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(ROUNDS):
        for run, kept in zip((ours, plain), times, strict=True):
            started = time.process_time()
            for _ in range(REPEATS):
                run()
            kept.append((time.process_time() - started) / REPEATS)
    return 1000 * statistics.median(times[0]), statistics.median(p / o for o, p in zip(*times, strict=True))


def main() -> None:
    torch.set_num_threads(1)
    print("linear-chain CRF against a plain torch loop, one thread")
    print(f"{'sentences x words x tags':>26} {'loss+grad ms':>13} {'faster':>7} {'viterbi ms':>11} {'faster':>7}")
    for shape in SHAPES:
        case = make_case(*shape)
        check(case)
        loss = ratio(lambda c=case: gradients(our_nll, c), lambda c=case: gradients(plain_nll, c))  # type: ignore[misc]
        best = ratio(lambda c=case: our_viterbi(c), lambda c=case: plain_viterbi(c))  # type: ignore[misc]
        size = " x ".join(map(str, shape))
        print(f"{size:>26} {loss[0]:13.2f} {loss[1]:6.1f}x {best[0]:11.2f} {best[1]:6.1f}x")
