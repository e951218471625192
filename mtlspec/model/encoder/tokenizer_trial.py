"""A tokenizer's first try, in a process of its own: patterns of a stranger's file may take any time and memory."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from mtlspec.errors import EncoderError
from mtlspec.spec.words import shorten

SECONDS = 20  # of processor time, for texts that take milliseconds
_WALL_SECONDS = 120  # on a busy machine
_MEMORY = 6 * 2**30  # bytes of address space; the largest vocabularies take a tenth

_SCRIPT = """
import resource, sys
seconds, memory, path = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
for limit, value in ((resource.RLIMIT_CPU, seconds), (resource.RLIMIT_AS, memory), (resource.RLIMIT_CORE, 0)):
    try:
        resource.setrlimit(limit, (value, value))
    except (OSError, ValueError):
        pass  # not every system has every limit
try:
    from tokenizers import Tokenizer
    tokenizer = Tokenizer.from_file(path)
    for sign in "a1 .-A'\\u00e9\\u4e2d\\n":
        for size in (1, 30, 200):
            for end in ("", "!", "b", "\\n"):
                tokenizer.encode(sign * size + end)
    tokenizer.encode("It's 3.50 for \\U0001f600 and a_b-c, isn't it?", "A second text.")
except BaseException as error:
    print((str(error).strip().splitlines() or [type(error).__name__])[0])
    sys.exit(3)
"""


def try_tokenizer(path: Path) -> None:
    """An error unless the `tokenizer.json` can be read, and reads short texts, in bounded time and memory."""
    command = [sys.executable, "-P", "-c", _SCRIPT, str(SECONDS), str(_MEMORY), str(path)]
    quiet = {**os.environ, "RUST_BACKTRACE": "0", "TOKENIZERS_PARALLELISM": "false"}
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=quiet,
            timeout=_WALL_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise _explodes(path) from None
    if done.returncode == 3:
        reason = shorten(done.stdout.decode(errors="replace").strip())
        raise EncoderError("E390", f"the tokenizer cannot read short texts: {reason}", path)
    if done.returncode:
        raise _explodes(path)


def _explodes(path: Path) -> EncoderError:
    message = f"the tokenizer needs over {SECONDS} s or {_MEMORY // 2**30} GB for short texts"
    return EncoderError("E391", message, path, "one of its patterns explodes: take the tokenizer's original files")
