"""Scores of every task under every model group, with differences to single-task learning and their significance."""

from __future__ import annotations

from typing import Literal

from mtlspec.spec.families import AnalysisOptions


class Options(AnalysisOptions):
    type: Literal["score_matrix"]
