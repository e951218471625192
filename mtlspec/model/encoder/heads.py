"""Heads: one way to the attention heads of every supported encoder, whatever its family.

transformers accepts a `head_mask` and ignores it. Here gates, masks, biases and captures reach the heads through hooks
that exist only while a context is open, and `mtlspec.model.encoder.proof` shows for an encoder that they do.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from torch import Tensor, nn

from mtlspec.errors import EncoderError
from mtlspec.model.encoder.removal import kept_heads, remove_heads
from mtlspec.model.encoder.seam import SEAM, Captured, Interventions, RowBias, Tap, register_seam
from mtlspec.model.encoder.sites import HeadSlice, Site, find_sites

if TYPE_CHECKING:
    from mtlspec.model.encoder.windows import Windows


class Heads:
    """The heads of a transformers model. L layers, H the largest number of heads of a layer."""

    def __init__(self, model: nn.Module, config: Any) -> None:
        """An error if the family is not supported."""
        self.model = model
        self.config = config
        self._interventions = Interventions()
        self._taps: list[Tap] = []
        self.refresh()

    def refresh(self) -> None:
        """Look at the model again, after its attention modules have been replaced."""
        self.sites: tuple[Site, ...] = find_sites(self.model, self.config)
        of_layer = {layer: site for site in self.sites for layer in site.layers}
        self._of_layer = [of_layer[layer] for layer in range(len(of_layer))]

    @property
    def counts(self) -> tuple[int, ...]:
        """Heads of each layer."""
        return tuple(site.heads for site in self._of_layer)

    @property
    def shape(self) -> tuple[int, int]:
        """(layers, heads of the layer that has most)"""
        return len(self._of_layer), max(self.counts)

    @property
    def width(self) -> int:
        """Of one head."""
        return self._of_layer[0].width

    @property
    def active(self) -> bool:
        return self._interventions.any

    def slices(self, layer: int) -> tuple[HeadSlice, ...]:
        """Where the parameters of a layer's heads lie: rows of queries, keys, values, columns of the output."""
        return self._of_layer[layer].slices()

    @contextmanager
    def gated(self, gates: Tensor) -> Iterator[None]:
        """Multiply every head's context by its gate, [L, H] or per row [B, L, H]; differentiable in the gates.

        Gates of heads that a layer does not have are ignored. Contexts may be nested: gates multiply.
        """
        self._require_gates(gates, (2, 3))
        with self._open(self._interventions.gates, gates):
            yield

    @contextmanager
    def biased(self, bias: Tensor | RowBias) -> Iterator[None]:
        """Add to the attention scores after scaling, before softmax; `bias` broadcasts to [L, B, H, S, S].

        Or it is a function, which is asked layer by layer, for the rows in flight: windows are rows of their own.
        """
        if callable(bias) and not isinstance(bias, Tensor):
            with self._open(self._interventions.biases, bias):
                yield
            return
        _require_tensor("attention bias", bias)
        full = bias[(None,) * max(5 - bias.dim(), 0)]
        layers, heads = self.shape
        if full.dim() != 5 or full.shape[0] not in (1, layers) or full.shape[2] not in (1, heads):
            raise EncoderError("E347", f"the attention bias has shape {list(bias.shape)}, not [L, B, H, S, S]")
        with self._open(self._interventions.biases, full):
            yield

    @contextmanager
    def captured(self, attention: bool = True, contexts: bool = True, scores: bool = False) -> Iterator[Captured]:
        """Keep what the heads compute in every forward pass; the last pass is there afterwards, too.

        `scores` are those of attention before softmax, which families with attention code of their own do not show.
        """
        if scores and self.sites[0].family.probabilities is not None:
            message = f"an encoder of the family '{self.config.model_type}' does not show its attention scores"
            raise EncoderError("E887", message, None, "write `distil: {attention: 0}`")
        captured = Captured(attention, contexts, self.shape[0], scores)
        with self._open(self._interventions.captures, captured):
            yield captured

    def remove(self, gates: Tensor) -> None:
        """Remove the heads whose gate [L, H] is 0 from the model, and fold the other gates into the output columns.

        Parameters are replaced: make optimisers afterwards. The config records the heads that are left, and `shape`
        shrinks to them. A gate may be negative, as in `gated`: it turns its head's columns around.
        """
        self._require_gates(gates, (2,))
        if self._interventions.any:
            raise EncoderError("E349", "heads cannot be removed while they are gated, biased or captured")
        remove_heads(self.model, self.config, gates)
        self.refresh()

    @property
    def kept(self) -> tuple[tuple[int, ...], ...]:
        """The original numbers of each layer's heads: all of them, unless some were removed."""
        record = kept_heads(self.config) or [list(range(count)) for count in self.counts]
        return tuple(tuple(heads) for heads in record)

    @contextmanager
    def windowed(self, windows: Windows) -> Iterator[None]:
        """While the rows of the model's input are windows: gates and biases are cut, captures stitched."""
        self._interventions.windows = windows
        try:
            yield
        finally:
            self._interventions.windows = None

    def _require_gates(self, gates: Tensor, dims: tuple[int, ...]) -> None:
        _require_tensor("gates", gates)
        if gates.dim() not in dims or tuple(gates.shape[-2:]) != self.shape:
            layers, heads = self.shape
            rows = f" or [rows, {layers}, {heads}]" if 3 in dims else ""
            raise EncoderError("E346", f"the gates have shape {list(gates.shape)}, not [{layers}, {heads}]{rows}")
        if gates.requires_grad and gates.device.type != "cpu":
            return  # to look at gates that are being trained, a GPU would wait at every update; their loss will tell
        if not bool(gates.isfinite().all()):
            bad = int((~gates.isfinite()).sum())
            raise EncoderError("E357", f"{bad} of the {gates.numel()} gates are NaN or infinite", None, "use numbers")

    @contextmanager
    def _open(self, asked: list[Any], intervention: Any) -> Iterator[None]:
        """One more intervention while the context is open; hooks are hung anew at both ends, none is left at last."""
        implementation = self.config._attn_implementation
        asked.append(intervention)
        try:
            self._hang()
            yield
        finally:
            del asked[next(i for i in range(len(asked)) if asked[i] is intervention)]
            self._hang()
            self.config._attn_implementation = implementation

    def _hang(self) -> None:
        for tap in self._taps:
            tap.close()
        self._taps = [Tap(site, self._interventions) for site in self.sites] if self._interventions.any else []
        for tap in self._taps:
            tap.open(self.model)
        if self._interventions.attention and self.sites[0].family.probabilities is None:
            register_seam()
            self.config._attn_implementation = SEAM


def _require_tensor(what: str, value: object) -> None:
    if not isinstance(value, Tensor):
        message = f"the {what} must be a tensor, not of type {type(value).__name__}"
        raise EncoderError("E356", message, None, "torch.as_tensor makes one of lists and arrays")
