"""Graphs, compared."""


def same(a, b):
    """Two graphs have the same edges and weights, however they are cut."""
    left, right = a.to_scipy(), b.to_scipy()
    assert left.shape == right.shape
    assert left.nnz == right.nnz
    assert (left != right).nnz == 0
    assert a.m == b.m
