"""The algorithms: each a program of rounds over NumPy arrays, one file each."""

from __future__ import annotations

from kernels.analytics.betweenness import Betweenness
from kernels.analytics.bfs import BreadthFirst
from kernels.analytics.bfs_grid import GridSearch
from kernels.analytics.bfs_many import AllPairs, BreadthFirstMany
from kernels.analytics.cdlp import LabelPropagation
from kernels.analytics.closeness import Closeness, Harmonic
from kernels.analytics.colouring import Colouring
from kernels.analytics.core_number import CoreNumber
from kernels.analytics.eigenvector import Eigenvector
from kernels.analytics.hits import HITS
from kernels.analytics.katz import Katz
from kernels.analytics.ktruss import KTruss
from kernels.analytics.lcc import ClusteringCoefficient
from kernels.analytics.louvain import Louvain
from kernels.analytics.matching import Matching
from kernels.analytics.pagerank import PageRank
from kernels.analytics.random_walks import RandomWalks
from kernels.analytics.scc import StrongComponents
from kernels.analytics.sssp import ShortestPaths
from kernels.analytics.triangles import Triangles
from kernels.analytics.wcc import Components
from kernels.base import Kernel
from kernels.imsuite import (
    bfs_dijkstra_faithful,
    byzantine_faithful,
    dijkstra_routing_faithful,
    dominating_set_faithful,
    kcommittee_faithful,
    leader_dp_faithful,
    mis_faithful,
    spanning_tree_faithful,
)
from kernels.imsuite.bfs_bellman_ford import BellmanFord
from kernels.imsuite.bfs_bellman_ford_recursive import RecursiveBellmanFord
from kernels.imsuite.bfs_dijkstra import Dijkstra
from kernels.imsuite.bfs_dijkstra_recursive import RecursiveDijkstra
from kernels.imsuite.byzantine import Byzantine
from kernels.imsuite.byzantine_recursive import RecursiveByzantine
from kernels.imsuite.dijkstra_routing import DijkstraRouting
from kernels.imsuite.dijkstra_routing_recursive import RecursiveDijkstraRouting
from kernels.imsuite.dominating_set import DominatingSet
from kernels.imsuite.kcommittee import KCommittee
from kernels.imsuite.leader_dp import PelegLeader
from kernels.imsuite.leader_hs import HirschbergSinclair
from kernels.imsuite.leader_lcr import LCR
from kernels.imsuite.mis import MIS
from kernels.imsuite.spanning_tree import SpanningTree
from kernels.imsuite.spanning_tree_recursive import RecursiveSpanningTree
from kernels.imsuite.vertex_colouring import VertexColouring

KERNELS: dict[str, type[Kernel]] = {
    k.name: k
    for k in (
        AllPairs,
        Betweenness,
        BreadthFirst,
        BreadthFirstMany,
        Closeness,
        Colouring,
        Components,
        CoreNumber,
        GridSearch,
        Harmonic,
        KTruss,
        LabelPropagation,
        ClusteringCoefficient,
        BellmanFord,
        Dijkstra,
        Byzantine,
        DijkstraRouting,
        DominatingSet,
        KCommittee,
        PelegLeader,
        HirschbergSinclair,
        LCR,
        MIS,
        Louvain,
        Matching,
        Eigenvector,
        HITS,
        Katz,
        PageRank,
        RandomWalks,
        ShortestPaths,
        SpanningTree,
        StrongComponents,
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

__all__ = ["KERNELS", "RECURSIVE", *(k.__name__ for k in KERNELS.values()), "Kernel"]
