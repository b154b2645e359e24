"""What docstrings say of a kernel's algorithm and model, beside rounds and messages."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import dgsuite
from dgsuite import genval
from dgsuite.partition.graph.graph import Graph


def test_an_independent_dominating_set_may_be_large():
    """Of two hubs that are neighbours, where the hubs alone would dominate."""
    hub = np.repeat([0, 1], 30)
    graph = Graph.from_edges(np.append(hub, 0), np.append(np.arange(2, 62), 1))
    found = dgsuite.run("ds", graph).in_ds
    assert int(found.sum()) == 31
    assert int(found[:2].sum()) == 1


def test_traitors_lie_about_their_own_vote_alone():
    """The same to a neighbour in all iterations; they pass on what they hear."""
    graph = Graph.from_networkx(nx.connected_watts_strogatz_graph(40, 6, 0.4, seed=1))
    votes = [v % 2 for v in range(40)]
    how = {"votes": votes, "traitors": [4, 11, 20], "seed": 2}
    lies, told = [], np.zeros(40, int)
    for moment in dgsuite.lab.Execution("by", graph, **how).moments():
        sent = moment.messages
        if moment.step.phase == "say":
            lies.append(sent.fields["vote"][np.isin(sent.sender, how["traitors"])].tolist())
        elif moment.step.phase == "forward":
            told += np.bincount(sent.sender, minlength=40)
    assert len(lies) > 1
    assert all(each == lies[0] for each in lies)
    assert len(set(lies[0])) == 2
    assert (told[how["traitors"]] > 0).all()


@pytest.mark.parametrize("kind", ["er", "grid", "ring", "tree"])
def test_few_rounds_make_a_matching(kind):
    ds = dgsuite.run("matching", genval.graph(kind, 4096), style="serial")
    assert ds.sizes["round"] <= 9


def test_routing_tables_take_a_message_between_any_two():
    ds = dgsuite.run("dr", Graph.from_networkx(nx.path_graph(10)), style="serial")
    assert (ds.attrs["exchanges"], int(ds.messages.sum())) == (1, 90)
