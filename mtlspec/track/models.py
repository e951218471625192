"""Models that people logged in MLflow beside what is mirrored: those of a training, and the runs that name them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from mtlspec.track.items import KEY, STAGE
from mtlspec.track.patience import Patience

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import LoggedModel, Run

READY = "READY"  # the status of a model that was logged to its end


def logged_models(client: MlflowClient, patience: Patience, experiment: str, key: str) -> Iterator[LoggedModel]:
    """Those of a training, logged under any of its runs."""
    token: str | None = None
    while True:
        patience.step()
        page: Any = client.search_logged_models([experiment], f"tags.`{KEY}` = '{key}'", page_token=token)
        yield from page
        token = page.token
        if not token:
            return


def models_of(client: MlflowClient, patience: Patience, experiment: str, tags: Mapping[str, str]) -> list[LoggedModel]:
    """Models that a run with these tags has, or had before it was sent anew; none where MLflow is too old for it."""
    from mlflow.exceptions import MlflowException

    try:
        found = list(logged_models(client, patience, experiment, tags[KEY]))
    except MlflowException:
        return []
    return [model for model in found if model.status == READY and model.tags.get(STAGE) == tags.get(STAGE)]


def link(client: MlflowClient, patience: Patience, run: Run, model: LoggedModel) -> None:
    """The page of a run names the models that came out of it."""
    from mlflow.entities import LoggedModelOutput

    outputs = run.outputs.model_outputs if run.outputs is not None else []
    if model.model_id not in {output.model_id for output in outputs}:
        patience.step()
        client.log_outputs(run.info.run_id, [LoggedModelOutput(model.model_id, 0)])
