"""Tagging as `tagging` does it, scored by the F1 of all tags but O: where O is most of a text, accuracy says little."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from mtlspec.model.tasks.tagging import Options as TaggingOptions
from mtlspec.model.tasks.tagging import Tagging

if TYPE_CHECKING:
    from mtlspec.model.task import Task


class Options(TaggingOptions):
    """A tag that spells no span counts as a span of one word; tags that do are scored as spans anyway."""

    type: Literal["tagging_f1"]  # type: ignore[assignment]  # a kind of its own with the options of another

    def build(self, name: str, labels: Mapping[str, int], width: int) -> Task:
        return TaggingF1(name, self, labels, width)


class TaggingF1(Tagging):
    def __init__(self, name: str, options: Options, labels: Mapping[str, int], width: int) -> None:
        from mtlspec.metrics.accuracy import TagAccuracy
        from mtlspec.metrics.spans import SpanF1

        super().__init__(name, options, labels, width)
        if isinstance(self.metric, TagAccuracy):
            self.metric = SpanF1("plain")
