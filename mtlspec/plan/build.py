"""From a spec and its cards to a plan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mtlspec.io.digest import digest_value
from mtlspec.plan.builder import Builder, dump
from mtlspec.plan.code import own_metrics
from mtlspec.plan.dvc import is_outside, results_target
from mtlspec.plan.foundation import Foundation, add_foundation
from mtlspec.plan.rows import ModelRow
from mtlspec.plan.selection import report_selections, select_inputs, select_params, select_stage, selected_sets
from mtlspec.plan.source import Source
from mtlspec.plan.types import Plan
from mtlspec.spec.expand import Choice, ModelVariant, expand
from mtlspec.spec.families import AnalysisOptions, MeasuringOptions
from mtlspec.spec.load import LoadedSpec
from mtlspec.spec.models import BatchLimits, ExperimentSpec
from mtlspec.spec.published import load_published


@dataclass(frozen=True)
class _Model:
    """One model: the row that analyses and the report see of it, and the kinds that its code consists of."""

    row: ModelRow
    kinds: tuple[Any, ...]
    tasks: tuple[str, ...]  # those that it may come to learn


def build_plan(loaded: LoadedSpec) -> Plan:
    """Pure: the same spec, cards and sources give the same plan, byte for byte."""
    spec = loaded.spec
    builder = Builder(metrics=own_metrics(spec.tasks))
    foundation = add_foundation(builder, loaded)
    variants = {variant.name: variant for variant in expand(spec)}
    models = [_add_model(builder, spec, variant, foundation, variants) for variant in variants.values()]
    analyses = {
        name: _add_analysis(builder, spec, name, options, models, foundation) for name, options in spec.analyses.items()
    }
    _add_report(builder, loaded, [model.row for model in models], analyses, foundation.all_corpora())
    return Plan(
        spec=spec.name,
        spec_digest=digest_value(resolved(loaded)),
        stages=tuple(builder.stages.values()),
        units=tuple(builder.units[name] for name in sorted(builder.units)),
    )


def resolved(loaded: LoadedSpec) -> dict[str, Any]:
    """The experiment with its cards in place of their names."""
    cards = {name: dump(card) for name, card in loaded.data.items()}
    return {"spec": dump(loaded.spec), "data": cards, "encoder": dump(loaded.encoder)}


def _add_model(
    builder: Builder,
    spec: ExperimentSpec,
    variant: ModelVariant,
    foundation: Foundation,
    variants: Mapping[str, ModelVariant],
) -> _Model:
    """Training and evaluation of one model; before them, if its tasks are selected, the choice that its seeds share."""
    tasks = {name: spec.tasks[name] for name in variant.candidates}
    select = _add_choice(builder, variant, variant.choice, variants) if variant.choice is not None else None
    sweep = [list(pair) for pair in variant.sweep]
    params = {
        "group": variant.group,
        "variant": variant.name,
        "tasks": {name: dump(options) for name, options in tasks.items()},
        "sharing": dump(variant.sharing),
        "train": dump(variant.train),
        "encoder": spec.encoder.of_training(),
        "seed": variant.seed,
        "run": dump(spec.run),
        "sweep": sweep,
    }
    start = {"start": f"train-{variant.start}"} if variant.start is not None else {}
    if start:
        params["take"] = variant.take
    teachers = {f"teacher-{task}": f"train-{name}" for task, name in variant.teachers}
    taught = [variants[name] for name in dict.fromkeys(name for _, name in variant.teachers)]
    train = builder.add(
        "train",
        f"train-{variant.name}",
        params,
        {**foundation.of_model(tasks), **start, **teachers, **({"select": select} if select is not None else {})},
        tasks,
        variant.sharing,
        variant.train,
        spec.encoder.named(),
        *(kind for one in taught for kind in (one.sharing, [spec.tasks[task] for task in one.tasks])),
    )
    evaluate = builder.add(
        "evaluate",
        f"evaluate-{variant.name}",
        {"batch": dump(BatchLimits()), "run": dump(spec.run)},
        {"train": train, **foundation.corpora(tasks)},
        tasks,
        variant.sharing,
        spec.encoder.named(),
    )
    about = (variant.group, tuple(variant.tasks), variant.seed, tuple(variant.sweep))
    starts, gated = tuple(_starts(variant, variants)), variant.sharing.gates_heads
    row = ModelRow(*about, train, evaluate, select=select, starts=starts, gated=gated)
    return _Model(row, (tasks, variant.sharing, spec.encoder.named()), tuple(tasks))


def _starts(variant: ModelVariant, variants: Mapping[str, ModelVariant]) -> Iterator[str]:
    """The trainings whose weights a model descends from, the nearest first."""
    while variant.start is not None:
        yield f"train-{variant.start}"
        variant = variants[variant.start]


def _add_choice(builder: Builder, variant: ModelVariant, choice: Choice, variants: Mapping[str, ModelVariant]) -> str:
    name = select_stage(choice)
    if name not in builder.stages:
        params = select_params(variant, choice, variants)
        builder.add("select", name, params, select_inputs(choice), choice.options)
    return name


def _add_analysis(
    builder: Builder,
    spec: ExperimentSpec,
    name: str,
    options: AnalysisOptions,
    models: Sequence[_Model],
    foundation: Foundation,
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
        inputs.update(foundation.of_analysis(options, {task for model in chosen for task in model.tasks}))
        if "train" in options.needs:
            kinds += [kind for model in chosen for kind in model.kinds]
    if "evaluate" in options.needs:
        inputs.update({row.evaluate: row.evaluate for row in rows})
    inputs.update({row.train: row.train for row in rows})  # whoever compares models says how long they were trained
    params = {"name": name, "options": dump(options), "models": [row.stored() for row in rows]}
    return builder.add("analyse", f"analyse-{name}", params, inputs, *kinds)


def _measure(
    builder: Builder,
    spec: ExperimentSpec,
    name: str,
    options: MeasuringOptions,
    model: _Model | None,
    foundation: Foundation,
) -> str:
    """The measurement of one model for one analysis; None stands for the pre-trained encoder."""
    params = {"name": name, "options": dump(options), "model": None, "run": dump(spec.run)}
    inputs = foundation.of_analysis(options, model.tasks if model is not None else spec.tasks)
    if model is None:
        inputs["encoder"] = foundation.encoder
        return builder.add("measure", f"measure-{name}-encoder", params, inputs, options, spec.encoder.named())
    stages = {"train": model.row.train, "evaluate": model.row.evaluate}
    inputs |= {role: stage for role, stage in stages.items() if role in options.needs}
    params["model"] = model.row.stored()
    return builder.add("measure", f"measure-{name}-{model.row.name}", params, inputs, options, *model.kinds)


def _add_report(
    builder: Builder,
    loaded: LoadedSpec,
    models: Sequence[ModelRow],
    analyses: Mapping[str, str],
    prepared: Mapping[str, str],
) -> None:
    outside = any(is_outside(card.root) for card in loaded.data.values())
    inputs = dict(prepared)
    for row in models:
        inputs.update({row.train: row.train, row.evaluate: row.evaluate})
    inputs.update({stage: stage for stage in analyses.values()})
    selections = report_selections(builder.stages.values())
    inputs.update({selection["stage"]: selection["stage"] for selection in selections})
    params: dict[str, Any] = {
        **resolved(loaded),
        "models": [row.stored() for row in models],
        "analyses": [list(pair) for pair in analyses.items()],  # a list: stored mappings have sorted keys
        "selections": selections,
        "reproduce": {
            "run": Source(loaded.source, loaded.overrides).command(),
            "dvc": f"dvc repro {results_target(loaded.spec.name, outside)}",
        },
    }
    if loaded.overrides:
        params["variant"] = {"of": loaded.base, "file": loaded.source, "overrides": list(loaded.overrides)}
    if loaded.spec.compare_to is not None:
        params["published"] = load_published(loaded.spec.compare_to).stored()
    builder.add("report", "report", params, inputs, selected_sets(loaded.spec))
