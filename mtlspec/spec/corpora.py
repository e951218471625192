"""Which corpus is meant: of a task, of an analysis that names layers, of an encoder that learns from data."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from mtlspec.spec.cards import DataCard, EncoderCard
from mtlspec.spec.demands import OneCorpus
from mtlspec.spec.families import AnalysisOptions, LayerKind
from mtlspec.spec.models import ExperimentSpec


def corpus_of_task(task: str, said: str | None, corpora: Collection[str]) -> str | None:
    """What the task says, the corpus of its own name, or the only one; None if that decides nothing."""
    return said or (task if task in corpora else only(corpora))


def corpora_with(layers: Mapping[str, LayerKind], corpora: Mapping[str, DataCard]) -> list[str]:
    """The corpora that have all of some layers, each of the right kind."""
    return [name for name, card in corpora.items() if layers.items() <= card.layer_kinds.items()]


def only(corpora: Collection[str]) -> str | None:
    return next(iter(corpora)) if len(corpora) == 1 else None


def resolved(spec: ExperimentSpec, corpora: Mapping[str, DataCard], encoder: EncoderCard) -> ExperimentSpec:
    """A sound spec in which everything says its corpus; where there is one corpus, nothing does."""
    several = len(corpora) > 1
    tasks = {
        name: task.model_copy(update={"data": corpus_of_task(name, task.data, corpora) if several else None})
        for name, task in spec.tasks.items()
    }
    analyses = {
        name: analysis.model_copy(update={"data": _corpus_of_analysis(analysis, corpora) if several else None})
        if isinstance(analysis, OneCorpus)
        else analysis
        for name, analysis in spec.analyses.items()
    }
    learns = several and encoder.source.learns_from_data
    use = spec.encoder.model_copy(update={"data": spec.encoder.data if learns else None})
    return spec.model_copy(update={"tasks": tasks, "analyses": analyses, "encoder": use})


def layers_read(analysis: AnalysisOptions) -> dict[str, LayerKind]:
    """Layer -> kind, of the layers that an analysis names."""
    return {layer: kind for option, kind in analysis.layer_kinds.items() if (layer := getattr(analysis, option))}


def _corpus_of_analysis(analysis: OneCorpus, corpora: Mapping[str, DataCard]) -> str:
    return analysis.data or corpora_with(layers_read(analysis), corpora)[0]
