"""Sites: the places of a model where heads are computed, and the parameters of each head."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from mtlspec.errors import EncoderError
from mtlspec.model.encoder.families import family_of
from mtlspec.model.encoder.families.family import Family, Role


@dataclass(frozen=True)
class HeadSlice:
    """Where the heads of a layer lie in one parameter: head h has the indices `starts[h] ... + width` along `axis`."""

    role: Role
    name: str  # as in `model.named_parameters()`
    parameter: nn.Parameter
    axis: int
    starts: tuple[int, ...]
    width: int

    def indices(self, head: int) -> range:
        return range(self.starts[head], self.starts[head] + self.width)

    def part(self, head: int) -> Tensor:
        """The head's part of the parameter: a view, so that it can be changed in place under `no_grad`."""
        return self.parameter.narrow(self.axis, self.starts[head], self.width)


@dataclass(frozen=True)
class Site:
    """One attention block; `layers` are those that use it (several where a family shares parameters)."""

    family: Family
    path: str
    block: nn.Module
    heads: int
    width: int  # of one head
    layers: tuple[int, ...]

    @property
    def inner(self) -> nn.Module:
        return self.block.get_submodule(self.family.inner)

    @property
    def output(self) -> nn.Module:
        return self.block.get_submodule(self.family.output)

    def slices(self) -> tuple[HeadSlice, ...]:
        """Every parameter of this block that has parts for heads; the output projection's comes last."""
        if not self.heads:
            return ()
        found = []
        for rows in self.family.rows:
            parameter = _parameter(self.block, rows.path)
            if parameter is not None:
                starts = tuple(rows.start(head, self.heads, self.width) for head in range(self.heads))
                name = f"{self.path}.{rows.path}"
                found.append(HeadSlice(rows.role, name, parameter, rows.axis, starts, self.width))
        starts = tuple(range(0, self.heads * self.width, self.width))
        weight = _weight(self.output)
        name = f"{self.path}.{self.family.output}.weight"
        return (*found, HeadSlice("output", name, weight, input_axis(self.output), starts, self.width))


def find_sites(model: nn.Module, config: Any) -> tuple[Site, ...]:
    """The sites of a model in the order of their first layer."""
    family = family_of(config)
    width = config.hidden_size // config.num_attention_heads
    layers_of: dict[str, list[int]] = {}
    for layer, path in enumerate(family.blocks(config)):
        layers_of.setdefault(path, []).append(layer)
    sites = []
    for path, layers in layers_of.items():
        try:
            block = model.get_submodule(path)
            columns = _weight(block.get_submodule(family.output))
            heads = columns.shape[input_axis(block.get_submodule(family.output))] // width
        except AttributeError as error:
            raise _unusual(config, str(error)) from None
        site = Site(family, path, block, heads, width, tuple(layers))
        _require_usual(site, config)
        sites.append(site)
    return tuple(sites)


def _require_usual(site: Site, config: Any) -> None:
    """A site whose parameters are not where its family has them must not be gated or pruned by guess."""
    slices = site.slices()
    missing = {"query", "key", "value"} - {found.role for found in slices}
    if site.heads and missing:
        raise _unusual(config, f"{site.path} has no {min(missing)} projection")
    for found in slices:
        size = found.parameter.shape[found.axis]
        if size % (site.heads * site.width) or max(found.starts) + found.width > size:
            raise _unusual(config, f"{found.name} has {size} rows for {site.heads} heads of {site.width}")


def _unusual(config: Any, what: str) -> EncoderError:
    return EncoderError("E342", f"this '{config.model_type}' encoder is not built as its family usually is: {what}")


def input_axis(projection: nn.Module) -> int:
    """The axis of a projection's weight that its input runs along: 1 for `nn.Linear`, 0 for transposed ones."""
    return 1 if isinstance(projection, nn.Linear) else 0


def _weight(projection: nn.Module) -> nn.Parameter:
    weight = projection.weight
    assert isinstance(weight, nn.Parameter)
    return weight


def _parameter(block: nn.Module, path: str) -> nn.Parameter | None:
    """A parameter of a block, or None: biases and projections of positions exist in some configurations only."""
    *owners, name = path.split(".")
    owner: Any = block
    for step in owners:
        owner = getattr(owner, step, None)
    found = getattr(owner, name, None)
    return found if isinstance(found, nn.Parameter) else None
