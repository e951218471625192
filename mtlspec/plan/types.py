"""A plan: the DAG of stages that a spec becomes. Pure data; equal specs, cards and code give equal bytes."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from mtlspec.errors import IntegrityError
from mtlspec.io.digest import digest_value, pretty_json
from mtlspec.kinds import Frozen

StageKind = Literal["data", "encoder", "prepare", "select", "train", "evaluate", "measure", "analyse", "report"]


class Stage(Frozen):
    """One step of the work: parameters and inputs in, one artifact directory and one record out."""

    name: str  # unique in its plan; also the artifact's folder
    kind: StageKind
    params: dict[str, Any]  # the slice of the spec that this stage reads, JSON only
    inputs: dict[str, str]  # role -> name of the stage whose artifact plays it
    unit: str  # name of the code unit: the file under `code/` that lists the sources this stage runs
    id: str  # digest of everything above it: params, inputs' ids, code


class CodeUnit(Frozen):
    """The sources of ours that a stage can import, each with its digest, and the pinned packages that compute."""

    name: str
    files: dict[str, str]  # path relative to the package -> sha256
    packages: dict[str, str]  # pinned versions of the packages whose numbers matter


class Plan(Frozen):
    spec: str  # name
    spec_digest: str
    stages: tuple[Stage, ...]  # in a topological order that does not depend on anything but the spec
    units: tuple[CodeUnit, ...]

    @classmethod
    def read(cls, path: Path) -> Plan:
        """A plan as `text` wrote it."""
        try:
            return cls.model_validate_json(path.read_bytes(), strict=False)
        except FileNotFoundError:
            raise IntegrityError("E509", "there is no plan", path, "`mtlspec run` writes it") from None
        except (OSError, ValidationError):
            hint = "`mtlspec run` or `mtlspec plan --write` writes it anew"
            raise IntegrityError("E511", "the plan is not readable", path, hint) from None

    @property
    def digest(self) -> str:
        return digest_value(self.model_dump(mode="json"))

    def text(self) -> str:
        """The bytes of plan.json."""
        return pretty_json(self.model_dump(mode="json"))

    def stage(self, name: str) -> Stage:
        return next(stage for stage in self.stages if stage.name == name)
