"""The two-dimensional search: the same trees as the one-dimensional, in any grid, style and place."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dgsuite
from dgsuite import genval
from dgsuite.base.errors import InputError
from dgsuite.core.executors import serial
from dgsuite.kernels import BreadthFirst, GridSearch
from dgsuite.partition.clusters.grid import arrange, near_square
from tests.support.cases import inputs
from tests.support.sites import simulate


@given(st.data())
def test_any_grid_gives_the_tree_of_bfs(data):
    kernel, make = data.draw(inputs("bf"))  # whose graphs are undirected
    rows, columns = data.draw(st.tuples(st.integers(1, 4), st.integers(1, 4)))
    expected, _ = serial.run(BreadthFirst(root=kernel.root), make().parts)
    graph = arrange(make(clusters=rows * columns), rows, columns)
    found, _ = simulate(GridSearch(root=kernel.root), graph, data.draw(st.integers(1, 4)))
    for name in ("level", "parent"):
        np.testing.assert_array_equal(expected[name], found[name])


@pytest.mark.few(1)
@pytest.mark.parametrize("style", ["finish_async", "clocked"])
def test_on_workers(threaded, style):
    graph = genval.graph("rmat", 2**14, clusters=6, client=threaded)
    assert not graph.local
    expected = dgsuite.run("bfs", graph, client=threaded, root=1)
    grid = arrange(graph)
    found = dgsuite.run("bfs2d", grid, client=threaded, root=1, style=style)
    np.testing.assert_array_equal(expected.parent, found.parent)
    assert genval.validate("bfs2d", grid, found).ok
    here = dgsuite.run("bfs2d", grid, style="serial", root=1)
    for name in ("expand_bytes", "fold_bytes", "frontier", "messages", "bytes"):
        np.testing.assert_array_equal(here[name], found[name])
    assert int(found.frontier.sum()) == int((found.level >= 0).sum())


def test_bytes_of_one_row_one_column_and_a_square():
    """One column only expands, one row only folds; in a square each reaches sqrt(p) - 1 others."""
    graph = genval.graph("rmat", 2**12, clusters=16)
    runs = {
        shape: dgsuite.run("bfs2d", arrange(graph, *shape), style="serial", root=1)
        for shape in ((16, 1), (1, 16), (4, 4))
    }
    assert int(runs[16, 1].fold_bytes.sum()) == 0
    assert int(runs[1, 16].expand_bytes.sum()) == 0
    square = runs[4, 4]
    assert int(square.expand_bytes.sum()) * 15 == int(runs[16, 1].expand_bytes.sum()) * 3
    assert int(square.fold_bytes.sum()) < int(runs[1, 16].fold_bytes.sum())


def test_grids():
    assert [near_square(p) for p in (1, 2, 4, 6, 7, 12, 16)] == [
        *((1, 1), (1, 2), (2, 2), (2, 3), (1, 7), (3, 4), (4, 4))
    ]
    graph = genval.graph("rmat", 64, clusters=6)
    for rows, columns in ((2, 2), (0, 3), (4, None), (-1, -6)):
        with pytest.raises(InputError, match="does not match 6 clusters"):
            arrange(graph, rows, columns)
    assert arrange(graph, 3).parts[0].block.columns == 2
    assert arrange(graph, columns=6).parts[0].block.rows == 1
    with pytest.raises(InputError, match="has no grid"):
        dgsuite.run("bfs2d", graph, style="serial")
    with pytest.raises(InputError, match="not a map"):
        arrange(genval.graph("rmat", 64, clusters=6, partition="hash"))
    with pytest.raises(InputError, match="root 64"):
        dgsuite.run("bfs2d", arrange(graph), style="serial", root=64)
