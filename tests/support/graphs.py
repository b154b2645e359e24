"""Graphs, compared."""

import numpy as np


def same(a, b):
    """Two graphs have the same edges and weights, however they are cut."""
    left, right = a.to_scipy(), b.to_scipy()
    assert left.shape == right.shape
    assert left.nnz == right.nnz
    assert (left != right).nnz == 0
    assert a.m == b.m


def same_clusters(a, b):
    """Two graphs have the same clusters, array by array."""
    for mine, theirs in zip(a.gather(), b.gather(), strict=True):
        assert mine.partition == theirs.partition
        for name in ("indptr", "indices", "weights", "uid"):
            x, y = getattr(mine, name), getattr(theirs, name)
            assert (x is None) == (y is None), name
            assert x is None or (x.dtype == y.dtype and np.array_equal(x, y)), name


def edges_of(graph):
    """The edges by label, and their weights."""
    matrix = graph.to_scipy().tocoo()
    labels = list(range(graph.n)) if graph.labels is None else list(graph.labels)
    ends = zip(*(array.tolist() for array in (*matrix.coords, matrix.data)), strict=True)
    return {(labels[a], labels[b]): weight for a, b, weight in ends}


def entries_of(clusters):
    """A node, a neighbour and the weight of each entry, and of each loop that is kept."""
    for c in clusters:
        nodes = np.repeat(c.ids, np.diff(c.indptr)).tolist()
        weights = np.zeros(len(nodes)) if c.weights is None else c.weights
        yield from zip(nodes, c.indices.tolist(), weights.tolist(), strict=True)
        if c.loop_weights is not None:
            nodes = c.ids[c.loops].tolist()
            yield from zip(nodes, nodes, c.loop_weights.tolist(), strict=True)
