"""How near others are to a node: closeness (Wasserman and Faust 1994) and harmonic centrality (Marchiori and
Latora 2000), by searches from many sources at once.

Distances are hops of paths that lead to the node, as networkx has them. From a sample of the nodes both are
estimates (Eppstein and Wang 2001).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.analytics.bfs_many import ManySearches
from dgsuite.kernels.analytics.bfs_many import State as Searched
from dgsuite.kernels.tools import sources


@dataclass(eq=False)
class State(Searched):
    """What the nodes of a cluster know."""

    closeness: NDArray[np.float64] = bsp.later()
    harmonic: NDArray[np.float64] = bsp.later()


@dataclass(frozen=True)
class Centrality(ManySearches):
    """A centrality that is worked out from the totals of all searches."""

    samples: int | None = None

    state = State

    def check(self, c: bsp.Cluster) -> str | None:
        wrong = sources.wrong(self.samples, c.n)
        return wrong and wrong.replace("sources", "samples")

    def chosen(self, n: int) -> NDArray[np.int64]:
        return sources.chosen(self.samples, n, self.seed)

    def program(self, net: bsp.Net) -> bsp.Program:
        yield from super().program(net)
        yield bsp.Round(self.finish, closing=True)

    def finish(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        raise NotImplementedError

    def others(self, n: int, s: State) -> NDArray[np.int64]:
        """Sources other than each node."""
        return len(self.chosen(n)) - s.source.astype(np.int64)


@dataclass(frozen=True)
class Closeness(Centrality):
    """Closeness centrality, of directed and undirected graphs.

    Output ``closeness``, float64, from 0 to 1: of a node that r others reach, r divided by the sum of their
    distances; times r / (n - 1), so that few near nodes of a small component count less. 0 where none does.
    Distances are hops: weights do not count.

    Parameters
    ----------
    samples
        How many random nodes to take the distances from, which gives an estimate; by default all.
    wf_improved
        Whether to multiply by the share of the nodes that reach the node (Wasserman and Faust).

    Notes
    -----
    Rounds: at most ``ceil(samples / 64) * (diameter + 1)``: 64 searches at a time, a level of each in a
    round.

    Messages: at most ``samples * arcs``: a node tells each neighbour of each sample at most once.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])
    >>> dgsuite.run("closeness", graph).closeness.round(3).values
    array([0.75, 0.75, 1.  , 0.6 ])
    """

    wf_improved: bool = True

    name = "closeness"
    outputs = {
        "closeness": bsp.Output("closeness centrality"),
        "source": bsp.Output("whether distances from the node count"),
    }

    def finish(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        near = s.reached.astype(np.float64)
        s.closeness = np.divide(near, s.distance, out=c.zeros(np.float64), where=near > 0)
        if self.wf_improved:
            s.closeness *= near / np.maximum(self.others(c.n, s), 1)


@dataclass(frozen=True)
class Harmonic(Centrality):
    """Harmonic centrality, of directed and undirected graphs.

    Output ``harmonic``, float64: the sum, over the other nodes that reach the node, of 1 divided by their
    distance in hops: weights do not count.

    Parameters
    ----------
    samples
        How many random nodes to take the distances from; the sum is then an estimate: that of the sampled
        nodes times n - 1, divided by the number of those that are not the node. By default all.

    Notes
    -----
    Rounds: at most ``ceil(samples / 64) * (diameter + 1)``: 64 searches at a time, a level of each in a
    round.

    Messages: at most ``samples * arcs``: a node tells each neighbour of each sample at most once.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])
    >>> dgsuite.run("harmonic", graph).harmonic.values
    array([2.5, 2.5, 3. , 2. ])
    """

    name = "harmonic"
    outputs = {
        "harmonic": bsp.Output("harmonic centrality"),
        "source": bsp.Output("whether distances from the node count"),
    }

    def gain(self, depth: Any) -> Any:
        return 1 / depth

    def finish(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        s.harmonic = s.total * ((c.n - 1) / np.maximum(self.others(c.n, s), 1))
