"""The part of the proof that looks inside attention: implementations, captures and biases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from mtlspec.model.encoder.compare import difference
from mtlspec.model.encoder.heads import Heads
from mtlspec.model.encoder.sites import HeadSlice, Site
from mtlspec.model.encoder.subject import Subject

TOLERANCE = 1e-5
"""Some families compute attention in single precision, whatever the model's."""


def implementations_agree(asked: Subject, _: Subject) -> tuple[bool, str]:
    """Gated states are the same under sdpa, eager and our own attention function."""
    gates = asked.random_gates()
    with torch.no_grad(), asked.heads.gated(gates):
        expected = asked.states()
        with asked.heads.captured(contexts=False):
            own = asked.states()
        others = [own]
        if asked.heads.sites[0].family.probabilities is None:
            for name in ("sdpa", "eager"):
                with asked.implementation(name):
                    others.append(asked.states())
    found = max(difference(expected, other) for other in others)
    if len(others) == 1:
        return found <= TOLERANCE, f"the family has one implementation; observed and unobserved differ by {found:.1e}"
    return found <= TOLERANCE, f"sdpa, eager and observed attention differ by {found:.1e}"


def attention_is_captured(_: Subject, exact: Subject) -> tuple[bool, str]:
    """Rows of attention sum to 1, and attention times the values of each head is its context."""
    inputs: dict[int, Tensor] = {}
    handles = [_watch(site, inputs) for site in exact.heads.sites if site.heads]
    try:
        with torch.no_grad(), exact.heads.captured() as seen:
            exact.states()
    finally:
        for handle in handles:
            handle.remove()
    rows = max((float((a.sum(-1) - 1).abs().max()) for a in seen.attention if a.shape[1]), default=0.0)
    worst = 0.0
    for layer, hidden in inputs.items():
        values = _values(exact.heads, layer, hidden)  # [B, H, S, Dh]
        contexts = (seen.attention[layer].to(values.dtype) @ values).transpose(1, 2)
        worst = max(worst, difference(seen.contexts[layer], contexts))
    holds = rows <= TOLERANCE and worst <= TOLERANCE
    return holds, f"rows sum to 1 within {rows:.1e}; attention · values is the context within {worst:.1e}"


def bias_reaches_scores(_: Subject, exact: Subject) -> tuple[bool, str]:
    """A bias on the first layer's scores multiplies its probabilities by the bias's exponential; zero does nothing."""
    heads = exact.heads
    layer = next((number for number, count in enumerate(heads.counts) if count), None)
    if layer is None:
        return True, "no layer has heads"
    generator = torch.Generator().manual_seed(exact.seed)
    rows, length = exact.pieces.shape
    shape = (1, rows, heads.shape[1], length, length)
    bias = torch.randn(shape, generator=generator, dtype=torch.float64).to(exact.pieces.device)
    with torch.no_grad():
        with heads.captured(contexts=False) as plain:
            expected = exact.states()
        with heads.biased(torch.zeros(1, dtype=torch.float64, device=bias.device)):
            neutral = exact.states()
        with heads.biased(bias), heads.captured(contexts=False) as biased:
            exact.states()
    raised = plain.attention[layer] * bias[0, :, : heads.counts[layer]].exp()
    real = exact.mask.view(rows, 1, -1, 1)  # what padding attends to is of no interest, and differs by family
    wrong = difference(raised / raised.sum(-1, keepdim=True) * real, biased.attention[layer] * real)
    none = difference(expected, neutral)
    return max(wrong, none) <= TOLERANCE, f"random bias within {wrong:.1e} of its formula, zero bias {none:.1e}"


def _watch(site: Site, inputs: dict[int, Tensor]) -> Any:
    """Keep what the attention of a site reads, for each of its layers."""
    layers = iter(site.layers)

    def keep(_: Any, arguments: Sequence[Any], named: dict[str, Any]) -> None:
        inputs[next(layers)] = arguments[0] if arguments else named["hidden_states"]

    return site.inner.register_forward_pre_hook(keep, with_kwargs=True)


def _values(heads: Heads, layer: int, hidden: Tensor) -> Tensor:
    """The values of each head, from its own rows of the parameters: hidden [B, S, D] -> [B, H, S, Dh]."""
    found = [part for part in heads.slices(layer) if part.role == "value"]
    weight = next(part for part in found if part.parameter.dim() == 2)
    bias = next((part for part in found if part.parameter.dim() == 1), None)
    return torch.stack([_project(hidden, weight, bias, head) for head in range(heads.counts[layer])], 1)


def _project(hidden: Tensor, weight: HeadSlice, bias: HeadSlice | None, head: int) -> Tensor:
    part = weight.part(head)  # [Dh, D], or transposed
    projected = hidden @ (part.T if weight.axis == 0 else part)
    return projected if bias is None else projected + bias.part(head)
