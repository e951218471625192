"""Several ways to switch heads off, in one pass: what they have in common is computed once.

The rows of the encoder's input are all examples once for every masking. Up to the first layer in which two maskings
differ, their rows are the same; so every layer computes one row for all maskings that agree up to it, and hands copies
to the others. Masks act on what attention has computed: where that is a module of its own, it computes one row for all
maskings that agree below its layer. To the model and its family nothing has changed: between layers, all rows are
there.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from mtlspec.errors import EncoderError
from mtlspec.model.encoder.encoder import Encoder

Mask = npt.NDArray[np.bool_]


class Maskings:
    """Masks bool [K, L, H], True where a head is off, for the heads of an encoder."""

    def __init__(self, encoder: Encoder, masks: Mask) -> None:
        layers, heads = encoder.heads.shape
        if masks.ndim != 3 or masks.shape[1:] != (layers, heads) or not len(masks):
            raise EncoderError("E951", f"the masks have shape {list(masks.shape)}, not [maskings, {layers}, {heads}]")
        self.encoder, self.number = encoder, len(masks)
        self.gates = torch.from_numpy(~masks).to(next(encoder.parameters()))  # [K, L, H]
        self.groups = [_numbered(masks[:, : layer + 1]) for layer in range(layers)]  # of each layer, int64 [K]

    @property
    def distinct(self) -> tuple[int, ...]:
        """How many maskings each layer has to compute: those that agree up to it are one."""
        return tuple(int(groups.max()) + 1 for groups in self.groups)

    def rows(self, examples: int) -> Tensor:
        """int64 [K * examples]: the example of every row, masking by masking."""
        return torch.arange(examples).repeat(self.number)

    @contextmanager
    def applied(self, examples: int, *, share: bool) -> Iterator[None]:
        """While it is open, the encoder's input must be `rows(examples)` of a batch; each row has its masking's heads.

        `share`: whether layers may compute equal rows once. That needs rows that depend on nothing but examples and
        heads, and that are read at once, not in windows.
        """
        handles = _Pass(self, examples, share).attach()
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()


def _numbered(masks: Mask) -> npt.NDArray[np.int64]:
    """Equal masks get equal numbers, counted from 0 in the order of first appearance: [K, ...] -> [K]."""
    numbers: dict[bytes, int] = {}
    return np.array([numbers.setdefault(mask.tobytes(), len(numbers)) for mask in masks], np.int64)


class _Pass:
    """The hooks of one encoder: layers run one after the other, and the one that runs is `layer`."""

    def __init__(self, maskings: Maskings, examples: int, share: bool) -> None:
        self.maskings, self.examples, self.share = maskings, examples, share
        self.layer = 0
        device = maskings.gates.device
        every = torch.arange(maskings.number * examples, device=device).view(maskings.number, examples)
        self._narrow: list[Tensor | None] = []  # of each layer: the rows that it computes; None: all of them
        self._widen: list[Tensor] = []  # and which of these stands for every row
        self._attending: list[tuple[Tensor, Tensor] | None] = []  # the same of its attention, among the layer's rows
        below = np.zeros(maskings.number, np.int64)  # groups of the layer below
        for groups, distinct in zip(maskings.groups, maskings.distinct, strict=True):
            _, first = np.unique(groups, return_index=True)
            fewer = share and distinct < maskings.number
            self._narrow.append(every[torch.from_numpy(first).to(device)].flatten() if fewer else None)
            self._widen.append(every[torch.from_numpy(groups).to(device)].flatten())
            computed = below[first] if fewer else below  # of each masking that the layer computes: its group below
            _, first, again = np.unique(computed, return_index=True, return_inverse=True)
            pair = (every[torch.from_numpy(which).to(device)].flatten() for which in (first, again))
            self._attending.append((next(pair), next(pair)) if share and len(first) < len(computed) else None)
            below = groups

    def attach(self) -> list[RemovableHandle]:
        heads, places = self.maskings.encoder.heads, self.maskings.encoder.places
        handles = [heads.model.register_forward_pre_hook(self._start)]
        for module in {id(place.module): place.module for place in places.layers}.values():
            handles.append(module.register_forward_pre_hook(self._before, with_kwargs=True))
            handles.append(module.register_forward_hook(self._after))
        for site in heads.sites:
            if site.inner is not site.block:
                handles.append(site.inner.register_forward_pre_hook(self._attend, with_kwargs=True))
                handles.append(site.inner.register_forward_hook(self._attended))
        return [*handles, *(site.output.register_forward_pre_hook(self._gate) for site in heads.sites if site.heads)]

    def _start(self, *_: Any) -> None:
        self.layer = 0

    def _before(
        self, _: nn.Module, arguments: tuple[Any, ...], named: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Hand a layer the rows that it computes, of its states and of whatever else has a row for each."""
        index = self._narrow[self.layer]
        if index is None:
            return arguments, named
        length = (arguments[0] if arguments else named["hidden_states"]).shape[1]
        rows = self.maskings.number * self.examples
        return _taken(arguments, index, rows, length), _taken(named, index, rows, length)

    def _after(self, _: nn.Module, __: Any, output: Any) -> Any:
        layer, self.layer = self.layer, self.layer + 1
        index = self._narrow[layer]
        if index is None:
            return output
        states = output if isinstance(output, Tensor) else output[0]
        return _taken(output, self._widen[layer], len(index), states.shape[1])

    def _attend(
        self, _: nn.Module, arguments: tuple[Any, ...], named: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Hand attention the rows that it computes, of those that its layer does."""
        pair = self._attending[self.layer]
        if pair is None:
            return arguments, named
        states = arguments[0] if arguments else named["hidden_states"]
        rows, length = states.shape[:2]
        return _taken(arguments, pair[0], rows, length), _taken(named, pair[0], rows, length)

    def _attended(self, _: nn.Module, __: Any, output: Any) -> Any:
        pair = self._attending[self.layer]
        if pair is None:
            return output
        contexts = output if isinstance(output, Tensor) else output[0]
        return _taken(output, pair[1], len(pair[0]), contexts.shape[1])

    def _gate(self, _: nn.Module, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """Before the output projection: contexts [rows, S, heads * width]."""
        contexts = inputs[0]
        own = self.maskings.gates[:, self.layer].repeat_interleave(self.examples, 0)  # [K * B, H]
        index = self._narrow[self.layer]
        own = self.maskings.encoder.per_row(own) if index is None else own.index_select(0, index)
        heads = self.maskings.encoder.heads.counts[self.layer]
        wide = own[:, :heads].repeat_interleave(contexts.shape[-1] // heads, 1)
        return (contexts * wide.unsqueeze(1).to(contexts), *inputs[1:])


def _taken(value: Any, index: Tensor, rows: int, length: int) -> Any:
    """Rows of every tensor [rows, ..., length, ...] in a structure; what has other shapes belongs to all rows."""
    if isinstance(value, Tensor):
        by_row = value.dim() > 1 and value.shape[0] == rows and length in value.shape[1:]
        return value.index_select(0, index) if by_row else value
    if isinstance(value, tuple | list):
        return type(value)([_taken(part, index, rows, length) for part in value])
    if isinstance(value, dict):
        return {name: _taken(part, index, rows, length) for name, part in value.items()}
    return value
