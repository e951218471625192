"""What MLflow should show of a run: one item a seed, one a model, one for the report. Derived from records alone."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mtlspec.io.digest import digest_value, pretty_json
from mtlspec.io.freed import WEIGHTS, is_freed
from mtlspec.io.project import RunPlaces
from mtlspec.plan.rows import ModelRow
from mtlspec.plan.types import Plan
from mtlspec.results.evaluations import scored_splits
from mtlspec.results.variants import Variant
from mtlspec.spec.cards import SPLITS
from mtlspec.track.compare import flatten
from mtlspec.track.copies import POINTER, pointer
from mtlspec.track.points import Point, seed_points
from mtlspec.track.record import aggregate, plan_variants, read_stage_record, report_params
from mtlspec.track.times import Span, span, together

FORMAT = 4  # part of every content digest: a new way to mirror replaces what an older one sent

DEVIATION = "mtlspec.std."  # tags of a model: sample deviation over seeds, with the name of the score
KEY, CONTENT = "mtlspec.key", "mtlspec.content"  # tags: which item this is, in which version
STAGE = "mtlspec.stage_id"  # the tag of the training that a seed, or a model, is of
NOTE = "mlflow.note.content"  # the tag that MLflow shows as a description


@dataclass(frozen=True)
class Corpus:
    """A corpus as MLflow should know it."""

    name: str  # of its card
    digest: str  # of its files; MLflow allows 36 characters
    sizes: Mapping[str, int]  # split -> sentences

    @property
    def splits(self) -> str:
        return ", ".join(self.sizes)


@dataclass(frozen=True)
class Item:
    """One MLflow run to be. `key` says which one it is, `content` which version of it."""

    key: str
    level: str  # seed, model or report
    name: str
    parent: str | None  # key of the model's item
    content: str
    tags: Mapping[str, str]
    params: Mapping[str, str]
    datasets: tuple[Corpus, ...]
    points: Callable[[], list[Point]]  # read only when they are sent
    files: tuple[tuple[Path, str], ...] = ()  # file or directory -> folder of the run
    texts: Mapping[str, str] | None = None  # path in the run -> content
    span: Span | None = None  # None if nothing of it was computed here
    headline: tuple[str, ...] = ()  # the scores that matter most: those a table of models shows


def items(plan: Plan, places: RunPlaces) -> tuple[Item, ...]:
    """Parents before their children; seeds that are not finished are left out."""
    records = {stage.name: read_stage_record(places, stage.name) for stage in plan.stages}
    done = {name: record for name, record in records.items() if record is not None}
    result: list[Item] = []
    for variant in plan_variants(plan, done):
        finished = [run for run in variant.runs if run.evaluate in done and run.train in done]
        if finished:
            children = [_seed_item(plan, places, variant, run, done) for run in finished]
            main = _main_scores(places.artifact(finished[0].evaluate))
            result += [_model_item(plan, variant, children, [done[run.evaluate] for run in finished], main), *children]
    report = next(stage.name for stage in plan.stages if stage.kind == "report")
    if report in done:
        result.append(_report_item(plan, places, report, done))
    return tuple(result)


def _common(plan: Plan, level: str) -> dict[str, str]:
    return {"mtlspec.spec": plan.spec, "mtlspec.spec_digest": plan.spec_digest, "mtlspec.level": level}


def _model_tags(variant: Variant) -> dict[str, str]:
    tags = {"mtlspec.model": variant.label, "mtlspec.group": variant.group, "mtlspec.tasks": " + ".join(variant.tasks)}
    return tags | {f"mtlspec.sweep.{key}": str(value) for key, value in variant.sweep}


def _corpora(plan: Plan, done: Mapping[str, Mapping[str, Any]], inputs: Mapping[str, str]) -> tuple[Corpus, ...]:
    """The corpora among the inputs of a stage (role -> stage), in the spec's order."""
    read = {stage for role, stage in inputs.items() if role.startswith("prepare-")}
    found = []
    for stage in plan.stages:
        data = stage.inputs.get("data", "")
        if stage.name in read and stage.name in done and data in done:
            sizes = done[stage.name]["facts"]["sentences"]
            splits = dict.fromkeys([*(split for split in SPLITS if split in sizes), *sorted(sizes)])
            digest = digest_value(done[data]["artifact"])[:36]
            found.append(Corpus(data.removeprefix("data-"), digest, {split: sizes[split] for split in splits}))
    return tuple(found)


