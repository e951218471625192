"""The stages that models share: corpora, the encoder, and each corpus prepared for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from mtlspec.plan.builder import Builder, dump
from mtlspec.plan.code import layer_modules
from mtlspec.plan.types import Stage
from mtlspec.spec.cards import DataCard
from mtlspec.spec.corpora import only
from mtlspec.spec.demands import OneCorpus
from mtlspec.spec.families import AnalysisOptions
from mtlspec.spec.load import LoadedSpec
from mtlspec.spec.models import ExperimentSpec


@dataclass(frozen=True)
class Foundation:
    """What models are built on; stages see corpora under the roles `prepare-<corpus>`."""

    spec: ExperimentSpec
    encoder: str  # the stage
    prepared: Mapping[str, str]  # corpus -> the stage

    def corpora(self, tasks: Iterable[str]) -> dict[str, str]:
        """Role -> stage, of the corpora of some tasks, in the order of the spec."""
        read = {self.spec.tasks[task].data or only(self.prepared) for task in tasks}
        return {f"prepare-{name}": stage for name, stage in self.prepared.items() if name in read}

    def all_corpora(self) -> dict[str, str]:
        return {f"prepare-{name}": stage for name, stage in self.prepared.items()}

    def of_model(self, tasks: Iterable[str]) -> dict[str, str]:
        """What a model of some tasks is trained on."""
        return {"encoder": self.encoder, **self.corpora(tasks)}

    def of_analysis(self, options: AnalysisOptions, tasks: Iterable[str]) -> dict[str, str]:
        """What an analysis of models of some tasks needs: the corpus that it names, or those of the models."""
        stages = self.of_model(tasks)
        if isinstance(options, OneCorpus):
            corpus = options.data or only(self.prepared)
            assert corpus is not None
            stages = {"encoder": self.encoder, f"prepare-{corpus}": self.prepared[corpus]}
        return {role: stage for role, stage in stages.items() if role.partition("-")[0] in options.needs}


def add_foundation(builder: Builder, loaded: LoadedSpec) -> Foundation:
    stages = {name: _add_data(builder, card) for name, card in loaded.data.items()}
    encoder = _add_encoder(builder, loaded, stages)
    prepared = {
        name: _add_prepared(builder, card, loaded, {"data": stages[name], "encoder": encoder})
        for name, card in loaded.data.items()
    }
    return Foundation(loaded.spec, encoder, prepared)


def pretrains(stage: Stage) -> bool:
    """Whether an encoder is learnt here from a corpus, not imported."""
    return stage.kind == "encoder" and "data_card" in stage.params


def _add_prepared(builder: Builder, card: DataCard, loaded: LoadedSpec, inputs: Mapping[str, str]) -> str:
    name = loaded.encoder.name
    params = {"card": dump(card), "encoder": name, **loaded.spec.encoder.reading()}
    stage = builder.add("prepare", f"prepare-{card.name}-{name}", params, inputs, card.files, layer_modules(card))
    builder.layers[stage] = layer_modules(card)
    return stage


def _add_data(builder: Builder, card: DataCard) -> str:
    return builder.add("data", f"data-{card.name}", {"card": dump(card)}, {}, card.generator)


def _add_encoder(builder: Builder, loaded: LoadedSpec, data: Mapping[str, str]) -> str:
    """The encoder's weights or words: imported, or learnt from one of the corpora, or from all."""
    encoder = loaded.encoder
    use = loaded.spec.encoder.named()
    params: dict[str, Any] = {"card": dump(encoder), "encoder": use.of_weights(), "run": dump(loaded.spec.run)}
    if not encoder.source.learns_from_data:
        return builder.add("encoder", f"import-{encoder.name}", params, {}, encoder.source, use)
    corpus = loaded.spec.encoder.data or only(data)
    if encoder.source.learns_from_all:
        cards = {name: card for name, card in loaded.data.items() if loaded.spec.encoder.data in (None, name)}
        params["data_cards"] = {name: dump(card) for name, card in cards.items()}
        inputs = {f"data-{name}": data[name] for name in cards}
        files = [card.files for card in cards.values()]
        return builder.add("encoder", f"collect-{encoder.name}", params, inputs, encoder.source, use, files)
    assert corpus is not None
    card = loaded.data[corpus]
    params["data_card"] = dump(card)
    return builder.add(
        "encoder", f"pretrain-{encoder.name}", params, {"data": data[corpus]}, encoder.source, use, card.files
    )
