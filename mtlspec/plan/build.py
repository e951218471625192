"""From a spec and its cards to a plan."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mtlspec.io.digest import digest_value
from mtlspec.kinds import Frozen
from mtlspec.plan.code import Module, code_unit, kinds_in, layer_modules, unit_name
from mtlspec.plan.dvc import is_outside, results_target
from mtlspec.plan.selection import select_inputs, select_params, select_stage
from mtlspec.plan.types import CodeUnit, Plan, Stage, StageKind
from mtlspec.spec.cards import DataCard, EncoderCard
from mtlspec.spec.expand import Choice, ModelVariant, expand
from mtlspec.spec.families import AnalysisOptions
from mtlspec.spec.load import LoadedSpec
from mtlspec.spec.models import BatchLimits, ExperimentSpec
from mtlspec.spec.packs import load_pack


@dataclass
class _Builder:
    """Stages in the order they are added; parents come before their children."""

    stages: dict[str, Stage] = field(default_factory=dict)
    units: dict[str, CodeUnit] = field(default_factory=dict)
    layers: dict[str, tuple[Module, ...]] = field(default_factory=dict)  # of prepared corpora, by their stage

    def add(self, kind: StageKind, name: str, params: Mapping[str, Any], inputs: Mapping[str, str], *kinds: Any) -> str:
        opened = [self.layers[parent] for parent in inputs.values() if parent in self.layers]
        named = tuple(kinds_in((*kinds, opened)))
        known = self.units.get(unit_name(kind, named))  # most stages share their sources with many others
        unit = known if known is not None else code_unit(kind, named)
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


@dataclass(frozen=True)
class _Model:
    """One model: the row that analyses and the report see of it, and the kinds that its code consists of."""

    row: dict[str, Any]
    kinds: tuple[Any, ...]


def build_plan(loaded: LoadedSpec) -> Plan:
    """Pure: the same spec, cards and sources give the same plan, byte for byte."""
    spec = loaded.spec
    builder = _Builder()
    foundation = _add_foundation(builder, spec, loaded.data, loaded.encoder)
    variants = {variant.name: variant for variant in expand(spec)}
    models = [_add_model(builder, spec, variant, foundation, variants) for variant in variants.values()]
    analyses = {
        name: _add_analysis(builder, spec, name, options, models, foundation) for name, options in spec.analyses.items()
    }
    _add_report(builder, loaded, [model.row for model in models], analyses, _prepared(foundation))
    return Plan(
        spec=spec.name,
        spec_digest=digest_value(_resolved(loaded)),
        stages=tuple(builder.stages.values()),
        units=tuple(builder.units[name] for name in sorted(builder.units)),
    )


def _resolved(loaded: LoadedSpec) -> dict[str, Any]:
    """The experiment with its cards in place of their names."""
    return {"spec": _dump(loaded.spec), "data": _dump(loaded.data), "encoder": _dump(loaded.encoder)}


def _add_foundation(builder: _Builder, spec: ExperimentSpec, data: DataCard, encoder: EncoderCard) -> dict[str, str]:
    """Stages that all models share, by role."""
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
        layer_modules(data),
    )
    builder.layers[prepared] = layer_modules(data)
    return {"encoder": made, f"prepare-{data.name}": prepared}


def _prepared(foundation: Mapping[str, str]) -> dict[str, str]:
    """The prepared corpora, by role."""
    return {role: stage for role, stage in foundation.items() if role.startswith("prepare-")}


def _needed(foundation: Mapping[str, str], options: AnalysisOptions) -> dict[str, str]:
    """What an analysis needs of the stages that all models share, by role."""
    return {role: stage for role, stage in foundation.items() if role.partition("-")[0] in options.needs}


def _add_model(
    builder: _Builder,
    spec: ExperimentSpec,
    variant: ModelVariant,
    foundation: Mapping[str, str],
    variants: Mapping[str, ModelVariant],
) -> _Model:
    """Training and evaluation of one model; before them, if its tasks are selected, the choice that its seeds share."""
    tasks = {name: spec.tasks[name] for name in variant.candidates}
    select = _add_choice(builder, variant, variant.choice, variants) if variant.choice is not None else None
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
    start = {"start": f"train-{variant.start}"} if variant.start is not None else {}
    if start:
        params["take"] = variant.take
    train = builder.add(
        "train",
        f"train-{variant.name}",
        params,
        {**foundation, **start, **({"select": select} if select is not None else {})},
        tasks,
        variant.sharing,
        variant.train,
    )
    evaluate = builder.add(
        "evaluate",
        f"evaluate-{variant.name}",
        {"batch": _dump(BatchLimits()), "run": _dump(spec.run)},
        {"train": train, **_prepared(foundation)},
        tasks,
        variant.sharing,
    )
    row = {
        "stage": evaluate,
        "train": train,
        "group": variant.group,
        "tasks": list(variant.tasks),
        "seed": variant.seed,
        "sweep": sweep,
        "select": select,
    }
    return _Model(row, (tasks, variant.sharing))


def _add_choice(builder: _Builder, variant: ModelVariant, choice: Choice, variants: Mapping[str, ModelVariant]) -> str:
    name = select_stage(choice)
    if name not in builder.stages:
        params = select_params(variant, choice, variants)
        builder.add("select", name, params, select_inputs(choice), choice.options)
    return name


def _add_analysis(
    builder: _Builder,
    spec: ExperimentSpec,
    name: str,
    options: AnalysisOptions,
    models: Sequence[_Model],
    foundation: Mapping[str, str],
) -> str:
    chosen = [model for model in models if not options.models or model.row["group"] in options.models]
    inputs = {f"analyse-{read}": f"analyse-{read}" for read in options.reads()}
    rows = [model.row for model in chosen]
    kinds: list[Any] = [options]
    if options.measures:
        if options.measures_encoder:
            inputs["measure-encoder"] = _measure(builder, spec, name, options, None, foundation)
        rows = [{**model.row, "measure": _measure(builder, spec, name, options, model, foundation)} for model in chosen]
        inputs.update({row["measure"]: row["measure"] for row in rows})
    else:
        inputs.update(_needed(foundation, options))
        if "train" in options.needs:
            inputs.update({row["train"]: row["train"] for row in rows})
            kinds += [kind for model in chosen for kind in model.kinds]
    if "evaluate" in options.needs:
        inputs.update({row["stage"]: row["stage"] for row in rows})
    params = {"name": name, "options": _dump(options), "models": rows}
    return builder.add("analyse", f"analyse-{name}", params, inputs, *kinds)


def _measure(
    builder: _Builder,
    spec: ExperimentSpec,
    name: str,
    options: AnalysisOptions,
    model: _Model | None,
    foundation: Mapping[str, str],
) -> str:
    """One model under the eyes of one analysis; None stands for the pre-trained encoder."""
    inputs: dict[str, str] = dict(foundation) if model is None else _needed(foundation, options)
    row: dict[str, Any] = {"group": "pretrained", "tasks": [], "seed": 0, "sweep": []}
    kinds: tuple[Any, ...] = ()
    label = "encoder"
    if model is not None:
        row, kinds, label = model.row, model.kinds, model.row["train"].removeprefix("train-")
        stages = {"train": row["train"], "evaluate": row["stage"]}
        inputs.update({role: stage for role, stage in stages.items() if role in options.needs})
    params = {"name": name, "options": _dump(options), "model": row, "run": _dump(spec.run)}
    return builder.add("measure", f"measure-{name}-{label}", params, inputs, options, *kinds)


def _add_report(
    builder: _Builder,
    loaded: LoadedSpec,
    models: list[dict[str, Any]],
    analyses: dict[str, str],
    prepared: dict[str, str],
) -> None:
    inputs = dict(prepared)
    for row in models:
        inputs[row["train"]] = row["train"]
        inputs[row["stage"]] = row["stage"]
    inputs.update({stage: stage for stage in analyses.values()})
    # Parameters are stored with sorted keys; readers want the spec's order.
    params = {**_resolved(loaded), "models": models, "analyses": analyses, "analysis_order": list(analyses)}
    params["reproduce"] = {
        "run": shlex.join(["mtlspec", "run", loaded.source, *(f"--set={text}" for text in loaded.overrides)]),
        "dvc": f"dvc repro {results_target(loaded.spec.name, is_outside(loaded.data.root))}",
    }
    if loaded.spec.compare_to is not None:
        published = _dump(load_pack(loaded.spec.compare_to))
        order = {field: list(value) for field, value in published.items() if isinstance(value, dict)}
        params |= {"published": published, "published_order": order}
    builder.add("report", "report", params, inputs)
