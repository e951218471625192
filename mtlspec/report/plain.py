"""What the groups of models are, in plain words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

_TASK_SETS = {
    "each": "each task on its own",
    "each_of": "each of {} tasks on its own",
    "pairs": "every two tasks together",
    "pairs_of": "every two of {} tasks together",
    "all": "all {} tasks together",
    "all_but_one": "all tasks but one together",
    "oracle": "each task with those that were found to help it",
}


_BATCHES = {"joint": "every batch read for all of them", "sampled": "each batch of one task"}


def group_words(spec: Mapping[str, Any], order: Iterable[str]) -> list[tuple[str, str]]:
    """(name, words) of groups, in the given order, which stored specs have lost: `stl`, `each task on its own`."""
    groups = {name: spec["models"][name] for name in dict.fromkeys(order)}
    feeds = {name: _batching(spec, group) for name, group in groups.items() if _together(_task_set(group))}
    told = feeds if len(set(feeds.values())) > 1 else {}
    return [(name, _words(group, len(spec["tasks"]), told.get(name))) for name, group in groups.items()]


def _task_set(group: Mapping[str, Any]) -> str | Sequence[str]:
    """The kind of its task sets, or the tasks themselves."""
    said = group["tasks"]
    kind: str | Sequence[str] = said.get("type", "") if isinstance(said, Mapping) else said
    return kind


def _together(tasks: str | Sequence[str]) -> bool:
    return tasks not in ("each", "each_of") if isinstance(tasks, str) else len(tasks) > 1


def _batching(spec: Mapping[str, Any], group: Mapping[str, Any]) -> str | None:
    own = (group.get("train") or {}).get("batching")
    said: str | None = own or (spec.get("train") or {}).get("batching")
    return said


def _words(group: Mapping[str, Any], tasks: int, batching: str | None) -> str:
    kind = _task_set(group)
    if isinstance(kind, str):
        named = group["tasks"].get("names", ()) if isinstance(group["tasks"], Mapping) else ()
        words = [_TASK_SETS.get(kind, f"tasks by {kind.replace('_', ' ')}").format(len(named) or tasks)]
    else:
        words = [f"{' + '.join(map(str, kind))} together" if _together(kind) else f"{kind[0]} on its own"]
    if batching in _BATCHES:
        words.append(_BATCHES[batching])
    sharing = group["sharing"]
    if sharing["type"] == "l0":
        static = sharing.get("mode") == "static"
        words.append("heads pruned after training" if static else "heads pruned while training")
    elif sharing["type"] == "iat":
        own = "without its least important heads" if sharing.get("prune_least") else "on heads of its own"
        words.append(f"in the end every task {own}")
    elif sharing["type"] != "hard":
        words.append(f"sharing by {sharing['type'].replace('_', ' ')}")
    if start := group.get("start"):
        words.append(f"starting from trained models of {start['group'] if isinstance(start, Mapping) else start}")
    if group.get("sweep"):
        words.append(f"for several values of {' and '.join(group['sweep'])}")
    return ", ".join(words)
