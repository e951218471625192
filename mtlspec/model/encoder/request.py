"""What an encoder source is asked for: fill a directory with config, weights and tokenizer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from mtlspec.io.project import Project
from mtlspec.spec.cards import DataCard

if TYPE_CHECKING:
    from torch import Tensor


class Point(NamedTuple):
    """All that a source which learns here needs to go on where it stopped: JSON values, and tensors by name."""

    update: int
    values: Mapping[str, Any]
    tensors: Mapping[str, Tensor]


class Points(Protocol):
    """Where such a source keeps resume points; when one is worth its time is not for the source to say."""

    def newest(self, updates: int) -> Point | None:
        """The point to go on from; `updates` is how many there will be."""

    def offer(self, update: int, make: Callable[[], Point]) -> None:
        """After every update: a point is made and written if it is time."""


class _NoPoints:
    """For whom a kill may cost everything."""

    def newest(self, updates: int) -> None:
        del updates

    def offer(self, update: int, make: Callable[[], Point]) -> None:
        del update, make


_NO_POINTS = _NoPoints()


@dataclass(frozen=True)
class Request:
    """The sources' `fetch(request)` write below `out` and return facts for the record."""

    name: str  # of the card
    out: Path
    project_root: Path
    inputs: Mapping[str, Path]  # role -> artifact: `data`, or `data-<corpus>`, for sources that learn from it
    data_card: DataCard | None  # what those data are
    device: str
    progress: Callable[[int, int, str], None]  # (done, total, what)
    weights: bool = True  # False: the encoder learns its own, and a tokenizer is enough
    data_cards: Mapping[str, DataCard] = field(default_factory=dict)  # corpus -> card, for one that learns from all
    points: Points = _NO_POINTS  # of a source that learns here

    @property
    def card_file(self) -> Path:
        """Where the card is, unless a spec holds it."""
        return Project(self.project_root).encoder_cards / f"{self.name}.yaml"
