"""How many nodes reach a node, and over how many hops, by HyperBall (Boldi and Vigna 2013, "In-core
computation of geometric centralities with HyperBall").

Each node has a HyperLogLog counter (Flajolet et al. 2007) of the nodes at most t hops away. Those at most
t + 1 hops away are the union of the neighbours' counters, which takes the larger of two registers. A node
whose counter has grown tells its neighbours (as HyperANF: Boldi, Rosa and Vigna 2011).

A counter is read by Ertl's estimate (2017, "New cardinality estimation algorithms for HyperLogLog sketches",
section 4), which needs no correction for small numbers and grows with the registers. Terms for counters that
are nearly full are left out: with 53 bits of a random number no graph fills one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import analytics, bsp
from dgsuite.kernels.tools.rng import uniform

SHARE = 0.9
"""The effective diameter is the number of hops within which this share of the pairs are."""

DIGITS = 53
"""Bits of a random number."""

STANDARD_ERRORS = {4: 1.106, 5: 1.070, 6: 1.054, 7: 1.046}
"""Standard errors by `log2m`, in units of 1 / sqrt(2^log2m); 1.04 for larger `log2m` (Flajolet et al. 2007,
theorem 1)."""


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know."""

    registers: NDArray[np.uint8]  # per node its counter
    ball: NDArray[np.int64] = bsp.per_node(1)  # estimate of the nodes that it has counted
    distance: NDArray[np.int64] = bsp.per_node(0)
    harmonic: NDArray[np.float64] = bsp.per_node(0.0)
    reached: NDArray[np.int64] = bsp.later()
    closeness: NDArray[np.float64] = bsp.later()


@dataclass(frozen=True)
class HyperBall(bsp.Kernel):
    """Estimates of the nodes that reach a node, of their distances, and of two centralities.

    Outputs ``reached``, how many other nodes reach the node, int64; ``distance``, the sum of their distances,
    int64; ``harmonic``, the sum of 1 divided by each of them, and ``closeness`` as of kernel "closeness",
    float64. Of directed graphs, too: paths lead to the node. Distances are hops: weights do not count.

    The dataset's variable ``neighbourhood`` has, for round t, the number of pairs of nodes that are at most t
    hops apart, each node with itself as well; it is the sum of the estimates of all nodes. Attributes:
    ``relative_standard_error``, of the count of each node; ``effective_diameter``, the hops within which 90 %
    of all pairs with a path are, between two rounds interpolated. "bfs_many" from all nodes finds the exact
    numbers, in time for n * m edges.

    Parameters
    ----------
    log2m
        Logarithm to base 2 of the number of registers, 4 to 16. The relative standard error is
        1.04 / sqrt(2^log2m), 6.5 % by default, and a little more below 8: 1.106 / sqrt(16) at 4. A register
        is a byte: a cluster has 2^log2m bytes for each node, and its worker as many for each node that sends
        to its nodes.

    Notes
    -----
    Rounds: at most ``diameter + 2``: one for each hop as long as a counter grows.

    Exchanges: at most ``rounds``.

    Messages: at most ``rounds * arcs``: a node tells each neighbour its counter when that has grown.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])
    >>> ds = dgsuite.run("hyperball", graph, log2m=10)
    >>> ds.reached.values, ds.distance.values
    (array([3, 3, 3, 3]), array([4, 4, 3, 5]))
    >>> ds.neighbourhood.values.tolist(), round(ds.effective_diameter, 2)
    ([4, 12, 16, 16], 1.6)
    """

    log2m: int = 8

    name = "hyperball"
    obeys = bsp.Model("edges", reduces="control")
    streams = True
    outputs = {
        "reached": bsp.Output("estimated number of other nodes that reach the node"),
        "distance": bsp.Output("estimated sum of the hops from these nodes"),
        "harmonic": bsp.Output("estimated harmonic centrality"),
        "closeness": bsp.Output("estimated closeness centrality"),
    }
    fields = {"counter": np.uint8, "hop": np.int32}
    refuses = bsp.no_faults(bsp.READS_LATEST)
    notes = {
        "neighbourhood": "estimated pairs of nodes at most as many hops apart as the round's number"
    }
    state = State
    undirected = False
    pulls = True
    allowed = {"log2m": (4, 16)}

    def extra_bytes(self, n: int, nodes: int, entries: int) -> int:
        return nodes << self.log2m

    def widths(self, n: int) -> dict[str, int]:
        return {"counter": 1 << self.log2m}

    def attributes(self, n: int, noted: Mapping[str, NDArray]) -> dict[str, Any]:
        error = STANDARD_ERRORS.get(self.log2m, 1.04) / sqrt(1 << self.log2m)
        diameter = effective_diameter(noted["neighbourhood"])
        return {"relative_standard_error": error, "effective_diameter": diameter}

    def program(self, net: bsp.Net) -> bsp.Program:
        yield bsp.Round(self.begin)
        hop, grows = 0, True
        while grows:
            hop += 1
            grows = (yield bsp.Round(self.grow, hop=hop)).any
        yield bsp.Round(self.finish, closing=True)

    def start(self, c: bsp.Cluster) -> State:
        """Each node has counted itself: a random register has the place of a random number's first bit."""
        register, rest = np.divmod(uniform("counter", self.seed, c.ids, 0) * (1 << self.log2m), 1)
        _, exponent = np.frexp(np.maximum(rest, 2.0 ** (self.log2m - DIGITS - 1)))
        registers = np.zeros((c.size, 1 << self.log2m), np.uint8)
        registers[np.arange(c.size), register.astype(np.int64)] = 1 - exponent
        return State.of(c, registers=registers)

    def begin(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Sent:
        return bsp.broadcast(counter=s.registers, hop=1), self.count(s)

    def grow(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox, hop: int) -> bsp.Sent:
        """Nodes count those that are one hop farther away."""
        rows = inbox.receivers()
        fresh = np.empty(len(rows), np.int64)
        if len(rows):
            along = (*inbox.latest("counter"), inbox.latest("hop").values, hop, rows)
            fresh = fresh[: analytics._hyperball.merge(*along, s.registers, fresh)]
            more = analytics._hyperball.estimate(s.registers, fresh, c.n) - s.ball[fresh]
            s.ball[fresh] += more
            s.distance[fresh] += hop * more
            s.harmonic[fresh] += more / hop
        sent = bsp.broadcast(fresh, counter=s.registers[fresh], hop=hop + 1)
        return sent, bsp.vote(any=len(fresh) > 0), self.count(s)

    def count(self, s: State) -> bsp.Note:
        return bsp.Note({"neighbourhood": int(s.ball.sum())})

    def finish(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        s.reached = s.ball - 1
        near = s.reached.astype(np.float64)
        s.closeness = np.divide(near, s.distance, out=c.zeros(np.float64), where=near > 0)
        s.closeness *= near / max(c.n - 1, 1)


def effective_diameter(pairs: NDArray[np.int64]) -> float:
    """Hops within which `SHARE` of all pairs are, from the pairs at most 0, 1, 2, ... hops apart.

    Examples
    --------
    >>> import numpy as np
    >>> from dgsuite.kernels.analytics.hyperball import effective_diameter
    >>> effective_diameter(np.array([10, 70, 110, 110]))
    1.725
    """
    wanted = SHARE * float(pairs[-1])
    hops = int(np.argmax(pairs >= wanted))
    if not hops:
        return 0.0
    before, after = pairs[hops - 1 : hops + 1].tolist()
    return hops - 1 + (wanted - before) / (after - before)
