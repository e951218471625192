"""The preset view of MLflow's page: one row a model with mean scores, and only the columns that matter.

MLflow keeps shared views in experiment tags; the format is its own, so a version that reads it differently
falls back to its default view.
"""

from __future__ import annotations

from collections.abc import Sequence

from mtlspec.io.digest import canonical_json, digest_value
from mtlspec.track.items import Item

VIEW_KEY = digest_value("mtlspec: models with mean scores")[:16]
MODELS_ONLY = "tags.`mtlspec.level` = 'model'"


def view_state(items: Sequence[Item]) -> str:
    """JSON for the tag `mlflow.sharedViewState.<VIEW_KEY>`: the main test score of every task, and their mean."""
    models = [item for item in items if item.level == "model"]
    sent = {name for item in models for name, _, _ in item.points()}
    main = dict.fromkeys([*(name for item in models for name in item.headline), "test/mean"])
    columns = [f"metrics.`{name}{end}`" for end in ("", "_std") for name in main if f"{name}{end}" in sent]
    state = {
        "searchFilter": MODELS_ONLY,
        "orderByKey": "attributes.start_time",
        "orderByAsc": False,
        "lifecycleFilter": "Active",
        "startTime": "ALL",
        "datasetsFilter": [],
        "modelVersionFilter": "All Runs",
        "selectedColumns": [*columns, "tags.`mtlspec.seeds`"],
        "columnOrder": columns,
        "columnWidths": dict.fromkeys(columns, 140),
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
