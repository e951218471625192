"""The record of a run: digests of everything that went in and came out, with the scores. The truth; no times in it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mtlspec.errors import IntegrityError
from mtlspec.io.digest import digest_file, digest_value
from mtlspec.io.manifest import MANIFEST, read_manifest
from mtlspec.io.project import RunPlaces
from mtlspec.io.write import write_text_if_changed
from mtlspec.plan.rows import restored_rows
from mtlspec.plan.types import Plan, Stage
from mtlspec.results.estimates import mean_and_std
from mtlspec.results.learnt import with_choice
from mtlspec.results.variants import Variant, variants

FORMAT = 2
OLDEST = 1  # the first format that can still be read, if not recomputed or verified


def build_record(plan: Plan, places: RunPlaces, lock_file: Path | None = None) -> dict[str, Any]:
    """Deterministic JSON; stages that have not run (or failed) are named under `missing`."""
    stages: dict[str, Any] = {}
    missing: list[str] = []
    environments: dict[str, Any] = {}
    for stage in plan.stages:
        record = read_stage_record(places, stage.name)
        if record is None:
            missing.append(stage.name)
            continue
        label = digest_value(record["environment"])[:12]
        environments[label] = record["environment"]
        stages[stage.name] = _stage_entry(stage, record, label)
        _check_manifest(places.artifact(stage.name), record["artifact"])
    resolved = report_params(plan)
    return {
        "format": FORMAT,
        "spec": {
            "name": plan.spec,
            "digest": plan.spec_digest,
            "resolved": resolved["spec"],
            **({"variant": resolved["variant"]} if "variant" in resolved else {}),  # its spec, and the overrides
        },
        "plan": plan.digest,
        "data": {"cards": resolved["data"], "artifacts": _artifacts(plan, stages, "data")},
        "encoder": {"card": resolved["encoder"], "artifacts": _artifacts(plan, stages, "encoder")},
        "code": {
            "files": {file: sha for unit in plan.units for file, sha in unit.files.items()},
            "packages": {name: version for unit in plan.units for name, version in unit.packages.items()},
            "units": {unit.name: digest_value(unit.model_dump(mode="json")) for unit in plan.units},
        },
        "environments": environments,
        "lock": digest_file(lock_file) if lock_file is not None and lock_file.is_file() else None,
        "stages": stages,
        "models": [_model_entry(variant, stages) for variant in plan_variants(plan, stages)],
        "missing": missing,
    }


def write_record(plan: Plan, places: RunPlaces, lock_file: Path | None = None) -> dict[str, Any]:
    """Build the record and keep it as `record.json`; an equal file is left alone."""
    from mtlspec.io.digest import pretty_json

    record = build_record(plan, places, lock_file)
    write_text_if_changed(places.record, pretty_json(record))
    return record


def read_record(path: Path) -> dict[str, Any]:
    """In today's shape, whichever known format it was written in; `format` stays, for `outgrown`."""
    try:
        record: dict[str, Any] = json.loads(path.read_bytes())
        if not OLDEST <= record["format"] <= FORMAT:
            raise ValueError(record["format"])
        if record["format"] == 1:  # one corpus, whose card stood alone
            card = record["data"]["card"]
            record["data"] = {"cards": {card["name"]: card}, "artifacts": record["data"]["artifacts"]}
    except FileNotFoundError:
        raise IntegrityError("E521", "there is no record", path, "`mtlspec run` writes it") from None
    except (ValueError, KeyError, TypeError):
        raise IntegrityError("E522", "the record is not readable", path, "`mtlspec run` writes it anew") from None
    return record


def outgrown(record: Mapping[str, Any]) -> str | None:
    """Why a record of an older mtlspec can be shown and compared but not proven any more; None if it can be."""
    if record["format"] == FORMAT:
        return None
    return f"the record is outgrown: an older mtlspec wrote it (format {record['format']}, today's is {FORMAT})"


def outgrown_run(places: RunPlaces) -> str | None:
    """Why a run's record is outgrown; None if it is not, or if there is none to be read."""
    try:
        return outgrown(read_record(places.record))
    except IntegrityError:
        return None


def read_stage_record(places: RunPlaces, stage: str) -> dict[str, Any] | None:
    """The record that the runner left, or None if the stage has not run."""
    path = places.stage_record(stage)
    try:
        record: dict[str, Any] = json.loads(path.read_bytes())
        required = {"stage", "kind", "scores", "facts", "artifact", "inputs", "environment"}
        if not required <= record.keys():
            raise ValueError(required - record.keys())
    except FileNotFoundError:
        return None
    except (ValueError, TypeError, AttributeError):
        raise IntegrityError("E523", "the stage's record is not readable", path, "delete it and run again") from None
    return record


def report_params(plan: Plan) -> Mapping[str, Any]:
    """The resolved spec, the cards and the list of models, as the report stage was told them."""
    return next(stage for stage in plan.stages if stage.kind == "report").params


def plan_variants(plan: Plan, stages: Mapping[str, Mapping[str, Any]]) -> tuple[Variant, ...]:
    """The models of a plan; `stages` are records, which say what was chosen for those whose tasks are."""
    rows = restored_rows(report_params(plan)["models"])
    chosen = [stages[row.select]["facts"]["tasks"] if row.select and row.select in stages else None for row in rows]
    return variants([with_choice(row, tasks) for row, tasks in zip(rows, chosen, strict=True)])


def aggregate(scores: list[Mapping[str, float]]) -> dict[str, dict[str, Any]]:
    """Score -> mean, std (sample, None for one value) and n over the seeds that have it."""
    result = {}
    for key in sorted({key for one in scores for key in one}):
        values = [float(one[key]) for one in scores if key in one]
        mean, std = mean_and_std(values)
        result[key] = {"mean": mean, "std": std, "n": len(values)}
    return result


def _stage_entry(stage: Stage, record: Mapping[str, Any], environment: str) -> dict[str, Any]:
    return {
        "kind": stage.kind,
        "id": stage.id,
        "unit": stage.unit,
        "inputs": record["inputs"],
        "artifact": digest_value(record["artifact"]),
        "files": record["artifact"],
        "scores": record["scores"],
        "facts": record["facts"],
        "environment": environment,
    }


def _artifacts(plan: Plan, stages: Mapping[str, Any], kind: str) -> dict[str, str]:
    return {s.name: stages[s.name]["artifact"] for s in plan.stages if s.kind == kind and s.name in stages}


def _model_entry(variant: Variant, stages: Mapping[str, Any]) -> dict[str, Any]:
    done = [run for run in variant.runs if run.evaluate in stages]
    return {
        "name": variant.slug,
        "label": variant.label,
        "group": variant.group,
        "tasks": list(variant.tasks),
        "sweep": [list(pair) for pair in variant.sweep],
        **({"select": variant.runs[0].select} if variant.is_selected else {}),
        "runs": [{"seed": run.seed, "train": run.train, "evaluate": run.evaluate} for run in variant.runs],
        "scores": aggregate([stages[run.evaluate]["scores"] for run in done]),
    }


def _check_manifest(directory: Path, recorded: Mapping[str, str]) -> None:
    """An artifact that is here must be the one that was recorded; one that is not (only in DVC's cache) is fine."""
    if (directory / MANIFEST).is_file() and read_manifest(directory) != recorded:
        raise IntegrityError(
            "E524",
            "the artifact is not the one that its stage recorded",
            directory,
            "run again, or `mtlspec verify` it",
        )
