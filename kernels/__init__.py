"""The algorithms: each a program of rounds over NumPy arrays, one file each."""

from __future__ import annotations

from dgsuite.kernels.analytics.bellman_ford import NegativePaths
from dgsuite.kernels.analytics.betweenness import Betweenness
from dgsuite.kernels.analytics.bfs import BreadthFirst
from dgsuite.kernels.analytics.bfs_block import BlockSearch
from dgsuite.kernels.analytics.bfs_grid import GridSearch
from dgsuite.kernels.analytics.bfs_many import AllPairs, BreadthFirstMany
from dgsuite.kernels.analytics.bfs_many_block import (
    BlockAllPairs,
    BlockCloseness,
    BlockHarmonic,
    BlockMany,
)
from dgsuite.kernels.analytics.bfs_since import SearchSince
from dgsuite.kernels.analytics.biconnected import Biconnected
from dgsuite.kernels.analytics.bipartite import Bipartite
from dgsuite.kernels.analytics.bridges import Bridges
from dgsuite.kernels.analytics.cdlp import LabelPropagation
from dgsuite.kernels.analytics.cliques import Cliques
from dgsuite.kernels.analytics.closeness import Closeness, Harmonic
from dgsuite.kernels.analytics.colouring import Colouring
from dgsuite.kernels.analytics.core_number import CoreNumber
from dgsuite.kernels.analytics.core_number_block import BlockCoreNumber
from dgsuite.kernels.analytics.core_number_since import CoreNumberSince
from dgsuite.kernels.analytics.densest import Densest
from dgsuite.kernels.analytics.eccentricity import Eccentricity
from dgsuite.kernels.analytics.edge_betweenness import EdgeBetweenness
from dgsuite.kernels.analytics.eigenvector import Eigenvector
from dgsuite.kernels.analytics.fastrp import FastRP
from dgsuite.kernels.analytics.hits import HITS
from dgsuite.kernels.analytics.hyperball import HyperBall
from dgsuite.kernels.analytics.katz import Katz
from dgsuite.kernels.analytics.ktruss import KTruss
from dgsuite.kernels.analytics.lcc import ClusteringCoefficient
from dgsuite.kernels.analytics.leiden import Leiden
from dgsuite.kernels.analytics.louvain import Louvain
from dgsuite.kernels.analytics.matching import Matching
from dgsuite.kernels.analytics.motifs import Motifs
from dgsuite.kernels.analytics.neighbourhood import Neighbourhood
from dgsuite.kernels.analytics.pagerank import PageRank
from dgsuite.kernels.analytics.random_walks import RandomWalks
from dgsuite.kernels.analytics.sample import Sample
from dgsuite.kernels.analytics.scc import StrongComponents
from dgsuite.kernels.analytics.scc_block import BlockStrongComponents
from dgsuite.kernels.analytics.similarity import Similarity
from dgsuite.kernels.analytics.square_clustering import SquareClustering
from dgsuite.kernels.analytics.sssp import ShortestPaths
from dgsuite.kernels.analytics.sssp_block import BlockPaths
from dgsuite.kernels.analytics.sssp_since import PathsSince
from dgsuite.kernels.analytics.topological import Topological
from dgsuite.kernels.analytics.triangles import Triangles
from dgsuite.kernels.analytics.wcc import Components
from dgsuite.kernels.analytics.wcc_block import BlockComponents
from dgsuite.kernels.analytics.wcc_since import ComponentsSince
from dgsuite.kernels.bsp import Kernel
from dgsuite.kernels.imsuite.bfs_bellman_ford.recursive import RecursiveBellmanFord
from dgsuite.kernels.imsuite.bfs_bellman_ford.textbook import BellmanFord
from dgsuite.kernels.imsuite.bfs_dijkstra import faithful as bfs_dijkstra_faithful
from dgsuite.kernels.imsuite.bfs_dijkstra.recursive import RecursiveDijkstra
from dgsuite.kernels.imsuite.bfs_dijkstra.textbook import Dijkstra
from dgsuite.kernels.imsuite.byzantine import faithful as byzantine_faithful
from dgsuite.kernels.imsuite.byzantine.recursive import RecursiveByzantine
from dgsuite.kernels.imsuite.byzantine.textbook import Byzantine
from dgsuite.kernels.imsuite.dijkstra_routing import faithful as dijkstra_routing_faithful
from dgsuite.kernels.imsuite.dijkstra_routing.recursive import RecursiveDijkstraRouting
from dgsuite.kernels.imsuite.dijkstra_routing.textbook import DijkstraRouting
from dgsuite.kernels.imsuite.dominating_set import faithful as dominating_set_faithful
from dgsuite.kernels.imsuite.dominating_set.textbook import DominatingSet
from dgsuite.kernels.imsuite.kcommittee import faithful as kcommittee_faithful
from dgsuite.kernels.imsuite.kcommittee.textbook import KCommittee
from dgsuite.kernels.imsuite.leader_dp import faithful as leader_dp_faithful
from dgsuite.kernels.imsuite.leader_dp.textbook import PelegLeader
from dgsuite.kernels.imsuite.leader_hs.textbook import HirschbergSinclair
from dgsuite.kernels.imsuite.leader_lcr.textbook import LCR
from dgsuite.kernels.imsuite.mis import faithful as mis_faithful
from dgsuite.kernels.imsuite.mis.textbook import MIS
from dgsuite.kernels.imsuite.spanning_tree import faithful as spanning_tree_faithful
from dgsuite.kernels.imsuite.spanning_tree.block import BlockSpanningTree
from dgsuite.kernels.imsuite.spanning_tree.recursive import RecursiveSpanningTree
from dgsuite.kernels.imsuite.spanning_tree.textbook import SpanningTree
from dgsuite.kernels.imsuite.vertex_colouring.textbook import VertexColouring
from dgsuite.kernels.lab.alpha import Alpha
from dgsuite.kernels.lab.benor import BenOr
from dgsuite.kernels.lab.beta import Beta
from dgsuite.kernels.lab.dijkstra_scholten import DijkstraScholten
from dgsuite.kernels.lab.distance_vector import DistanceVector
from dgsuite.kernels.lab.echo import Echo
from dgsuite.kernels.lab.floodmax import FloodMax
from dgsuite.kernels.lab.floodset import FloodSet
from dgsuite.kernels.lab.gossip import Gossip
from dgsuite.kernels.lab.phase_king import PhaseKing
from dgsuite.kernels.lab.push_sum import PushSum
from dgsuite.kernels.lab.snapshot import Snapshot
from dgsuite.kernels.lab.stable_bfs import StableBFS
from dgsuite.kernels.lab.stable_colouring import StableColouring
from dgsuite.kernels.lab.stable_matching import StableMatching
from dgsuite.kernels.lab.stable_mis import StableMIS
from dgsuite.kernels.lab.token_ring import TokenRing
from dgsuite.kernels.lab.trial_colouring import TrialColouring

