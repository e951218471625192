"""Linear-chain CRF on the CPU, sums over all paths: closed forms of log Z and its gradients, compiled.

Forward probabilities are scaled to sum 1, in double precision: one exponential a tag and word. A sentence
whose scores span so wide a range that a scaled number could underflow is computed in log space instead, so that no path
is ever lost. Any score may be -inf. Scores are float64. Shapes: B sentences, N words, C tags.

Everything is written as plain loops over numbers: numba compiles expressions over whole arrays ten times more slowly.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from mtlspec.structs._compile import compiled, on_tensors

Array = npt.NDArray[Any]
_SMALLEST = 1e-280  # a product below this sends its sentence to log space


@compiled
def _log_sum(scores: Array) -> float:
    top, total = -np.inf, 0.0
    for score in scores:
        if score > top or np.isnan(score):
            top = score
    if top == -np.inf:
        return -np.inf
    for score in scores:
        total += np.exp(score - top)
    return top + np.log(total)  # type: ignore[no-any-return]


@compiled
def _total(row: Array) -> float:
    total = 0.0
    for value in row:
        total += value
    return total


@compiled
def _clear(row: Array) -> None:
    for j in range(row.size):
        row[j] = 0.0


@compiled
def _divide(row: Array, by: float) -> None:
    for j in range(row.size):
        row[j] /= by


@compiled
def _product(a: Array, b: Array) -> float:
    total = 0.0
    for j in range(a.size):
        total += a[j] * b[j]
    return total


@compiled
def _exp_shifted(scores: Array, out: Array) -> tuple[float, float]:
    """out = exp(scores - top), both flat; returns top = max(scores) and the least value of a score above -inf."""
    top, low = -np.inf, np.inf
    for j in range(scores.size):
        top = max(top, scores[j])
        if scores[j] > -np.inf:
            low = min(low, scores[j])
    if top == -np.inf:
        _clear(out)
        return top, 0.0
    for j in range(scores.size):
        out[j] = np.exp(scores[j] - top)
    return top, np.exp(low - top)


@compiled
def _forward_scaled(
    emissions: Array,
    moves: Array,
    moves_low: float,
    start: Array,
    last: Array,
    last_low: float,
    alpha: Array,
    weight: Array,
) -> float:
    """log Z of one sentence [n, C] without the shifts of `moves` and `last`; NaN if its scores span too wide a range.

    Fills alpha [n, C], and weight [n, C]: the exponentiated emissions over the sum that alpha was divided by.
    """
    words, tags = emissions.shape
    row = np.empty(tags)
    for j in range(tags):
        row[j] = start[j] + emissions[0, j]
    top, low = _exp_shifted(row, alpha[0])
    total = _total(alpha[0])
    if np.isnan(total) or not low > _SMALLEST:
        return np.nan
    _divide(alpha[0], total)
    log_z = top + np.log(total)
    for t in range(1, words):
        least = 1.0
        _clear(row)
        for i in range(tags):
            before = alpha[t - 1, i]
            if before > 0.0:
                least = min(least, before)
                for j in range(tags):
                    row[j] += before * moves[i, j]
        top, low = _exp_shifted(emissions[t], weight[t])
        if not least * moves_low * low > _SMALLEST:
            return np.nan
        for j in range(tags):
            alpha[t, j] = row[j] * weight[t, j]
        total = _total(alpha[t])
        if not total > 0.0:
            return np.nan if np.isnan(total) else -np.inf
        _divide(alpha[t], total)
        _divide(weight[t], total)
        log_z += top + np.log(total)
    least = 1.0
    for j in range(tags):
        if alpha[words - 1, j] > 0.0:
            least = min(least, alpha[words - 1, j])
    if not least * last_low > _SMALLEST:
        return np.nan
    return log_z + np.log(_product(alpha[words - 1], last))  # type: ignore[no-any-return]


@compiled
def _forward_logs(emissions: Array, transitions: Array, start: Array, end: Array, alpha: Array) -> float:
    """log Z of one sentence [n, C], in log space; fills alpha [n, C] with logarithms."""
    words, tags = emissions.shape
    scores = np.empty(tags)
    for j in range(tags):
        alpha[0, j] = start[j] + emissions[0, j]
    for t in range(1, words):
        for j in range(tags):
            for i in range(tags):
                scores[i] = alpha[t - 1, i] + transitions[i, j]
            alpha[t, j] = _log_sum(scores) + emissions[t, j]
    for j in range(tags):
        scores[j] = alpha[words - 1, j] + end[j]
    return _log_sum(scores)


@on_tensors
@compiled
def forward(
    emissions: Array, transitions: Array, start: Array, end: Array, lengths: Array
) -> tuple[Array, Array, Array, Array]:
    """log Z [B], and what `backward` needs: alpha [B, N, C], weight [B, N, C], in_logs bool [B]."""
    rows, words, tags = emissions.shape
    moves, last = np.empty((tags, tags)), np.empty(tags)
    moves_top, moves_low = _exp_shifted(transitions.reshape(-1), moves.reshape(-1))
    last_top, last_low = _exp_shifted(end, last)
    alpha, weight = np.empty((rows, words, tags)), np.empty((rows, words, tags))
    log_z, in_logs = np.zeros(rows), np.zeros(rows, np.bool_)
    for b in range(rows):
        n = lengths[b]
        if n == 0:
            continue
        scaled = _forward_scaled(emissions[b, :n], moves, moves_low, start, last, last_low, alpha[b], weight[b])
        if np.isnan(scaled):
            in_logs[b] = True
            log_z[b] = _forward_logs(emissions[b, :n], transitions, start, end, alpha[b])
        else:
            log_z[b] = scaled + last_top + (n - 1) * moves_top if n > 1 else scaled + last_top
    return log_z, alpha, weight, in_logs


@compiled
def _backward_scaled(
    alpha: Array, weight: Array, moves_back: Array, last: Array, up: float, outer: Array, marginals: Array
) -> None:
    """One sentence [n, C]: fills marginals [n, C], adds up * (pair marginals / moves) over its words to outer [C, C].

    `moves_back` is the transposed matrix, so that the inner loops run along memory.
    """
    words, tags = alpha.shape
    flow, beta = np.empty(tags), np.empty(tags)
    total = _product(alpha[words - 1], last)
    for j in range(tags):
        beta[j] = last[j] / total
        marginals[words - 1, j] = alpha[words - 1, j] * beta[j]
    for t in range(words - 2, -1, -1):
        for j in range(tags):
            flow[j] = weight[t + 1, j] * beta[j]
            beta[j] = 0.0
        for j in range(tags):
            if flow[j] != 0.0:
                for i in range(tags):
                    beta[i] += flow[j] * moves_back[j, i]
        for i in range(tags):
            marginals[t, i] = alpha[t, i] * beta[i]
            before = up * alpha[t, i]
            if before != 0.0:
                for j in range(tags):
                    outer[i, j] += before * flow[j]


@compiled
def _backward_logs(
    emissions: Array,
    transitions: Array,
    end: Array,
    log_z: float,
    alpha: Array,
    up: float,
    pairs: Array,
    marginals: Array,
) -> None:
    """One sentence [n, C] in log space: fills marginals [n, C], adds up * (pair marginals) to pairs [C, C]."""
    words, tags = emissions.shape
    scores, before, beta = np.empty(tags), np.empty(tags), np.empty(tags)
    for j in range(tags):
        beta[j] = end[j]
        marginals[words - 1, j] = np.exp(alpha[words - 1, j] + beta[j] - log_z)
    for t in range(words - 2, -1, -1):
        for i in range(tags):
            for j in range(tags):
                scores[j] = transitions[i, j] + emissions[t + 1, j] + beta[j]
                pairs[i, j] += up * np.exp(alpha[t, i] + scores[j] - log_z)
            before[i] = _log_sum(scores)
            marginals[t, i] = np.exp(alpha[t, i] + before[i] - log_z)
        for j in range(tags):
            beta[j] = before[j]


@on_tensors
@compiled
def backward(
    emissions: Array,
    transitions: Array,
    end: Array,
    lengths: Array,
    log_z: Array,
    alpha: Array,
    weight: Array,
    in_logs: Array,
    upstream: Array,
) -> tuple[Array, Array, Array, Array]:
    """Gradients of sum(upstream * log Z) for emissions [B, N, C], transitions [C, C], start [C] and end [C].

    With `upstream` 1 the first is the marginals. A sentence that no path can tag (log Z = -inf) has gradient 0.
    """
    rows, words, tags = emissions.shape
    moves, last, marginals = np.empty((tags, tags)), np.empty(tags), np.empty((words, tags))
    _exp_shifted(transitions.reshape(-1), moves.reshape(-1))
    _exp_shifted(end, last)
    moves_back = np.empty((tags, tags))
    for i in range(tags):
        for j in range(tags):
            moves_back[j, i] = moves[i, j]
    of_emissions, of_start, of_end = np.zeros((rows, words, tags)), np.zeros(tags), np.zeros(tags)
    outer, pairs = np.zeros((tags, tags)), np.zeros((tags, tags))
    for b in range(rows):
        n, up = lengths[b], np.float64(upstream[b])
        if n == 0 or log_z[b] == -np.inf:
            continue
        if in_logs[b]:
            _backward_logs(emissions[b, :n], transitions, end, log_z[b], alpha[b], up, pairs, marginals)
        else:
            _backward_scaled(alpha[b, :n], weight[b], moves_back, last, up, outer, marginals)
        for j in range(tags):
            of_start[j] += up * marginals[0, j]
            of_end[j] += up * marginals[n - 1, j]
            for t in range(n):
                of_emissions[b, t, j] = up * marginals[t, j]
    for i in range(tags):
        for j in range(tags):
            pairs[i, j] += outer[i, j] * moves[i, j]
    return of_emissions, pairs, of_start, of_end
