"""The seam itself: hooks on a model that see and change what its heads compute, while somebody asks for it.

Every site has a tap. A hook before the output projection sees the contexts. Attention probabilities are reached through
transformers' registry of attention functions, or before the attention dropout of families with code of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from mtlspec.errors import EncoderError
from mtlspec.model.encoder.sites import Site

if TYPE_CHECKING:
    from mtlspec.model.encoder.windows import Windows

SEAM = "mtlspec"
"""The name of our attention function in transformers' registry."""

RowBias = Callable[[int, int], Tensor]
"""(layer, sub-tokens S) -> what is added to its scores, [R or 1, H or 1, S or 1, S or 1], for the R rows in flight."""


@dataclass
class Captured:
    """What the last forward pass computed: one tensor a layer, still part of the graph of gradients."""

    wants_attention: bool
    wants_contexts: bool
    layers: int
    wants_scores: bool = False
    _attention: dict[int, Tensor] = field(default_factory=dict)
    _scores: dict[int, Tensor] = field(default_factory=dict)
    _contexts: dict[int, Tensor] = field(default_factory=dict)

    @property
    def attention(self) -> list[Tensor]:
        """Probabilities before dropout, [B, H, S, S] a layer: queries, then keys; rows sum to 1."""
        return self._all(self._attention, "attention")

    @property
    def scores(self) -> list[Tensor]:
        """Scaled products of queries and keys before masks and biases, [R, H, S, S] a layer, for the rows in flight."""
        return self._all(self._scores, "attention scores")

    @property
    def contexts(self) -> list[Tensor]:
        """A·V of every head before gates, [B, S, H, Dh] a layer."""
        return self._all(self._contexts, "contexts")

    @property
    def complete(self) -> bool:
        """Whether a forward pass has brought all that was asked for."""
        asked = [self._attention] * self.wants_attention + [self._contexts] * self.wants_contexts
        asked += [self._scores] * self.wants_scores
        return all(len(found) == self.layers for found in asked)

    def _all(self, found: dict[int, Tensor], what: str) -> list[Tensor]:
        if len(found) != self.layers:
            raise EncoderError("E343", f"no {what} were captured: ask for them, and run the encoder first")
        return [found[layer] for layer in range(self.layers)]


@dataclass
class Interventions:
    """Everything that the open contexts ask of a model."""

    gates: list[Tensor] = field(default_factory=list)  # [L, H] or [B, L, H]
    biases: list[Tensor | RowBias] = field(default_factory=list)  # [L or 1, B or 1, H or 1, S or 1, S or 1]
    captures: list[Captured] = field(default_factory=list)
    windows: Windows | None = None  # set while the rows of the model's input are windows of longer sentences

    @property
    def any(self) -> bool:
        return bool(self.gates or self.biases or self.captures)

    @property
    def attention(self) -> bool:
        return bool(self.biases) or any(one.wants_attention or one.wants_scores for one in self.captures)


