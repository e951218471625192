"""What DVC has to say, in our words.

DVC draws progress bars of its own wherever stderr is a terminal, for every file that it looks at, over whatever else is
drawn there. It decides by the level of two loggers, so those are silenced; its errors are told, each as one line.
"""

from __future__ import annotations

import importlib
import logging
from collections.abc import Callable

_PACKAGES = ("dvc", "dvc_data", "dvc_objects")
_BARS = ("dvc.progress", "dvc_data.callbacks")  # a bar is drawn unless its logger leaves out errors


def speak_for_dvc(tell: Callable[[str], None]) -> None:
    """Keep DVC off the terminal of this process; `tell` gets its errors."""
    importlib.import_module("dvc")  # which gives its loggers levels and handlers
    handler = _Teller(tell)
    for name in _PACKAGES:
        logger = logging.getLogger(name)
        logger.setLevel(logging.ERROR)
        logger.handlers = [handler]
        logger.propagate = False
    for name in _BARS:
        logging.getLogger(name).setLevel(logging.CRITICAL)


class _Teller(logging.Handler):
    def __init__(self, tell: Callable[[str], None]) -> None:
        super().__init__(logging.ERROR)
        self._tell = tell

    def emit(self, record: logging.LogRecord) -> None:
        said = [record.getMessage()]
        if record.exc_info and record.exc_info[1] is not None:
            said.append(str(record.exc_info[1]))
        self._tell("DVC: " + " ".join(": ".join(part for part in said if part).split()))
