"""Who helps whom: tasks alone, with each other task, with all, with all but one, and with those that help it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from mtlspec.spec.demands import Comparing
from mtlspec.spec.k_sigma import WHAT_IS_DDOF, WHAT_IS_HIGHER, WHAT_IS_RULE, Ddof, K, Rule
from mtlspec.spec.several_tasks import SeveralTasks

if TYPE_CHECKING:
    from mtlspec.results.jobs import AnalysisJob


class Options(Comparing, SeveralTasks):
    """`models` names the groups of one way of sharing: their task sets (`each`, `pairs`, `all`, `oracle`,
    `all_but_one`) tell which rows they are."""

    type: Literal["transfer_table"]
    arrows: Literal["k_sigma", "tests"] = Field(
        default="k_sigma",
        description="What an arrow needs: the rule of the paper, or a test with the variance of seeds and of test"
        " sentences, after Holm's correction over the whole table.",
    )
    k: K = Field(default=1.5, description=f"With `arrows: k_sigma`. {WHAT_IS_HIGHER}")
    ddof: Ddof = Field(default=1, description=f"With `arrows: k_sigma`. {WHAT_IS_DDOF}")
    rule: Rule = Field(default="printed", description=f"With `arrows: k_sigma`. {WHAT_IS_RULE}")
    alpha: Annotated[float, Field(gt=0, lt=1)] = Field(
        default=0.05, description="With `arrows: tests`: the level that a p value must pass after correction."
    )

    def compares_runs(self) -> bool:
        return self.arrows == "tests"

    def run(self, job: AnalysisJob) -> Mapping[str, Any]:
        """Writes `tables/` and `analysis.json`; returns facts for the stage's record."""
        from mtlspec.analyses._transfer.tables import find

        return find(self, job)
