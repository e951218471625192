"""Analyses of what a swept setting does. `mtlspec check` asks whether their models are swept over it."""

from __future__ import annotations

from pydantic import Field

from mtlspec.spec.families import AnalysisOptions


class Swept(AnalysisOptions):
    """An analysis of models of several tasks, by the numbers of a sweep."""

    over: str = Field(description="The swept setting, as `sweep` has it: `sharing.alpha`. Its values are numbers.")
