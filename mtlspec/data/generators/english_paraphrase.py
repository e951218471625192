"""Whether two sentences of the small English say the same.

One is active, the other passive, and the verb may be replaced by a synonym. A near miss has the roles exchanged, or a
verb that means something else. Both classes have the same words, forms and differences.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from mtlspec.data.generators._dice import Dice
from mtlspec.data.generators._events import event
from mtlspec.data.generators._examples import Example, ExampleOptions, Size, spelled


class Options(ExampleOptions):
    header: ClassVar = ("sentence1", "sentence2", "paraphrase")
    classes: ClassVar = ("0", "1")  # 1 is a paraphrase, as in MRPC
    type: Literal["english_paraphrase"]
    train: Size = Field(default=600, description="Training examples.")

    def draw(self, dice: Dice, wanted: str) -> Example:
        """Half of each class has another verb, half the same one."""
        first, same, passive = event(dice), wanted == "1", dice.chance(0.5)
        kept = first if same else first.exchanged()
        second = first.reworded(dice, same) if dice.chance(0.5) else kept
        return Example((spelled(first.said(passive)), spelled(second.said(not passive))), wanted)
