"""What `mtlspec gc` lists, asks and frees."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack
from fnmatch import fnmatchcase

import typer

from mtlspec.cli import console
from mtlspec.errors import SetupError, SpecError, did_you_mean
from mtlspec.execute.alone import dvc_alone, run_alone
from mtlspec.execute.freeing import Store, size
from mtlspec.execute.holdings import Holding, Holdings, disk_use
from mtlspec.execute.kept_models import KeptModels
from mtlspec.execute.pipelines import materialised_runs
from mtlspec.io.project import Project
from mtlspec.io.words import counted
from mtlspec.plan.weights import TRAINING
from mtlspec.track.copies import copies, free_copies
from mtlspec.track.record import read_stage_record

Wanted = dict[str, list[str]]
"""Run -> patterns of models; none: all of them."""


def megabytes(number: int) -> str:
    return f"{number / 1e6:,.1f}"


def list_runs(project: Project, free: bool, json_: bool) -> int:
    """What every run holds; nothing is freed before somebody says of which run."""
    if free:
        raise SpecError("E828", "of which run?", None, "`mtlspec gc` lists them; then `mtlspec gc RUN --free`")
    rows = []
    for places in materialised_runs(project):
        weights = sum(holding.size for holding in Holdings.of(project, places, everything=False).all())
        logged = sum(map(size, copies(project, places.spec_name)))
        held = disk_use(Store(project), places) + logged
        rows.append((places.spec_name, held, weights, logged))
    if json_:
        console.say_json([dict(zip(("run", "held", "weights", "mlflow"), row, strict=True)) for row in rows])
    elif not rows:
        console.say("no run holds anything here yet")
    else:
        heads = ("run", "MB in all", "MB of weights", "MB of models in MLflow")
        console.say_table(heads, [(run, *map(megabytes, sizes)) for run, *sizes in rows])
        console.say("`mtlspec gc RUN` tells more; nothing is freed without `--free`")
    return 0


def free_disk(
    project: Project, named: Sequence[str], *, free: bool, yes: bool, everything: bool, lost: bool, json_: bool
) -> int:
    wanted = _wanted(project, named, everything)
    with ExitStack() as held:
        if free:  # who runs may just be storing what another run has, too
            for places in materialised_runs(project):
                held.enter_context(run_alone(project, places.spec_name))
            held.enter_context(dvc_alone(project))
        found = {run: _chosen(project, run, patterns, everything) for run, patterns in wanted.items()}
        if json_:
            console.say_json([_row(run, one) for run, (_, held_) in found.items() for one in held_])
        for run, (holdings, listed) in found.items():
            going = [one for one in listed if lost or one.lost is None]
            if not json_:
                _say(project, run, listed, going, everything, free)
            if free and going and (yes or _agreed(run, going)):
                freed = _free(project, holdings, going, everything)
                console.note(f"{run}: {megabytes(freed)} MB freed")
            elif free and going:
                console.say("nothing was freed")
                return 1
    return 0


def _wanted(project: Project, named: Sequence[str], everything: bool) -> Wanted:
    runs = {places.spec_name for places in materialised_runs(project)}
    wanted: Wanted = {}
    for name in named:
        run, slash, pattern = name.partition("/")
        if run not in runs:
            hint = did_you_mean(run, runs) or "`mtlspec status` lists runs"
            raise SpecError("E826", f"no run is called '{run}'", None, hint)
        if slash and everything:
            raise SpecError("E829", "`--all` is about whole runs, and this names models", None, f"say `{run}`")
        wanted.setdefault(run, [])
        wanted[run] += [pattern] if slash else []
    return wanted


def _chosen(project: Project, run: str, patterns: Collection[str], everything: bool) -> tuple[Holdings, list[Holding]]:
    holdings = Holdings.of(project, project.run(run), everything)
    names = [stage.name.removeprefix(TRAINING) for stage in holdings.plan.stages if stage.kind == "train"]
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in names):
            raise SpecError("E827", f"'{run}' has no model '{pattern}'", None, did_you_mean(pattern, names))
    found = [
        one
        for one in holdings.all()
        if not patterns or any(fnmatchcase(one.stage.name.removeprefix(TRAINING), pattern) for pattern in patterns)
    ]
    return holdings, found


def _row(run: str, one: Holding) -> dict[str, object]:
    about = {"here": one.here, "cached": one.cached, "seconds": one.seconds, "lost": one.lost}
    return {"run": run, "stage": one.stage.name, **about}


def _say(
    project: Project, run: str, listed: Sequence[Holding], going: Sequence[Holding], everything: bool, free: bool
) -> None:
    logged = sum(map(size, copies(project, run)))
    if not listed:
        console.say(f"{run}: nothing to free")
        return
    heads = ("stages" if everything else "model", "number", "MB", "can be made again")
    console.say_table(heads, _rows(listed, everything))
    here, cached = (megabytes(sum(sizes)) for sizes in ([o.here for o in going], [o.cached for o in going]))
    mlflow = f", and up to {megabytes(logged)} MB in MLflow" if logged else ""
    console.say(f"{run}: {here} MB here, {cached} MB in DVC's cache that no other artifact names{mlflow}")
    if kept := len(listed) - len(going):
        console.say(f"{counted(kept, 'artifact')} could not be made again and would stay; `--lost` frees them, too")
    if not Store(project).own_cache:
        console.say("DVC's cache is not in this project, and stays as it is")
    stays = "records" if everything else "records, scores, predictions and histories"
    console.say(f"{stays} stay" if free else f"{stays} stay; `{_command(run, everything)} --free` frees the rest")


def _command(run: str, everything: bool) -> str:
    return f"mtlspec gc {run} --all" if everything else f"mtlspec gc {run}"


def _rows(listed: Sequence[Holding], everything: bool) -> Iterator[tuple[str, ...]]:
    """Seeds of a model together, or stages of a kind."""
    together: dict[str, list[Holding]] = {}
    for one in listed:
        name = one.stage.name.removeprefix(TRAINING)
        if everything:
            name = one.stage.kind
        elif name.endswith(f"-s{one.stage.params['seed']}"):
            name = name.removesuffix(f"-s{one.stage.params['seed']}")
        together.setdefault(name, []).append(one)
    for name, group in together.items():
        lost = next((one.lost for one in group if one.lost is not None), None)
        seconds = [one.seconds for one in group]
        minutes = sum(filter(None, seconds)) / 60
        again = "yes" if None in seconds else "yes, <1 min" if minutes < 1 else f"yes, {minutes:.0f} min"
        yield name, str(len(group)), megabytes(sum(one.size for one in group)), f"no: {lost}" if lost else again


def _agreed(run: str, going: Sequence[Holding]) -> bool:
    if not sys.stdin.isatty():
        hint = "add `--yes` to free it, or leave out `--free` to see what would go"
        raise SetupError("E691", "nothing was freed: there is no terminal to ask in", None, hint)
    return typer.confirm(f"free {megabytes(sum(one.size for one in going))} MB of {run}?", default=False)


def _free(project: Project, holdings: Holdings, going: Sequence[Holding], everything: bool) -> int:
    names, places = [one.stage.name for one in going], holdings.places
    trained = [one.stage.name for one in going if one.stage.kind == "train"]
    logged = {name: record["artifact"] for name in trained if (record := read_stage_record(places, name)) is not None}
    freed = free_copies(project, places.spec_name, logged)
    if everything:
        return freed + holdings.store.free_artifacts(places, names)
    gates = KeptModels.of(holdings.plan, places).with_gates(names)
    return freed + holdings.store.free_weights(places, names, gates)
