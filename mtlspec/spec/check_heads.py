"""Checks of what needs attention heads: strategies that gate or choose them and analyses that read them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice

from mtlspec import kinds
from mtlspec.errors import SpecError
from mtlspec.spec.check_distil import distilled
from mtlspec.spec.check_sharing import sharings
from mtlspec.spec.encoders import DEFAULT, EncoderOptions
from mtlspec.spec.families import ANALYSES, ENCODERS, AnalysisOptions, SharingOptions
from mtlspec.spec.models import ModelGroup
from mtlspec.spec.nodes import Node


def check_heads(node: Node, groups: Mapping[str, ModelGroup]) -> Iterator[SpecError]:
    """`groups` are the model groups that are sound on their own."""
    said = node.get("encoder", "type")
    kind = DEFAULT if said is None else said.value
    if kind not in kinds.names(ENCODERS) or _has_heads(str(kind)):
        return
    reason = f"needs attention heads, and the encoder is of type '{kind}', which has none"
    for name, group in groups.items():
        strategies = (found for found in sharings(node, name, group) if _needs_heads(found.options))
        for found in islice(strategies, 1):
            yield SpecError("E100", f"the sharing strategy '{found.options.type}' {reason}", found.said[0][1].place)
        if any(
            one.train.distil is not None and one.train.distil.looks_inside for one, _ in distilled(node, name, group)
        ):
            message = (
                f"model '{name}' learns layers of a teacher, and the encoder is of type '{kind}', which shows none"
            )
            yield SpecError("E100", message, node.near(("models", name, "train", "distil")).place)
    for analysis in node.children("analyses").values():
        used = analysis.child("type") or analysis
        if used.value in kinds.names(ANALYSES) and _reads_heads(str(used.value)):
            yield SpecError("E100", f"the analysis '{used.value}' {reason}", used.place)


def _has_heads(kind: str) -> bool:
    options = kinds.options_class(ENCODERS, kind)
    return issubclass(options, EncoderOptions) and options.has_heads


def _needs_heads(options: SharingOptions) -> bool:
    return options.gates_heads or options.heads_by_task


def _reads_heads(kind: str) -> bool:
    options = kinds.options_class(ANALYSES, kind)
    return issubclass(options, AnalysisOptions) and options.reads_heads
