"""Three levels of proof: recorded (dvc.lock), sealed (every byte hashed again) and re-executed (computed again).

Sealing checks each artifact against its manifest, its stage's record and the registry record. Re-execution runs stages
in a scratch project that has the stage files but no cache, and compares every file that comes out.
"""

from __future__ import annotations

import json
import math
import random
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from mtlspec.errors import IntegrityError
from mtlspec.execute.alone import verify_alone
from mtlspec.execute.failure import failure
from mtlspec.execute.kept_models import KeptModels
from mtlspec.execute.zygote import Zygote
from mtlspec.io.digest import digest_value
from mtlspec.io.freed import is_freed, kept_folder, verify_but_weights
from mtlspec.io.manifest import read_manifest
from mtlspec.io.project import Project, RunPlaces
from mtlspec.io.words import counted
from mtlspec.plan.phrases import changed_paths
from mtlspec.plan.types import Plan, Stage
from mtlspec.results.evaluations import scored_splits
from mtlspec.track.record import build_record, outgrown, read_record, read_stage_record

Verdict = Literal["sealed", "identical", "within tolerance", "unproven", "different", "failed"]
TOLERANCE = 1.0  # points of a score, between two platforms


@dataclass(frozen=True)
class Finding:
    stage: str
    verdict: Verdict
    detail: str = ""

    @property
    def holds(self) -> bool:
        """Nothing speaks against it; what is unproven has nothing that speaks for it either."""
        return self.verdict not in ("different", "failed")


def seal(places: RunPlaces) -> Iterator[Finding]:
    """Hash every byte of every artifact and compare with what was recorded; then the record with what it sums up."""
    record = read_record(places.record)
    if why := outgrown(record):
        raise IntegrityError("E518", why, places.record, f"`mtlspec run {places.spec_name}` computes it anew")
    if not any(places.artifact(name).is_dir() for name in record["stages"]):
        message = f"none of the {len(record['stages'])} artifacts is on this machine"
        raise IntegrityError("E514", message, places.base, f"`mtlspec run {places.spec_name}` brings them back")
    for name, entry in record["stages"].items():
        try:
            _check_sealed(places, name, entry)
        except IntegrityError as error:
            yield Finding(name, "failed", str(error))
        else:
            yield Finding(name, "sealed", _sealed_files(places.artifact(name), entry["files"]))
    try:
        yield _sum(places, record)
    except IntegrityError as error:
        yield Finding(places.record.name, "failed", str(error))


def _sealed_files(artifact: Path, files: Mapping[str, str]) -> str:
    if not is_freed(artifact):
        return counted(len(files), "file")
    return f"{counted(len(files) - 1, 'file')}; its weights were freed"


def _sum(places: RunPlaces, record: Mapping[str, Any]) -> Finding:
    """Whether the record says what the plan and the stages' records say, and the summary what the report says."""
    again = build_record(Plan.read(places.plan), places)
    again["lock"] = record["lock"]  # versions may have been pinned anew since
    for path, _, _ in changed_paths(dict(record), again):
        message, hint = f"'{path}' is not what the plan and the stages' records say", "`mtlspec run` writes it anew"
        error = IntegrityError("E512", message, places.record, hint)
        return Finding(places.record.name, "failed", str(error))
    report = places.artifact("report") / places.summary.name
    if report.is_file() and (not places.summary.is_file() or places.summary.read_bytes() != report.read_bytes()):
        error = IntegrityError("E513", "this is not the summary that the report has", places.summary)
        return Finding(places.summary.name, "failed", str(error))
    return Finding(places.record.name, "sealed", "with its summary")


def _check_sealed(places: RunPlaces, name: str, entry: Mapping[str, Any]) -> None:
    artifact = places.artifact(name)
    if not artifact.is_dir():
        raise IntegrityError("E506", "the artifact is not here", artifact, "`mtlspec run` brings it back")
    if verify_but_weights(artifact) != digest_value(entry["files"]):
        raise IntegrityError("E507", "the artifact is not the one in the registry record", artifact)
    own = read_stage_record(places, name)
    told = {"artifact": entry["files"]} | {key: entry[key] for key in ("inputs", "scores", "facts")}
    if own is None or any(own[key] != value for key, value in told.items()):
        raise IntegrityError(
            "E508", "the stage's record is not the one in the registry record", places.stage_record(name)
        )
    if entry["kind"] == "evaluate" and not _agree(entry["scores"], _evaluated(artifact)):
        raise IntegrityError("E516", "the recorded scores are not those in scores.json", places.stage_record(name))


def _agree(a: Mapping[str, float], b: Mapping[str, float]) -> bool:
    """Equal, but for the order in which means were added up."""
    return a.keys() == b.keys() and all(math.isclose(a[key], b[key], rel_tol=1e-12) for key in a)


def _evaluated(artifact: Path) -> dict[str, float]:
    """The scores of a model as its record should have them, from what its evaluation wrote."""
    scores: dict[str, float] = {}
    tasks = json.loads((artifact / "scores.json").read_bytes())
    for split in dict.fromkeys(split for about in tasks.values() for split in scored_splits(about)):
        found = {task: about for task, about in tasks.items() if split in about}
        for task, about in found.items():
            scores |= {f"{split}/{task}/{metric}": value for metric, value in about[split].items()}
        if len(found) == len(tasks):  # a mean is one over all tasks, or none
            scores[f"{split}/mean"] = sum(about[split][about["main"]] for about in tasks.values()) / len(tasks)
    return scores


