"""The algorithms: each a program of rounds over NumPy arrays, one file each."""

from __future__ import annotations

from kernels.base import Kernel
from kernels.betweenness import Betweenness
from kernels.bfs import BreadthFirst
from kernels.bfs_bellman_ford import BellmanFord
from kernels.bfs_dijkstra import Dijkstra
from kernels.bfs_grid import GridSearch
from kernels.byzantine import Byzantine
from kernels.dijkstra_routing import DijkstraRouting
from kernels.dominating_set import DominatingSet
from kernels.kcommittee import KCommittee
from kernels.leader_dp import PelegLeader
from kernels.leader_hs import HirschbergSinclair
from kernels.leader_lcr import LCR
from kernels.mis import MIS
from kernels.spanning_tree import SpanningTree
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

__all__ = ["KERNELS", *(k.__name__ for k in KERNELS.values()), "Kernel"]
