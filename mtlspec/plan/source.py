"""What a run was planned from: a spec file and the overrides of the command line, kept in `stages/plan.json`."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass

from mtlspec.io.digest import pretty_json
from mtlspec.io.project import RunPlaces
from mtlspec.plan.dvc import PLAN_STAGE
from mtlspec.spec.overrides import name_said, without_name


@dataclass(frozen=True)
class Source:
    spec: str  # the file, relative to the project
    overrides: tuple[str, ...] = ()

    def text(self) -> str:
        """The bytes of `stages/plan.json`, from which the plan can be made again and compared."""
        return pretty_json({"spec": self.spec, "overrides": list(self.overrides)})

    def command(self) -> str:
        """The command line that runs it."""
        named = name_said(self.overrides)
        options = [f"--set={text}" for text in without_name(self.overrides)]
        return shlex.join(["mtlspec", "run", self.spec, *options, *([f"--as={named}"] if named is not None else [])])


def read_source(places: RunPlaces) -> Source | None:
    """None if nothing was planned there, or if what was kept cannot be read."""
    try:
        told = json.loads(places.params(PLAN_STAGE).read_bytes())
        return Source(str(told["spec"]), tuple(map(str, told["overrides"])))
    except (OSError, ValueError, KeyError, TypeError):
        return None
