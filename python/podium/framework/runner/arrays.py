"""Checks of the arrays that plugins return; a wrong one is a ``PluginError`` that names the plugin."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from podium._core import first_outside
from podium.errors import PluginError
from podium.framework.plugin import MAX_SCORE, MIN_SCORE
from podium.framework.results import FilterResult
from podium.framework.status import Code, Status

_BOOL: Final = np.dtype(np.bool_)
_INT64: Final = np.dtype(np.int64)
_INT64_MAX: Final = np.iinfo(np.int64).max
_CODES = {int(code): code for code in Code}


@dataclass(frozen=True, slots=True, eq=False)
class RejectedNodes:
    """Nodes that one plugin rejected for the same reasons; ``rows`` are ascending indices, shape (count,)."""

    status: Status
    rows: NDArray[np.intp]


def check_filter(plugin: str, answer: Any, nodes: int) -> FilterResult:
    """Return a filter's answer as a ``FilterResult`` whose arrays have the right type and length."""
    if type(answer) is np.ndarray and answer.dtype is _BOOL and answer.shape == (nodes,):
        return FilterResult(answer)
    result = answer if isinstance(answer, FilterResult) else FilterResult(answer)
    where = f'plugin "{plugin}": filter'
    _check_array(where, "mask", result.mask, nodes, "b", "bool")
    if not isinstance(result.reasons, tuple) or not all(isinstance(text, str) for text in result.reasons):
        raise PluginError(f"{where} gave reasons that are not a tuple of strings")
    if result.reason is not None:
        _check_array(where, "reason", result.reason, nodes, "iu", "an integer")
        bad = ~result.mask & ((result.reason < 0) | (result.reason >= len(result.reasons)))
        if bad.any():
            row = int(bad.argmax())
            text = f"reason {result.reason[row]} for row {row}, of {len(result.reasons)} reasons"
            raise PluginError(f"{where} gave {text}")
    if not isinstance(result.code, Code):
        _check_array(where, "code", result.code, nodes, "iu", "an integer")
        bad = ~result.mask & ~np.isin(result.code, list(_CODES))
        if bad.any():
            raise PluginError(f"{where} gave {result.code[int(bad.argmax())]}, which is no status code")
    return result


def group_rejections(
    plugin: str, result: FilterResult, rejected: NDArray[np.bool_]
) -> Iterator[RejectedNodes]:
    """Split the rows that ``rejected`` marks by code and reasons, in the order of their first row."""
    rows = np.flatnonzero(rejected)
    if result.reason is None and isinstance(result.code, Code):
        yield RejectedNodes(_status(plugin, result, int(result.code), None), rows)
        return
    codes = int(result.code) if isinstance(result.code, Code) else result.code[rows].astype(np.int64)
    reasons = 0 if result.reason is None else result.reason[rows].astype(np.int64)
    keys = np.broadcast_to(codes * np.int64(max(len(result.reasons), 1)) + reasons, rows.shape)
    distinct, first = np.unique(keys, return_index=True)
    for key in distinct[np.argsort(first)]:
        code, number = divmod(int(key), max(len(result.reasons), 1))
        status = _status(plugin, result, code, None if result.reason is None else number)
        yield RejectedNodes(status, rows[keys == key])


def _status(plugin: str, result: FilterResult, code: int, reason: int | None) -> Status:
    reasons = result.reasons if reason is None else (result.reasons[reason],)
    return Status(_CODES[code], reasons or (f"node(s) didn't satisfy plugin {plugin}",), plugin)


def check_scores(plugin: str, method: str, answer: Any, nodes: int) -> NDArray[np.int64]:
    """Return scores as int64; integers of other widths are converted, everything else is refused."""
    if type(answer) is np.ndarray and answer.dtype is _INT64 and answer.shape == (nodes,):
        return answer
    where = f'plugin "{plugin}": {method}'
    if isinstance(answer, np.ndarray) and answer.dtype.kind == "f" and bool(np.isnan(answer).any()):
        raise PluginError(f"{where} returned NaN for row {int(np.isnan(answer).argmax())}")
    _check_array(where, "scores", answer, nodes, "iu", "int64")
    if answer.dtype.kind == "u" and answer.dtype.itemsize == 8 and bool((answer > _INT64_MAX).any()):
        raise PluginError(f"{where} returned a score above 2^63-1")
    scores: NDArray[np.int64] = answer.astype(np.int64, copy=False)
    return scores


def check_range(plugin: str, scores: NDArray[np.int64], candidates: NDArray[np.bool_]) -> None:
    """Refuse normalised scores outside 0..100 on a feasible node."""
    row = first_outside(scores, candidates, MIN_SCORE, MAX_SCORE)
    if row is not None:
        rule = f"it should in the range of [{MIN_SCORE}, {MAX_SCORE}] after normalizing"
        raise PluginError(f'plugin "{plugin}" returns an invalid score {scores[row]}, {rule} (row {row})')


def _check_array(where: str, what: str, value: Any, nodes: int, kinds: str, expected: str) -> None:
    if not isinstance(value, np.ndarray):
        kind = type(value).__name__
        raise PluginError(f"{where} returned {kind} as {what}, expected a NumPy array of {expected}")
    if value.dtype.kind not in kinds:
        raise PluginError(f"{where} returned {value.dtype} as {what}, expected {expected}")
    if value.shape != (nodes,):
        raise PluginError(f"{where} returned {what} of shape {value.shape}, expected ({nodes},)")
