"""Physical removal of heads, and the record of it from which a pruned architecture is built again.

A removed head takes its rows of the query, key and value projections and its columns of the output projection along;
the gates of the others are multiplied into their columns. The output projection's bias stays, also where a layer has no
heads left: such a layer adds its bias to the residual, and goes on to its norm and feed-forward block.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from mtlspec.errors import EncoderError
from mtlspec.model.encoder.sites import Site, find_sites

KEPT = "mtlspec_heads"
"""The key of a pruned encoder's config: for each layer the original numbers of the heads that it still has."""


def kept_heads(config: Any) -> list[list[int]] | None:
    """The record in a config; None if the encoder is whole."""
    kept: list[list[int]] | None = getattr(config, KEPT, None)
    return kept


def shrink_to_record(model: nn.Module, config: Any) -> None:
    """Give a whole model the shapes that its config records; the values come from a checkpoint."""
    kept = kept_heads(config)
    if kept is None:
        return
    sites = find_sites(model, config)
    layers = sum(len(site.layers) for site in sites)
    known = set(range(config.num_attention_heads))
    if len(kept) != layers or any(len(set(heads)) != len(heads) or not known.issuperset(heads) for heads in kept):
        raise EncoderError(
            "E350", f"'{KEPT}' in the config does not fit {layers} layers of {config.num_attention_heads} heads"
        )
    for site in sites:
        if any(kept[layer] != kept[site.layers[0]] for layer in site.layers):
            raise EncoderError("E351", f"'{KEPT}' in the config has different heads for layers that share parameters")
        shrink(model, site, kept[site.layers[0]])


def remove_heads(model: nn.Module, config: Any, gates: Tensor) -> None:
    """Remove the heads whose gate is 0 and fold the other gates in: gates [L, H], of the heads there are now."""
    gates = gates.detach().cpu()
    sites = find_sites(model, config)
    if any(not torch.equal(gates[layer], gates[site.layers[0]]) for site in sites for layer in site.layers):
        untie = sites[0].family.untie
        assert untie is not None  # a family that shares parameters says how to stop
        untie(model, config)
        sites = find_sites(model, config)
    heads_of = {layer: site.heads for site in sites for layer in site.layers}
    record = kept_heads(config) or [list(range(heads_of[layer])) for layer in range(len(heads_of))]
    for site in sites:
        own = gates[site.layers[0], : site.heads]
        fold(site, own)
        staying = own.nonzero().flatten().tolist()
        shrink(model, site, staying)
        for layer in site.layers:
            record[layer] = [record[layer][head] for head in staying]
    setattr(config, KEPT, record)


@torch.no_grad()
def fold(site: Site, gates: Tensor) -> None:
    """Multiply the output columns of every head by its gate, [H]."""
    for found in site.slices():
        if found.role == "output":
            for head, gate in enumerate(gates.tolist()):
                found.part(head).mul_(gate)


def shrink(model: nn.Module, site: Site, kept: Sequence[int]) -> None:
    """Keep these heads only: ascending numbers of the heads that the site has now."""
    if len(kept) == site.heads:
        return
    gone: dict[tuple[str, int], set[int]] = {}
    parameters: dict[str, nn.Parameter] = {}
    for found in site.slices():
        parameters[found.name] = found.parameter
        removed = (head for head in range(site.heads) if head not in kept)
        gone.setdefault((found.name, found.axis), set()).update(i for head in removed for i in found.indices(head))
    for (name, axis), indices in gone.items():
        parameter = parameters[name]
        staying = torch.tensor([i for i in range(parameter.shape[axis]) if i not in indices], dtype=torch.int64)
        values = parameter.detach().index_select(axis, staying.to(parameter.device)).contiguous()
        _replace(site.block, name.removeprefix(f"{site.path}."), nn.Parameter(values, parameter.requires_grad))
    inner: Any = site.inner
    for attribute, what in site.family.sizes.items():
        setattr(inner, attribute, len(kept) if what == "heads" else len(kept) * site.width)
    if not kept:  # transformers' own attention cannot run without heads
        model.set_submodule(f"{site.path}.{site.family.inner}".rstrip("."), site.family.empty(inner))


def _replace(block: nn.Module, path: str, parameter: nn.Parameter) -> None:
    """Put a parameter in the place of another, and keep what its module says about its own sizes true."""
    owner_path, _, name = path.rpartition(".")
    owner: Any = block.get_submodule(owner_path)
    setattr(owner, name, parameter)
    if name == "weight" and isinstance(owner, nn.Linear):
        owner.out_features, owner.in_features = parameter.shape
    elif name == "weight":
        owner.nx, owner.nf = parameter.shape
