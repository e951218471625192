"""From a spec and its cards to a plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mtlspec.io.digest import digest_value
from mtlspec.kinds import Frozen
from mtlspec.plan.code import code_unit, kinds_in
from mtlspec.plan.types import CodeUnit, Plan, Stage, StageKind
from mtlspec.spec.cards import DataCard, EncoderCard
from mtlspec.spec.expand import ModelVariant, expand
from mtlspec.spec.families import AnalysisOptions
from mtlspec.spec.load import LoadedSpec
from mtlspec.spec.models import BatchLimits, ExperimentSpec


@dataclass
class _Builder:
    """Stages in the order they are added; parents come before their children."""

    stages: dict[str, Stage] = field(default_factory=dict)
    units: dict[str, CodeUnit] = field(default_factory=dict)

    def add(self, kind: StageKind, name: str, params: Mapping[str, Any], inputs: Mapping[str, str], *kinds: Any) -> str:
        unit = code_unit(kind, tuple(kinds_in(kinds)))
        self.units[unit.name] = unit
        identity = {
            "kind": kind,
            "params": dict(params),
            "inputs": {role: self.stages[parent].id for role, parent in inputs.items()},
            "code": unit.model_dump(mode="json"),
        }
        self.stages[name] = Stage(
            name=name,
            kind=kind,
            params=dict(params),
            inputs=dict(inputs),
            unit=unit.name,
            id=digest_value(identity)[:16],
        )
        return name


def _dump(model: Frozen) -> dict[str, Any]:
    return model.model_dump(mode="json")


def build_plan(loaded: LoadedSpec) -> Plan:
    """Pure: the same spec, cards and sources give the same plan, byte for byte."""
    spec = loaded.spec
    builder = _Builder()
    encoder, prepare = _add_foundation(builder, spec, loaded.data, loaded.encoder)
    models = [_add_model(builder, spec, variant, encoder, prepare) for variant in expand(spec)]
    analyses = {
        name: _add_analysis(builder, name, options, models, encoder, prepare) for name, options in spec.analyses.items()
    }
    _add_report(builder, loaded, models, analyses, prepare)
    return Plan(
        spec=spec.name,
        spec_digest=digest_value(_resolved(loaded)),
        stages=tuple(builder.stages.values()),
        units=tuple(builder.units[name] for name in sorted(builder.units)),
    )


def _resolved(loaded: LoadedSpec) -> dict[str, Any]:
    """The experiment with its cards in place of their names."""
    return {"spec": _dump(loaded.spec), "data": _dump(loaded.data), "encoder": _dump(loaded.encoder)}


def _add_foundation(builder: _Builder, spec: ExperimentSpec, data: DataCard, encoder: EncoderCard) -> tuple[str, str]:
    corpus = builder.add("data", f"data-{data.name}", {"card": _dump(data)}, {}, data.generator)
    learns = encoder.source.learns_from_data
    params: dict[str, Any] = {"card": _dump(encoder), "run": _dump(spec.run)}
    if learns:
        params["data_card"] = _dump(data)
    made = builder.add(
        "encoder",
        f"{'pretrain' if learns else 'import'}-{encoder.name}",
        params,
        {"data": corpus} if learns else {},
        encoder.source,
        data.files if learns else (),
    )
    prepared = builder.add(
        "prepare",
        f"prepare-{data.name}-{encoder.name}",
        {"card": _dump(data), "encoder": encoder.name},
        {"data": corpus, "encoder": made},
        data.files,
    )
    return made, prepared


def _add_model(
    builder: _Builder, spec: ExperimentSpec, variant: ModelVariant, encoder: str, prepare: str
) -> dict[str, Any]:
    """Training and evaluation of one model; returns the row that analyses and the report see."""
    tasks = {name: spec.tasks[name] for name in variant.tasks}
    sweep = [list(pair) for pair in variant.sweep]
    params = {
        "group": variant.group,
        "variant": variant.name,
        "tasks": {name: _dump(options) for name, options in tasks.items()},
        "sharing": _dump(variant.sharing),
        "train": _dump(variant.train),
        "encoder": spec.encoder.model_dump(mode="json", exclude={"card"}),
        "seed": variant.seed,
        "run": _dump(spec.run),
        "sweep": sweep,
    }
    train = builder.add(
        "train",
        f"train-{variant.name}",
        params,
        {"encoder": encoder, "prepare": prepare},
        tasks,
        variant.sharing,
        variant.train,
    )
    evaluate = builder.add(
        "evaluate",
        f"evaluate-{variant.name}",
        {"batch": _dump(BatchLimits()), "run": _dump(spec.run)},
        {"train": train, "prepare": prepare},
        tasks,
        variant.sharing,
    )
    return {
        "stage": evaluate,
        "train": train,
        "group": variant.group,
        "tasks": list(variant.tasks),
        "seed": variant.seed,
        "sweep": sweep,
    }


def _add_analysis(
    builder: _Builder, name: str, options: AnalysisOptions, models: list[dict[str, Any]], encoder: str, prepare: str
) -> str:
    chosen = [row for row in models if not options.models or row["group"] in options.models]
    inputs: dict[str, str] = {}
    if "encoder" in options.needs:
        inputs["encoder"] = encoder
    if "prepare" in options.needs:
        inputs["prepare"] = prepare
    for row in chosen:
        if "train" in options.needs:
            inputs[row["train"]] = row["train"]
        if "evaluate" in options.needs:
            inputs[row["stage"]] = row["stage"]
    params = {"name": name, "options": _dump(options), "models": chosen}
    return builder.add("analyse", f"analyse-{name}", params, inputs, options)


def _add_report(
    builder: _Builder, loaded: LoadedSpec, models: list[dict[str, Any]], analyses: dict[str, str], prepare: str
) -> None:
    inputs = {"prepare": prepare}
    for row in models:
        inputs[row["train"]] = row["train"]
        inputs[row["stage"]] = row["stage"]
    inputs.update({stage: stage for stage in analyses.values()})
    params = {**_resolved(loaded), "models": models, "analyses": analyses}
    builder.add("report", "report", params, inputs)
