"""What other libraries answer to the questions of `benchmarks/questions.py`: calls, and what is compared."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import analytics_peers
import numpy as np
from analytics_peers import NETWORKX, TooLargeError


class Forms(analytics_peers.Forms):
    """A graph in the forms of other libraries, with directions where it has some, and nodes to start from.

    Parameters
    ----------
    graph
        Ours.
    """

    starts: list[int] = []

    @cached_property
    def igraph(self) -> Any:
        if not self.graph.directed:
            return super().igraph
        import igraph

        tail = np.repeat(np.arange(self.n), np.diff(self.indptr))
        return igraph.Graph(self.n, np.stack([tail, self.indices], 1), directed=True)

    @cached_property
    def networkx(self) -> Any:
        import networkx as nx

        if self.n > NETWORKX:
            raise TooLargeError(f"{self.n} nodes; networkx takes part up to {NETWORKX}")
        kind = nx.DiGraph if self.graph.directed else nx.Graph
        return nx.from_scipy_sparse_array(self.scipy, create_using=kind)


class Peer(NamedTuple):
    """What is timed, and what of its result is compared with ours."""

    call: Callable[[], Any]
    answer: Callable[[Any], Any] = np.asarray


Prepare = Callable[[Forms], Peer]


def modularity(graph: Any, labels: Any) -> float:
    """By our own measure, for all."""
    import dgsuite

    return float(dgsuite.quality(graph, labels).modularity)


# Communities.

ITERATIONS = 2
"""Of Leiden, in all libraries; the default of ours, of leidenalg and of igraph."""


def leiden_leidenalg(g: Forms) -> Peer:
    """One thread."""
    import leidenalg

    kind = leidenalg.ModularityVertexPartition
    return Peer(
        lambda: leidenalg.find_partition(g.igraph, kind, n_iterations=ITERATIONS, seed=1),
        lambda found: modularity(g.graph, found.membership),
    )


def leiden_igraph(g: Forms) -> Peer:
    """One thread."""
    return Peer(
        lambda: g.igraph.community_leiden("modularity", n_iterations=ITERATIONS),
        lambda found: modularity(g.graph, found.membership),
    )


def louvain_igraph(g: Forms) -> Peer:
    """One thread."""
    return Peer(
        lambda: g.igraph.community_multilevel(),
        lambda found: modularity(g.graph, found.membership),
    )


def louvain_networkit(g: Forms) -> Peer:
    """PLM without refinement; two threads."""
    import networkit as nk

    return Peer(
        lambda: nk.community.PLM(g.networkit_plain, False).run().getPartition(),
        lambda found: modularity(g.graph, found.getVector()),
    )


# Similarity.


def jaccard_networkit(g: Forms) -> Peer:
    return Peer(analytics_peers.similarity_networkit(g), np.sort)


def jaccard_igraph(g: Forms) -> Peer:
    return Peer(analytics_peers.similarity_igraph(g), np.sort)


# Distances. What is not said otherwise has one thread.


def balls_networkit(g: Forms) -> Peer:
    """ANF (Palmer, Gibbons and Faloutsos 2002) with 64 sketches; it does not count a node with itself."""
    import networkit as nk

    kind = nk.distance.NeighborhoodFunctionApproximation
    return Peer(
        lambda: kind(g.networkit_plain).run().getNeighborhoodFunction(),
        lambda found: found[-1] + g.n,
    )


def diameter_networkit(g: Forms) -> Peer:
    """iFUB (Crescenzi et al. 2013)."""
    import networkit as nk

    how = nk.distance.DiameterAlgo.EXACT
    return Peer(
        lambda: nk.distance.Diameter(g.networkit_plain, how).run().getDiameter(),
        lambda found: found[0],
    )


def diameter_igraph(g: Forms) -> Peer:
    """A search from every node."""
    return Peer(lambda: g.igraph.diameter(directed=False))


def eccentricity_igraph(g: Forms) -> Peer:
    """A search from every node."""
    return Peer(lambda: g.igraph.eccentricity())


def nearest_scipy(g: Forms) -> Peer:
    from scipy.sparse.csgraph import dijkstra

    return Peer(
        lambda: dijkstra(g.scipy, indices=g.starts, min_only=True, return_predecessors=True),
        lambda found: found[0],
    )


def negative_scipy(g: Forms) -> Peer:
    """Over all edges as often as there are nodes."""
    from scipy.sparse.csgraph import bellman_ford

    return Peer(lambda: bellman_ford(g.scipy, indices=g.starts[0]))


def negative_igraph(g: Forms) -> Peer:
    """A queue of nodes whose distance has changed."""
    how = {"weights": g.data.tolist(), "algorithm": "bellman_ford"}
    return Peer(lambda: g.igraph.distances(g.starts, **how)[0])


# Structure; one thread.


def bridges_igraph(g: Forms) -> Peer:
    ends = np.stack(g.ends).astype(np.int64)

    def keys(found: list[int]) -> np.ndarray:
        low, high = ends[:, found]
        return np.sort(low * g.n + high)

    return Peer(lambda: g.igraph.bridges(), keys)


def biconnected_igraph(g: Forms) -> Peer:
    return Peer(
        lambda: g.igraph.biconnected_components(),
        lambda found: [len(found), sum(map(len, found))],
    )


def biconnected_networkit(g: Forms) -> Peer:
    import networkit as nk

    return Peer(
        lambda: nk.components.BiconnectedComponents(g.networkit_plain).run().getComponents(),
        lambda found: [len(found), sum(map(len, found))],
    )


def cliques_igraph(g: Forms) -> Peer:
    """It lists them."""
    return Peer(lambda: g.igraph.cliques(4, 4), len)


MOTIFS = (
    [(0, 1), (1, 2), (2, 3)],
    [(0, 1), (0, 2), (0, 3)],
    [(0, 1), (1, 2), (2, 3), (3, 0)],
    [(0, 1), (1, 2), (2, 0), (2, 3)],
    [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)],
    [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2), (1, 3)],
)
"""Those of four nodes: path, star, cycle, triangle with a tail, cycle with a chord, and all edges."""

ORBITS = (4, 2), (7, 1), (8, 4), (9, 1), (12, 2), (14, 4)
"""For each of them an orbit, and how many nodes of the motif are in it."""


def motifs_igraph(g: Forms) -> Peer:
    """RAND-ESU without chance: it looks at each motif (Wernicke 2006)."""
    import igraph

    kinds = [igraph.Graph(motif).isoclass() for motif in MOTIFS]
    return Peer(
        lambda: g.igraph.motifs_randesu(4),
        lambda found: np.asarray(found)[kinds],
    )


def edges_between_igraph(g: Forms) -> Peer:
    return Peer(lambda: g.igraph.edge_betweenness())


def densest_networkx(g: Forms) -> Peer:
    """Greedy++ with one sweep (Boob et al. 2020)."""
    import networkx as nx

    graph = g.networkx
    return Peer(lambda: nx.approximation.densest_subgraph(graph), lambda found: found[0])


def topological_igraph(g: Forms) -> Peer:
    """An order, without generations."""
    return Peer(lambda: g.igraph.topological_sorting(), len)


def topological_networkx(g: Forms) -> Peer:
    import networkx as nx

    graph = g.networkx
    return Peer(lambda: [*nx.topological_generations(graph)], lambda found: sum(map(len, found)))


def squares_networkx(g: Forms) -> Peer:
    import networkx as nx

    graph = g.networkx
    return Peer(
        lambda: nx.square_clustering(graph),
        lambda found: [found[node] for node in range(g.n)],
    )