class Tap:
    """The hooks of one site."""

    def __init__(self, site: Site, interventions: Interventions) -> None:
        self.site = site
        self.interventions = interventions
        self._call = 0  # how often this site ran in the current pass: which of its layers it is
        self._handles: list[RemovableHandle] = []

    def open(self, model: nn.Module) -> None:
        self._handles = [model.register_forward_pre_hook(self._start)]
        if not self.site.heads:
            self._handles.append(self.site.inner.register_forward_hook(self._pass))
            return
        self._handles.append(self.site.output.register_forward_pre_hook(self._project))
        if self.interventions.attention:
            if self.site.family.probabilities is None:
                self._take_over(self.site.inner)
            else:
                dropout = self.site.inner.get_submodule(self.site.family.probabilities)
                self._handles.append(dropout.register_forward_pre_hook(self._drop))

    def close(self) -> None:
        for handle in self._handles:
            handle.remove()
        self._handles = []
        if _TAPS.get(self.site.inner) is self:
            del _TAPS[self.site.inner]

    def _take_over(self, inner: nn.Module) -> None:
        """The attention function asks one tap only; a second one would be left out without a word."""
        if inner in _TAPS:
            raise EncoderError("E348", "attention is already observed through another `Heads`; use `encoder.heads`")
        _TAPS[inner] = self

    @property
    def layer(self) -> int:
        return self.site.layers[self._call % len(self.site.layers)]

    def bias(self, rows: int, length: int) -> Tensor | None:
        """The sum of all biases for this layer, broadcastable to [B, H, S, S]."""
        total: Tensor | None = None
        for bias in self.interventions.biases:
            own = self._given(bias) if isinstance(bias, Tensor) else bias(self.layer, length)
            if own.shape[1] > 1:
                own = own[:, : self.site.heads]
            if own.shape[0] not in (1, rows) or any(size not in (1, length) for size in own.shape[2:]):
                shape = list(bias.shape if isinstance(bias, Tensor) else own.shape)
                raise EncoderError(
                    "E344", f"the attention bias has shape {shape}, for {rows} rows of {length} sub-tokens"
                )
            total = own if total is None else total + own
        return total

    def _given(self, bias: Tensor) -> Tensor:
        """This layer's part of a bias [L or 1, B or 1, ...], cut to the rows in flight."""
        own = bias[self.layer if bias.shape[0] > 1 else 0]
        return own if self.interventions.windows is None else self.interventions.windows.cut_bias(own)

    def show_attention(self, probabilities: Tensor) -> None:
        """probabilities [B, H, S, S]"""
        windows = self.interventions.windows
        for captured in self.interventions.captures:
            if captured.wants_attention:
                seen = probabilities if windows is None else windows.stitch_attention(probabilities)
                captured._attention[self.layer] = seen

    def show_scores(self, scores: Tensor) -> None:
        """scores [R, H, S, S]"""
        for captured in self.interventions.captures:
            if captured.wants_scores:
                captured._scores[self.layer] = scores

    def show_contexts(self, contexts: Tensor) -> None:
        """contexts [B, S, H, Dh]"""
        windows = self.interventions.windows
        for captured in self.interventions.captures:
            if captured.wants_contexts:
                captured._contexts[self.layer] = contexts if windows is None else windows.stitch(contexts)

    def _start(self, *_: Any) -> None:
        self._call = 0
        for captured in self.interventions.captures:
            for layer in self.site.layers:
                captured._attention.pop(layer, None)
                captured._contexts.pop(layer, None)
                captured._scores.pop(layer, None)

    def _drop(self, _: nn.Module, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """Before attention dropout: softmax(scores + bias) from softmax(scores), which is all there is here."""
        probabilities = inputs[0]
        bias = self.bias(probabilities.shape[0], probabilities.shape[-1])
        if bias is not None:
            bias = bias.to(probabilities.dtype).expand_as(probabilities)
            # A key that is masked stays so; the shift keeps the exponentials within range.
            shift = bias.detach().masked_fill(probabilities == 0, -torch.inf).amax(-1, keepdim=True)
            raised = probabilities * (bias - shift).clamp(max=0).exp()
            probabilities = raised / raised.sum(-1, keepdim=True)
        self.show_attention(probabilities)
        return (probabilities, *inputs[1:])

    def _project(self, _: nn.Module, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """Before the output projection: contexts [B, S, H * Dh] are shown, then gated."""
        flat = inputs[0]
        contexts = flat.view(*flat.shape[:-1], self.site.heads, self.site.width)
        self.show_contexts(contexts)
        for gates in self.interventions.gates:
            contexts = contexts * self._gate(gates, contexts)
        self._call += 1
        return (contexts.flatten(-2), *inputs[1:])

    def _pass(self, _: nn.Module, __: Any, result: Any) -> None:
        """After attention without heads: captures get tensors without heads."""
        rows, length = result[0].shape[:2]
        self.show_attention(result[0].new_zeros(rows, 0, length, length))
        self.show_contexts(result[0].new_zeros(rows, length, 0, self.site.width))
        self._call += 1

    def _gate(self, gates: Tensor, contexts: Tensor) -> Tensor:
        """This layer's gates, broadcastable to contexts [B, S, H, Dh]."""
        own = gates[..., self.layer, : self.site.heads].to(contexts)
        if own.dim() == 1:
            return own.view(1, 1, -1, 1)
        if self.interventions.windows is not None:
            own = own.index_select(0, self.interventions.windows.rows)
        if own.shape[0] != contexts.shape[0]:
            message = f"the gates are for {own.shape[0]} sentences, but the batch has {contexts.shape[0]}"
            raise EncoderError("E345", message, None, "pass one [L, H] for all, or [B, L, H] with as many rows")
        return own.view(own.shape[0], 1, -1, 1)


_TAPS: WeakKeyDictionary[nn.Module, Tap] = WeakKeyDictionary()


def seam_attention(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    **_: Any,
) -> tuple[Tensor, Tensor]:
    """Plain attention that shows its probabilities: query, key, value [B, H, S, Dh] -> contexts [B, S, H, Dh]."""
    tap = _TAPS[module]
    scores = query @ key.transpose(2, 3) * (query.shape[-1] ** -0.5 if scaling is None else scaling)
    tap.show_scores(scores)
    if attention_mask is not None:
        scores = scores + attention_mask
    bias = tap.bias(scores.shape[0], scores.shape[-1])
    if bias is not None:
        scores = scores + bias.to(scores.dtype)
    probabilities = scores.softmax(-1, dtype=torch.promote_types(scores.dtype, torch.float32)).to(value.dtype)
    tap.show_attention(probabilities)
    kept = nn.functional.dropout(probabilities, dropout, module.training)
    return (kept @ value).transpose(1, 2).contiguous(), probabilities


def register_seam() -> None:
    """Make our attention function known to transformers, with the masks of plain attention."""
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.masking_utils import eager_mask

    AttentionInterface.register(SEAM, seam_attention)
    AttentionMaskInterface.register(SEAM, eager_mask)