KERNELS: dict[str, type[Kernel]] = {
    k.name: k
    for k in (
        AllPairs,
        Alpha,
        Beta,
        Betweenness,
        Bipartite,
        Biconnected,
        BreadthFirst,
        BreadthFirstMany,
        Bridges,
        Cliques,
        Closeness,
        Colouring,
        Components,
        CoreNumber,
        Eccentricity,
        Densest,
        DijkstraScholten,
        DistanceVector,
        Echo,
        FloodMax,
        FloodSet,
        Gossip,
        PushSum,
        GridSearch,
        Harmonic,
        HyperBall,
        KTruss,
        LabelPropagation,
        ClusteringCoefficient,
        BellmanFord,
        BenOr,
        Dijkstra,
        Byzantine,
        DijkstraRouting,
        DominatingSet,
        KCommittee,
        PelegLeader,
        HirschbergSinclair,
        LCR,
        MIS,
        Leiden,
        Louvain,
        Matching,
        NegativePaths,
        EdgeBetweenness,
        Motifs,
        Neighbourhood,
        Eigenvector,
        FastRP,
        HITS,
        Katz,
        PageRank,
        PhaseKing,
        RandomWalks,
        Sample,
        ShortestPaths,
        Similarity,
        Snapshot,
        SpanningTree,
        SquareClustering,
        StableBFS,
        StableColouring,
        StableMatching,
        StableMIS,
        StrongComponents,
        TokenRing,
        Topological,
        TrialColouring,
        Triangles,
        VertexColouring,
    )
}
"""Kernels by their short names."""

FAITHFUL = (
    mis_faithful.FaithfulMIS,
    dominating_set_faithful.FaithfulDominatingSet,
    kcommittee_faithful.FaithfulKCommittee,
    leader_dp_faithful.FaithfulPelegLeader,
    bfs_dijkstra_faithful.FaithfulDijkstra,
    bfs_dijkstra_faithful.FaithfulRecursiveDijkstra,
    byzantine_faithful.FaithfulByzantine,
    byzantine_faithful.FaithfulRecursiveByzantine,
    dijkstra_routing_faithful.FaithfulDijkstraRouting,
    dijkstra_routing_faithful.FaithfulRecursiveDijkstraRouting,
    spanning_tree_faithful.FaithfulSpanningTree,
    spanning_tree_faithful.FaithfulRecursiveSpanningTree,
)
"""Forms that ``faithful=True`` selects, where IMSuite differs from the textbook."""

RECURSIVE: dict[str, type[Kernel]] = {
    k.name: k
    for k in (
        RecursiveBellmanFord,
        RecursiveDijkstra,
        RecursiveByzantine,
        RecursiveDijkstraRouting,
        RecursiveSpanningTree,
    )
}
"""Recursive forms of kernels, by the same names."""

BLOCK: dict[str, type[Kernel]] = {
    k.name: k
    for k in (
        BlockAllPairs,
        BlockCloseness,
        BlockComponents,
        BlockCoreNumber,
        BlockHarmonic,
        BlockMany,
        BlockPaths,
        BlockSearch,
        BlockSpanningTree,
        BlockStrongComponents,
    )
}
"""Block forms of kernels, by the same names."""

SINCE: dict[str, type[Kernel]] = {
    k.name: k for k in (ComponentsSince, CoreNumberSince, Katz, PageRank, PathsSince, SearchSince)
}
"""Kernels that go on from an earlier result on a graph that has grown, by the same names."""

FORMS = {"iterative": KERNELS, "recursive": RECURSIVE, "block": BLOCK}
"""Kernels by form."""


def forms_of(name: str) -> list[str]:
    """The forms that a kernel has."""
    return [form for form, kernels in FORMS.items() if name in kernels]


CLASSES = [k.__name__ for k in KERNELS.values()]

__all__ = ["BLOCK", "FORMS", "KERNELS", "RECURSIVE", "SINCE", *CLASSES, "Kernel", "forms_of"]
