"""The algorithms: each a program of rounds over NumPy arrays, a file for each or for those of one idea."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module

from dgsuite.base.lazy import lazy_imports
from dgsuite.kernels.bsp import Kernel


class Classes(Mapping[str, type[Kernel]]):
    """Kernels by name. The file of each is imported when the kernel is first used.

    Parameters
    ----------
    places
        File and class of each.
    """

    def __init__(self, places: Mapping[str, str]) -> None:
        self.places = {name: f"{__name__}.{place}" for name, place in places.items()}

    def __getitem__(self, name: str) -> type[Kernel]:
        module, _, kernel = self.places[name].partition(":")
        return getattr(import_module(module), kernel)  # type: ignore[no-any-return]

    def __contains__(self, name: object) -> bool:
        return name in self.places

    def __iter__(self) -> Iterator[str]:
        return iter(self.places)

    def __len__(self) -> int:
        return len(self.places)


KERNELS = Classes(
    {
        "abd": "events.register:ABD",
        "all_pairs": "analytics.nearness:AllPairs",
        "alpha": "lab.synchroniser:Alpha",
        "beta": "lab.synchroniser:Beta",
        "bc": "analytics.betweenness:Betweenness",
        "bipartite": "analytics.orders:Bipartite",
        "biconnected": "analytics.bridges:Biconnected",
        "bfs": "analytics.bfs:BreadthFirst",
        "bfs_many": "analytics.nearness:BreadthFirstMany",
        "bracha": "events.broadcast:Bracha",
        "bridges": "analytics.bridges:Bridges",
        "cliques": "analytics.motifs:Cliques",
        "chandra_toueg": "events.detector:ChandraToueg",
        "closeness": "analytics.nearness:Closeness",
        "colouring": "analytics.greedy:Colouring",
        "wcc": "analytics.wcc:Components",
        "core_number": "analytics.core_number:CoreNumber",
        "eccentricity": "analytics.eccentricity:Eccentricity",
        "densest": "analytics.ktruss:Densest",
        "dijkstra_scholten": "lab.waves:DijkstraScholten",
        "distance_vector": "lab.distance_vector:DistanceVector",
        "echo": "lab.waves:Echo",
        "floodmax": "lab.flooding:FloodMax",
        "floodset": "lab.flooding:FloodSet",
        "gossip": "lab.rumours:Gossip",
        "push_sum": "lab.rumours:PushSum",
        "bfs2d": "analytics.bfs_grid:GridSearch",
        "harmonic": "analytics.nearness:Harmonic",
        "itai_rodeh": "events.ring:ItaiRodeh",
        "lamport_mutex": "events.mutex:LamportMutex",
        "paxos": "events.paxos:Paxos",
        "raft": "events.raft:Raft",
        "ricart_agrawala": "events.mutex:RicartAgrawala",
        "hyperball": "analytics.hyperball:HyperBall",
        "ktruss": "analytics.ktruss:KTruss",
        "cdlp": "analytics.cdlp:LabelPropagation",
        "lcc": "analytics.triangles:ClusteringCoefficient",
        "bf": "imsuite.bfs_bellman_ford.textbook:BellmanFord",
        "benor": "lab.consensus:BenOr",
        "dst": "imsuite.bfs_dijkstra.textbook:Dijkstra",
        "by": "imsuite.byzantine.textbook:Byzantine",
        "dr": "imsuite.dijkstra_routing.textbook:DijkstraRouting",
        "ds": "imsuite.dominating_set.textbook:DominatingSet",
        "kc": "imsuite.kcommittee.textbook:KCommittee",
        "dp": "imsuite.leader_dp.textbook:PelegLeader",
        "hs": "imsuite.leader_hs.textbook:HirschbergSinclair",
        "lcr": "imsuite.leader_lcr.textbook:LCR",
        "mis": "imsuite.mis.textbook:MIS",
        "leiden": "analytics.communities:Leiden",
        "louvain": "analytics.communities:Louvain",
        "matching": "analytics.greedy:Matching",
        "bellman_ford": "analytics.bellman_ford:NegativePaths",
        "edge_betweenness": "analytics.betweenness:EdgeBetweenness",
        "motifs": "analytics.motifs:Motifs",
        "neighbourhood": "analytics.nearby:Neighbourhood",
        "eigenvector": "analytics.centralities:Eigenvector",
        "fastrp": "analytics.fastrp:FastRP",
        "hits": "analytics.centralities:HITS",
        "katz": "analytics.centralities:Katz",
        "pagerank": "analytics.pagerank:PageRank",
        "phase_king": "lab.consensus:PhaseKing",
        "random_walks": "analytics.random_walks:RandomWalks",
        "sample": "analytics.nearby:Sample",
        "sssp": "analytics.sssp:ShortestPaths",
        "similarity": "analytics.similarity:Similarity",
        "snapshot": "lab.rumours:Snapshot",
        "mst": "imsuite.spanning_tree.textbook:SpanningTree",
        "square_clustering": "analytics.triangles:SquareClustering",
        "stable_bfs": "lab.stable:StableBFS",
        "stable_colouring": "lab.stable:StableColouring",
        "stable_matching": "lab.stable:StableMatching",
        "stable_mis": "lab.stable:StableMIS",
        "scc": "analytics.scc:StrongComponents",
        "token_ring": "lab.stable:TokenRing",
        "topological": "analytics.orders:Topological",
        "trial_colouring": "lab.trial_colouring:TrialColouring",
        "triangles": "analytics.triangles:Triangles",
        "vc": "imsuite.vertex_colouring.textbook:VertexColouring",
    }
)
"""Kernels by their short names."""

RECURSIVE = Classes(
    {
        "bf": "imsuite.bfs_bellman_ford.recursive:RecursiveBellmanFord",
        "dst": "imsuite.bfs_dijkstra.recursive:RecursiveDijkstra",
        "by": "imsuite.byzantine.recursive:RecursiveByzantine",
        "dr": "imsuite.dijkstra_routing.recursive:RecursiveDijkstraRouting",
        "mst": "imsuite.spanning_tree.recursive:RecursiveSpanningTree",
    }
)
"""Recursive forms of kernels, by the same names."""

BLOCK = Classes(
    {
        "all_pairs": "analytics.nearness:BlockAllPairs",
        "closeness": "analytics.nearness:BlockCloseness",
        "eccentricity": "analytics.eccentricity:BlockEccentricity",
        "wcc": "analytics.wcc_block:BlockComponents",
        "core_number": "analytics.core_number:BlockCoreNumber",
        "harmonic": "analytics.nearness:BlockHarmonic",
        "bfs_many": "analytics.nearness:BlockMany",
        "sssp": "analytics.searches_block:BlockPaths",
        "bfs": "analytics.searches_block:BlockSearch",
        "mst": "imsuite.spanning_tree.block:BlockSpanningTree",
        "scc": "analytics.scc:BlockStrongComponents",
        "topological": "analytics.orders:BlockTopological",
    }
)
"""Block forms of kernels, by the same names."""

SINCE = Classes(
    {
        "wcc": "analytics.wcc_block:ComponentsSince",
        "core_number": "analytics.core_number:CoreNumberSince",
        "katz": "analytics.centralities:Katz",
        "pagerank": "analytics.pagerank:PageRank",
        "sssp": "analytics.searches_block:PathsSince",
        "bfs": "analytics.searches_block:SearchSince",
    }
)
"""Kernels that go on from an earlier result on a graph that has grown, by the same names."""

FORMS = {"iterative": KERNELS, "recursive": RECURSIVE, "block": BLOCK}
"""Kernels by form."""


def forms_of(name: str) -> list[str]:
    """The forms that a kernel has."""
    return [form for form, kernels in FORMS.items() if name in kernels]


CLASSES = {
    place.partition(":")[2]: place
    for kernels in (SINCE, BLOCK, RECURSIVE, KERNELS)
    for place in kernels.places.values()
}

__all__ = ["BLOCK", "FORMS", "KERNELS", "RECURSIVE", "SINCE", "Kernel", "forms_of"]
__getattr__, __dir__ = lazy_imports(__name__, CLASSES)
