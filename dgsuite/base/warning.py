"""Warnings that name the line of the user's code."""

from __future__ import annotations

import sys
import warnings


def warn(text: str, category: type[Warning]) -> None:
    """Warn about the line from which dgsuite was called."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and _ours(frame.f_globals.get("__name__", "")):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level)


def _ours(module: str) -> bool:
    return module.partition(".")[0] == "dgsuite" or module == "contextlib"
