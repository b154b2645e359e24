"""How nodes of few and of many edges are joined (Newman 2003, "Mixing patterns in networks")."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from math import sqrt
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.core.results.quality import scale
from dgsuite.kernels.tools.exact import exact_sum, whole
from dgsuite.partition.client.waiting import Watch
from dgsuite.partition.clusters.cluster import Cluster
from dgsuite.partition.graph.checks import check_graph, each_cluster, of_clusters

if TYPE_CHECKING:
    import xarray as xr

    from dgsuite.partition.graph.graph import Graph

DOING = "measuring how degrees mix"
Way = Literal["out", "in"]


class Ends(NamedTuple):
    """What is known of nodes where edges begin, or where they end.

    Attributes
    ----------
    edges
        int64, shape (n,): edges that begin at the node, or end there.
    above
        float64, shape (n,): how far its degree is above `middle`, in whole numbers.
    middle
        The degree of a node of these, in the middle: so all are 0 where all degrees are the same.
    """

    edges: NDArray[np.int64]
    above: NDArray[np.float64]
    middle: float

    @classmethod
    def of(cls, edges: NDArray[np.int64], degree: NDArray[np.float64]) -> Ends:
        sizes = np.sort(degree[edges > 0])
        middle = float(sizes[len(sizes) // 2]) if len(sizes) else 0.0
        return cls(edges, degree - middle, middle)

    def sum(self) -> Fraction:
        return Fraction(exact_sum(self.edges * self.above))

    def variance(self) -> Fraction:
        """Over all edges, times their number squared."""
        squares = Fraction(exact_sum(self.edges * self.above**2))
        return int(self.edges.sum()) * squares - self.sum() ** 2


def mixing(
    graph: Graph, *, source: Way = "out", target: Way = "in", weighted: bool = False
) -> xr.Dataset:
    """How nodes of few and of many edges are joined: assortativity by degree, and the rich club.

    Edges are looked at where the clusters are; what comes back are counts for each node and degree.

    Parameters
    ----------
    graph
        In this process, or on workers.
    source, target
        Of a directed graph: the degrees that count where an edge begins, and where it ends; "out" for edges
        that leave the node, "in" for those that come in. An undirected edge counts once from each end.
    weighted
        Whether a degree is the sum of the weights of a node's edges, which must not be negative, and not
        their number. Without weights each weighs 1.

    Returns
    -------
    xarray.Dataset
        ``assortativity``, float64: the correlation of the degrees at both ends of an edge (Newman 2003,
        equation 21), from -1 to 1; NaN where all ends have the same.
        Per ``node``: ``average_neighbour_degree``, float64, the mean degree of nodes that its edges lead to;
        NaN without edges (Barrat et al. 2004, "The architecture of complex weighted networks").
        Per ``degree`` that a node has: ``nodes``, int64; ``average_degree_connectivity``, float64, the mean
        degree of nodes that edges of these lead to; and of an undirected graph ``nodes_above``, those of
        greater degree, and ``edges_above``, the edges between them, int64, and ``rich_club``, float64, their
        share of all pairs (Colizza et al. 2006, "Detecting rich-club ordering in complex networks", not
        normalised); NaN where these are fewer than two.

    Raises
    ------
    InputError
        `source` or `target` is no direction, or a weight that counts is negative.

    Notes
    -----
    Self-loops do not count, also where the graph keeps them.

    The figures are the same for any clusters and workers. To add up weights exactly, each is rounded to a
    multiple of the 2^-52nd part of their sum.

    Examples
    --------
    Two hubs with an edge, and three leaves of each:

    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 0, 0, 0, 1, 1, 1], [1, 2, 3, 4, 5, 6, 7])
    >>> found = dgsuite.mixing(graph)
    >>> round(float(found.assortativity), 3)
    -0.75
    >>> found.rich_club.to_series().to_dict()
    {1: 1.0, 4: nan}
    >>> found.average_degree_connectivity.to_series().to_dict()
    {1: 4.0, 4: 1.75}
    """
    import xarray as xr

    check_graph(graph)
    for what, value in (("source", source), ("target", target)):
        if value not in ("out", "in"):
            raise InputError(f'{what} must be "out" or "in", got {value!r}')
    counts = weighted and graph.weighted
    shift, unit = scale(graph) if counts else (None, 1.0)
    edges, degrees = _degrees(graph, shift)
    begins = Ends.of(edges["out"], degrees[source])
    ends = Ends.of(edges["in"], degrees[target])
    sizes, number = np.unique(degrees[source], return_inverse=True)
    near, lower = _along(graph, ends.above, number, len(sizes))

    def mean(near: NDArray, edges: NDArray) -> NDArray[np.float64]:
        with np.errstate(invalid="ignore"):
            found: NDArray[np.float64] = (near + ends.middle * edges) / edges * unit
        return found

    def of_degree(values: NDArray | None = None) -> NDArray:
        return np.bincount(number, values, len(sizes))

    def described(values: Any, text: str, dims: tuple[str, ...] = ()) -> tuple:
        return dims, values, {"long_name": text, "units": "1"}

    each, neighbours = ("degree",), "mean degree of neighbours"
    nodes, connectivity = of_degree(), mean(of_degree(near), of_degree(begins.edges))
    found = {
        "assortativity": described(_correlation(begins, ends, near), "assortativity by degree"),
        "average_neighbour_degree": described(mean(near, begins.edges), neighbours, ("node",)),
        "nodes": described(nodes, "nodes", each),
        "average_degree_connectivity": described(connectivity, neighbours, each),
    }
    if not graph.directed:
        above, inner = graph.n - np.cumsum(nodes), graph.m - np.cumsum(lower) // 2
        pairs = above * (above - 1) // 2
        club = np.divide(inner, pairs, out=np.full(len(sizes), np.nan), where=pairs > 0)
        found["nodes_above"] = described(above, "nodes of greater degree", each)
        found["edges_above"] = described(inner, "edges between nodes of greater degree", each)
        found["rich_club"] = described(club, "rich-club coefficient", each)
    names = {
        "node": np.arange(graph.n) if graph.labels is None else graph.labels.array,
        "degree": sizes * unit if counts else sizes.astype(np.int64),
    }
    facts: dict[str, Any] = {"weighted": int(counts), "n": graph.n, "m": graph.m}
    if graph.directed:
        facts |= {"source": source, "target": target}
    return xr.Dataset(found, names, facts)


def _correlation(begins: Ends, ends: Ends, near: NDArray[np.float64]) -> float:
    """Of the degrees where edges begin and where they end, from the sums of the latter; NaN of one degree."""
    variances = begins.variance(), ends.variance()
    if not all(variances):
        return float("nan")
    along = int(begins.edges.sum()) * Fraction(exact_sum(begins.above * near))
    one, other = (sqrt(value) for value in variances)
    found = float(along - begins.sum() * ends.sum()) / one / other
    return min(max(found, -1.0), 1.0)  # rounded, it may be a little beyond


def _degrees(
    graph: Graph, shift: int | None
) -> tuple[dict[str, NDArray[np.int64]], dict[str, NDArray[np.float64]]]:
    """Number of edges that leave nodes and come in, and the degrees by which they count."""
    edges, degrees = np.zeros((2, graph.n), np.int64), np.zeros((2, graph.n))
    for ids, out, size, into, heavy in of_clusters(graph, partial(_of_rows, shift=shift), DOING):
        edges[0, ids], degrees[0, ids] = out, size
        edges[1] += into
        degrees[1] += heavy
    if not graph.directed:
        edges[1], degrees[1] = edges[0], degrees[0]
    ways = "out", "in"
    return dict(zip(ways, edges, strict=True)), dict(zip(ways, degrees, strict=True))


def _of_rows(c: Cluster, shift: int | None) -> tuple:
    """A cluster's nodes, their edges and degrees; of a directed graph, also those of the ends of edges."""
    weight = None if shift is None or c.weights is None else whole(c.weights, shift)
    size = c.degree if weight is None else np.bincount(_rows(c), weight, c.size)
    if not c.directed:
        return c.ids, c.degree, size, 0, 0
    into = np.bincount(c.indices, minlength=c.n)
    return (
        c.ids,
        c.degree,
        size,
        into,
        into if weight is None else np.bincount(c.indices, weight, c.n),
    )


def _along(
    graph: Graph, above: NDArray[np.float64], number: NDArray[np.int64], count: int
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """For each node the sum of `above` of those that its edges lead to, and for each number the entries of
    the adjacency whose smaller end has it.
    """
    if graph.client is None:
        found = each_cluster(graph, _sums, above, number, count)
    else:
        watch = Watch(graph.client, DOING, inputs=graph.parts)
        sent = watch.scatter(above), watch.scatter(number)
        found = watch.gather(each_cluster(graph, _sums, *sent, count))
    near, lower = np.zeros(graph.n), np.zeros(count, np.int64)
    for ids, sums, entries in found:
        near[ids] = sums
        lower += entries
    return near, lower


def _sums(c: Cluster, above: NDArray, number: NDArray, count: int) -> tuple:
    row = _rows(c)
    near = np.bincount(row, above[c.indices], c.size)  # adds by ascending neighbour
    lower = np.minimum(number[c.ids][row], number[c.indices])
    return c.ids, near, np.bincount(lower, minlength=count)


def _rows(c: Cluster) -> NDArray[np.int64]:
    """The node of each entry of a cluster's adjacency, by its place in the cluster."""
    return np.repeat(np.arange(c.size), c.degree)
