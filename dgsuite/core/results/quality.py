"""How good communities are."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import ArrayLike, NDArray

from dgsuite.base.errors import InputError
from dgsuite.kernels.tools.exact import exact_sum, shift_of, whole
from dgsuite.partition.client.waiting import Watch
from dgsuite.partition.clusters.cluster import Cluster
from dgsuite.partition.graph import checks
from dgsuite.partition.graph.graph import Graph

DOING = "measuring communities"


class Sums(NamedTuple):
    """What the edges of a cluster add up to, by community.

    Attributes
    ----------
    inner
        Entries of the adjacency that lead from the community to itself.
    out, into
        Those that lead from it, and to it.
    """

    inner: NDArray[np.float64]
    out: NDArray[np.float64]
    into: NDArray[np.float64]


def quality(
    graph: Graph, labels: ArrayLike, *, resolution: float = 1.0, weighted: bool | None = None
) -> xr.Dataset:
    """How good communities are.

    Edges are looked at where the clusters are; what comes back are sums for each community.

    Parameters
    ----------
    graph
        In this process, or on workers.
    labels
        Shape (n,): the community of each node, such as the output ``community`` of a run. Any numbers or
        text.
    resolution
        Of modularity (Reichardt and Bornholdt 2006), and of the constant Potts model; above 0.
    weighted
        Whether edges count by their weights, which must not be negative; by default where the graph has
        weights.

    Returns
    -------
    xarray.Dataset
        Of all communities, float64: ``modularity`` (Newman and Girvan 2004; of a directed graph, Leicht
        and Newman 2008), ``cpm``, the quality by the constant Potts model: the weight of the edges within
        communities less resolution times the number of pairs of nodes in them, on a directed graph each way
        (Traag, Van Dooren and Nesterov 2011), ``coverage``, the share of edges within communities, and
        ``assortativity``, how far that share is above what chance would have, on the way to 1 (Newman 2003,
        "Mixing patterns in networks", equation 2): from 1, where all edges are within, to below 0; NaN where
        one community has all edges. Per ``community``: ``nodes``, int64; ``volume``, the degrees of its
        nodes (on a directed graph, edges that leave them); ``conductance``, the edges to other communities
        over the volume of the community or of all others, whichever is less. These are NaN where that is 0.

    Raises
    ------
    InputError
        There is not one label for each node (-1 where the others are from 0, "", None and NaN are none), a
        weight is negative, or the resolution is not above 0.

    Notes
    -----
    Self-loops count where the graph keeps them: in a degree twice, as both ends of an edge.

    The figures are the same for any clusters and workers. To add up weights exactly, each is rounded to a
    multiple of the 2^-52nd part of their sum.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 0, 1, 3, 3, 4, 2], [1, 2, 2, 4, 5, 5, 3])
    >>> found = dgsuite.quality(graph, dgsuite.run("leiden", graph).community)
    >>> round(float(found.modularity), 3), round(float(found.coverage), 3)
    (0.357, 0.857)
    >>> float(dgsuite.quality(graph, [0, 0, 0, 3, 3, 3], resolution=0.5).cpm)
    3.0
    >>> found.conductance.to_series().round(3).to_dict()
    {0: 0.143, 3: 0.143}
    """
    checks.check_graph(graph)
    if not 0 < resolution < np.inf:
        raise InputError(f"resolution must be above 0 and finite, got {resolution}")
    names, number = _numbered(labels, graph.n)
    counts = weighted is not False and graph.weighted
    shift, unit = scale(graph) if counts else (None, 1.0)
    sums = _each(graph, number, len(names), shift)
    total = sums.out.sum()
    nodes = np.bincount(number, minlength=len(names))
    # an edge is an entry of both its ends, a pair of nodes is one pair
    both = 1 if graph.directed else 2
    cpm = float(sums.inner.sum() * unit - resolution * int((nodes * (nodes - 1)).sum())) / both
    rest = np.minimum(sums.out, total - sums.out)
    cut = sums.out - sums.inner
    if graph.directed:
        cut = cut + sums.into - sums.inner
    with np.errstate(invalid="ignore", divide="ignore"):
        expected = np.divide(sums.out, total) * np.divide(sums.into, total)
        modularity = np.sum(np.divide(sums.inner, total) - resolution * expected)
        coverage = np.divide(sums.inner.sum(), total)
        assortativity = (coverage - expected.sum()) / (1 - expected.sum())
        conductance = np.where(rest > 0, cut / rest, np.nan)

    def described(values: Any, text: str, dims: tuple[str, ...] = ()) -> tuple:
        return dims, values, {"long_name": text, "units": "1"}

    each = ("community",)
    found = {
        "modularity": described(modularity, "modularity"),
        "cpm": described(cpm, "quality by the constant Potts model"),
        "coverage": described(coverage, "share of edges within communities"),
        "assortativity": described(assortativity, "assortativity of the labels"),
        "nodes": described(nodes, "nodes", each),
        "volume": described(sums.out * unit, "volume", each),
        "conductance": described(conductance, "conductance", each),
    }
    facts = {"resolution": float(resolution), "weighted": int(counts), "n": graph.n, "m": graph.m}
    return xr.Dataset(found, {"community": names}, facts)


def _numbered(labels: ArrayLike, n: int) -> tuple[NDArray, NDArray[np.int64]]:
    """The different labels, ascending, and the number of each node's."""
    values = np.asarray(labels)
    if values.shape != (n,):
        raise InputError(
            f"labels must be one for each node, shape ({n},), got shape {values.shape}"
        )
    kind = values.dtype.kind
    none = values == {"i": -1, "U": ""}[kind] if kind in "iU" else pd.isna(values)
    if none.any() and (kind != "i" or values.min() == -1):
        raise InputError(
            f"labels: {np.count_nonzero(none)} of {n} nodes have none but {values[none].tolist()[0]!r}, the "
            f"first of them is node {np.argmax(none)}; give each of them one of its own, or leave them out "
            f"by graph.subgraph"
        )
    names, number = np.unique(values, return_inverse=True)
    return names, number.astype(np.int64)


