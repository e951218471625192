"""The analytic hierarchy process: how well each source task serves a target, from contests between their models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from mtlspec.analyses._similarity.representations import Floats

_TIE = 1e-9  # points: what rounding alone can make
_CONTINUITY = 0.5  # of an example, added to either side: a source that never loses has no infinite affinity


def example_scores(score: float, without: Floats) -> Floats:
    """What each of N examples gives to a score, from the scores without each [N]: the jackknife's pseudo-values.

    Where a score is a mean over examples these are the examples' own, of an F1 or a correlation they are the closest
    thing to it; their mean is about the score.
    """
    count = len(without)
    return np.asarray(count * score - (count - 1) * without)


def win_shares(scores: Floats) -> Floats:
    """W[s, s']: the share of examples on which source s beats source s'; scores [S, N] -> [S, S], ties beat nobody."""
    wins = (scores[:, None, :] > scores[None, :, :] + _TIE).mean(axis=-1)
    return np.asarray(wins, np.float64)


def win_ratios(scores: Floats) -> Floats:
    """Wins over losses of every two sources, [S, N] -> [S, S]: positive, and reciprocal across the diagonal."""
    wins = win_shares(scores) * scores.shape[1] + _CONTINUITY
    return np.asarray(wins / wins.T)


def principal_eigenvector(ratios: Floats) -> Floats:
    """Of a positive matrix [S, S], with sum 1; where entry (s, s') is a_s / a_s', it is a / sum(a)."""
    if ratios.shape[0] != ratios.shape[1] or not (np.isfinite(ratios).all() and (ratios > 0).all()):
        raise ValueError("ratios must be a square matrix of positive numbers")
    values, vectors = np.linalg.eig(ratios)
    found = np.abs(np.real(vectors[:, int(np.argmax(np.real(values)))]))
    return np.asarray(found / found.sum(), np.float64)


def affinities(scores: Mapping[str, Floats]) -> dict[str, float]:
    """Source -> its affinity to the target whose held-out examples [N] were scored; they sum to 1."""
    found = principal_eigenvector(win_ratios(np.stack(list(scores.values()))))
    return dict(zip(scores, found.tolist(), strict=True))


def mutual(to: Mapping[str, Mapping[str, float]], pairs: Sequence[tuple[str, str]]) -> dict[tuple[str, str], float]:
    """Pairs -> the mean affinity of both directions; `to` is target -> source -> affinity. Others are left out."""
    known = [(a, b) for a, b in pairs if b in to.get(a, {}) and a in to.get(b, {})]
    return {(a, b): (to[a][b] + to[b][a]) / 2 for a, b in known}
