"""Similarity of nodes by the neighbours that they have in common (Liben-Nowell and Kleinberg 2007, "The
link-prediction problem for social networks").

Each node sends its list of neighbours to them. For an edge, the cluster of the end with the longer list
looks up the items of the shorter list in it. For the best nodes two hops away, it adds up over the lists of a
node's neighbours (Gustavson 1978). For given pairs, it looks up the target in these lists.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, Self, get_args

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.kernels import analytics, bsp
from dgsuite.partition.arrays.segments import expand
from dgsuite.partition.graph.graph import Graph

Name = Literal[
    "jaccard",
    "overlap",
    "cosine",
    "adamic_adar",
    "resource_allocation",
    "common_neighbours",
    "preferential_attachment",
]

MODERATE = 2.0**200
"""Largest weight, and the inverse of the smallest: products of four fit a float64."""


class Measure(NamedTuple):
    """How a similarity is made: names of constants of the compiled loops."""

    term: str
    way: str
    weighted: str | None = None
    """The terms where weights count, if they have a usual meaning."""


MEASURES = {
    "jaccard": Measure("ONES", "JACCARD", "LEAST"),
    "overlap": Measure("ONES", "OVERLAP", "LEAST"),
    "cosine": Measure("ONES", "COSINE", "PRODUCTS"),
    "adamic_adar": Measure("GAINS", "SUM"),
    "resource_allocation": Measure("GAINS", "SUM"),
    "common_neighbours": Measure("ONES", "SUM"),
    "preferential_attachment": Measure("ONES", "ATTACHMENT"),
}
"""Measures by name."""


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes of a cluster know, and the rows of the result."""

    size: NDArray[np.float64]
    degrees: NDArray[np.int32] = bsp.later()  # of neighbours, by entry
    theirs: NDArray = bsp.later()  # sizes of neighbours, by entry; later those of targets
    source: NDArray[np.int32] = bsp.later()
    target: NDArray[np.int32] = bsp.later()
    similarity: NDArray[np.float64] = bsp.later()


