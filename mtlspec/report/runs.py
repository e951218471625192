"""What ran: configurations, trained models, and the stages that every number comes from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from mtlspec.io.digest import digest_value
from mtlspec.io.manifest import read_manifest
from mtlspec.plan.rows import ModelRow
from mtlspec.results.estimates import mean_and_std
from mtlspec.results.evaluations import Evaluations, unscored_words
from mtlspec.results.history import read_epochs
from mtlspec.results.lengths import ABOUT, model_cells, read_lengths
from mtlspec.results.tables import Cell, Table, score_text
from mtlspec.results.variants import Variant

Inputs = Mapping[str, Path]
_KEPT = (
    "The kept epoch is the one with the best mean dev score over the model's tasks, or the last one where `train.keep`"
    " says so; both means are over all tasks."
)

_LENGTH = ("updates", "examples per task")


def _outcome(
    run: ModelRow, variant: Variant, evaluations: Evaluations, inputs: Inputs
) -> tuple[int, int, float | None, float | None]:
    """Epochs, kept epoch, dev mean and test mean of one trained model, both means over all tasks that it learnt.

    None where a split lacks labels of a task, or these give no score.
    """
    epochs = read_epochs(inputs[run.train])
    best = max((epoch for epoch in epochs if epoch.best), key=lambda epoch: epoch.number)
    found = evaluations[run.evaluate]
    tasks = variant.learnt
    scored = all(found.is_scored(task) for task in tasks)
    test = mean_and_std([found.score(task) for task in tasks])[0] if scored else None
    return len(epochs), best.number, best.mean, test


def _unscored(models: Sequence[Variant], evaluations: Evaluations) -> str:
    """What a dash under `dev mean` or `test mean` means, where there is one."""
    pairs = [(task, evaluations[variant.runs[0].evaluate]) for variant in models for task in variant.learnt]
    tasks = {task: found.undefined(task) for task, found in pairs if not found.is_scored(task)}
    reasons = {
        f"{task} is not defined on dev ({why})": None for task, one in pairs if (why := one.undefined(task, "dev"))
    }
    words = "; ".join([*reasons, *([unscored_words(tasks)] if tasks else [])])
    return f" –: {words}, so there is no mean over all tasks." if words else ""


def overview_table(models: Sequence[Variant], evaluations: Evaluations, inputs: Inputs) -> Table:
    """One row a configuration, means over its seeds, a section for each group."""
    groups: dict[str, list[tuple[Cell, ...]]] = {}
    lengths = read_lengths(models, inputs)
    for variant in models:
        outcomes = [_outcome(run, variant, evaluations, inputs) for run in variant.runs]
        source = f"{' · '.join(run.train for run in variant.runs)} | seeds {', '.join(map(str, variant.seeds))}"
        cells = [Cell(variant.label, variant.label, source=source), Cell(str(len(outcomes)), len(outcomes))]
        cells += model_cells(variant, lengths)
        for place, digits in ((0, 1), (1, 1), (2, 2), (3, 2)):
            values = [float(value) for outcome in outcomes if (value := outcome[place]) is not None]
            mean, std = mean_and_std(values) if values else (None, None)
            text = score_text(mean, std, digits) if mean is not None else "–"
            cells.append(Cell(text, mean, std, source=source))
        groups.setdefault(variant.group, []).append(tuple(cells))
    columns = ("configuration", "seeds", *_LENGTH, "epochs", "kept epoch", "dev mean", "test mean")
    caption = f"Means over seeds. {_KEPT} {ABOUT}{_unscored(models, evaluations)}"
    sections = tuple((group, tuple(rows)) for group, rows in groups.items())
    return Table("configurations", "Configurations", caption, columns, sections)


def training_table(models: Sequence[Variant], evaluations: Evaluations, inputs: Inputs) -> Table:
    """One row a trained model: how long it learned, which epoch was kept, how it did on dev and test."""
    sections, lengths = [], read_lengths(models, inputs)
    for variant in models:
        rows = []
        for run in variant.runs:
            epochs, best, dev, test = _outcome(run, variant, evaluations, inputs)
            rows.append(
                (
                    Cell(run.train.removeprefix("train-"), run.train, source=f"{run.train} · {run.evaluate}"),
                    Cell(str(run.seed), run.seed),
                    *model_cells(replace(variant, runs=(run,)), lengths),
                    Cell(str(epochs), epochs),
                    Cell(str(best), best),
                    Cell(score_text(dev, None) if dev is not None else "–", dev, source=run.train),
                    Cell(score_text(test, None) if test is not None else "–", test, source=run.evaluate),
                )
            )
        sections.append((variant.label, tuple(rows)))
    columns = ("model", "seed", *_LENGTH, "epochs", "kept epoch", "dev mean", "test mean")
    caption = f"Every trained model. {_KEPT} {ABOUT}{_unscored(models, evaluations)}"
    return Table("training", "Trained models", caption, columns, tuple(sections))


def provenance_table(inputs: Inputs) -> Table:
    """Every stage that the report read, with the digest under which records and `mtlspec verify` know its artifact."""
    rows = []
    for stage, directory in sorted(inputs.items()):
        manifest = read_manifest(directory)
        digest = digest_value(manifest)
        rows.append((Cell(stage, stage), Cell(digest[:16], digest), Cell(str(len(manifest)), len(manifest))))
    columns = ("stage", "artifact", "files")
    caption = "The artifact's digest is that of its manifest, which has the sha256 of every file."
    return Table("stages", "Stages behind the numbers", caption, columns, (("", tuple(rows)),))
