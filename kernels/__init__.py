"""The algorithms: each a program of rounds over NumPy arrays, one file each."""

from __future__ import annotations

from kernels.analytics.betweenness import Betweenness
from kernels.analytics.bfs import BreadthFirst
from kernels.analytics.bfs_grid import GridSearch
from kernels.analytics.sssp import ShortestPaths
from kernels.base import Kernel
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
        Betweenness,
        BreadthFirst,
        GridSearch,
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
        ShortestPaths,
        SpanningTree,
        VertexColouring,
    )
}
"""Kernels by their short names."""

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