@dataclass(frozen=True)
class Similarity(bsp.Weighted):
    """How similar nodes are by their neighbours: ends of edges, pairs, or the best of each node.

    Outputs ``source``, ``target`` and ``similarity``, a table with a row for each pair, by ascending source:

    - of each edge once, by ascending target; the source is the end with more neighbours, of equals the
      smaller node if the sum of both is even, else the larger one;
    - with `pairs`, of each of these once, by ascending target;
    - with `k`, of each node and the `k` most similar nodes two hops away, which share a neighbour with it
      and are no neighbours themselves; the best first, of equals the smaller node. A node has fewer rows
      where there are fewer.

    Node u has the neighbours N(u), and C is what N(u) and N(v) have in common. Without weights,

    - ``jaccard`` is ``|C| / |N(u) or N(v)|``;
    - ``overlap`` is ``|C| / min(|N(u)|, |N(v)|)``;
    - ``cosine`` is ``|C| / sqrt(|N(u)| |N(v)|)``;
    - ``adamic_adar`` is the sum of ``1 / log(|N(w)|)`` over w in C (Adamic and Adar 2003);
    - ``resource_allocation`` is the sum of ``1 / |N(w)|`` over w in C (Zhou, Lu and Zhang 2009);
    - ``common_neighbours`` is ``|C|``;
    - ``preferential_attachment`` is ``|N(u)| |N(v)|``.

    What would divide by 0 is 0. The first three have a usual meaning with weights, and are weighted where the
    graph is, unless ``weighted=False``: in ``jaccard`` and ``overlap`` a common neighbour counts by the
    smaller one of its two weights, and a node by the sum of its weights (Ruzicka's form); ``cosine`` is that
    of the rows of the weight matrix. The others refuse ``weighted=True``.

    A worker holds the lists of its nodes and of their neighbours; with `k` besides 24 bytes for each node of
    the graph, for each cluster that runs, and the result.

    Parameters
    ----------
    measure
        Name of the measure.
    pairs
        Pairs of nodes: a dataframe of pandas or Dask with columns ``source`` and ``target``, an array of
        shape (p, 2), or a sequence of pairs. All workers get them, 16 bytes each. The nodes of a pair may be
        neighbours, far apart, or the same.
    k
        Number of nodes to find for each node, from 1 on; not with `pairs`.

    Notes
    -----
    Rounds: exactly ``1``.

    Exchanges: at most ``3``.

    Messages: at most ``4 * m + p``: a node sends its degree, then its list, to each neighbour, and the target
    of each of p given pairs its size to the source.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])
    >>> ds = dgsuite.run("similarity", graph, measure="jaccard")
    >>> print(dgsuite.to_dataframe(ds).compute())
       source  target  similarity
    0       1       0    0.333333
    1       2       0    0.250000
    2       2       1    0.250000
    3       2       3    0.000000
    >>> dgsuite.run("similarity", graph, pairs=[(3, 0), (0, 0)]).similarity.values
    array([1. , 0.5])
    >>> best = dgsuite.run("similarity", graph, measure="adamic_adar", k=1)
    >>> best.source.values, best.target.values
    (array([0, 1, 3], dtype=int32), array([3, 3, 0], dtype=int32))
    """

    measure: Name = "jaccard"
    pairs: bsp.Pairs | None = None
    k: int | None = None

    name = "similarity"
    obeys = bsp.Model("nodes", None)
    short_ids = True
    outputs = {
        "source": bsp.Output("first node of the pair", dims=("pair",), nodes=True),
        "target": bsp.Output("second node of the pair", dims=("pair",), nodes=True),
        "similarity": bsp.Output("similarity of the two", dims=("pair",)),
    }
    numbered = ("pair",)
    allowed = {"k": (1, np.inf)}
    fields = {"degree": np.int32, "size": np.float64, "neighbour": np.int32, "weight": np.float64}
    refuses = bsp.no_faults(bsp.SHARES_LISTS)
    state = State

    def check(self, c: bsp.Cluster) -> str | None:
        if self.k is not None and self.pairs is not None:
            return "k finds pairs, and pairs names them: give one of the two"
        weights = c.weights if self.weighted else None
        return super().check(c) or (None if weights is None else self._unfit(weights))

    def _unfit(self, weights: NDArray) -> str | None:
        """What is wrong with the weights of a cluster, if anything."""
        least, heavy = weights.min(initial=0), np.abs(weights.astype(np.float64))
        if least < 0 and self.measure != "cosine":
            return f"{self.measure} takes no negative weights, got {least}; weighted=False ignores them"
        wrong = weights[(heavy > MODERATE) | ((heavy < 1 / MODERATE) & (heavy > 0))]
        if len(wrong):
            return f"weights must be 0 or from 2^-200 to 2^200 in size, got {wrong[0]}"
        return None

    def suited(self, graph: Graph) -> Self:
        if MEASURES[self.measure].weighted is not None:
            return super().suited(graph)
        if self.weighted:
            known = ", ".join(name for name in get_args(Name) if MEASURES[name].weighted)
            raise InputError(
                f"kernel 'similarity': {self.measure} has no usual form with weights; leave out "
                f"weighted=True, or take one of {known}"
            )
        return replace(self, weighted=False)

    def program(self, net: bsp.Net) -> bsp.Program:
        if self.pairs is None:
            yield bsp.Round(self.tell, self.share, self.compare)
        else:
            yield bsp.Round(self.answer, self.ask, self.share, self.compare)

    def start(self, c: bsp.Cluster) -> State:
        size: NDArray = c.degree
        if (weights := self._weights(c)) is not None:
            row = np.repeat(np.arange(c.size), c.degree)
            amount = weights**2 if self.measure == "cosine" else weights
            size = np.bincount(row, amount, c.size)  # adds by ascending neighbour
        return State(size.astype(np.float64))

    def _weights(self, c: bsp.Cluster) -> NDArray[np.float64] | None:
        """Weights by entry, if they count."""
        return c.weights.astype(np.float64) if self.weighted and c.weights is not None else None

    def tell(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Broadcast:
        if self._weights(c) is None:  # the size is the degree
            return bsp.broadcast(degree=c.degree)
        return bsp.broadcast(degree=c.degree, size=s.size)

    def answer(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Unicast:
        """Targets tell sources their size."""
        source, target = self._among(c, 1)
        row = c.partition.position(target) - c.first
        return bsp.unicast(source, row, size=s.size[row])

    def ask(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Broadcast:
        """Sources ask their neighbours for lists."""
        s.theirs = inbox["size"][np.lexsort((inbox.src, c.ids[inbox.node]))]
        s.source, s.target = self._among(c, 0).astype(np.int32)
        rows = np.unique(c.partition.position(s.source)) - c.first
        return bsp.broadcast(rows, degree=c.degree[rows])

    def _among(self, c: bsp.Cluster, end: int) -> NDArray[np.int64]:
        """Sources and targets of the pairs of which a cluster has one end, each once, ascending."""
        assert self.pairs is not None
        place = c.partition.position(self.pairs[:, end]) - c.first
        return np.unique(self.pairs[(place >= 0) & (place < c.size)], axis=0).T

    def share(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> bsp.Share:
        nodes, weights = inbox.receivers(), self._weights(c)
        columns = {"neighbour": c.indices}
        if weights is not None:
            columns["weight"] = weights
        if self.pairs is None:
            s.degrees = inbox.along("degree")[1]
            s.theirs = s.degrees if weights is None else inbox.along("size")[1]
        if self.k is not None:
            columns["size"] = s.theirs
        if len(nodes) < np.count_nonzero(c.degree):
            _, entries = expand(c.indptr, nodes)
            columns = {name: values[entries] for name, values in columns.items()}
        return bsp.share(nodes, c.degree[nodes], **columns)

    def compare(self, c: bsp.Cluster, s: State, inbox: bsp.Inbox) -> None:
        loops, lists = analytics._similarity, inbox.shared("neighbour")
        weights, none = self._weights(c), np.empty(0)
        measure = MEASURES[self.measure]
        kind = getattr(loops, measure.term if weights is None else str(measure.weighted))
        way = getattr(loops, measure.way)
        how = kind, self._gains(lists) if kind == loops.GAINS else none
        rows = c.indptr, c.indices, none if weights is None else weights
        heavy = none if weights is None else inbox.shared("weight").values
        if self.k is not None:
            ends = way, self.k, c.ids, s.size, inbox.shared("size").values
            counts, s.target, s.similarity = loops.best(*how, *rows, *lists, heavy, *ends)
            s.source = np.repeat(c.ids, counts).astype(np.int32)
            return
        if self.pairs is not None:
            row = c.partition.position(s.source) - c.first
            totals = loops.add_apart(*how, *rows, *lists, heavy, row, s.target)
        else:
            heads, entries, *where = loops.owned(*rows[:2], c.ids, s.degrees, lists.starts)
            row = np.repeat(np.arange(c.size), np.diff(heads))
            s.source = c.ids[row].astype(np.int32)
            s.target, s.theirs = c.indices[entries], s.theirs[entries]
            where = c.n, heads, *where, lists.values
            if kind == loops.ONES:
                totals = loops.count_common(*rows[:2], *where)
            else:
                totals = loops.add_common(*how, *rows, *where, heavy)
        s.similarity = loops.scores(way, totals, s.size[row], s.theirs.astype(np.float64))

    def _gains(self, lists: bsp.Shared) -> NDArray[np.float64]:
        """What each node adds as a common neighbour, by its degree; nodes without a list are none."""
        degrees, which = np.unique(lists.ends - lists.starts, return_inverse=True)
        worth: Any = math.log if self.measure == "adamic_adar" else float
        costs = [worth(d) if d else 0.0 for d in degrees.tolist()]
        return np.array([1 / cost if cost else 0.0 for cost in costs])[which]
