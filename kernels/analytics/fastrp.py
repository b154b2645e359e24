"""Embeddings by very sparse random projections (Chen, Sultan, Tian, Chen and Skiena 2019, Fast and accurate
network embeddings via very sparse random projection, CIKM, algorithm 1).

A node's random vector has few entries that are not 0. It tells its neighbours its vector, and each takes the
mean of what it is told; again and again, which multiplies all vectors by powers of the transition matrix. The
embedding is a weighted sum of these powers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.mixing import key
from dgsuite.kernels import analytics, bsp
from dgsuite.kernels.analytics.extremes import heavy
from dgsuite.partition.arrays.segments import add, lent

WIDEST = 1 << 16
"""Most dimensions."""


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know."""

    embedding: NDArray[np.float32]  # by node and dimension
    vector: NDArray[np.float32]  # the random vectors, times the last power


@dataclass(frozen=True)
class FastRP(bsp.Weighted):
    """A vector for each node, such that nodes with similar neighbourhoods have similar vectors.

    Output ``embedding``, float32, by node and dimension: rows of the matrix ``(powers[0] A + powers[1] A^2 +
    ...) L R``. A is the adjacency matrix, each row divided by its sum; L is diagonal and has ``(d / s)^beta``
    for a node of degree d, where s is the sum of all degrees; R is random, with entries ``sqrt(sparsity)``
    and ``-sqrt(sparsity)``, each with probability ``1 / (2 sparsity)``, and else 0. The vector of a node
    without neighbours is 0. With weights, entries of A and degrees are those of the weighted graph.

    Parameters
    ----------
    dimensions
        Length of the vectors, from 1 to 65,536.
    powers
        Weight of each power of A, from the first on: how much nodes so many steps away count.
    normalise
        Whether each row of each power is scaled to length 1 before it is weighted, as the authors' program
        does.
    beta
        From -1 to 1: with a negative one nodes of high degree count less.
    sparsity
        From 1 on; the paper has 3, and greater numbers make more entries 0.

    Notes
    -----
    Rounds: exactly ``len(powers)``.

    Exchanges: at most ``rounds``.

    Messages: exactly ``arcs * len(powers)``: a node tells each neighbour its vector in each round.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2, 3, 4, 5, 0], [1, 2, 0, 4, 5, 3, 3])
    >>> ds = dgsuite.run("fastrp", graph, dimensions=32)
    >>> ds.embedding.shape
    (6, 32)
    >>> near = ds.embedding.values @ ds.embedding.values.T
    >>> bool(near[1, 2] > near[1, 4])
    True
    """

    dimensions: int = 128
    powers: Sequence[float] = (0.0, 1.0, 1.0)
    normalise: bool = True
    beta: float = 0.0
    sparsity: float = 3.0

    name = "fastrp"
    obeys = bsp.Model("edges", reduces="data")
    outputs = {"embedding": bsp.Output("vector of the node", dims=("node", "dimension"))}
    numbered = ("dimension",)
    fields = {"vector": np.float32}
    allowed = {"dimensions": (1, WIDEST), "beta": (-1, 1)}
    refuses = bsp.no_faults(bsp.READS_LATEST)

    def extra_bytes(self, n: int, nodes: int, entries: int) -> int:
        return 2 * 4 * self.dimensions * nodes

    def widths(self, n: int) -> dict[str, int]:
        return {"vector": self.dimensions}

    def check(self, c: bsp.Cluster) -> str | None:
        if not len(self.powers) or not np.isfinite(np.asarray(self.powers, np.float64)).all():
            return f"powers must be finite numbers, at least one, got {self.powers!r}"
        if not 1 <= self.sparsity < float("inf"):
            return f"sparsity must be at least 1, got {self.sparsity!r}"
        wrong = heavy(c.weights, 400) if self.weighted else None
        return super().check(c) or wrong

    def program(self, net: bsp.Net) -> bsp.Program:
        total = (yield bsp.Round(self.survey, opening=True)).sum
        for power, factor in enumerate(self.powers):
            step: Any = {"total": float(total), "power": power, "factor": float(factor)}
            yield bsp.Round(self.tell, self.average, **step)

    def start(self, c: bsp.Cluster) -> State:
        return State(*np.zeros((2, c.size, self.dimensions), np.float32))

    def survey(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Vote:
        return bsp.vote(sum=self.degrees(c))

    def degrees(self, c: bsp.Cluster) -> NDArray[np.float64]:
        """Number, or weight, of each node's edges."""
        if self.weighted and c.weights is not None:
            return add(c.weights.astype(np.float64), c.indptr)
        return c.degree.astype(np.float64)

    def tell(
        self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, total: float, power: int
    ) -> bsp.Broadcast:
        if power == 0:
            share = self.degrees(c) / (total or 1.0)
            first = key(self.seed, 0)[0]
            analytics._fastrp.project(c.ids, share, self.beta, first, self.sparsity, s.vector)
        return bsp.broadcast(vector=s.vector)

    def average(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, factor: float) -> None:
        if not len(c.indices):
            return
        indptr, slots, vectors = inbox.latest("vector")
        weights = c.weights if self.weighted and c.weights is not None else lent(np.empty(0))
        how = self.normalise, factor
        analytics._fastrp.step(indptr, slots, weights, vectors, *how, s.vector, s.embedding)
