"""Synchronisers take the ticks that their messages take, event by event; so do the virtual times of a run."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dgsuite
from dgsuite import genval
from dgsuite.base import thresholds
from dgsuite.base.errors import InputError
from dgsuite.base.ticks import Law
from dgsuite.partition.graph.graph import Graph
from dgsuite.studies.network.delays import Delay, virtual_times
from tests.support.definitions import networks
from tests.support.examples import examples
from tests.support.synchronisers import AlphaEvents, BetaEvents, delays

LAWS = (
    {"delay": 0},
    {"delay": 3},
    {"delay": "uniform", "low": 0, "high": 7},
    {"delay": "uniform", "low": 3, "high": 400},
    {"delay": "uniform", "low": 3, "high": 90_000},
    {"delay": "geometric", "p": 0.3},
    {"delay": "geometric", "p": 0.001},
    {"delay": "geometric", "p": 1.0},
    {"delay": "weight"},
)


def weighted(net):
    """Weights that are whole numbers from 0 on."""
    for u, v in net.edges:
        net[u][v]["weight"] = (u * v + 3 * u + 3 * v) % 11
    return net


EVENTS = {"alpha": AlphaEvents, "beta": BetaEvents}


@pytest.mark.parametrize("name", EVENTS)
@pytest.mark.parametrize("compile_from", [thresholds.compile_from, -1])
@examples(4)
@given(st.sampled_from(LAWS), networks(most=9), st.integers(1, 4), st.data())
def test_pulses_take_what_messages_one_by_one_take(compile_from, name, law, net, rounds, data):
    if name == "beta":
        net = nx.compose(net, nx.path_graph(len(net)))
    if law["delay"] == "weight" and not net.edges:
        return
    seed = data.draw(st.integers(0, 2**64 - 1))
    net, how = weighted(net), {"rounds": rounds, "seed": seed, **law}
    owner = data.draw(st.lists(st.integers(0, 2), min_size=len(net), max_size=len(net)))
    graph, setup, root = Graph.from_networkx(net, partition=owner), 0, ()
    if name == "beta":
        root = (data.draw(st.sampled_from([*net])),)
        how["root"], setup = root[0], 2 * graph.m + graph.n - 1
    time, ends, sent = EVENTS[name](net, rounds, delays(net, seed, **law), *root).run()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(thresholds, "compile_from", compile_from)
        ds = dgsuite.run(name, graph, style="serial", **how)
    assert ds.time.values.tolist() == time
    assert ds.pulse_time.values.tolist() == ends
    assert ds.messages.values.tolist() == [sent[0] + setup, *sent[1:]]
    assert genval.validate(name, graph, ds).ok


@pytest.mark.parametrize("name", EVENTS)
@pytest.mark.parametrize("law", [{"delay": 2}, {"delay": "uniform"}, {"delay": "weight"}])
@given(networks(most=7), st.data())
def test_what_takes_longer_does_so_in_its_pulse_alone(name, law, net, data):
    net = weighted(nx.compose(net, nx.path_graph(max(len(net), 2))))
    nodes = st.integers(0, len(net) - 1)
    rows = st.tuples(st.integers(0, 2), nodes, st.one_of(st.just(-1), nodes), st.integers(0, 30))
    late = data.draw(st.lists(rows, max_size=8))
    graph = Graph.from_networkx(net, clusters=2)
    ds = dgsuite.run(name, graph, style="serial", rounds=3, late=late, **law)
    time, ends, _ = EVENTS[name](net, 3, delays(net, **law, late=late)).run()
    assert ds.time.values.tolist() == time
    assert ds.pulse_time.values.tolist() == ends
    assert genval.validate(name, graph, ds).ok


@pytest.mark.parametrize("name", EVENTS)
@pytest.mark.parametrize("row", [(1, 0, 1, 9), (0, 2, -1, 9)])
def test_times_without_what_takes_longer_are_wrong(name, row):
    ring = Graph.from_edges([0, 1, 2], [1, 2, 0])
    late, plain = (dgsuite.run(name, ring, rounds=2, late=rows) for rows in ([row], ()))
    assert genval.validate(name, ring, late).ok
    plain.attrs["parameters"] = late.attrs["parameters"]
    assert not genval.validate(name, ring, plain).ok


def test_much_that_takes_longer_is_not_validated():
    ring = Graph.from_edges([0, 1, 2], [1, 2, 0])
    late = np.tile([0, 1, 2, 7], (2000, 1))
    ds = dgsuite.run("alpha", ring, late=late)
    assert ds.pulse_time.values.tolist() == [3 + 2 * 7]
    with pytest.raises(InputError, match="longer than the result lists"):
        genval.validate("alpha", ring, ds)


@given(networks(directed=True, most=10), st.integers(0, 9))
def test_edges_of_directed_graphs_carry_messages_both_ways(net, seed):
    """By weight, each way with its own where there are edges both ways."""
    for u, v in net.edges:
        net[u][v]["weight"] = (u * v + 5 * u + 3 * v) % 11
    if not net.edges:
        return
    graph = Graph.from_networkx(net, clusters=3)
    ways = net.copy()
    ways.add_edges_from((v, u, d) for u, v, d in net.edges(data=True) if not net.has_edge(v, u))
    for law in ({"delay": "weight"}, {"delay": "uniform"}):
        ds = dgsuite.run("alpha", graph, style="serial", rounds=3, seed=seed, **law)
        time, ends, _ = AlphaEvents(ways, 3, delays(ways, seed, **law)).run()
        assert (ds.time.values.tolist(), ds.pulse_time.values.tolist()) == (time, ends)
        assert genval.validate("alpha", graph, ds).ok


@given(networks(), st.integers(0, 5), st.integers(1, 4))
def test_pulses_of_equal_delays(net, delay, rounds):
    """A pulse of alpha takes three delays, one of beta as many more as the tree is high, twice."""
    net = nx.compose(net, nx.path_graph(max(len(net), 2)))
    graph = Graph.from_networkx(net, clusters=2)
    high = nx.eccentricity(net, 0)
    for name, each in (("alpha", 3), ("beta", 2 + 2 * high)):
        ds = dgsuite.run(name, graph, style="serial", rounds=rounds, delay=delay)
        assert ds.pulse_time.values.tolist() == [each * delay * r for r in range(1, rounds + 1)]


def test_the_least_probable_delays_are_still_numbers():
    most = np.array([0, 2**64 - 1], np.uint64)
    assert (Law.of("geometric", 0, 0, 1e-7).ticks(most) <= 2**31).all()
    assert Law.of("uniform", 0, 2**31, 0).ticks(most).tolist() == [0, 2**31]


@pytest.mark.parametrize("weight", [-1.0, 0.5, 2.0**33])
def test_weights_that_are_no_delays(weight):
    graph = Graph.from_edges([0, 1], [1, 2], weights=[1.0, weight])
    with pytest.raises(InputError, match=r"whole numbers from 0 .* between nodes 1 and 2"):
        dgsuite.run("alpha", graph, delay="weight")


SQUARE = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0], weights=[1, 5, 2, 3])


@pytest.mark.parametrize(
    ("given", "delay"),
    [
        (3, Delay(3)),
        (0, Delay(0)),
        ("weight", Delay("weight")),
        (("uniform", 2, 5), Delay("uniform", low=2, high=5)),
        (["geometric", 0.25], Delay("geometric", p=0.25)),
        ({"kind": "uniform", "high": 4}, Delay("uniform", high=4)),
        (Delay("geometric"), Delay("geometric")),
        (np.int64(3), Delay(3)),
    ],
)
def test_ways_to_give_a_delay(given, delay):
    assert Delay.of(given) == delay


@pytest.mark.parametrize(
    ("given", "text"),
    [
        *((each, "must be a whole number of ticks") for each in ("poisson", 1.5, True, None)),
        *((each, "must be a whole number of ticks") for each in ([], [[1]])),
        (-1, "delay must be from 0"),
        (("uniform", 1), r"delay must be \('uniform', low, high\)"),
        (("weight", 1), r"delay must be \('weight'\)"),
        ((3, 4), r"delay must be \(3\)"),
        (("uniform", 5, 2), "0 <= low <= high"),
        (("uniform", 0.5, 2), "low must be a whole number"),
        (("geometric", 0), "p must be a probability"),
        (("geometric", "often"), "p must be a probability"),
        ({"kind": "uniform", "hihg": 4}, "hihg"),
    ],
)
def test_delays_that_are_none(given, text):
    with pytest.raises(InputError, match=text):
        Delay.of(given)


@pytest.mark.parametrize("synchroniser", ["alpha", "beta"])
@pytest.mark.parametrize("delay", [2, ("uniform", 1, 9), ("geometric", 0.2), "weight"])
def test_virtual_times_are_those_of_the_kernel(synchroniser, delay):
    how = {"seed": 7, "synchroniser": synchroniser}
    found = virtual_times(dgsuite.run, SQUARE, 4, delay, style="serial", **how)
    law = Delay.of(delay).parameters
    ds = dgsuite.run(synchroniser, SQUARE, rounds=4, seed=7, **law)
    assert found.time.tolist() == ds.pulse_time.values.tolist()
    assert found.messages.tolist() == ds.messages.values.tolist()
    assert found.time.dtype == found.messages.dtype == np.int64
    again = virtual_times(dgsuite.run, SQUARE.repartition(3), 4, delay, **how)
    assert found.time.tolist() == again.time.tolist()


def later(src, dst, tick):
    return 1 + tick + 10 * (src > dst)


@pytest.mark.parametrize(("synchroniser", "told"), [("alpha", 57), ("beta", 115)])
def test_delays_by_a_function_of_the_edge_and_the_time(synchroniser, told):
    """From 0 to 1 and back: there at 1, back at 13; from 1 to 0 and back: there at 11, back at 23. Then node
    1 is safe and tells node 0, there at 57; under beta that begins the next pulse and tells node 1.
    """
    pair = Graph.from_edges([0], [1])
    found = virtual_times(dgsuite.run, pair, 1, later, synchroniser=synchroniser)
    assert found.time.tolist() == [told]
    whole, cut = (
        virtual_times(dgsuite.run, graph, 2, later, synchroniser=synchroniser)
        for graph in (SQUARE, SQUARE.repartition(3))
    )
    assert cut.time.tolist() == whole.time.tolist()


def test_times_by_a_function_are_not_validated():
    ds = dgsuite.run("alpha", SQUARE, delay=later)
    with pytest.raises(InputError, match="delay='later' was a function"):
        genval.validate("alpha", SQUARE, ds)


def test_no_pulse_takes_no_time():
    found = virtual_times(dgsuite.run, SQUARE, 0, 3)
    assert (len(found.time), len(found.messages)) == (0, 0)


@pytest.mark.parametrize(
    ("how", "text"),
    [
        ({"synchroniser": "gamma"}, "synchroniser"),
        ({"delay": "weight"}, "needs a graph with weights"),
        ({"pulses": -1}, "rounds must be from 1"),
        ({"synchroniser": "beta"}, "not connected"),
    ],
)
def test_wrong_virtual_times(how, text):
    graph = Graph.from_edges([0], [1], n=3)
    with pytest.raises(InputError, match=text):
        virtual_times(dgsuite.run, graph, **{"pulses": 2, "delay": 1, **how})
