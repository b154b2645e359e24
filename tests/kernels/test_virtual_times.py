"""Virtual times of a run's rounds, and the delays that a network is given."""

from __future__ import annotations

import numpy as np
import pytest

import dgsuite
from dgsuite import genval
from dgsuite.base.errors import InputError
from dgsuite.partition.graph.graph import Graph
from dgsuite.studies.network.delays import Delay, virtual_times

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
        ("poisson", "delay must be a whole number of ticks"),
        (1.5, "delay must be a whole number of ticks"),
        (True, "delay must be a whole number of ticks"),
        (None, "delay must be a whole number of ticks"),
        ([], "delay must be a whole number of ticks"),
        ([[1]], "delay must be a whole number of ticks"),
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
    found = virtual_times(
        dgsuite.run, SQUARE, 4, delay, seed=7, synchroniser=synchroniser, style="serial"
    )
    law = Delay.of(delay).parameters
    ds = dgsuite.run(synchroniser, SQUARE, rounds=4, seed=7, **law)
    assert found.time.tolist() == ds.pulse_time.values.tolist()
    assert found.messages.tolist() == ds.messages.values.tolist()
    assert found.time.dtype == found.messages.dtype == np.int64
    again = virtual_times(
        dgsuite.run, SQUARE.repartition(3), 4, delay, seed=7, synchroniser=synchroniser
    )
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
    cut = virtual_times(dgsuite.run, SQUARE.repartition(3), 2, later, synchroniser=synchroniser)
    assert (
        cut.time.tolist()
        == virtual_times(dgsuite.run, SQUARE, 2, later, synchroniser=synchroniser).time.tolist()
    )


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
