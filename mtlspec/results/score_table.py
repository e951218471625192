"""The table of scores: every model and task, with the significance of its difference to the baseline."""

from __future__ import annotations

from dataclasses import dataclass

from mtlspec.results.comparisons import Comparison
from mtlspec.results.estimates import mean_and_std
from mtlspec.results.evaluations import Evaluations, seed_scores
from mtlspec.results.tables import Cell, Table, Tone, score_text, signed
from mtlspec.results.variants import Variant


@dataclass(frozen=True)
class Matrix:
    """Everything that tables of scores are made from."""

    variants: tuple[Variant, ...]
    evaluations: Evaluations
    comparisons: tuple[Comparison, ...]
    baseline: str
    alpha: float
    rounds: int

    @property
    def tasks(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(task for variant in self.variants for task in variant.tasks))

    @property
    def unscored(self) -> tuple[str, ...]:
        """The tasks whose test split has no labels."""
        first = {task: variant.runs[0] for variant in self.variants for task in variant.tasks}
        return tuple(task for task in self.tasks if not self.evaluations[first[task].evaluate].is_scored(task))

    @property
    def groups(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(variant.group for variant in self.variants))

    def metric(self, task: str) -> str:
        variant = next(variant for variant in self.variants if task in variant.tasks)
        return self.evaluations[variant.runs[0].evaluate].main(task)

    def comparison(self, variant: Variant, task: str) -> Comparison | None:
        return next((item for item in self.comparisons if item.variant == variant and item.task == task), None)

    def significant(self, comparison: Comparison) -> bool:
        return comparison.adjusted is not None and comparison.adjusted < self.alpha

    def mark(self, comparison: Comparison | None) -> str:
        return "*" if comparison is not None and self.significant(comparison) else ""


def source_of(variant: Variant) -> str:
    seeds = ", ".join(str(seed) for seed in variant.seeds)
    return f"{' · '.join(run.evaluate for run in variant.runs)} | seeds {seeds}"


def tone_of(comparison: Comparison | None) -> Tone:
    if comparison is None or signed(comparison.delta) == "0.00":
        return ""
    return "up" if comparison.delta > 0 else "down"


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
        data |= {"delta": comparison.delta, "p": comparison.p, "p_holm": comparison.adjusted}
    return Cell(
        score_text(mean, std), mean, std, matrix.mark(comparison), tone_of(comparison), source_of(variant), data
    )


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
                )
                for variant in matrix.variants
                if variant.group == group
            ),
        )
        for group in matrix.groups
    )
    columns = ("model", *(f"{task} ({matrix.metric(task)})" for task in matrix.tasks), "seeds")
    caption = "Test scores in percent, mean ± sample standard deviation over seeds." + (
        f" * differs from the single-task model of group {matrix.baseline} (p < {matrix.alpha:g}, paired randomisation"
        f" test over test sentences with seeds pooled, {matrix.rounds} rounds, Holm's correction over"
        f" {len(matrix.comparisons)} comparisons)."
        if matrix.comparisons
        else ""
    )
    if matrix.unscored:
        caption += (
            f" –: test has no labels of {', '.join(matrix.unscored)}; predictions are written, nothing is scored."
        )
    return Table("scores", "Score matrix", caption, columns, sections)
