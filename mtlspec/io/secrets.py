"""Passwords and tokens: the one place that knows how they look, and takes them out of what is written or printed."""

from __future__ import annotations

import base64
import os
import re
from urllib.parse import unquote

HIDDEN = "***"
_OF_FILES = ("sqlite", "file")  # their addresses are paths, in which an @ is a letter like any other

# An @ ends what must not be seen, and the last one counts: passwords may hold some, and slashes too.
_URL = re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s\"'<>]*@", re.IGNORECASE)
_QUERY = re.compile(r"([?&;][\w.~\[\]-]+=)[^&;#\s\"'<>)]+")
_FIELD = re.compile(
    r"(?<![\w-])((?:proxy-)?authorization|(?:set-)?cookie|x-[\w-]*(?:key|token|auth)|api[-_]?key|access[-_]?token"
    r"|token|password|passwd|secret)([\"']?\s*[:=]\s*(?:b?[\"'])?)(?:(?:basic|bearer|digest|negotiate)\s+)?[^\s\"',;&)}\]]+",
    re.IGNORECASE,
)
_SCHEME = re.compile(r"\b(basic|bearer)\s+[\w+/=.~-]{6,}", re.IGNORECASE)

# Shorter ones are hidden only where they stand alone: else a user called `mlflow` leaves holes in every message.
_LONG_NAME, _LONG_PASSWORD = 8, 4


def without_secrets(text: str, *addresses: str) -> str:
    """The text without users, passwords and tokens: those of MLflow's variables and of `addresses`, and whatever
    stands before the @ of a URL, in its query, or in a header that may carry them."""
    names, passwords = _known(addresses)
    long = dict.fromkeys(names, _LONG_NAME) | dict.fromkeys(passwords, _LONG_PASSWORD)
    for secret in sorted(long, key=len, reverse=True):
        hidden = re.escape(secret)
        alone = rf"(?<![\w./-]){hidden}(?![\w/-]|\.\w)"
        text = re.sub(hidden if len(secret) >= long[secret] else alone, HIDDEN, text)
    text = _URL.sub(lambda found: "".join(_parts(found.group())[::2]), text)
    text = _QUERY.sub(rf"\1{HIDDEN}", text)
    text = _FIELD.sub(rf"\1\2{HIDDEN}", text)
    return _SCHEME.sub(rf"\1 {HIDDEN}", text)


def clean_address(address: str) -> str:
    """An address as people may see it: where it leads, without the user and without what a query says."""
    start, _, rest = _parts(address)
    return without_secrets(start + rest)


def _parts(address: str) -> tuple[str, str, str]:
    """`http://`, who asks, and where: the middle ends at the last @ and is empty if there is none."""
    scheme, mark, rest = address.partition("://")
    if not mark:
        user, _, place = address.rpartition("@")
        return "", user, place
    if scheme.partition("+")[0].lower() in _OF_FILES:
        return scheme + mark, "", rest
    user, _, place = rest.rpartition("@")
    return scheme + mark, user, place


def _known(addresses: tuple[str, ...]) -> tuple[set[str], set[str]]:
    """Names of users; passwords, tokens and what is made of them for a header."""
    name, password = (os.environ.get(f"MLFLOW_TRACKING_{part}", "") for part in ("USERNAME", "PASSWORD"))
    names, passwords = {name}, {password, os.environ.get("MLFLOW_TRACKING_TOKEN", ""), _basic(name, password)}
    for address in (*addresses, os.environ.get("MLFLOW_TRACKING_URI", "")):
        user = _parts(address)[1]
        name, colon, password = user.partition(":")
        both = {name, unquote(name)}
        names |= both if colon else set()
        passwords |= {user, password, unquote(password), _basic(unquote(name), unquote(password))}
        passwords |= set() if colon else both
    return names - {""}, passwords - {""}


def _basic(name: str, password: str) -> str:
    return base64.b64encode(f"{name}:{password}".encode()).decode() if name else ""
