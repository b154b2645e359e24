"""Cliques of any size, motifs and their rules on graphs too large to look at all."""

from __future__ import annotations

import math

import networkx as nx
import numpy as np
import pytest

import dgsuite
from dgsuite import genval
from dgsuite.base.errors import InputError


@pytest.mark.parametrize("n", [63, 64, 65, 66, 130])
def test_sets_of_any_number_of_words(n):
    graph = dgsuite.Graph.from_networkx(nx.complete_graph(n), clusters=2)
    for k in (3, 4, 5):
        found = dgsuite.run("cliques", graph, k=k).cliques.values
        assert (found == math.comb(n - 1, k - 1)).all()


def test_cliques_of_three_nodes_are_triangles():
    graph = genval.graph("rmat", 1 << 9, seed=3, client=None, clusters=3)
    found = dgsuite.run("cliques", graph, k=3).cliques
    assert np.array_equal(found, dgsuite.run("triangles", graph).triangles)
    both = dgsuite.run("motifs", graph).orbits.values
    assert np.array_equal(both[:, 3], found)
    assert np.array_equal(both[:, 14], dgsuite.run("cliques", graph, k=4).cliques)


def test_a_result_without_all_orbits_is_refused():
    graph = dgsuite.Graph.from_edges([0], [1])
    with pytest.raises(InputError, match=r"'orbits' must have shape \(2, 15\), got \(2, 3\)"):
        genval.validate("motifs", graph, {"orbits": np.zeros((2, 3), int)})
