"""A promise, and what is said of one that is not kept."""

from __future__ import annotations


class BrokenPromiseError(AssertionError):
    """A kind does not do what every kind of its family does."""


def promise(kept: object, otherwise: str) -> None:
    """`otherwise`: what is the case instead."""
    if not kept:
        raise BrokenPromiseError(otherwise)
