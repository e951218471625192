"""Our tree decoders against SuPar's: Eisner and Chu-Liu-Edmonds with one root, 32 sentences of 10 to 40 words.

Agreement is checked on the scores of the trees: among equal trees either is right, and ours must never be worse. CPU
time counts, one thread. torch-struct's Eisner is measured as well.
"""

from __future__ import annotations

import torch
from torch import Tensor

from bench import _peers
from bench._timing import Run, interleaved
from mtlspec.structs import arborescence, eisner

SENTENCES, SHORTEST, LONGEST = 32, 10, 40
KINDS = {"random": 0.0, "parser-like": 8.0}  # what the arcs of a random tree score more than others


def make_case(bonus: float) -> tuple[Tensor, Tensor]:
    """scores float32 [B, N + 1, N + 1], dependent x head, and lengths int64 [B]."""
    generator = torch.Generator().manual_seed(1)
    lengths = torch.randint(SHORTEST, LONGEST + 1, (SENTENCES,), generator=generator)
    lengths[0] = LONGEST
    scores = torch.randn(SENTENCES, LONGEST + 1, LONGEST + 1, generator=generator)
    heads = eisner.best_trees(torch.randn(scores.shape, generator=generator), lengths)
    scores[:, 1:].scatter_add_(2, heads.unsqueeze(2), torch.full((SENTENCES, LONGEST, 1), bonus))
    return scores, lengths


def tree_scores(scores: Tensor, lengths: Tensor, heads: Tensor) -> Tensor:
    """[B]"""
    words = torch.arange(heads.shape[1]) < lengths.unsqueeze(1)
    return (scores[:, 1:].gather(2, heads.unsqueeze(2)).squeeze(2).double() * words).sum(1)


def peers_of(name: str, scores: Tensor, lengths: Tensor) -> dict[str, Run]:
    """Decoders that give heads [B, N + 1], ROOT's place first; each call gets scores of its own to overwrite."""
    structs, fn, other = _peers.supar_structs(), _peers.supar_mst(), _peers.torch_struct()
    mask = torch.arange(scores.shape[1]) <= lengths.unsqueeze(1)
    mask[:, 0] = False
    found: dict[str, Run] = {}
    if name == "eisner" and structs is not None:
        found["supar"] = lambda: structs.DependencyCRF(scores.clone(), lengths, multiroot=False).argmax
    if name == "eisner" and other is not None:
        found["torch-struct"] = lambda: _torch_struct_heads(other, scores, lengths)
    if name == "chu-liu-edmonds" and fn is not None:
        found["supar"] = lambda: fn.mst(scores.clone(), mask, multiroot=False)
    return found


def _torch_struct_heads(module: object, scores: Tensor, lengths: Tensor) -> Tensor:
    """Its scores are head x dependent with ROOT's on the diagonal."""
    arcs = scores[:, 1:, 1:].transpose(1, 2).clone()
    arcs.diagonal(dim1=1, dim2=2).copy_(scores[:, 1:, 0])
    tree = module.DependencyCRF(arcs.requires_grad_() * 1.0, lengths=lengths, multiroot=False).argmax  # type: ignore[attr-defined]
    heads = tree.argmax(1) + 1
    heads.masked_fill_(tree.diagonal(dim1=1, dim2=2) > 0, 0)
    return torch.nn.functional.pad(heads, (1, 0))


def agreement(scores: Tensor, lengths: Tensor, ours: Tensor, theirs: Tensor) -> str:
    difference = tree_scores(scores, lengths, ours) - tree_scores(scores, lengths, theirs[:, 1:])
    if bool((difference < -1e-4).any()):
        raise RuntimeError("a peer found a better tree")
    better = int((difference > 1e-4).sum())
    return "same scores" if not better else f"ours better in {better} of {len(lengths)}"


def main() -> None:
    torch.set_num_threads(1)
    print(f"best dependency trees, {SENTENCES} sentences of {SHORTEST} to {LONGEST} words, one thread")
    for name, decoder in (("eisner", eisner), ("chu-liu-edmonds", arborescence)):
        for kind, bonus in KINDS.items():
            scores, lengths = make_case(bonus)
            heads = decoder.best_trees(scores, lengths)
            peers = peers_of(name, scores, lengths)
            timed = interleaved(lambda d=decoder, s=scores, n=lengths: d.best_trees(s, n), peers, rounds=5)  # type: ignore[misc]
            line = f"{name:>16} {kind:>12} {timed.milliseconds:8.2f} ms"
            for peer, run in peers.items():
                found = run()
                assert isinstance(found, Tensor)
                line += f"   {peer} {timed.ratios[peer]:.0f}x slower ({agreement(scores, lengths, heads, found)})"
            print(line)
    print(_peers.missing("supar", "torch-struct"))
