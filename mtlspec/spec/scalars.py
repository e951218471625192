"""Plain scalars as YAML 1.2's core schema reads them: `2e-5` is a number, `no` and `on` are texts."""

from __future__ import annotations

import math
import re

_NULLS = frozenset(("", "~", "null", "Null", "NULL"))
_BOOLS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INT = re.compile(r"[-+]?[0-9]+")
_BASED = re.compile(r"0o([0-7]+)|0x([0-9a-fA-F]+)")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_LARGEST = 2**63 - 1
_LONGEST = 400  # digits beyond these cannot matter and take quadratic time to read
_FIRST = frozenset("+-.0123456789")


def resolve(text: str) -> str | int | float | bool | None:
    """The value of a plain scalar; ValueError says what is wrong with a number that cannot be used."""
    if text in _NULLS:
        return None
    if text in _BOOLS:
        return _BOOLS[text]
    if text[0] not in _FIRST:
        return text
    if _NOT_FINITE.fullmatch(text):
        raise ValueError(f"{text} is not a finite number")
    if based := _BASED.fullmatch(text):
        octal, hexadecimal = based.groups()
        return _whole(octal or hexadecimal, 8 if octal else 16)
    if _INT.fullmatch(text):
        return _whole(text, 10)
    if _FLOAT.fullmatch(text):
        _check_length(text)
        number = float(text)
        if not math.isfinite(number):
            raise ValueError(f"{text[:20]} is too large")
        return number
    return text


def _whole(digits: str, base: int) -> int:
    _check_length(digits)
    number = int(digits, base)
    if abs(number) > _LARGEST:
        raise ValueError("a whole number must fit in 64 bits")
    return number


def _check_length(text: str) -> None:
    if len(text) > _LONGEST:
        raise ValueError(f"a number of {len(text)} characters is too long")
