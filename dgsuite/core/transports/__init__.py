"""Comm backends for Dask, found by entry point: any Dask program can use them by their scheme."""

from __future__ import annotations

from functools import cache

from dgsuite.base import capabilities


def fastest() -> str:
    """The scheme for workers of one host: shared memory where it can be had, else Dask's TCP.

    Examples
    --------
    >>> from dgsuite.core.transports import fastest
    >>> fastest() in ("mpb", "tcp")  # for LocalCluster(protocol=fastest())
    True
    """
    there = capabilities.has("memory files") and capabilities.has("passed files")
    return "mpb" if there and _is_installed("mpb") else "tcp"


@cache
def _is_installed(scheme: str) -> bool:
    from importlib.metadata import entry_points

    return scheme in entry_points(group="distributed.comm.backends").names
