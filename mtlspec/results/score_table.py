"""The table of scores: every model and task, with the significance of its difference to the baseline."""

from __future__ import annotations

from dataclasses import dataclass, field

from mtlspec.results.comparisons import Asked, Comparison, is_its_baseline
from mtlspec.results.estimates import mean_and_std
from mtlspec.results.evaluations import Evaluations, seed_scores, unscored_words
from mtlspec.results.inference import Family
from mtlspec.results.lengths import ABOUT, Lengths, model_cells
from mtlspec.results.tables import Cell, Table, Tone, score_text, tone_of_change
from mtlspec.results.variants import Variant, baseline_for, control_words


@dataclass(frozen=True)
class Matrix:
    """Everything that tables of scores are made from."""

    variants: tuple[Variant, ...]
    evaluations: Evaluations
    lengths: Lengths
    comparisons: tuple[Comparison, ...] = ()
    asked: Asked = field(default_factory=Asked)  # how comparisons were made

    @property
    def tasks(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(task for variant in self.variants for task in variant.tasks))

    @property
    def unscored(self) -> tuple[str, ...]:
        """The tasks whose test split has no labels, or none that give a score."""
        return tuple(self._unscored)

    @property
    def why_unscored(self) -> str:
        """`test has no labels of ner: predictions are written, nothing is scored`; empty where all are scored."""
        if not self._unscored:
            return ""
        return f"{unscored_words(self._unscored)}: predictions are written, nothing is scored"

    @property
    def _unscored(self) -> dict[str, str]:
        """Task -> why its labels give no score, or nothing where it has none."""
        first = {task: variant.runs[0] for variant in self.variants for task in variant.tasks}
        found = {task: self.evaluations[first[task].evaluate] for task in self.tasks}
        return {task: one.undefined(task) for task, one in found.items() if not one.is_scored(task)}

    @property
    def groups(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(variant.group for variant in self.variants))

    def metric(self, task: str) -> str:
        variant = next(variant for variant in self.variants if task in variant.tasks)
        return self.evaluations[variant.runs[0].evaluate].main(task)

    def comparison(self, variant: Variant, task: str) -> Comparison | None:
        return next((item for item in self.comparisons if item.variant == variant and item.task == task), None)

    @property
    def baseline(self) -> str:
        return self.asked.baseline

    @property
    def controls(self) -> str:
        """For captions: who is compared with another group than the baseline; nothing where nobody is."""
        pairs = dict.fromkeys((one.variant.group, one.baseline.group) for one in self.comparisons)
        return "".join(control_words(*pair) for pair in pairs if pair[1] != self.baseline)

    @property
    def same_as_baseline(self) -> tuple[tuple[Variant, str], ...]:
        """Models with a task on which they are their own baseline, because a selection chose nothing."""
        pairs = [(one, task) for one in self.variants for task in one.tasks if task not in self.unscored]
        return tuple(
            (one, task)
            for one, task in pairs
            if (against := baseline_for(one, task, self.baseline, self.variants)) is not None
            and is_its_baseline(one, against, task, self.evaluations)
        )

    @property
    def families(self) -> tuple[Family, ...]:
        """Those in which at least one comparison could be tested."""
        found = dict.fromkeys(item.family for item in self.comparisons if item.family is not None)
        return tuple(family for family in found if family.size)

    def star(self) -> str:
        """For captions: what a star says, or why there is none; nothing where nothing is compared."""
        if not self.comparisons:
            return ""
        if not self.families:
            return f" No difference could be tested: {next(item.found.why for item in self.comparisons)}."
        correction = "; ".join(family.words for family in self.families)
        if self.asked.unit == "runs":
            what = f"differs from the single-task model of group {self.baseline}"
            test = "t test with the variance of seeds and of test sentences"
        else:
            what = f"these trained models differ from the trained single-task models of group {self.baseline}"
            test = f"sentences exchanged at random with seeds pooled, {self.asked.rounds} rounds; no test of training"
        return f" * {what}, blue above and red below (p < {self.asked.alpha:g}; {test}; {correction})."


def mark(comparison: Comparison | None) -> str:
    return "*" if comparison is not None and comparison.significant else ""


def source_of(variant: Variant) -> str:
    seeds = ", ".join(str(seed) for seed in variant.seeds)
    return f"{' · '.join(run.evaluate for run in variant.runs)} | seeds {seeds}"


def tone_of(comparison: Comparison | None) -> Tone:
    return "" if comparison is None else tone_of_change(comparison.delta, sure=comparison.significant)


def score_cell(matrix: Matrix, variant: Variant, task: str) -> Cell:
    if task not in variant.tasks:
        return Cell()
    values = seed_scores(variant, task, matrix.evaluations)
    if not values:
        return Cell("–", source=source_of(variant))
    mean, std = mean_and_std(values)
    comparison = matrix.comparison(variant, task)
    data: dict[str, object] = {"n": len(values), "seeds": dict(zip(map(str, variant.seeds), values, strict=True))}
    if comparison is not None:
        found = comparison.found
        data |= {"delta": found.difference, "interval": found.interval, "p": found.p, "p_holm": comparison.adjusted}
    return Cell(score_text(mean, std), mean, std, mark(comparison), tone_of(comparison), source_of(variant), data)


def scores_table(matrix: Matrix) -> Table:
    """Rows are models by group, columns tasks: mean ± std over seeds."""
    sections = tuple(
        (
            "",  # the rows name their group themselves
            tuple(
                (
                    Cell(variant.label, variant.label, source=source_of(variant)),
                    *(score_cell(matrix, variant, task) for task in matrix.tasks),
                    Cell(str(len(variant.runs)), len(variant.runs)),
                    *model_cells(variant, matrix.lengths),
                )
                for variant in matrix.variants
                if variant.group == group
            ),
        )
        for group in matrix.groups
    )
    columns = ("model", *(f"{task} ({matrix.metric(task)})" for task in matrix.tasks))
    columns = (*columns, "seeds", "updates", "examples per task")
    caption = f"Test scores in percent, mean ± sample standard deviation over seeds. {ABOUT}{matrix.star()}"
    if matrix.why_unscored:
        caption += f" –: {matrix.why_unscored}."
    return Table("scores", "Score matrix", caption, columns, sections)
