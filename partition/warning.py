"""Warnings that name the line of the user's code."""

from __future__ import annotations

import sys
import warnings

PACKAGES = ("partition", "genval", "kernels", "dgsuite")
"""Packages whose lines are not the user's."""


def warn(text: str, category: type[Warning]) -> None:
    """Warn about the line from which these packages were called."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and _ours(frame.f_globals.get("__name__", "")):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level)


def _ours(module: str) -> bool:
    return module.partition(".")[0] in PACKAGES or module == "contextlib"