def scale(graph: Graph) -> tuple[int | None, float]:
    """The power of two that makes weights whole numbers, and what 1 then stands for; none without weight."""
    checks.once(graph, "non-negative weights", checks.check_weights)
    total = sum(checks.of_clusters(graph, _weight, DOING), Fraction(0))
    if not total:
        return 0, 1.0
    shift = shift_of(total)
    return shift, float(np.ldexp(1.0, -shift))


def _weight(c: Cluster) -> Fraction:
    total = Fraction(exact_sum(c.weights))  # type: ignore[arg-type]
    return total if c.loop_weights is None else total + 2 * Fraction(exact_sum(c.loop_weights))


def _each(graph: Graph, number: NDArray[np.int64], count: int, shift: int | None) -> Sums:
    """The sums of all clusters; of whole numbers, so their order does not matter."""
    if graph.client is None:
        found = checks.each_cluster(graph, _sums, number, count, shift)
    else:
        watch = Watch(graph.client, DOING, inputs=graph.parts)
        sent = watch.scatter(number)
        found = watch.gather(checks.each_cluster(graph, _sums, sent, count, shift))
    return Sums(*(np.sum(parts, axis=0) for parts in zip(*found, strict=True)))


def _sums(c: Cluster, number: NDArray[np.int64], count: int, shift: int | None) -> Sums:
    one, other = np.repeat(number[c.ids], c.degree), number[c.indices]
    weight = None if shift is None or c.weights is None else whole(c.weights, shift)
    inner = one == other
    within = np.bincount(one[inner], None if weight is None else weight[inner], count)
    found = within, np.bincount(one, weight, count), np.bincount(other, weight, count)
    own: Any = 0
    if c.loops is not None:
        of_loops = None if weight is None else whole(c.loop_weights, shift)  # type: ignore[arg-type]
        own = np.bincount(number[c.ids[c.loops]], of_loops, count) * (1 if c.directed else 2)
    return Sums(*(values.astype(np.float64) + own for values in found))
