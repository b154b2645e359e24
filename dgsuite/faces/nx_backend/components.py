"""Components, bridges, communities, and orders of nodes along edges, each by a kernel.

networkx has no Leiden method of its own before 3.7.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from dgsuite.faces.nx_backend.calls import LOOPS, PARALLEL, How, Offered, run, run_either, values
from dgsuite.faces.nx_backend.graph import ConvertedGraph
from dgsuite.kernels.analytics.communities import RANDOMNESS

Edge = tuple[Hashable, Hashable]

THETA = 0.01
"""The default of networkx's `leiden_communities`."""


def _sets(G: ConvertedGraph, labels: NDArray, nodes: Any = None) -> Iterator[set[Hashable]]:
    """Sets of the nodes that have the same label, by ascending label."""
    order = np.argsort(labels, kind="stable")
    starts = np.flatnonzero(np.diff(labels[order], prepend=-1)).tolist()
    named = G.of(order if nodes is None else nodes[order])
    for first, last in pairwise([*starts, len(named)]):
        yield set(named[first:last])


def _number(G: ConvertedGraph, labels: NDArray) -> int:
    """How many components there are."""
    return int(np.count_nonzero(labels == np.arange(len(G))))


def _is_one(G: ConvertedGraph, labels: NDArray) -> bool:
    """Whether there is one."""
    if not len(G):
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    return not labels.any()


def _offered(name: str, kernel: str, answer: Callable[..., Any]) -> Offered:
    """A function of networkx that follows from the components of a kernel."""

    def function(G: ConvertedGraph, **how: Any) -> Any:
        return answer(G, values(kernel, G, how, "component"))

    return Offered(function, name, answer.__doc__ or "")


connected_components = _offered("connected_components", "wcc", _sets)
number_connected_components = _offered("number_connected_components", "wcc", _number)
is_connected = _offered("is_connected", "wcc", _is_one)
weakly_connected_components = _offered("weakly_connected_components", "wcc", _sets)
number_weakly_connected_components = _offered("number_weakly_connected_components", "wcc", _number)
is_weakly_connected = _offered("is_weakly_connected", "wcc", _is_one)
strongly_connected_components = _offered("strongly_connected_components", "scc", _sets)
number_strongly_connected_components = _offered(
    "number_strongly_connected_components", "scc", _number
)
is_strongly_connected = _offered("is_strongly_connected", "scc", _is_one)


@Offered
def node_connected_component(G: ConvertedGraph, n: Hashable, **how: Any) -> set[Hashable]:
    """The component of a node."""
    number = G.number[n]
    labels = values("wcc", G, how, "component")
    return set(G.of(labels == labels[number]))


def _bridges(G: ConvertedGraph, root: Any, how: How) -> NDArray[np.bool_]:
    """Which edges are bridges, of all or of those in the connected component of a node."""
    if root is not None and root not in G:
        raise nx.NodeNotFound(f"Root node {root} is not in graph")
    if not len(G.source):
        return np.zeros(0, bool)
    part = values("bridges", G, how, "component")
    found = part[G.source] != part[G.target]
    if root is not None:
        near = values("wcc", G, how, "component")
        found &= near[G.source] == near[G.number[root]]
    return found


@Offered
def bridges(G: ConvertedGraph, **how: Any) -> Iterator[Edge]:
    """Edges without which the graph falls into more parts."""
    found = _bridges(G, None, how)
    yield from zip(G.of(G.source[found]), G.of(G.target[found]), strict=True)


@Offered
def has_bridges(G: ConvertedGraph, root: Any, **how: Any) -> bool:
    """Whether there is such an edge."""
    return bool(_bridges(G, root, how).any())


@Offered
def articulation_points(G: ConvertedGraph, **how: Any) -> Iterator[Hashable]:
    """Nodes without which the graph falls into more parts."""
    yield from G.of(values("bridges", G, how, "articulation"))


@Offered
def biconnected_components(G: ConvertedGraph, **how: Any) -> Iterator[set[Hashable]]:
    """Sets of nodes that stay connected without any one of them, by their first nodes."""
    if len(G):
        ds = run("biconnected", G, how, any_weight=True)
        yield from _sets(G, ds["block"].values, ds["member"].values)


@bridges.unless
@has_bridges.unless
@articulation_points.unless
@biconnected_components.unless
def _(G: Any, **_: Any) -> str | None:
    if G.is_directed():
        return "only undirected graphs have bridges and biconnected components"
    return PARALLEL if G.is_multigraph() else None


@Offered
def leiden_communities(
    G: ConvertedGraph,
    weight: str | None = "weight",
    resolution: float = 1,
    max_level: int | None = None,
    seed: Any = None,
    metric: str = "modularity",
    theta: float = THETA,
    **how: Any,
) -> list[set[Hashable]]:
    """Sets of nodes, by their first nodes; each is connected."""
    if theta != THETA:  # networkx shows no reason of `unless`
        raise NotImplementedError(
            f"theta: networkx counts it in weights of edges, and the kernel's is {RANDOMNESS} mean degrees, "
            "so none but the default stands for it"
        )
    if not len(G):
        return []
    lengths = G.lengths(weight)
    if lengths is not None and len(lengths) and not lengths.any():
        raise NotImplementedError(f"all edges have a {weight} of 0")
    # a generator of NumPy's draws integers below 2^63 - 1, and has no getrandbits
    drawn = int(seed.randrange(2**63 - 1))
    chosen = {"resolution": float(resolution), "objective": metric, "seed": drawn}
    ds = run_either("leiden", G, how, weight, loops=True, **chosen)
    return [*_sets(G, ds["community"].values)]


@leiden_communities.unless
def _(G: Any, resolution: Any, max_level: int | None, metric: Any, **_: Any) -> str | None:
    if G.is_multigraph():
        return PARALLEL
    if G.is_directed():
        return "directed graphs"
    if max_level is not None:
        return "max_level: all levels are gone through"
    if metric not in ("modularity", "cpm"):
        return "metric: modularity or cpm"
    plain = isinstance(resolution, int | float) and 0 < resolution < np.inf
    return None if plain else "resolution must be above 0 and finite"


def _without_loops(kernel: str, G: ConvertedGraph, how: How, output: str) -> NDArray:
    """An output of a kernel that drops edges from a node to itself."""
    if G.loops:
        raise NotImplementedError(LOOPS)
    return values(kernel, G, how, output)


@Offered
def is_directed_acyclic_graph(G: ConvertedGraph, **how: Any) -> bool:
    """Whether a graph is directed and has no cycle."""
    return G.directed and bool((_without_loops("topological", G, how, "generation") >= 0).all())


@Offered
def is_bipartite(G: ConvertedGraph, **how: Any) -> bool:
    """Whether two colours do."""
    return bool((_without_loops("bipartite", G, how, "colour") >= 0).all())


@Offered
def color(G: ConvertedGraph, **how: Any) -> dict[Hashable, int]:
    """Two colours, of which the first node of each component has 1, if it has neighbours."""
    colour = _without_loops("bipartite", G, how, "colour")
    if (colour < 0).any():
        raise nx.NetworkXError("Graph is not bipartite.")
    degree = np.bincount(np.concatenate([G.source, G.target]), minlength=len(G))
    return G.by_node(np.where(degree, 1 - colour, 0))


@color.unless
def _(G: Any, **_: Any) -> str | None:
    return "colours of a directed graph depend on its sinks" if G.is_directed() else None
