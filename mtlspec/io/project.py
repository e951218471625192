"""The project: its root, its places, and the jail that keeps every write inside it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from mtlspec.errors import SetupError

OWN_KINDS = "kinds"


@dataclass(frozen=True)
class RunPlaces:
    """Where one spec's files live, under `registry/runs/<spec>/`."""

    base: Path

    @property
    def spec_name(self) -> str:
        return self.base.name

    @property
    def plan(self) -> Path:
        return self.base / "plan.json"

    @property
    def record(self) -> Path:
        return self.base / "record.json"

    @property
    def summary(self) -> Path:
        """The report's summary, as committed beside the record."""
        return self.base / "summary.md"

    def params(self, stage: str) -> Path:
        return self.base / "stages" / f"{stage}.json"

    def code(self, unit: str) -> Path:
        return self.base / "code" / f"{unit}.json"

    def artifact(self, stage: str) -> Path:
        return self.base / "artifacts" / stage

    def stage_record(self, stage: str) -> Path:
        return self.base / "records" / f"{stage}.json"

    def work(self, stage: str) -> Path:
        """Resume points; never an output, so DVC does not delete them."""
        return self.base / "work" / stage

    def log(self, stage: str) -> Path:
        """What a stage printed when it last ran on a worker."""
        return self.base / "work" / f"{stage}.log"

    @property
    def page(self) -> Path:
        """The report as people look at it: the artifact's page with what this machine measured; never an output."""
        return self.base / "work" / "report.html"

    def timing(self, stage: str) -> Path:
        return self.base / "timings" / f"{stage}.json"


@dataclass(frozen=True)
class Project:
    """A directory with `registry/` and `specs/`; every path that mtlspec writes is below it."""

    root: Path

    @classmethod
    def find(cls, start: Path | None = None) -> Project:
        """The nearest directory at or above `start` that has a `registry` folder and a `specs` or `.dvc` folder."""
        here = (start or Path.cwd()).resolve()
        for candidate in (here, *here.parents):
            if (candidate / "registry").is_dir() and ((candidate / "specs").is_dir() or (candidate / ".dvc").is_dir()):
                return cls(candidate)
        raise SetupError(
            "E601",
            "not inside an mtlspec project",
            here,
            "a project has `registry/` and `specs/`; `mtlspec init` makes them",
        )

    def inside(self, path: Path) -> Path:
        """`path` made absolute, or an error if it leaves the project."""
        full = (self.root / path).resolve()
        if not full.is_relative_to(self.root):
            raise SetupError("E602", "the path is outside the project", full, f"it must lie below {self.root}")
        return full

    def relative(self, path: Path) -> str:
        """For messages: relative to the root where possible."""
        full = path if path.is_absolute() else self.root / path
        return full.relative_to(self.root).as_posix() if full.is_relative_to(self.root) else str(path)

    @property
    def data_cards(self) -> Path:
        return self.root / "registry" / "data"

    @property
    def encoder_cards(self) -> Path:
        return self.root / "registry" / "encoders"

    @property
    def own_kinds(self) -> Path:
        """Kinds that the project brings itself."""
        return self.root / OWN_KINDS

    @property
    def lock_file(self) -> Path:
        return self.root / "requirements.lock"

    @property
    def state(self) -> Path:
        """Scratch that may be deleted at any time: sockets, locks, caches."""
        return self.root / ".mtlspec"

    @property
    def tracking(self) -> Path:
        return self.root / "registry" / "mlflow"

    def run(self, spec_name: str) -> RunPlaces:
        return RunPlaces(self.inside(self.root / "registry" / "runs" / spec_name))
