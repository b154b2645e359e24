"""How degrees mix along edges, by `dgsuite.mixing`."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

import dgsuite
from dgsuite.faces.nx_backend.calls import LOOPS, Offered, Way
from dgsuite.faces.nx_backend.graph import ConvertedGraph, Held

if TYPE_CHECKING:
    import xarray as xr

ALL = "only all nodes of a graph without parallel edges count"
UNWEIGHTED = "weights of single edges do not count"


def _mixing(
    G: ConvertedGraph, how: Mapping[str, Any], weight: str | None = None, **ways: Any
) -> xr.Dataset:
    """The figures of a graph, in which no edge begins and ends at one node."""
    if G.loops:
        raise NotImplementedError(LOOPS)
    way = Way.of(how)
    graph = G.graph(Held(weight, False, way.clusters, way.client), any_weight=weight is None)
    return dgsuite.mixing(graph, weighted=weight is not None, **ways)


@Offered
def degree_assortativity_coefficient(
    G: ConvertedGraph,
    x: Any = "out",
    y: Any = "in",
    weight: str | None = None,
    nodes: Any = None,
    **how: Any,
) -> float:
    """Correlation of the degrees at both ends of an edge."""
    from dgsuite.kernels.tools.exact import DIGITS

    values = G.weight(weight)
    if values is not None and not (
        values.dtype.kind == "i"
        and values.min(initial=0) >= 0
        and sum(values.tolist()) < 1 << DIGITS - 1
    ):
        raise NotImplementedError("weights must be whole numbers from 0 on, with an exact sum")
    ways = {"source": x, "target": y} if G.directed else {}
    return float(_mixing(G, how, None if values is None else weight, **ways).assortativity)


@Offered
def average_neighbor_degree(
    G: ConvertedGraph,
    source: Any = "out",
    target: Any = "out",
    nodes: Any = None,
    weight: str | None = None,
    **how: Any,
) -> dict[Hashable, float]:
    """Mean degree of the neighbours of each node."""
    if not len(G):
        return {}
    ways = {"target": target} if G.directed else {}
    return G.by_node(np.nan_to_num(_mixing(G, how, **ways).average_neighbour_degree.values))


@Offered
def average_degree_connectivity(
    G: ConvertedGraph,
    source: Any = "in+out",
    target: Any = "in+out",
    nodes: Any = None,
    weight: str | None = None,
    **how: Any,
) -> dict[int, float]:
    """Mean degree of the neighbours of nodes of each degree, which come as networkx meets them."""
    if not len(G):
        return {}
    mean = _mixing(G, how).average_degree_connectivity
    degree = np.bincount(np.concatenate([G.source, G.target]), minlength=len(G))
    found = dict(zip(mean.degree.values.tolist(), mean.values.tolist(), strict=True))
    return {k: found[k] if k else 0 for k in dict.fromkeys(degree.tolist())}


@Offered
def rich_club_coefficient(
    G: ConvertedGraph,
    normalized: bool = True,
    Q: float = 100,
    seed: Any = None,
    n_samples: int = 1,
    **how: Any,
) -> dict[int, float]:
    """Share of the pairs of nodes above each degree that have an edge."""
    if not G.number_of_edges():
        return {}
    found = _mixing(G, how)
    degree, above = found.degree.values, found.nodes_above.values
    least = int(degree[0])  # no node has less
    shares = np.concatenate(
        [
            np.full(least, 2 * G.number_of_edges() / max(len(G) * (len(G) - 1), 1)),
            np.repeat(found.rich_club.values[:-1], np.diff(degree)),
        ]
    )
    rich = np.concatenate([np.full(least, len(G)), np.repeat(above[:-1], np.diff(degree))])
    return dict(enumerate(shares[rich > 1].tolist()))


@degree_assortativity_coefficient.unless
def _(G: Any, x: Any, y: Any, nodes: Any, **_: Any) -> str | None:
    if not (G.number_of_edges() and x in ("out", "in") and y in ("out", "in")):
        return "it takes a graph with edges, and directions"
    return None if nodes is None and not G.is_multigraph() else ALL


@average_neighbor_degree.unless
def _(G: Any, source: Any, target: Any, nodes: Any, weight: Any, **_: Any) -> str | None:
    if not (source == "out" and target in (("out", "in") if G.is_directed() else ("out",))):
        return 'source and target: edges are followed from "out" to "out" or "in"'
    return _partial(G, nodes, weight)


@average_degree_connectivity.unless
def _(G: Any, source: Any, target: Any, nodes: Any, weight: Any, **_: Any) -> str | None:
    if G.is_directed() or source != "in+out" or target != "in+out":
        return "directed graphs, or directions"
    return _partial(G, nodes, weight)


def _partial(G: Any, nodes: Any, weight: Any) -> str | None:
    if weight is not None:
        return UNWEIGHTED
    return None if nodes is None and not G.is_multigraph() else ALL


@rich_club_coefficient.unless
def _(G: Any, normalized: Any, **_: Any) -> str | None:
    if normalized:
        return "normalized: random graphs to compare with"
    return "directed graphs, or multigraphs" if G.is_directed() or G.is_multigraph() else None
