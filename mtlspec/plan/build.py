"""From a spec and its cards to a plan."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from mtlspec.io.digest import digest_value
from mtlspec.kinds import Frozen
from mtlspec.plan.code import Module, code_unit, kinds_in, layer_modules, unit_name
from mtlspec.plan.dvc import is_outside, results_target
from mtlspec.plan.rows import ModelRow
from mtlspec.plan.selection import report_selections, select_inputs, select_params, select_stage, selected_sets
from mtlspec.plan.types import CodeUnit, Plan, Stage, StageKind
from mtlspec.spec.cards import DataCard, EncoderCard
from mtlspec.spec.expand import Choice, ModelVariant, expand
from mtlspec.spec.families import AnalysisOptions, MeasuringOptions
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

    row: ModelRow
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
        {"card": _dump(data), "encoder": encoder.name, **spec.encoder.reading()},
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
        "encoder": spec.encoder.model_dump(mode="json", exclude={"card", "long_text"}),
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
    row = ModelRow(
        variant.group, tuple(variant.tasks), variant.seed, tuple(variant.sweep), train, evaluate, select=select
    )
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
    chosen = [model for model in models if not options.models or model.row.group in options.models]
    inputs = {f"analyse-{read}": f"analyse-{read}" for read in options.reads()}
    rows = [model.row for model in chosen]
    kinds: list[Any] = [options]
    if isinstance(options, MeasuringOptions):
        if options.measures_encoder:
            inputs["measure-encoder"] = _measure(builder, spec, name, options, None, foundation)
        measured = [_measure(builder, spec, name, options, model, foundation) for model in chosen]
        rows = [replace(row, measure=stage) for row, stage in zip(rows, measured, strict=True)]
        inputs.update({stage: stage for stage in measured})
    else:
        inputs.update(_needed(foundation, options))
        if "train" in options.needs:
            inputs.update({row.train: row.train for row in rows})
            kinds += [kind for model in chosen for kind in model.kinds]
    if "evaluate" in options.needs:
        inputs.update({row.evaluate: row.evaluate for row in rows})
    params = {"name": name, "options": _dump(options), "models": [row.stored() for row in rows]}
    return builder.add("analyse", f"analyse-{name}", params, inputs, *kinds)


def _measure(
    builder: _Builder,
    spec: ExperimentSpec,
    name: str,
    options: MeasuringOptions,
    model: _Model | None,
    foundation: Mapping[str, str],
) -> str:
    """The measurement of one model for one analysis; None stands for the pre-trained encoder."""
    params = {"name": name, "options": _dump(options), "model": None, "run": _dump(spec.run)}
    if model is None:
        return builder.add("measure", f"measure-{name}-encoder", params, foundation, options)
    stages = {"train": model.row.train, "evaluate": model.row.evaluate}
    inputs = _needed(foundation, options) | {role: stage for role, stage in stages.items() if role in options.needs}
    params["model"] = model.row.stored()
    return builder.add("measure", f"measure-{name}-{model.row.name}", params, inputs, options, *model.kinds)


def _add_report(
    builder: _Builder,
    loaded: LoadedSpec,
    models: Sequence[ModelRow],
    analyses: Mapping[str, str],
    prepared: Mapping[str, str],
) -> None:
    inputs = dict(prepared)
    for row in models:
        inputs.update({row.train: row.train, row.evaluate: row.evaluate})
    inputs.update({stage: stage for stage in analyses.values()})
    selections = report_selections(builder.stages.values())
    inputs.update({selection["stage"]: selection["stage"] for selection in selections})
    params: dict[str, Any] = {
        **_resolved(loaded),
        "models": [row.stored() for row in models],
        "analyses": [list(pair) for pair in analyses.items()],  # a list: stored mappings have sorted keys
        "selections": selections,
        "reproduce": {
            "run": shlex.join(["mtlspec", "run", loaded.source, *(f"--set={text}" for text in loaded.overrides)]),
            "dvc": f"dvc repro {results_target(loaded.spec.name, is_outside(loaded.data.root))}",
        },
    }
    if loaded.spec.compare_to is not None:
        params["published"] = load_pack(loaded.spec.compare_to).stored()
    builder.add("report", "report", params, inputs, selected_sets(loaded.spec))
