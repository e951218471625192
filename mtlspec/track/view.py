"""The preset view of MLflow's page: one row a model with mean scores, and only the columns that matter.

MLflow keeps shared views in experiment tags; the format is its own, so a version that reads it differently
falls back to its default view.
"""

from __future__ import annotations

from collections.abc import Sequence

from mtlspec.io.digest import canonical_json, digest_value
from mtlspec.plan.types import Plan
from mtlspec.track.describe import description
from mtlspec.track.items import DEVIATION, NOTE, Item

VIEW_KEY = digest_value("mtlspec: models with mean scores")[:16]
MODELS_ONLY = "tags.`mtlspec.level` = 'model'"
ORDER = "mtlspec.order"
_CLASSIC = "workflowType=machine_learning"  # MLflow 3 opens with its menu for language models unless it is told


def fragment(experiment: str | None) -> str:
    """The part of the page's address that opens an experiment with the preset view, or the list of experiments."""
    if experiment is None:
        return f"#/experiments?{_CLASSIC}"
    return f"#/experiments/{experiment}/runs?{_CLASSIC}&viewStateShareKey={VIEW_KEY}"


def experiment_tags(plan: Plan, items: Sequence[Item]) -> dict[str, str]:
    """How MLflow shows an experiment: its description, the preset view, and which of its menus."""
    return {
        NOTE: description(plan, items),
        f"mlflow.sharedViewState.{VIEW_KEY}": view_state(items),
        "mlflow.experimentKind": "custom_model_development",
    }


def view_state(items: Sequence[Item]) -> str:
    """JSON: in the spec's order, the main test score of every task and their mean, with deviations, and durations."""
    models = [item for item in items if item.level == "model"]
    sent = {name for item in models for name, _, _ in item.points()}
    main = dict.fromkeys([*(name for item in models for name in item.headline), "test/mean"])
    tagged = {tag for item in models for tag in item.tags}
    columns = [f"metrics.`{name}`" for name in main if name in sent]
    columns += [f"tags.`{DEVIATION}{name}`" for name in main if f"{DEVIATION}{name}" in tagged]
    state = {
        "searchFilter": MODELS_ONLY,
        "orderByKey": f"tags.`{ORDER}`",
        "orderByAsc": True,
        "lifecycleFilter": "Active",
        "startTime": "ALL",
        "datasetsFilter": [],
        "modelVersionFilter": "All Runs",
        "selectedColumns": [*columns, "attributes.`Duration`", "tags.`mtlspec.seeds`"],
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