def choose(plan: Plan, sample: int | None, seed: int) -> list[Stage]:
    """All stages, or a random few in plan order."""
    if sample is None or sample >= len(plan.stages):
        return list(plan.stages)
    chosen = set(random.Random(seed).sample(range(len(plan.stages)), sample))  # noqa: S311  # a sample, not a secret
    return [stage for index, stage in enumerate(plan.stages) if index in chosen]


def rerun(
    project: Project, places: RunPlaces, stages: Sequence[Stage], begin: Callable[[str], None]
) -> Iterator[Finding]:
    """Run stages again in a scratch project and compare. Inputs that are not run again are sealed copies."""
    with verify_alone(project, places.spec_name):
        yield from _rerun_alone(project, places, stages, begin)


def _rerun_alone(
    project: Project, places: RunPlaces, stages: Sequence[Stage], begin: Callable[[str], None]
) -> Iterator[Finding]:
    scratch = Project(project.inside(project.state / "verify" / places.spec_name))
    shutil.rmtree(scratch.root, ignore_errors=True)
    zygote = Zygote.start(project.root)
    try:
        copy, models = _scratch_run(scratch, places), KeptModels.of(Plan.read(places.plan), places)
        for stage in stages:
            begin(stage.name)
            reply = _computed(project, models, copy, stage, zygote)
            if reply["status"] != 0:
                yield Finding(stage.name, "failed", "; ".join(map(str, failure(stage.name, reply).problems[:2])))
            else:
                yield _compare(places, copy, stage.name)
    finally:
        zygote.stop()
        shutil.rmtree(scratch.root, ignore_errors=True)


def _computed(project: Project, models: KeptModels, copy: RunPlaces, stage: Stage, zygote: Zygote) -> dict[str, Any]:
    """The answer of a worker who ran a stage in the scratch project, and before it models whose weights were freed."""
    lacking = models.lacking(stage)
    for parent in stage.inputs.values():
        if copy.artifact(parent).is_dir():
            continue
        if parent in lacking:
            reply = _computed(project, models, copy, Plan.read(models.places.plan).stage(parent), zygote)
            if reply["status"] != 0:
                return reply
        else:
            artifact = models.places.artifact(parent)
            shutil.copytree(artifact, copy.artifact(parent))
            if kept_folder(artifact).is_dir():
                shutil.copytree(kept_folder(artifact), kept_folder(copy.artifact(parent)), dirs_exist_ok=True)
    argv = [str(copy.base), stage.name, "", str(project.root)]
    return zygote.call(stage.name, stage.kind, argv, copy.log(stage.name), copy.code(stage.unit))


def _scratch_run(scratch: Project, places: RunPlaces) -> RunPlaces:
    """The run's stage files and fingerprints, and nothing else: no cache, no artifacts."""
    (scratch.root / "specs").mkdir(parents=True)
    base = scratch.root / "registry" / "runs" / places.spec_name
    for folder in ("stages", "code"):
        shutil.copytree(places.base / folder, base / folder)
    return scratch.run(places.spec_name)


def _compare(places: RunPlaces, copy: RunPlaces, name: str) -> Finding:
    recorded = read_stage_record(places, name)
    again = read_stage_record(copy, name)
    if recorded is None or again is None:
        return Finding(name, "failed", "there is no record of it")
    files = read_manifest(copy.artifact(name))
    different = sorted(
        f for f in files.keys() | recorded["artifact"].keys() if files.get(f) != recorded["artifact"].get(f)
    )
    if not different and any(recorded[key] != again[key] for key in ("scores", "facts")):
        return Finding(name, "different", "same bits, but other scores or facts than recorded")
    if not different:
        return Finding(name, "identical", counted(len(files), "file"))
    named = ", ".join(different[:3]) + (", ..." if len(different) > 3 else "")
    elsewhere = _platform_differences(recorded["environment"], again["environment"])
    if not elsewhere:
        return Finding(name, "different", f"same platform, other bits: {named}")
    platform = "other platform (" + ", ".join(elsewhere) + ")"
    if not recorded["scores"]:
        return Finding(name, "unproven", f"{platform}; no scores to compare; other bits: {named}")
    worst = _largest_gap(recorded["scores"], again["scores"])
    if worst <= TOLERANCE:
        return Finding(name, "within tolerance", f"{platform}; scores within {worst:.2f}; other bits: {named}")
    return Finding(name, "different", f"{platform}; a score differs by {worst:.2f}; other bits: {named}")


def _platform_differences(a: Mapping[str, Any], b: Mapping[str, Any]) -> list[str]:
    return sorted(key for key in a.keys() | b.keys() if a.get(key) != b.get(key))


def _largest_gap(a: Mapping[str, float], b: Mapping[str, float]) -> float:
    if a.keys() != b.keys():
        return float("inf")
    return max(abs(a[key] - b[key]) for key in a)
