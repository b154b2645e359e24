"""The algorithms: each a program of rounds over NumPy arrays, one file each."""

from __future__ import annotations

from kernels.base import Kernel
from kernels.betweenness import Betweenness
from kernels.bfs import BreadthFirst
from kernels.bfs_bellman_ford import BellmanFord
from kernels.bfs_bellman_ford_recursive import RecursiveBellmanFord
from kernels.bfs_dijkstra import Dijkstra
from kernels.bfs_dijkstra_recursive import RecursiveDijkstra
from kernels.bfs_grid import GridSearch
from kernels.byzantine import Byzantine
from kernels.byzantine_recursive import RecursiveByzantine
from kernels.dijkstra_routing import DijkstraRouting
from kernels.dijkstra_routing_recursive import RecursiveDijkstraRouting
from kernels.dominating_set import DominatingSet
from kernels.kcommittee import KCommittee
from kernels.leader_dp import PelegLeader
from kernels.leader_hs import HirschbergSinclair
from kernels.leader_lcr import LCR
from kernels.mis import MIS
from kernels.spanning_tree import SpanningTree
from kernels.spanning_tree_recursive import RecursiveSpanningTree
from kernels.sssp import ShortestPaths
from kernels.vertex_colouring import VertexColouring

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
