"""The algorithms: each a program of rounds over NumPy arrays, a file for each or for those of one idea."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module

from dgsuite.base.lazy import lazy_imports
from dgsuite.kernels.bsp import Kernel


class Classes(Mapping[str, type[Kernel]]):
    """Kernels by name, in ascending order. The file of each is imported when the kernel is first used.

    Parameters
    ----------
    files
        By file, the class of each of its kernels.
    """

    def __init__(self, files: Mapping[str, Mapping[str, str]]) -> None:
        places = [
            (name, f"{__name__}.{file}:{kernel}")
            for file, kernels in files.items()
            for name, kernel in kernels.items()
        ]
        self.places = dict(sorted(places))

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
        "analytics.bellman_ford": {"bellman_ford": "NegativePaths"},
        "analytics.betweenness": {"bc": "Betweenness", "edge_betweenness": "EdgeBetweenness"},
        "analytics.bfs": {"bfs": "BreadthFirst"},
        "analytics.bfs_grid": {"bfs2d": "GridSearch"},
        "analytics.bridges": {"biconnected": "Biconnected", "bridges": "Bridges"},
        "analytics.cdlp": {"cdlp": "LabelPropagation"},
        "analytics.centralities": {"eigenvector": "Eigenvector", "hits": "HITS", "katz": "Katz"},
        "analytics.communities": {"leiden": "Leiden", "louvain": "Louvain"},
        "analytics.core_number": {"core_number": "CoreNumber"},
        "analytics.eccentricity": {"eccentricity": "Eccentricity"},
        "analytics.fastrp": {"fastrp": "FastRP"},
        "analytics.greedy": {"colouring": "Colouring", "matching": "Matching"},
        "analytics.hyperball": {"hyperball": "HyperBall"},
        "analytics.ktruss": {"densest": "Densest", "ktruss": "KTruss"},
        "analytics.motifs": {"cliques": "Cliques", "motifs": "Motifs"},
        "analytics.nearby": {"neighbourhood": "Neighbourhood", "sample": "Sample"},
        "analytics.nearness": {
            "all_pairs": "AllPairs",
            "bfs_many": "BreadthFirstMany",
            "closeness": "Closeness",
            "harmonic": "Harmonic",
        },
        "analytics.orders": {"bipartite": "Bipartite", "topological": "Topological"},
        "analytics.pagerank": {"pagerank": "PageRank"},
        "analytics.random_walks": {"random_walks": "RandomWalks"},
        "analytics.scc": {"scc": "StrongComponents"},
        "analytics.similarity": {"similarity": "Similarity"},
        "analytics.sssp": {"sssp": "ShortestPaths"},
        "analytics.triangles": {
            "lcc": "ClusteringCoefficient",
            "square_clustering": "SquareClustering",
            "triangles": "Triangles",
        },
        "analytics.wcc": {"wcc": "Components"},
        "events.broadcast": {"bracha": "Bracha"},
        "events.detector": {"chandra_toueg": "ChandraToueg"},
        "events.mutex": {"lamport_mutex": "LamportMutex", "ricart_agrawala": "RicartAgrawala"},
        "events.paxos": {"paxos": "Paxos"},
        "events.raft": {"raft": "Raft"},
        "events.register": {"abd": "ABD"},
        "events.ring": {"itai_rodeh": "ItaiRodeh"},
        "imsuite.bfs_bellman_ford.textbook": {"bf": "BellmanFord"},
        "imsuite.bfs_dijkstra.textbook": {"dst": "Dijkstra"},
        "imsuite.byzantine.textbook": {"by": "Byzantine"},
        "imsuite.dijkstra_routing.textbook": {"dr": "DijkstraRouting"},
        "imsuite.dominating_set.textbook": {"ds": "DominatingSet"},
        "imsuite.kcommittee.textbook": {"kc": "KCommittee"},
        "imsuite.leader_dp.textbook": {"dp": "PelegLeader"},
        "imsuite.leader_hs.textbook": {"hs": "HirschbergSinclair"},
        "imsuite.leader_lcr.textbook": {"lcr": "LCR"},
        "imsuite.mis.textbook": {"mis": "MIS"},
        "imsuite.spanning_tree.textbook": {"mst": "SpanningTree"},
        "imsuite.vertex_colouring.textbook": {"vc": "VertexColouring"},
        "lab.consensus": {"benor": "BenOr", "phase_king": "PhaseKing"},
        "lab.distance_vector": {"distance_vector": "DistanceVector"},
        "lab.flooding": {"floodmax": "FloodMax", "floodset": "FloodSet"},
        "lab.rumours": {"gossip": "Gossip", "push_sum": "PushSum", "snapshot": "Snapshot"},
        "lab.stable": {
            "stable_bfs": "StableBFS",
            "stable_colouring": "StableColouring",
            "stable_matching": "StableMatching",
            "stable_mis": "StableMIS",
            "token_ring": "TokenRing",
        },
        "lab.synchroniser": {"alpha": "Alpha", "beta": "Beta"},
        "lab.trial_colouring": {"trial_colouring": "TrialColouring"},
        "lab.waves": {"dijkstra_scholten": "DijkstraScholten", "echo": "Echo"},
    }
)
"""Kernels by their short names."""

RECURSIVE = Classes(
    {
        "imsuite.bfs_bellman_ford.recursive": {"bf": "RecursiveBellmanFord"},
        "imsuite.bfs_dijkstra.recursive": {"dst": "RecursiveDijkstra"},
        "imsuite.byzantine.recursive": {"by": "RecursiveByzantine"},
        "imsuite.dijkstra_routing.recursive": {"dr": "RecursiveDijkstraRouting"},
        "imsuite.spanning_tree.recursive": {"mst": "RecursiveSpanningTree"},
    }
)
"""Recursive forms of kernels, by the same names."""

BLOCK = Classes(
    {
        "analytics.core_number": {"core_number": "BlockCoreNumber"},
        "analytics.eccentricity": {"eccentricity": "BlockEccentricity"},
        "analytics.nearness": {
            "all_pairs": "BlockAllPairs",
            "closeness": "BlockCloseness",
            "harmonic": "BlockHarmonic",
            "bfs_many": "BlockMany",
        },
        "analytics.orders": {"topological": "BlockTopological"},
        "analytics.scc": {"scc": "BlockStrongComponents"},
        "analytics.searches_block": {"sssp": "BlockPaths", "bfs": "BlockSearch"},
        "analytics.triangles_block": {"triangles": "BlockTriangles"},
        "analytics.wcc_block": {"wcc": "BlockComponents"},
        "imsuite.spanning_tree.block": {"mst": "BlockSpanningTree"},
    }
)
"""Block forms of kernels, by the same names."""

SINCE = Classes(
    {
        "analytics.centralities": {"katz": "Katz"},
        "analytics.core_number": {"core_number": "CoreNumberSince"},
        "analytics.pagerank": {"pagerank": "PageRank"},
        "analytics.searches_block": {"sssp": "PathsSince", "bfs": "SearchSince"},
        "analytics.wcc_block": {"wcc": "ComponentsSince"},
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
