"""The preset view of MLflow's page: one row a model with mean scores, and only the columns that matter.

MLflow keeps shared views in experiment tags; the format is its own, so a version that reads it differently
falls back to its default view.
"""

from __future__ import annotations

from collections.abc import Sequence

from mtlspec.io.digest import canonical_json, digest_value
from mtlspec.plan.types import Plan
from mtlspec.track.items import Item

VIEW_KEY = digest_value("mtlspec: models with mean scores")[:16]
MODELS_ONLY = "tags.`mtlspec.level` = 'model'"


def view_state(plan: Plan, items: Sequence[Item]) -> str:
    """JSON for the tag `mlflow.sharedViewState.<VIEW_KEY>`."""
    del plan
    scores = sorted({name for item in items if item.level == "model" for name, _, _ in item.points()})
    test = [name for name in scores if name.startswith("test/") and not name.endswith(("_n", "_std"))]
    main = ["test/mean", *(name for name in test if name != "test/mean")]
    columns = [column for name in main if name in scores for column in (name, f"{name}_std") if column in scores]
    state = {
        "searchFilter": MODELS_ONLY,
        "orderByKey": "attributes.start_time",
        "orderByAsc": False,
        "lifecycleFilter": "ACTIVE",
        "startTime": "ALL",
        "datasetsFilter": [],
        "modelVersionFilter": "All Runs",
        "selectedColumns": [*(f"metrics.`{name}`" for name in columns), "tags.`mtlspec.seeds`"],
        "runsExpanded": {},
        "runsPinned": [],
        "runsHidden": [],
        "runsHiddenMode": "FIRST_20_RUNS",
        "viewMaximized": True,
        "runListHidden": False,
        "isAccordionReordered": False,
        "groupBy": None,
        "groupsExpanded": {},
        "useGroupedValuesInCharts": True,
        "hideEmptyCharts": True,
        "autoRefreshEnabled": False,
    }
    return canonical_json(state)
