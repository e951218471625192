"""Run one stage: check what goes in, compute, check that it did not change meanwhile, seal, record.

The same code runs under `mtlspec run`, under plain `dvc repro` and in a verification.
"""

from __future__ import annotations

import importlib
import json
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mtlspec.errors import StageError
from mtlspec.execute.same_training import take_over
from mtlspec.io.digest import digest_file, digest_value
from mtlspec.io.freed import is_freed, kept_gates, verify_but_weights
from mtlspec.io.manifest import read_manifest, verify_manifest, write_manifest
from mtlspec.io.project import Project, RunPlaces
from mtlspec.io.write import staged_directory, write_json
from mtlspec.plan.code import source_file
from mtlspec.plan.dvc import read_stage_file
from mtlspec.plan.weights import reads
from mtlspec.spec.families import Keep
from mtlspec.stages.context import Progress, StageContext, StageResult, silent
from mtlspec.track.environment import environment, gpu_facts, torch_facts

_COMPUTES = ("encoder", "train", "evaluate", "measure")  # stages whose bits depend on the torch build


@dataclass(frozen=True)
class Snapshot:
    """Digests of everything a stage depends on, taken before and after it runs."""

    params: str
    code: str
    inputs: dict[str, str]  # role -> digest of the artifact's contents

    @property
    def identity(self) -> str:
        return digest_value({"params": self.params, "code": self.code, "inputs": self.inputs})


def run_stage(
    project: Project, places: RunPlaces, name: str, progress: Progress = silent, sources: Path | None = None
) -> None:
    """Leaves the artifact, the record and the timing of stage `name`; on any failure it leaves none of them.

    `sources` is the project whose corpora and encoder folders are read, if it is not the one written to.
    """
    kind, params, inputs, unit = _read_params(places, name)
    directories = {role: places.artifact(parent) for role, parent in inputs.items()}
    read = reads(kind, params, inputs.values())
    before = _snapshot(places, name, unit, directories, read)
    check_code(places, unit)
    started = time.perf_counter()
    work = places.work(name)
    with staged_directory(project.inside(places.artifact(name))) as out:
        context = StageContext(
            name=name,
            params=params,
            inputs=directories,
            out=out,
            work=work,
            identity=before.identity,
            project_root=sources or project.root,
            progress=progress,
        )
        result = take_over(places, params, inputs, before.inputs, out) if kind == "train" else None
        if result is None:
            result = importlib.import_module(f"mtlspec.stages.{kind}").run(context)
        _check_unchanged(before, _snapshot(places, name, unit, directories, read), name)
        check_code(places, unit)
        write_manifest(out)
    _write_record(places, name, kind, params, before, result, time.perf_counter() - started)
    shutil.rmtree(work, ignore_errors=True)


def _read_params(places: RunPlaces, name: str) -> tuple[str, dict[str, Any], dict[str, str], str]:
    try:
        return read_stage_file(json.loads(places.params(name).read_bytes()))
    except FileNotFoundError:
        hint = f"`mtlspec plan --write {places.spec_name}` writes the stages"
        raise StageError(
            "E401", f"there is no stage '{name}' in {places.spec_name}", places.params(name), hint
        ) from None
    except (ValueError, KeyError, TypeError):
        hint = f"`mtlspec plan --write {places.spec_name}` writes it anew"
        raise StageError("E402", "the stage's parameters are not readable", places.params(name), hint) from None


def _snapshot(places: RunPlaces, name: str, unit: str, directories: dict[str, Path], read: dict[str, Keep]) -> Snapshot:
    """`read` says how much the stage reads of the trained models among its inputs."""
    for role, directory in directories.items():
        if not directory.is_dir():
            raise StageError("E403", f"the input '{role}' is missing", directory, "run the stage that makes it first")
    return Snapshot(
        params=digest_file(places.params(name)),
        code=digest_file(places.code(unit)) if places.code(unit).is_file() else "",
        inputs={
            role: _verified(directory, read.get(directory.name, "weights"))
            for role, directory in sorted(directories.items())
        },
    )


def _verified(directory: Path, read: Keep) -> str:
    """The digest of an input's contents; weights that were freed are in it, and may be missing if nobody reads them."""
    if not is_freed(directory):
        return verify_manifest(directory)
    if read == "weights" or (read == "gates" and kept_gates(directory) is None):
        hint = "`mtlspec run` or `dvc repro` trains it again, to the same bytes"
        raise StageError("E490", "the weights of this model were freed, and the stage reads them", directory, hint)
    return verify_but_weights(directory)


def check_code(places: RunPlaces, unit: str) -> None:
    """The sources on disk are those the plan fingerprinted."""
    path = places.code(unit)
    hint = f"`mtlspec run {places.spec_name}` plans again"
    if not path.is_file():
        raise StageError("E404", "the code fingerprint is missing", path, hint)
    for file, recorded in json.loads(path.read_bytes())["files"].items():
        source = source_file(file)
        if not source.is_file() or digest_file(source) != recorded:
            raise StageError("E405", "the code changed since it was planned", source, hint)


def _check_unchanged(before: Snapshot, after: Snapshot, name: str) -> None:
    if before == after:
        return
    changed = [role for role in before.inputs if before.inputs[role] != after.inputs[role]]
    changed += ["params"] if before.params != after.params else []
    changed += ["code"] if before.code != after.code else []
    raise StageError(
        "E406", f"'{', '.join(changed)}' of stage '{name}' changed while it ran", None, "nothing was kept; run again"
    )


def environment_of(kind: str, run: Mapping[str, Any]) -> dict[str, Any]:
    """What a stage ran in; of torch and of the GPU only where it computed with them."""
    facts = environment(run.get("threads", 1))
    if kind not in _COMPUTES:
        return facts
    device = run.get("device", "cpu")
    return facts | {"torch": torch_facts()} | ({"gpu": gpu_facts(device)} if device != "cpu" else {})


def _write_record(
    places: RunPlaces,
    name: str,
    kind: str,
    params: dict[str, Any],
    snapshot: Snapshot,
    result: StageResult,
    seconds: float,
) -> None:
    record = {
        "stage": name,
        "kind": kind,
        "scores": dict(result.scores),
        "facts": dict(result.facts),
        "artifact": read_manifest(places.artifact(name)),
        "inputs": snapshot.inputs,
        "environment": environment_of(kind, params.get("run", {})),
    }
    write_json(places.stage_record(name), record)
    write_json(places.timing(name), {"seconds": seconds, **result.timings})
