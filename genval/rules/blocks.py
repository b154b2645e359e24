"""Bridges, cut nodes and biconnected components, by components of a graph of tree edges (Tarjan and Vishkin
1985, "An efficient parallel biconnectivity algorithm").
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import breadth_first_order

from dgsuite.genval.report import Found
from dgsuite.genval.rules.base import Job, Outputs, ends, exactly, parts, rows
from dgsuite.genval.rules.registry import judges
from dgsuite.partition.clusters.cluster import Cluster


class Blocks(NamedTuple):
    """Biconnected components of a graph.

    Attributes
    ----------
    nodes, block
        A row for each node of each component, ascending. Components are numbered by their two smallest nodes.
    bridges
        Ends of the bridges, the smaller first, ascending: shape (2, count).
    """

    nodes: NDArray[np.int64]
    block: NDArray[np.int64]
    bridges: NDArray[np.int64]


@judges("bridges", outputs={"source": 0, "target": 0, "articulation": 1, "component": 1})
def bridges(job: Job) -> list[Found]:
    """Bridges are the biconnected components of one edge, and cut nodes are in several components; without
    the bridges the parts of the graph are the 2-edge-connected components.
    """
    one, other = _edges(job)
    right, n = _blocks(one, other, job.n), job.n
    bridge = right.bridges[0] * n + right.bridges[1]
    left = ~np.isin(one * n + other, bridge)
    component = _smallest(parts(one[left], other[left], n))
    cut = np.bincount(right.nodes, minlength=n) > 1
    found = {name: values.astype(np.int64) for name, values in job.outputs.items()}
    return [
        *rows(n, found["source"], found["target"], bridge),
        job.found(
            ("articulation", found["articulation"] != cut, cut, job.outputs["articulation"]),
            exactly("component", found["component"], component),
        ),
    ]


@judges("biconnected", outputs={"member": 0, "block": 0})
def biconnected(job: Job) -> list[Found]:
    """Rows are those of the biconnected components."""
    one, other = _edges(job)
    right = _blocks(one, other, job.n)
    member, block = job.integers("member", "block")
    return rows(job.n, member, block, right.nodes * job.n + right.block)


def _edges(job: Job) -> NDArray[np.int64]:
    """Both ends of each edge, the smaller first."""
    return np.concatenate(job.each(_lower), axis=1)


def _lower(c: Cluster, outputs: Outputs) -> NDArray[np.int64]:
    row, other = ends(c)
    pairs = np.stack([c.ids[row], other]).astype(np.int64)
    return pairs[:, pairs[0] < pairs[1]]


def _smallest(part: NDArray) -> NDArray[np.int64]:
    """The smallest node of each node's part."""
    _, first, place = np.unique(part, return_index=True, return_inverse=True)
    return first[place]


def _blocks(one: NDArray, other: NDArray, n: int) -> Blocks:
    """Edges of a spanning tree are in one component if both lead up from the ends of an edge that joins two
    branches, or if an edge leads from below the lower one past the node between them.
    """
    parent, level = _tree(one, other, n)
    number, size = _preorder(parent, level)
    leaves = (parent[one] != other) & (parent[other] != one)  # edges that are not in the tree
    one, other = one[leaves], other[leaves]
    low, high = number.copy(), number.copy()
    for u, v in ((one, other), (other, one)):
        np.minimum.at(low, u, number[v])
        np.maximum.at(high, u, number[v])
    for nodes in level[:0:-1]:
        np.minimum.at(low, parent[nodes], low[nodes])
        np.maximum.at(high, parent[nodes], high[nodes])
    first, last = np.where(number[one] < number[other], (one, other), (other, one))
    apart = number[first] + size[first] <= number[last]
    nodes = np.flatnonzero(parent >= 0)
    up = parent[nodes]
    passes = (parent[up] >= 0) & (
        (low[nodes] < number[up]) | (high[nodes] >= number[up] + size[up])
    )
    joined = np.append(first[apart], nodes[passes]), np.append(last[apart], up[passes])
    of = parts(*joined, n)[nodes]  # of the edge from a node to its parent
    block, member = np.unique(np.stack([np.append(of, of), np.append(nodes, up)]), axis=1)
    starts = np.flatnonzero(np.diff(block, prepend=-1))
    two = np.stack([member[starts], member[starts + 1]])
    place = np.empty(len(starts), np.int64)
    place[np.lexsort(two[::-1])] = np.arange(len(starts))
    lengths = np.diff(starts, append=len(member))
    block = np.repeat(place, lengths)
    order = np.lexsort((block, member))
    return Blocks(member[order], block[order], np.unique(two[:, lengths == 2], axis=1))


def _tree(one: NDArray, other: NDArray, n: int) -> tuple[NDArray[np.int64], list[NDArray]]:
    """Parents in a spanning forest, -1 at roots, and the nodes of each level."""
    first = np.unique(_smallest(parts(one, other, n)))
    top = np.full(len(first), n)  # a node above all roots
    ends = np.append(one, top), np.append(other, first)
    links = sp.csr_array((np.ones(len(ends[0]), bool), ends), shape=(n + 1, n + 1))
    order, parent = breadth_first_order(links, n, directed=False)
    place = np.empty(n + 1, np.int64)
    place[order] = np.arange(n + 1)
    levels, behind = [], 1
    # the order is by levels, and a level's parents are those of the level before
    while behind <= n:
        ahead = int(np.searchsorted(place[parent[order[1:]]], behind)) + 1
        levels.append(order[behind:ahead].astype(np.int64))
        behind = ahead
    found = parent[:n].astype(np.int64)
    return np.where(found == n, -1, found), levels


def _preorder(parent: NDArray, levels: list[NDArray]) -> tuple[NDArray, NDArray]:
    """Numbers of nodes such that those of a subtree follow each other, and how many it has."""
    size = np.ones(len(parent), np.int64)
    for nodes in levels[:0:-1]:
        np.add.at(size, parent[nodes], size[nodes])
    number = np.zeros(len(parent), np.int64)
    for depth, nodes in enumerate(levels):
        before = np.cumsum(size[nodes]) - size[nodes]
        if not depth:
            number[nodes] = before
            continue
        up = parent[nodes]  # children of a node follow each other
        heads = np.flatnonzero(np.diff(up, prepend=-1))
        since = before - np.repeat(before[heads], np.diff(heads, append=len(up)))
        number[nodes] = number[up] + 1 + since
    return number, size
