"""`mtlspec registry export`: a run as one zip for reviewers, whose bytes depend on the run alone."""

from __future__ import annotations

import datetime
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from mtlspec.errors import IntegrityError, SetupError, SpecError
from mtlspec.io.project import Project
from mtlspec.io.words import counted
from mtlspec.io.write import write_bytes
from mtlspec.io.zipped import zipped
from mtlspec.track.registry import find_record
from mtlspec.track.signatures import RecordedSignatures
from mtlspec.use.package.known import Known
from mtlspec.use.package.readme import readme
from mtlspec.use.package.redaction import machine_paths, without_paths


@dataclass(frozen=True)
class Package:
    """What was written."""

    files: int
    size: int
    hidden: Sequence[str]  # files in which paths of this machine were hidden
    signed: bool  # whether the record has signatures of its scores


def export_package(project: Project, name: str, out: Path, date: str | None, with_report: bool = True) -> Package:
    """Write a run's package as a zip; without a date it is the day of the commit that has the record."""
    _require_extras()
    if out.exists():
        raise SpecError("E573", "there is something of this name already", out, "name a new file")
    record = find_record(project, name.removesuffix(".json"))  # a run of this project: a file alone has no report
    if record["missing"]:
        message = f"the run '{name}' is not complete: {counted(len(record['missing']), 'stage')} still to run"
        raise IntegrityError("E570", message, None, f"`mtlspec run {name}` goes on")
    day = _checked(date) if date is not None else _committed(project, project.run(name).record)
    from mtlspec.use.package.contents import contents
    from mtlspec.use.package.crate import METADATA, described, folders

    known = Known(record)
    paths = machine_paths(record, project.root)
    files, hidden = without_paths(contents(project, known, with_report), paths)
    files |= without_paths({"README.md": readme(known, files, hidden).encode()}, paths)[0]
    files |= without_paths({METADATA: described(files, known, day)}, paths)[0]
    data = zipped({**files, **dict.fromkeys(folders(files), b"")})
    write_bytes(out, data)
    return Package(len(files), len(data), hidden, bool(RecordedSignatures(record).of_scores))


def _require_extras() -> None:
    lacking = [package for package in ("rocrate", "mlcroissant") if find_spec(package) is None]
    if lacking:
        message = f"a package for reviewers is written with {' and '.join(lacking)}, not installed here"
        raise SetupError("E645", message, None, "pip install 'mtlspec[crate]'")


def _checked(date: str) -> str:
    try:
        return datetime.date.fromisoformat(date).isoformat()
    except ValueError:
        raise SpecError("E574", f"'{date}' is no day", None, "write it as 2026-11-18") from None


def _committed(project: Project, record: Path) -> str:
    """The day on which the author of the last commit of a record made it; a record without a commit has none."""
    git = ["git", "-C", str(project.root)]
    asked = (
        [*git, "diff", "--quiet", "HEAD", "--", str(record)],
        [*git, "log", "-1", "--format=%as", "--", str(record)],
    )
    try:
        day = [subprocess.run(one, capture_output=True, text=True, timeout=20, check=True).stdout for one in asked][1]
    except (OSError, subprocess.SubprocessError):
        day = ""
    if not day.strip():
        message = "a package has a day of publication, and git has no commit with this record"
        raise SetupError("E647", message, record, "commit the record, or say the day with --date 2026-11-18")
    return day.strip()
