"""Our tree CRF and CKY against SuPar's, and against our own torch path: 32 sentences of 10 to 40 words, one thread.

All compute the same gradients and trees (checked first). SuPar's best trees come from a backward pass through the
maximum, which is its own way to decode. CPU time counts.
"""

from __future__ import annotations

import torch
from torch import Tensor

from bench import _peers
from bench._timing import Run, Timed, interleaved
from mtlspec.structs import _cky_torch, _tree_crf_torch, cky, tree_crf

SENTENCES, SHORTEST, LONGEST = 32, 10, 40
KINDS = {"random": 0.0, "parser-like": 8.0}  # what the spans of a random tree score more than others


def make_case(bonus: float) -> tuple[Tensor, Tensor, Tensor]:
    """scores float32 [B, F, F], lengths int64 [B], and random binary trees as bool [B, F, F]."""
    generator = torch.Generator().manual_seed(1)
    lengths = torch.randint(SHORTEST, LONGEST + 1, (SENTENCES,), generator=generator)
    lengths[0] = LONGEST
    shape = (SENTENCES, LONGEST + 1, LONGEST + 1)
    spans, _ = cky.best_trees(torch.randn(shape, generator=generator), lengths)
    gold = torch.zeros(shape, dtype=torch.bool)
    gold[torch.arange(SENTENCES).repeat_interleave(2 * lengths - 1), spans[:, 0], spans[:, 1]] = True
    return torch.randn(shape, generator=generator) + bonus * gold, lengths, gold


def our_gradient(scores: Tensor, lengths: Tensor, gold: Tensor) -> Tensor:
    leaf = scores.clone().requires_grad_()
    return torch.autograd.grad(tree_crf.nll(leaf, lengths, gold).sum(), leaf)[0]


def torch_gradient(scores: Tensor, lengths: Tensor, gold: Tensor) -> Tensor:
    """Ours, as it runs on other devices."""
    wide = scores.double()
    log_z, chart = _tree_crf_torch.inside(wide, lengths)
    return (_tree_crf_torch.outside(wide, lengths, chart, torch.ones_like(log_z)) - gold.double()).to(scores.dtype)


def loss_peers(scores: Tensor, lengths: Tensor, gold: Tensor) -> dict[str, Run]:
    structs = _peers.supar_structs()
    found: dict[str, Run] = {"our torch path": lambda: torch_gradient(scores, lengths, gold)}
    if structs is not None:

        def supar() -> Tensor:
            leaf = scores.clone().requires_grad_()
            return torch.autograd.grad(-structs.ConstituencyCRF(leaf, lengths).log_prob(gold).sum(), leaf)[0]

        found["supar"] = supar
    return found


def decoding_peers(scores: Tensor, lengths: Tensor) -> dict[str, Run]:
    structs = _peers.supar_structs()

    def torch_path() -> list[list[int]]:
        spans: list[list[int]] = _cky_torch.best_trees(scores.double(), lengths)[0].tolist()
        return spans

    found: dict[str, Run] = {"our torch path": torch_path}
    if structs is not None:

        def supar() -> list[list[int]]:
            trees = structs.ConstituencyCRF(scores.clone().requires_grad_(), lengths).argmax
            return [span for tree in trees for span in tree]

        found["supar"] = supar
    return found


def show(task: str, kind: str, timed: Timed) -> None:
    ratios = "".join(f"   {peer} {ratio:.1f}x slower" for peer, ratio in timed.ratios.items())
    print(f"{task:>18} {kind:>12} {timed.milliseconds:8.2f} ms{ratios}")


def main() -> None:
    torch.set_num_threads(1)
    print(f"constituency trees, {SENTENCES} sentences of {SHORTEST} to {LONGEST} words, one thread")
    for kind, bonus in KINDS.items():
        scores, lengths, gold = make_case(bonus)

        def loss(case: tuple[Tensor, Tensor, Tensor] = (scores, lengths, gold)) -> Tensor:
            return our_gradient(*case)

        def decode(case: tuple[Tensor, Tensor] = (scores, lengths)) -> list[list[int]]:
            spans: list[list[int]] = cky.best_trees(*case)[0].tolist()
            return spans

        peers = loss_peers(scores, lengths, gold)
        for run in peers.values():
            torch.testing.assert_close(run(), loss(), rtol=1e-3, atol=1e-4)
        show("loss and gradient", kind, interleaved(loss, peers))
        decoders = decoding_peers(scores, lengths)
        for name, run in decoders.items():
            if run() != decode():
                raise RuntimeError(f"{name} finds other trees")
        show("best trees", kind, interleaved(decode, decoders))
    print(_peers.missing("supar"))
