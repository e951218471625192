"""Our linear-chain CRF against the usual ones: a loop over words in torch with autograd through it, and pytorch-crf.

All compute the same loss, gradients and best paths (checked first); rounds are interleaved, and CPU time counts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from bench import _peers
from bench._timing import Run, Timed, interleaved
from mtlspec.structs import linear_chain

SHAPES = [(32, 40, 9), (32, 40, 45), (64, 40, 20), (8, 100, 17)]  # sentences, words, tags


@dataclass(frozen=True)
class Case:
    scores: tuple[Tensor, Tensor, Tensor, Tensor]  # emissions [B, N, C], transitions [C, C], start [C], end [C]
    mask: Tensor
    tags: Tensor


def make_case(rows: int, words: int, tags: int) -> Case:
    generator = torch.Generator().manual_seed(1)
    shapes = [(rows, words, tags), (tags, tags), (tags,), (tags,)]
    emissions, transitions, start, end = (torch.randn(s, generator=generator).requires_grad_() for s in shapes)
    lengths = torch.randint(words // 4, words + 1, (rows,), generator=generator)
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


def torchcrf_peer(case: Case) -> dict[str, tuple[Run, Run]]:
    """The same with pytorch-crf, if it is installed: loss with gradients, and best paths."""
    module = _peers.pytorch_crf()
    if module is None:
        return {}
    crf = module.CRF(case.scores[1].shape[0], batch_first=True)
    emissions = case.scores[0]
    leaves = (crf.transitions, crf.start_transitions, crf.end_transitions)
    with torch.no_grad():
        for own, given in zip(leaves, case.scores[1:], strict=True):
            own.copy_(given)

    def loss() -> tuple[Tensor, ...]:
        return torch.autograd.grad(-crf(emissions, case.tags, mask=case.mask, reduction="mean"), (emissions, *leaves))

    @torch.no_grad()
    def best() -> list[list[int]]:
        found: list[list[int]] = crf.decode(emissions, mask=case.mask)
        return found

    for ours, theirs in zip(gradients(our_nll, case), loss(), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4)
    if our_viterbi(case) != best():
        raise RuntimeError("the best paths differ from those of pytorch-crf")
    return {"pytorch-crf": (loss, best)}


def measure(case: Case) -> tuple[Timed, Timed]:
    """Loss with gradients, and best paths, against every peer there is."""
    peers: dict[str, tuple[Run, Run]] = {
        "plain loop": (lambda: gradients(plain_nll, case), lambda: plain_viterbi(case)),
        **torchcrf_peer(case),
    }
    loss = interleaved(lambda: gradients(our_nll, case), {name: runs[0] for name, runs in peers.items()})
    best = interleaved(lambda: our_viterbi(case), {name: runs[1] for name, runs in peers.items()})
    return loss, best


def main() -> None:
    torch.set_num_threads(1)
    print("linear-chain CRF, one thread: our time, and how many times longer peers with the same results take")
    for shape in SHAPES:
        case = make_case(*shape)
        check(case)
        sentences, words, tags = shape
        print(f"{sentences} sentences of up to {words} words, {tags} tags")
        for name, timed in zip(("loss and gradients", "best paths"), measure(case), strict=True):
            others = "   ".join(f"{peer} {ratio:.1f}x" for peer, ratio in timed.ratios.items())
            print(f"{name:>20} {timed.milliseconds:8.2f} ms   {others}")
    print(_peers.missing("pytorch-crf"))
