"""Probabilities of the edges at a site: how likely a message along each is lost."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.base.pairs import pair_key
from dgsuite.partition.clusters.cluster import Cluster
from dgsuite.partition.graph.graph import Graph

ALWAYS = 1 << 53
"""The limit below which all of the numbers lie that decide whether a message is lost."""

PLAIN, FALLING = 1, 2
"""Codes of a node that sent, and of one that crashes while it sends. A greater code says why nothing that
the node sent arrives.
"""

CODES = 9
"""All codes are below it."""

HALF = np.uint64(ALWAYS // 2)
ONE = np.uint64(1)


def limit(probability: Any) -> NDArray[np.uint64]:
    """The number below which that part of all numbers from 0 to `ALWAYS` lies."""
    return np.floor(np.asarray(probability, np.float64) * ALWAYS).astype(np.uint64)


def halved(limit: Any) -> Any:
    """The limit of messages of a node that crashes while it sends: they arrive half as often."""
    return HALF + (limit >> ONE)


class Chances:
    """Limits below which messages along edges are lost, by sender and receiver: the weights of the edges.

    Parameters
    ----------
    clusters
        Those of a site; edges of which neither end is in one are unknown.
    """

    def __init__(self, clusters: Iterable[Cluster]) -> None:
        keys: list[NDArray] = []
        weights: list[NDArray] = []
        self._n = 0
        for c in clusters:
            self._n = c.n
            for (indptr, indices), along, out in (
                ((c.indptr, c.indices), c.weights, True),
                (c.senders, c.sender_weights, False),
            ):
                own = np.repeat(c.ids, np.diff(indptr))
                src, dst = (own, indices) if out else (indices, own)
                keys.append(pair_key(src, dst, c.n))
                weights.append(np.zeros(len(indices)) if along is None else along)
        key, first = np.unique(np.concatenate(keys), return_index=True)
        self._keys = key
        self._limits = limit(np.concatenate(weights)[first])

    def of(self, src: NDArray, dst: NDArray) -> NDArray[np.uint64]:
        """The limit of each message, 0 of those along no edge."""
        forwards, there = self._find(pair_key(src, dst, self._n))
        backwards, _ = self._find(pair_key(dst, src, self._n))
        return np.where(there, forwards, backwards)

    def _find(self, key: NDArray) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
        """Limits of keys, 0 of those that are not there, and which are."""
        if not len(self._keys):
            return np.zeros(len(key), np.uint64), np.zeros(len(key), bool)
        at = np.minimum(np.searchsorted(self._keys, key), len(self._keys) - 1)
        there = self._keys[at] == key
        return np.where(there, self._limits[at], np.uint64(0)), there


def check_weights(graph: Graph) -> None:
    """See that the weights of edges are probabilities.

    Raises
    ------
    InputError
        They are not, or there are none.
    """
    from dgsuite.partition.graph.checks import of_clusters

    if not graph.weighted:
        raise InputError("loss='weight' needs a graph with weights")
    for wrong in of_clusters(graph, _wrong_weight):
        if wrong is not None:
            raise InputError(f"loss='weight' needs weights from 0 to 1, and an edge has {wrong!r}")


def _wrong_weight(cluster: Cluster) -> float | None:
    """A weight that is no probability, if there is one."""
    assert cluster.weights is not None
    wrong = cluster.weights[~((cluster.weights >= 0) & (cluster.weights <= 1))]
    return float(wrong[0]) if len(wrong) else None
