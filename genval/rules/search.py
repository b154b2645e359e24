"""Distances and trees of breadth-first search."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.genval.report import Found
from dgsuite.genval.rules.base import (
    Job,
    Outputs,
    addable,
    at_edges,
    collect,
    ends,
    exactly,
    marked,
    says,
)
from dgsuite.genval.rules.registry import judges
from dgsuite.partition.clusters.cluster import Cluster

NEVER = 2**62
"""The cutoff of a search that goes on to its end."""


@judges("bf", outputs={"distance": 1})
def bf(job: Job) -> list[Found]:
    """Hop distances: 0 only at the root; an edge from a reached node leads to a reached node at most
    one hop farther; a node d hops away has a neighbour d - 1 hops away.
    """
    root = job.root()
    checked = job.each(_distances, root=root)
    seen = np.concatenate([witnessed for _, witnessed in checked])
    return [*(found for found, _ in checked), _predecessors(job.outputs["distance"], seen)]


def _distances(c: Cluster, outputs: Outputs, root: int) -> tuple[Found, NDArray]:
    distance = outputs["distance"].astype(np.int64)
    mine = distance[c.ids]
    row, other = ends(c)
    theirs = distance[other]
    at_root = c.ids == root
    reached = mine >= 0
    # rows are out-edges: they constrain the other end, and show which nodes have a predecessor
    skips = reached[row] & ((theirs < 0) | (theirs > mine[row] + 1))
    near = says("neighbours at most {} hops away", mine + 1)
    found = collect(
        c.ids,
        ("root", at_root & (mine != 0), "distance 0", mine),
        ("distance", (mine < -1) | (~at_root & (mine == 0)), "at least 1, or -1", mine),
        at_edges(c, "edge", skips, near, "node {} at {}", other, theirs),
    )
    return found, np.unique(other[reached[row] & (theirs == mine[row] + 1)])


def _predecessors(distance: NDArray, witnessed: NDArray) -> Found:
    lacks = (distance > 0) & ~marked(len(distance), witnessed)
    told = says("a neighbour {} hops away", distance - 1)
    return collect(np.arange(len(distance)), ("predecessor", lacks, told, "none"))


@judges("all_pairs", outputs={"level": 2}, sampled=True)
def all_pairs(job: Job) -> list[Found]:
    """Hop distances as in `bf` from each source.

    Raises
    ------
    InputError
        The sources of the columns are unknown, or are not nodes.
    """
    level = job.outputs["level"]
    roots = _sources_of(job, level.shape[1])
    found = list[Found]()
    by_source = zip(*job.each(_each_source, roots=roots), strict=True)
    for column, checked in zip(level.T, by_source, strict=True):
        seen = np.concatenate([witnessed for _, witnessed in checked])
        found += [*(one for one, _ in checked), _predecessors(column, seen)]
    return found


def _sources_of(job: Job, count: int) -> NDArray[np.int64]:
    """The source of each column: the coordinate, else the parameter, else all nodes."""
    given, roots = job.given("source"), np.arange(job.n)
    if given is None:
        given = job.fact("sources")
    if isinstance(given, np.ndarray | list | tuple):
        roots = np.array([job.node(one) for one in given], np.int64)
    if len(roots) != count:
        raise InputError(f"'level' has {count} columns for {len(roots)} sources")
    if ((roots < 0) | (roots >= job.n)).any():
        raise InputError(f"sources must be nodes from 0 to {job.n - 1}")
    return roots


def _each_source(c: Cluster, outputs: Outputs, roots: NDArray) -> list[tuple[Found, NDArray]]:
    level = outputs["level"]
    columns = zip(level.T, roots.tolist(), strict=True)
    return [_distances(c, {"distance": column}, root) for column, root in columns]


@judges("dst", outputs={"distance": 1, "parent": 1})
def dst(job: Job) -> list[Found]:
    """A breadth-first tree as `bfs`, whose root has no parent."""
    root, parent = job.root(), np.array(job.outputs["parent"])
    parent[root] = root if parent[root] == -1 else -1
    return tree(job, job.outputs["distance"], parent)


@judges("bfs", "bfs2d", outputs={"level": 1, "parent": 1})
def bfs(job: Job) -> list[Found]:
    """Breadth-first tree, by Graph500's five checks: the root is its own parent, at level 0; the parent of
    every other node in the tree is a neighbour one level up (so there are no cycles); the levels of an
    edge's ends differ by at most one; no edge joins the tree to a node outside, but from the level where the
    run was cut off. On a directed graph an edge leads from the parent, at most one level down, and may come
    from outside.
    """
    return tree(job, job.outputs["level"], job.outputs["parent"])


def tree(job: Job, level: NDArray, parent: NDArray) -> list[Found]:
    """Check a breadth-first tree, whose root is its own parent: shortest paths of edges of length 1."""
    strange = job.found(("level", level < -1, "at least 0, or -1", level))
    hops = job.with_outputs({"distance": np.where(level < 0, np.inf, level), "parent": parent})
    cutoff = job.integer("cutoff", NEVER, 0, NEVER)
    return [strange, *_over_parents(hops, np.array([job.root()]), cutoff=cutoff)]


@judges("sssp", outputs={"distance": 1, "parent": 1}, real=("distance",))
def sssp(job: Job) -> Iterator[list[Found]]:
    """Shortest paths: no edge gives a path shorter than a node's distance; the path over its parent has
    the length of its distance; parents lead to the root, or to one of the sources, which is the nearest one.
    """
    return _shortest_paths(job, least=0)


@judges("bellman_ford", outputs={"distance": 1, "parent": 1}, real=("distance",))
def bellman_ford(job: Job) -> Iterator[list[Found]]:
    """Shortest paths as in `sssp`; distances may be negative."""
    return _shortest_paths(job, least=-np.inf)


def _shortest_paths(job: Job, least: float) -> Iterator[list[Found]]:
    roots, parent, nodes = _starts(job), job.outputs["parent"], np.arange(job.n)
    yield _over_parents(job, roots, least=least)
    top = np.where(parent < 0, nodes, parent)
    for _ in range(max(job.n - 1, 1).bit_length()):
        top = top[top]
    loops = (parent >= 0) & ~(np.isin(top, roots) & (parent[top] == top))
    path = f"a path to the root, node {roots[0]}" if len(roots) == 1 else "a path to a source"
    yield [job.found(("tree", loops, path, "a cycle"))]
    if (source := job.given("source")) is not None:
        if (labels := job.graph.labels) is not None:
            source = labels.nodes(source, missing=True)
        yield [job.found(exactly("source", source, np.where(parent < 0, -1, top)))]


def _over_parents(job: Job, roots: NDArray, **limits: float) -> list[Found]:
    """Check distances against those of neighbours, and of parents, which are neighbours."""
    found, children, lengths = zip(*job.each(_shortest, roots=roots, **limits), strict=True)
    distance, parent, nodes = job.outputs["distance"], job.outputs["parent"], np.arange(job.n)
    inner = np.isfinite(distance) & ~(np.isin(nodes, roots) & (parent == nodes))
    linked = marked(job.n, np.concatenate(children))
    over = np.zeros(job.n, np.result_type(*lengths))
    over[np.concatenate(children)] = np.concatenate(lengths)
    sources = "a node with an edge to it" if job.graph.directed else "one of its neighbours"
    told, off = says("distance {}, over its parent", over), inner & linked & (over != distance)
    rules = ("parent", inner & ~linked, sources, parent), ("path", off, told, distance)
    return [*found, job.found(*rules)]


def _starts(job: Job) -> NDArray[np.int64]:
    """Where paths start: the sources of the run, else its root."""
    if (roots := job.nodes("sources")) is not None:
        return roots
    if job.fact("sources") is not None:
        raise InputError("the sources are unknown: give them as a list, sources=[...]")
    return np.array([job.root()])


def _shortest(
    c: Cluster, outputs: Outputs, roots: NDArray, least: float = 0, cutoff: int | None = None
) -> tuple[Found, NDArray, NDArray]:
    """Violations of the cluster's nodes; their children, and the length of the path to each child.

    Parameters
    ----------
    cutoff
        Of a breadth-first search, whose edges all have length 1: the last level.
    """
    distance, parent = outputs["distance"], outputs["parent"]
    mine, above = distance[c.ids], parent[c.ids]
    row, other = ends(c)
    at_root = np.isin(c.ids, roots)
    reached = np.isfinite(mine)
    # rows are out-edges: they constrain the other end
    with np.errstate(over="ignore"):
        lengths = mine[row] + (addable(c, "distance", distance) if cutoff is None else 1)
    last, theirs = np.inf if cutoff is None else cutoff, distance[other]
    shorter = (theirs > lengths) | (reached[row] & ~np.isfinite(theirs))
    shorter &= lengths <= last
    child = parent[other] == c.ids[row]
    farther = "neighbours no farther than over this node"
    elsewhere = at_root & ~(((mine == 0) & (above == c.ids)) | (mine < 0))
    begin = "distance 0, its own parent, if no path from another source is negative"
    outside = ~(mine >= least) | (mine == -np.inf) | (reached & (mine > last))
    found = collect(
        c.ids,
        ("root", elsewhere, begin, says("distance {:g}, parent {}", mine, above)),
        ("parent", ~reached & ~at_root & (above != -1), "-1, unreachable", above),
        ("distance", outside, f"{least} to {last}", says("{:g}", mine)),
        at_edges(c, "edge", shorter, farther, "node {} at distance {:g}", other, theirs),
    )
    return found, other[child], lengths[child]
