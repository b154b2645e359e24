"""Runs with ``congest=`` count the bits that edges carry, and end where they are too many."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dgsuite
from dgsuite import Graph, InputError, RunError
from tests.support.cases import in_turn
from tests.support.examples import examples

INF = float("inf")

KINDS = {name: {} for name in ("wcc", "mis", "ds", "triangles", "by", "mst")}
KINDS |= {name: {"faithful": True} for name in ("mis", "ds")}  # repeat messages, or send several
KINDS["pagerank"] = {"iterations": 3}


def random(seed, n=40, m=60, **how):
    """A connected graph with weights."""
    luck = np.random.default_rng(seed)
    chain = np.stack([np.arange(n - 1), np.arange(1, n)])
    ends = np.concatenate([chain, luck.integers(0, n, (2, m))], axis=1)
    weights = luck.integers(1, 99, ends.shape[1])
    return Graph.from_edges(*ends, n=n, weights=weights, duplicates="min", **how)


def carried(ds):
    """By round, the edges that carry so many bits."""
    bits, rows = ds.bits.values, ds.edges_by_bits.values
    return [dict(zip(bits[row > 0].tolist(), row[row > 0].tolist(), strict=True)) for row in rows]


def test_bits_are_those_of_values():
    graph = Graph.from_edges([0, 0, 0, 0], [1, 2, 3, 4])  # 5 nodes, so 3 bits
    ds = dgsuite.run("bf", graph, congest=1)
    assert carried(ds) == [{3: count} for count in ds.messages.values if count]
    assert ds.edge_bits.values.tolist() == [3] * ds.sizes["round"]
    assert (ds.edge_bits.units, ds.attrs["congest"]) == ("bit", 1.0)
    values = dgsuite.run("pagerank", graph, congest=INF, iterations=1)
    assert set(values.edge_bits.values.tolist()) == {64}


def test_messages_of_a_phase_along_an_edge_are_added():
    graph = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
    ds = dgsuite.run("ds", graph, faithful=True, congest=INF)
    assert (
        carried(ds)[0][4] >= 8
    )  # a list of two neighbours, of two bits each, along each of four edges
    lists = dgsuite.run("ktruss", Graph.from_edges([0, 0, 0], [1, 2, 3]), congest=INF)
    assert carried(lists)[0] == {6: 3, 2: 3}  # the hub's list of three, and those of one


def test_without_it_nothing_is_counted():
    graph = random(1)
    assert not {"edge_bits", "edges_by_bits", "bits"} & set(dgsuite.run("mis", graph).variables)


@pytest.mark.parametrize("name", KINDS)
@given(st.integers(0, 999), st.integers(1, 7))
@examples(4)
def test_any_cut_has_the_same_bits(name, seed, clusters):
    how = {"congest": INF, "style": "serial", **KINDS[name]}
    one = random(seed, clusters=1)
    cut = random(seed, clusters=clusters, partition="hash")
    expected, found = (dgsuite.run(name, graph, **how) for graph in (one, cut))
    assert carried(found) == carried(expected)
    plain = dgsuite.run(name, cut, style="serial", **KINDS[name])
    for each in (*plain.data_vars,):
        if "seconds" not in each:
            assert np.array_equal(plain[each], found[each])


WAYS = [*product(("clocked", "finish_async"), ("threaded", "client"))]


@pytest.mark.few(3)
@pytest.mark.parametrize(("name", "way"), in_turn(KINDS, WAYS))
def test_any_style_has_the_same_bits(name, way, request):
    style, on = way[0], request.getfixturevalue(way[1])
    for directed in {False, name == "pagerank"}:
        graph = random(5, 60, 120, directed=directed, clusters=1)
        expected = carried(dgsuite.run(name, graph, style="serial", congest=INF, **KINDS[name]))
        placed = random(5, 60, 120, directed=directed, client=on, clusters=5)
        found = dgsuite.run(name, placed, style=style, client=on, congest=INF, **KINDS[name])
        assert carried(found) == expected


FIRST = "bits along the edge from node 0 to node 1"


TOO_MANY = [
    ("bf", {}, 0.5, rf"round 0, phase '\w+', cluster 0: sends 3 {FIRST}"),
    ("pagerank", {}, 4, "sends 64 bits along .* of which 64 bits each are field 'value'"),
    ("pagerank", {}, 4, "congest=4 allows 8 in a"),
    ("ktruss", {}, 2, f"sends 6 {FIRST}, of which 2 bits each are field 'neig"),
    ("mis", {"faithful": True}, 0.4, r"sends 53 bits along .* field 'draw'"),
    ("ds", {"faithful": True}, 2, f"sends 6 {FIRST}"),
    ("dr", {}, 4, "announces to all nodes, which is along no edge"),
]


@pytest.mark.parametrize(("name", "how", "congest", "message"), TOO_MANY)
def test_too_many_bits_are_one_error(name, how, congest, message):
    with pytest.raises(RunError, match=message):
        dgsuite.run(name, Graph.from_edges([0, 0, 0], [1, 2, 3]), congest=congest, **how)


def test_a_repeated_message_names_an_edge_that_carries_it():
    graph = Graph.from_edges([0, 0, 0, 0, 1], [1, 2, 3, 4, 2])
    ds = dgsuite.run("mis", graph, faithful=True, congest=INF, seed=3)
    most = int(ds.edge_bits.max())
    with pytest.raises(RunError, match=f"sends {most} bits along the edge from node"):
        dgsuite.run("mis", graph, faithful=True, seed=3, congest=(most - 0.5) / 3)


UNCOUNTED = [
    ("leiden", {"congest": 1}, "clusters send messages to clusters"),
    ("bf", {"congest": 1, "form": "recursive"}, "take form='iterative'"),
    ("mis", {"congest": 0}, "congest must be a number above 0"),
    ("mis", {"congest": True}, "congest must be a number above 0"),
    ("mis", {"congest": "4"}, "congest must be a number above 0"),
    ("mis", {"congest": float("nan")}, "congest must be a number above 0"),
]


@pytest.mark.parametrize(("name", "how", "message"), UNCOUNTED)
def test_what_cannot_be_counted_is_one_error(name, how, message):
    with pytest.raises(InputError, match=message):
        dgsuite.run(name, Graph.from_edges([0], [1]), **how)
