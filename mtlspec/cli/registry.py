"""`mtlspec registry`: the records of runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mtlspec.cli.options import Json

if TYPE_CHECKING:
    from mtlspec.io.project import Project

app = typer.Typer(help="The records of runs: list, show, compare, export, remove.", no_args_is_help=True)
EXAMPLES = (
    "mtlspec registry list",
    "mtlspec registry show {spec}",
    "mtlspec registry show {spec} --signatures",
    "mtlspec run {spec} --set train.epochs=5 --as long",
    "mtlspec registry diff {spec} long",
    "mtlspec registry export {spec} review.zip",
    "mtlspec registry remove {spec} --dry-run",
)


@app.command("list")
def list_(json_: Json = False) -> None:
    """All records, and how they stand: current, elsewhere, stale, incomplete, outgrown or broken, as in `status`."""
    from mtlspec.cli import console
    from mtlspec.execute.standing import standing
    from mtlspec.io.project import Project
    from mtlspec.track.registry import overview, records

    project = Project.find()
    rows = []
    for record in records(project):
        found = standing(project, project.run(record["spec"]["name"]))
        rows.append({**overview(record), "state": found.word, "here": [found.cached, len(found.stages)]})
    if json_:
        console.say_json(rows)
        return
    if not rows:
        console.say("the registry has no records yet; `mtlspec run` writes them")
        return
    console.say_table(
        ("spec", "state", "models", "stages", "digest", "mean test score"),
        [
            (row["spec"], row["state"], str(row["models"]), str(row["stages"]), row["digest"][:12], _scores(row))
            for row in rows
        ],
    )


@app.command()
def show(
    spec: Annotated[str, typer.Argument(help="Name of a spec, or a record.json.")],
    signatures: Annotated[
        bool, typer.Option("--signatures", help="How each score was made, in one line for a paper to print.")
    ] = False,
    json_: Json = False,
) -> None:
    """One record: what went in, what came out, and whether it is stale."""
    from mtlspec.cli import console
    from mtlspec.cli.scores import say_scores, say_signatures
    from mtlspec.io.project import Project
    from mtlspec.io.words import counted
    from mtlspec.spec.overrides import without_name
    from mtlspec.track.registry import find_record

    project = Project.find()
    record = find_record(project, spec)
    if json_:
        console.say_json(record)
        return
    if signatures:
        say_signatures(record)
        return
    console.say(f"{record['spec']['name']}  spec {record['spec']['digest'][:12]}  plan {record['plan'][:12]}")
    if variant := record["spec"].get("variant"):
        said = " ".join(without_name(variant["overrides"])) or "nothing but another name"
        console.say_field(f"{'variant of':12} ", f"{variant['of']} ({variant['file']}) with {said}")
    for part in ("data", "encoder"):
        for name, digest in record[part]["artifacts"].items():
            console.say_field(f"{part:12} ", f"{name}  {digest[:12]}")
    files, units = (counted(len(record["code"][key]), noun) for key, noun in (("files", "file"), ("units", "unit")))
    console.say(f"{'code':12} {files} in {units}")
    for label, environment in record["environments"].items():
        cpu = environment.get("cpu", {}).get("model", "unknown CPU")
        torch = environment.get("torch")
        with_torch = f"torch {torch['version']} ({torch['capability']})" if torch else "stages without torch"
        gpu = [environment["gpu"]["name"]] if "gpu" in environment else []
        parts = (environment.get("python", "?"), environment.get("machine", "?"), cpu, *gpu, with_torch)
        console.say_field(f"{'environment':12} {label}  ", ", ".join(parts))
    say_scores(record, "test scores", "; all of them with --json")
    _show_standing(project, record)


@app.command()
def diff(
    a: Annotated[str, typer.Argument(help="Name of a spec, or a record.json.")],
    b: Annotated[str, typer.Argument(help="Name of a spec, or a record.json.")],
    json_: Json = False,
) -> int:
    """Two records side by side: spec, data, code, environment, scores and artifacts. Exit code 1 if they differ."""
    from mtlspec.cli import console
    from mtlspec.cli.differences import show_differences
    from mtlspec.io.project import Project
    from mtlspec.track.compare import diff as compare
    from mtlspec.track.registry import find_record

    project = Project.find()
    found = compare(find_record(project, a), find_record(project, b))
    if json_:
        console.say_json(found.as_json())
    else:
        show_differences(found, a, b)
    return 0 if found.identical else 1


@app.command()
def export(
    spec: Annotated[str, typer.Argument(help="Name of a run in registry/runs.")],
    file: Annotated[Path, typer.Argument(help="A new zip file.")],
    date: Annotated[
        str | None, typer.Option(help="Day of publication, as 2026-11-18; default: that of the record's commit.")
    ] = None,
    without_report: Annotated[
        bool, typer.Option("--without-report", help="Leave out report, tables and figures; they need not be here.")
    ] = False,
) -> None:
    """A run as a package for reviewers: one zip, an RO-Crate, the same bytes for the same run.

    It has the spec, the cards, the record, the report with its tables and figures, all scores with their signatures,
    the code fingerprint, a Croissant description of each corpus, and what the record answers of the checklists of ACL
    and NeurIPS. It has neither data nor weights, nobody's name, and no path of this machine.
    """
    from mtlspec.cli import console
    from mtlspec.io.project import Project
    from mtlspec.use.package.export import export_package

    made = export_package(Project.find(), spec, file, date, not without_report)
    console.say(f"{file}: {made.files} files, {made.size / 1e6:.1f} MB")
    if made.hidden:
        console.note(f"paths of this machine were hidden in {', '.join(made.hidden)}")
    if not made.signed:
        console.note(f"its record is older than signatures of scores; `mtlspec run {spec}` makes its report anew")


@app.command()
def remove(
    spec: Annotated[str, typer.Argument(help="Name of a run in registry/runs.")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask; for scripts.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only list what would be removed.")] = False,
) -> int:
    """Remove a run: its stages, records and artifacts, and its experiment in MLflow. It asks before.

    Its spec stays; git and DVC's cache keep what they have. If MLflow does not answer, the same command tries again.
    """
    from mtlspec.cli.removal import remove as removed
    from mtlspec.io.project import Project

    return removed(Project.find(), spec, yes, dry_run)


def _show_standing(project: Project, record: dict[str, Any]) -> None:
    from mtlspec.cli import console
    from mtlspec.execute.standing import standing
    from mtlspec.io.words import counted
    from mtlspec.track.compare import staleness, told
    from mtlspec.track.record import outgrown

    if why := outgrown(record):
        console.say(f"{why}; it can be shown and compared, and `mtlspec run` computes it anew")
    if record["missing"]:
        console.say(
            f"incomplete: {counted(len(record['missing']), 'stage')} still to run: {', '.join(record['missing'][:8])}"
        )
    found = standing(project, project.run(record["spec"]["name"]))
    if found.planned is None:
        console.say(f"it cannot be planned today: {found.problem}")
        return
    stale = staleness(record, found.planned.plan)
    if stale.stale:
        console.say(f"stale: {counted(len(stale.stages), 'stage')} would run again")
        phrases = told(stale.reasons)
        for phrase in phrases[:20]:
            console.say(f"  {phrase}")
        if len(phrases) > 20:
            console.say(f"  and {len(phrases) - 20} more")
        return
    console.say("up to date: spec, data cards, code and packages are those of the record")
    if found.word != "current":
        there = f"{found.cached} of {len(found.stages)} stages are on this machine"
        console.say(f"{found.word}: {there}; `mtlspec run {record['spec']['name']}` brings the others")


def _scores(row: dict[str, Any]) -> str:
    from mtlspec.cli.console import together

    told = []
    for group, value in row["test"].items():
        scored, models = row["scored"][group]
        part = f" ({scored} of {models} models)" if 0 < scored < models else ""
        told.append(together(f"{group} –" if value is None else f"{group} {value:.2f}") + part)
    return ", ".join(told)
