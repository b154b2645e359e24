"""Programs: values that rounds carry to their phases, and rounds that are repeated until quiet."""

import networkx as nx
import numpy as np
import pytest

import dgsuite
from dgsuite.base.errors import RunError
from dgsuite.partition.graph.graph import Graph
from tests.support.toys import Carries, CarriesAmongTasks

STYLES = ("serial", "finish_async", "clocked")


def expected(graph, got):
    """Result and number of rounds of `Carries`, by a plain loop."""
    value, rounds = np.arange(len(graph)), 1
    adjacency = nx.to_numpy_array(graph, nodelist=range(len(graph)), dtype=int)
    while (least := value.min()) < 40:
        factor = (value % 5).sum()
        got = got + adjacency @ (value * factor)
        got[adjacency.any(axis=0)] += 1000 * least + factor
        value = np.maximum(value, 2 * least + 9)
        rounds += 1
    return got, rounds


@pytest.mark.few(3)
@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("clusters", [1, 4])
def test_rounds_carry_values_in_every_style(client, style, clusters):
    graph = nx.gnm_random_graph(30, 60, seed=1)
    got, rounds = expected(graph, np.full(30, -1))
    cut = Graph.from_networkx(graph, clusters=clusters)
    ds = dgsuite.run(Carries, cut, style=style, client=client)
    assert rounds > 3
    assert ds.sizes["round"] == rounds
    np.testing.assert_array_equal(ds.got, got)


@pytest.mark.parametrize("style", STYLES)
def test_rounds_between_tasks_carry_values(client, style):
    graph = nx.gnm_random_graph(30, 60, seed=1)
    cut = Graph.from_networkx(graph, clusters=3)
    ds = dgsuite.run(CarriesAmongTasks, cut, style=style, client=client)
    np.testing.assert_array_equal(ds.got, expected(graph, np.zeros(30, int))[0])


@pytest.mark.few(1)
@pytest.mark.parametrize("style", STYLES)
def test_values_that_do_not_fit_the_phases_are_named(client, style):
    graph = Graph.from_networkx(nx.cycle_graph(8), clusters=2)
    unused = "phases 'send', 'read': no phase has a parameter for the round's value 'nobody'"
    missing = "phase 'send', cluster .: TypeError: .* 'factor'"
    for bad, message in (("unused", unused), ("missing", missing)):
        with pytest.raises(RunError, match=message):
            dgsuite.run(Carries(bad=bad), graph, style=style, client=client)
