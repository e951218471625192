"""Uncertainty sampling over more tasks than a batch has room for is refused before anything runs."""

from __future__ import annotations

from collections.abc import Callable

from mtlspec.spec.load import LoadedSpec
from tests.unit.spec.small_project import SPEC

MORE = SPEC.replace(
    "  sampler: {type: power, alpha: 0.8}\n", "  sampler: mt_uncertainty\n  batch: {sentences: ROOM, tokens: 999}\n"
)


def test_a_batch_without_room_for_every_task_is_told_to_the_letter(complaints: Callable[..., list[str]]) -> None:
    (told,) = complaints(MORE.replace("ROOM", "1"))
    assert told.endswith(
        ": error E999: batches of 1 examples have no room for each of the 2 tasks of model 'mtl'; write "
        "`train.batch.sentences: 2` or more"
    )


def test_a_batch_with_room_is_not_refused(load: Callable[..., LoadedSpec]) -> None:
    load(MORE.replace("ROOM", "2"))