def _data_tags(corpora: tuple[Corpus, ...]) -> dict[str, str]:
    if len(corpora) == 1:
        return {"mtlspec.data.digest": corpora[0].digest}
    return {f"mtlspec.data.digest.{corpus.name}": corpus.digest for corpus in corpora}


def _seed_item(
    plan: Plan, places: RunPlaces, variant: Variant, run: ModelRow, done: Mapping[str, Mapping[str, Any]]
) -> Item:
    train, evaluate = done[run.train], done[run.evaluate]
    datasets = _corpora(plan, done, plan.stage(run.train).inputs)
    params = _params(plan, run, datasets)
    tags = {
        **_common(plan, "seed"),
        **_model_tags(variant),
        "mtlspec.seed": str(run.seed),
        STAGE: plan.stage(run.train).id,
        "mtlspec.evaluate_id": plan.stage(run.evaluate).id,
        **{f"mtlspec.data.{role}": digest for role, digest in train["inputs"].items()},
        **_data_tags(datasets),
    }
    measured = [
        stage.name
        for stage in plan.stages
        if stage.kind == "measure" and stage.inputs.get("train") == run.train and stage.name in done
    ]
    measurements = {name: done[name]["artifact"] for name in measured}
    content = [FORMAT, train["artifact"], evaluate["artifact"], train["scores"], evaluate["scores"], params, dict(tags)]
    content += [measurements] if measurements else []
    limit = float(report_params(plan)["spec"]["tracking"]["checkpoint_limit_mb"])
    files, texts = _seed_artifacts(places, run, train["artifact"], limit)
    return Item(
        key=f"{plan.spec}/{run.train.removeprefix('train-')}",
        level="seed",
        name=run.train.removeprefix("train-"),
        parent=f"{plan.spec}/{variant.slug}",
        content=digest_value(content),
        tags=tags,
        params=params,
        datasets=datasets,
        points=lambda: seed_points(places, run, train, evaluate),
        files=(*files, *((places.artifact(name), _measurement_folder(name, run)) for name in measured)),
        texts=texts,
        span=span(places, [run.train, run.evaluate]),
    )


def _params(plan: Plan, run: ModelRow, datasets: tuple[Corpus, ...]) -> dict[str, str]:
    """What training was told, with the names of its corpora and of its encoder first of all."""
    told = {key: _text(value) for key, value in flatten(plan.stage(run.train).params).items()}
    encoder = told.pop("encoder.card", str(report_params(plan)["encoder"]["name"]))
    return {**told, "data": ", ".join(corpus.name for corpus in datasets), "encoder": encoder}


def _measurement_folder(stage: str, run: ModelRow) -> str:
    """`measure-heads-stl-pos-s1` of the model `stl-pos-s1` goes to `analyses/heads`."""
    return "analyses/" + stage.removeprefix("measure-").removesuffix(f"-{run.train.removeprefix('train-')}")


def _seed_artifacts(
    places: RunPlaces, run: ModelRow, recorded: Mapping[str, str], limit_mb: float
) -> tuple[tuple[tuple[Path, str], ...], dict[str, str]]:
    """Predictions and scores; the whole model if it is there and small enough, else a pointer with its digests."""
    evaluation, model = places.artifact(run.evaluate), places.artifact(run.train)
    files = [(evaluation / "predictions", "predictions"), (evaluation / "scores.json", "")]
    files += [(model / "epochs.json", ""), (model / "history.parquet", "")]
    weights = model / WEIGHTS
    if is_freed(model) or (weights.is_file() and weights.stat().st_size > limit_mb * 1e6):
        stands_for = pointer(places.spec_name, run.train, recorded)
        return tuple(files), {f"model/{POINTER}": pretty_json(stands_for)}
    files += [(model / name, f"model/{Path(name).parent.as_posix()}".removesuffix("/.")) for name in sorted(recorded)]
    unique = [
        (path, folder) for path, folder in files if path.name not in ("history.parquet", "epochs.json") or not folder
    ]
    return tuple(unique), {}


