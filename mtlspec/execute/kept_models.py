"""How much is there of the models of a run, beside what its spec keeps of them and what its stages read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from mtlspec.io.freed import is_freed, kept_gates
from mtlspec.io.project import RunPlaces
from mtlspec.plan.types import Plan, Stage
from mtlspec.plan.weights import kept, readers, reads, suffices
from mtlspec.spec.families import Keep


@dataclass(frozen=True)
class KeptModels:
    """Those of one run; models are named by their trainings."""

    places: RunPlaces
    keep: Mapping[str, Keep]
    readers: Mapping[str, Mapping[str, Keep]]

    @classmethod
    def of(cls, plan: Plan, places: RunPlaces) -> KeptModels:
        return cls(places, kept(plan), readers(plan))

    def there(self, training: str) -> Keep:
        """How much of a trained model is on this machine."""
        folder = self.places.artifact(training)
        if not is_freed(folder):
            return "weights"
        return "gates" if kept_gates(folder) is not None else "scores"

    def rests(self, training: str) -> bool:
        """Whether weights were freed, and all is there that the spec keeps."""
        if not is_freed(self.places.artifact(training)):
            return False
        return suffices(self.there(training), self.keep.get(training, "weights"))

    def lacking(self, stage: Stage) -> list[str]:
        """Trainings of whose models a stage reads more than there is."""
        read = reads(stage.kind, stage.params, stage.inputs.values())
        return [name for name, wanted in read.items() if not suffices(self.there(name), wanted)]

    def free(self, is_done: Callable[[str], bool]) -> list[str]:
        """Trainings whose weights nobody needs any more: the spec keeps less, and who reads more has done so."""
        return [
            name
            for name, keep in self.keep.items()
            if keep != "weights"
            and is_done(name)
            and self.there(name) == "weights"
            and all(is_done(reader) for reader, read in self.readers[name].items() if not suffices(keep, read))
        ]

    def with_gates(self, trainings: Collection[str]) -> list[str]:
        """Those of whose models the spec keeps the gates."""
        return [name for name in trainings if self.keep[name] == "gates"]
