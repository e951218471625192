"""Words in context: a label that is about marked words of a text or of a pair, such as whether they mean the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal
from weakref import WeakKeyDictionary

from pydantic import Field

from mtlspec.errors import StageError
from mtlspec.model.tasks.classification import Classification
from mtlspec.model.tasks.classification import Options as ClassificationOptions
from mtlspec.spec.families import LayerKind

if TYPE_CHECKING:
    from torch import Tensor

    from mtlspec.data.batching import Batch
    from mtlspec.data.prepared import PreparedSplit
    from mtlspec.model.task import Task


class Options(ClassificationOptions):
    """The vector of an example and those of its marked words stand side by side before the classifier, as in
    SuperGLUE's own baselines."""

    reads: ClassVar[frozenset[LayerKind]] = frozenset({"marked"})
    type: Literal["word_in_context"]  # type: ignore[assignment]  # a kind of its own with the options of another
    marks: Annotated[int, Field(gt=0)] = Field(
        default=2, description="How many places of every example are marked: two in WiC and in WSC."
    )
    marked: Literal["mean", "first"] = Field(
        default="mean", description="The vector of a marked place: the mean of its sub-tokens, or its first one."
    )

    def build(self, name: str, labels: Mapping[str, int], width: int) -> Task:
        return WordInContext(name, self, labels, width)


class WordInContext(Classification):
    """As `classification` does it, with the vectors of marked words beside that of the example."""

    def __init__(self, name: str, options: Options, labels: Mapping[str, int], width: int) -> None:
        from mtlspec.model.tasks._marked_head import MarkedHead

        super().__init__(name, options, labels, width)
        self.first_only = False
        self.module = MarkedHead(width, len(self.labels), options, options.marks, self._weights_of)
        self._options = options
        self._known: WeakKeyDictionary[PreparedSplit, Tensor] = WeakKeyDictionary()

    def encode(self, split: PreparedSplit) -> Tensor:
        return split.codes(f"{self.layer}.label", self.labels)

    def gold_values(self, split: PreparedSplit) -> Sequence[Any]:
        return [None if value is None else value.label for value in split.values(self.layer)]

    def _weights_of(self, batch: Batch) -> Tensor:
        """float32 [B, marks, S]: what every sub-token gives to the vector of each marked place."""
        from mtlspec.data.transfer import to_device
        from mtlspec.model.tasks._marked_head import mark_weights, marked_pieces

        assert batch.split is not None
        if batch.split not in self._known:
            found = marked_pieces(batch.split, self.layer, self._options.marks)
            if found is None:
                told = f"task '{self.name}' reads {self._options.marks} marked places of every example"
                hint = "read a format that marks them, or say how many there are with `marks`"
                raise StageError("E927", f"{told}, and some have others", hint=hint)
            self._known[batch.split] = found
        places = self._known[batch.split][batch.rows]
        return to_device(mark_weights(places, batch.pieces.shape[1], self._options.marked), batch.pieces.device)
