"""Sources of a kernel that searches from several nodes: given, drawn, or all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.tools import rng


@dataclass(frozen=True)
class FromSources(bsp.Kernel):
    """A kernel that starts from several nodes, at least one."""

    sources: int | Sequence[bsp.Node] | None = None

    def check(self, c: bsp.Cluster) -> str | None:
        return super().check(c) or wrong(self.sources, c.n, some=True)

    def chosen(self, n: int) -> NDArray[np.int64]:
        """The sources, in the order in which they are given."""
        return chosen(self.sources, n, self.seed)


def wrong(sources: int | Sequence[int] | None, n: int, some: bool = False) -> str | None:
    """What is wrong with a parameter of sources on a graph with n nodes, or None.

    Parameters
    ----------
    some
        Whether there must be at least one.
    """
    if sources is None:
        return None
    values = np.asarray(sources)
    if some and not values.size:
        return "sources must be at least one node"
    if values.dtype.kind not in "iu" or values.ndim > 1:
        if not (values.ndim == 1 and not len(values)):
            return f"sources must be a number of nodes or a list of them, got {sources!r}"
    elif values.ndim == 0:
        if not 1 <= values <= n:
            return f"sources must be from 1 to {n}, the number of nodes, got {sources}"
    elif len(np.unique(values)) < len(values):
        return "sources must be different nodes"
    return None


def chosen(sources: int | Sequence[int] | None, n: int, seed: int) -> NDArray[np.int64]:
    """The sources as node ids: those of a list, a number of random ones, or all."""
    if sources is None:
        return np.arange(n)
    if isinstance(sources, int | np.integer):
        luck = rng.uniform("counter", seed, np.arange(n), 0)
        least = np.flatnonzero(luck <= np.partition(luck, sources - 1)[sources - 1])
        return np.sort(least[np.argsort(luck[least], kind="stable")[:sources]])
    return np.asarray(sources, np.int64).reshape(-1)


def own(c: bsp.Cluster, nodes: NDArray) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Those of some nodes that a cluster has: their indices in the cluster, and their places in the list."""
    at = c.index_in(c.partition.position(nodes))
    mine = np.flatnonzero(at >= 0)
    return at[mine], mine