def _main_scores(evaluation: Path) -> tuple[str, ...]:
    """The main score of each task on test and further splits, or on dev where there is no other.

    Empty if the artifact is not here (only in DVC's cache).
    """
    try:
        scores = json.loads((evaluation / "scores.json").read_bytes())
        splits = {task: scored_splits(about) for task, about in scores.items()}
        shown = {task: [split for split in found if split != "dev"] or found for task, found in splits.items()}
        return tuple(f"{split}/{task}/{about['main']}" for task, about in scores.items() for split in shown[task])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return ()


def _model_item(
    plan: Plan, variant: Variant, children: list[Item], records: list[Mapping[str, Any]], main: tuple[str, ...]
) -> Item:
    """The mean bears the score's own name, so that models and seeds share their columns.

    Four decimals: MLflow's table shows no more without cutting them, and the record has them all. Deviations are tags,
    because MLflow draws a chart of every metric; those of the scores that its table shows.
    """
    scores = aggregate([record["scores"] for record in records])
    points: list[Point] = [(key, round(values["mean"], 4), 0) for key, values in scores.items()]
    shown = {key: scores[key]["std"] for key in scores if key in main or key.endswith("/mean")}
    deviations = {f"{DEVIATION}{key}": f"{std:.4f}" for key, std in shown.items() if std is not None}
    tags = {**_common(plan, "model"), **_model_tags(variant), **deviations}
    tags["mtlspec.seeds"] = ", ".join(child.tags["mtlspec.seed"] for child in children)
    tags[NOTE] = _of_seeds(tags["mtlspec.seeds"], len(children))
    shared = set(children[0].params.items()).intersection(*(child.params.items() for child in children))
    return Item(
        key=f"{plan.spec}/{variant.slug}",
        level="model",
        name=variant.label,
        parent=None,
        content=digest_value([FORMAT, points, tags]),
        tags=tags,
        params=dict(sorted(shared)),
        datasets=children[0].datasets,
        points=lambda: points,
        span=together(child.span for child in children),
        headline=main,
    )


def _of_seeds(seeds: str, number: int) -> str:
    """What the scores and the duration of a model are."""
    if number == 1:
        return f"Scores of its one seed, {seeds}, which is the child run. The duration is its computing time."
    return (
        f"Means over the seeds {seeds}, which are the child runs; their sample standard deviations are the tags "
        f"`{DEVIATION}...`. The duration is the computing time of all seeds together."
    )


def _report_item(plan: Plan, places: RunPlaces, report: str, done: Mapping[str, Mapping[str, Any]]) -> Item:
    analyses = [stage.name for stage in plan.stages if stage.kind == "analyse" and stage.name in done]
    tags = {**_common(plan, "report"), "mtlspec.model": "report", STAGE: plan.stage(report).id}
    tags[NOTE] = "The report with its tables and figures is under Artifacts: `report/report.html`."
    content = [FORMAT, {name: done[name]["artifact"] for name in (report, *analyses)}, tags]
    return Item(
        key=f"{plan.spec}/report",
        level="report",
        name=f"report of {plan.spec}",
        parent=None,
        content=digest_value(content),
        tags=tags,
        params={},
        datasets=_corpora(plan, done, plan.stage(report).inputs),
        points=list,
        files=((places.artifact(report), "report"), *((places.artifact(name), name) for name in analyses)),
        texts={"plan.json": plan.text()},
        span=span(places, [*analyses, report]),
    )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
