"""Where compiled loops are kept, whether there are any, and what they took; without importing Numba."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from dgsuite.base.version import __version__


def root() -> Path:
    """The folder of compiled loops of all versions and processors.

    It is below ``NUMBA_CACHE_DIR`` where that is set, and else below the user's folder for caches.
    """
    below = os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME")
    return Path(below or Path.home() / ".cache", "dgsuite")


def are_kept() -> bool:
    """Whether loops over edges are kept there, for this version."""
    return next(root().glob(f"{__version__}-*/_compiled-*/*.nbi"), None) is not None


def tell(what: str) -> None:
    """Log how long this process has compiled for something, if that was long and was not said yet."""
    compiling = sys.modules.get("dgsuite.base.compiling")
    if compiling is not None:
        compiling.notice.tell(what)
