"""Nobody writes to the arrays of a graph's clusters, so that no run changes the graph for later ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import dgsuite
from dgsuite import RunError
from dgsuite.core.running.attempt import as_seen
from dgsuite.core.running.since import Since
from dgsuite.kernels import KERNELS, ComponentsSince, bsp
from dgsuite.partition import arrange
from dgsuite.partition.clusters.cluster import Cluster, shared
from dgsuite.partition.graph.graph import Graph

SRC, DST = np.array([0, 1, 2, 3, 4, 2]), np.array([1, 2, 3, 4, 0, 0])
LOOP = np.append(SRC, 1), np.append(DST, 1)
HOW = {"n": 6, "clusters": 2, "client": None}


def undirected(**how):
    return Graph.from_edges(SRC, DST, **HOW, **how)


def directed(kernel):
    graph = undirected(directed=True, weights=np.arange(6.0))
    return as_seen(graph, KERNELS[kernel]())


GRAPHS = {
    "plain": undirected,
    "weights": lambda: undirected(weights=np.arange(6.0)),
    "identifiers": lambda: undirected(uid=np.arange(6) + 10),
    "a map": lambda: Graph.from_edges(SRC, DST, partition=np.arange(6) % 2, n=6, client=None),
    "loops": lambda: Graph.from_edges(*LOOP, loops="keep", weights=np.arange(7.0), **HOW),
    "directed": lambda: undirected(directed=True),
    "with edges that come in": lambda: directed("pagerank"),
    "seen both ways": lambda: directed("cdlp"),
    "on disk": lambda: undirected(edges="disk"),
    "grown": lambda: undirected().with_edges([5], [0]),
    "a grid": lambda: arrange(Graph.from_edges(SRC, DST, n=6, clusters=4, client=None)),
    "cut anew": lambda: undirected().repartition(3),
}


def writable(cluster):
    """Names of the arrays of a cluster, or of its partition, that can be written."""
    names = {*vars(cluster), "indptr", "indices", "weights", "ids", "uid", "degree", "successor"}
    if cluster.pulls:
        names |= {name for name, value in vars(Cluster).items() if isinstance(value, shared)}
    found = [(name, getattr(cluster, name)) for name in names]
    for thing in (cluster.partition, cluster.block):
        found += [] if thing is None else vars(thing).items()
    arrays = [(name, array) for name, array in found if isinstance(array, np.ndarray)]
    return [name for name, array in arrays if array.flags.writeable and name[0] != "_"]


@pytest.mark.parametrize("kind", GRAPHS)
def test_arrays_of_clusters_are_read_only(kind, client):
    """Here and on workers."""
    graph = GRAPHS[kind]()
    assert not any(map(writable, graph.gather()))
    assert not any(client.gather(client.map(writable, graph.persist(client).parts)))


def test_arrays_that_users_gave_stay_theirs():
    src, weights, owner = SRC.copy(), np.arange(6.0), np.arange(6) % 2
    Graph.from_edges(src, DST, weights=weights, partition=owner, n=6, client=None)
    for array in (src, weights, owner):
        array[0] = 0


@dataclass(eq=False)
class State(bsp.ClusterState):
    """What the nodes know."""

    count: np.ndarray = bsp.per_node(0)


@dataclass(frozen=True)
class Writes(bsp.Kernel):
    """It writes to what it goes on from."""

    array: str = "component"

    name = "writes"
    outputs = {"count": bsp.Output("count")}
    state = State

    def program(self, net):
        yield bsp.Round(self.write)

    def first_state(self, c):
        return self.start(c)

    def write(self, c, s, inbox):
        values = {**c.earlier.outputs, **c.earlier._asdict()}[self.array]
        values[:] += 1


@pytest.mark.parametrize("array", ["component", "rows", "ends", "weights"])
def test_what_a_run_goes_on_from_is_read_only(array):
    graph = undirected(weights=np.arange(6.0))
    before = dgsuite.run("wcc", graph)
    grown = graph.with_edges([5, 4], [0, 2], weights=[1.0, 2.0])
    seen = Since.of([ComponentsSince()], grown, before).seen(grown)
    with pytest.raises(RunError, match=r"kernel 'writes', round 0, phase 'write'.*read-only"):
        dgsuite.run(Writes, seen, array=array)
    assert dgsuite.run("wcc", grown, since=before).component.values.tolist() == [0] * 6
