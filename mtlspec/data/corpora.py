"""Corpora: the prepared data of an experiment, each corpus under its name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from mtlspec.data.prepared import Prepared
from mtlspec.errors import DataError

if TYPE_CHECKING:
    from mtlspec.model.task import Task
    from mtlspec.spec.families import TaskOptions

ROLE = "prepare-"
"""What the roles of prepared corpora among a stage's inputs begin with; the corpus's name follows."""


class Corpora(Mapping[str, Prepared]):
    """Corpus name -> prepared data."""

    def __init__(self, corpora: Mapping[str, Prepared]) -> None:
        self._corpora = dict(corpora)

    @classmethod
    def load(cls, inputs: Mapping[str, Path]) -> Corpora:
        """The corpora among the inputs of a stage (role -> artifact)."""
        roles = [role for role in inputs if role.startswith(ROLE)]
        return cls({role.removeprefix(ROLE): Prepared.load(inputs[role]) for role in roles})

    @classmethod
    def single(cls, data: Prepared) -> Corpora:
        return cls({"": data})

    def __getitem__(self, name: str) -> Prepared:
        return self._corpora[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._corpora)

    def __len__(self) -> int:
        return len(self._corpora)

    def named(self, name: str | None) -> Prepared:
        """The corpus of a name; None stands for the only one that there is."""
        if name is None and len(self._corpora) == 1:
            return next(iter(self._corpora.values()))
        if name is None or name not in self._corpora:
            known = ", ".join(self._corpora)
            raise DataError("E248", f"no corpus is called '{name or ''}' here", hint=f"known: {known}")
        return self._corpora[name]

    def of(self, task: Task) -> Prepared:
        """The corpus that a task learns from."""
        return self.named(task.corpus)

    def labels(self, tasks: Mapping[str, TaskOptions]) -> dict[str, Mapping[str, int]]:
        """Task -> the training labels of its layer with their counts."""
        return {name: self.named(options.data).labels[options.layer] for name, options in tasks.items()}
