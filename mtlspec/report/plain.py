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
        words.append(_own_heads(sharing))
    elif sharing["type"] != "hard":
        words.append(f"sharing by {sharing['type'].replace('_', ' ')}")
    freeze = (group.get("train") or {}).get("freeze")
    if freeze is not None:
        words.append("encoder frozen" if freeze == 1 else "lower layers frozen")
    if start := group.get("start"):
        words.append(f"starting from trained models of {start['group'] if isinstance(start, Mapping) else start}")
    if group.get("sweep"):
        words.append(f"for several values of {' and '.join(group['sweep'])}")
    return ", ".join(words)


def _own_heads(sharing: Mapping[str, Any]) -> str:
    """What the tasks of a model with `iat` do with their heads, and when; a sweep over that is told elsewhere."""
    when = "from the start" if sharing.get("delta") == 1 else "in the end"
    if sharing.get("prune_least"):
        return f"{when} every task without its least important heads"
    chosen = {"random": "heads drawn for it at random", "least": "the heads that matter least to it"}
    return f"{when} every task on {chosen.get(sharing.get('select', ''), 'heads of its own')}"
