"""The ledger and its replay: sums come out, clocks never run backwards, one place is the sum."""

from __future__ import annotations

import numpy as np
import pytest

import dgsuite
from dgsuite.scc import ledger
from dgsuite.scc.ledger import Ledger, Transport
from dgsuite.scc.simulate import DEALS, Simulation, efficiency, replay

WIRE = Transport("wire", 1e-4, 1e-9)


@pytest.fixture
def costs():
    return Ledger("toy", np.random.default_rng(1).exponential(1e-3, 1000), 0.05, 8000)


@pytest.mark.parametrize("deal", DEALS)
def test_one_place_takes_the_sum(costs, deal):
    found = replay(costs, 1, WIRE, deal)
    assert found.elapsed == pytest.approx(costs.setup + costs.units.sum())


@pytest.mark.parametrize("deal", DEALS)
@pytest.mark.parametrize("places", [2, 3, 48, 1024])
def test_all_units_are_done_once(costs, deal, places):
    found = replay(costs, places, WIRE, deal, chunk=7)
    assert found.busy.sum() == pytest.approx(costs.units.sum() + places * costs.setup)
    assert found.elapsed >= found.busy.max()


def test_dynamic_balances_what_blocks_do_not(costs):
    skewed = Ledger("skewed", np.sort(costs.units)[::-1], 0.0, 0)
    free = Transport("free", 0.0, 0.0)
    block, cyclic, dynamic = (replay(skewed, 16, free, deal).elapsed for deal in DEALS)
    assert dynamic < 1.05 * skewed.units.sum() / 16
    assert cyclic < 1.15 * skewed.units.sum() / 16
    assert block > 2 * cyclic
    owner = ledger.block(1000, 16)
    assert block == pytest.approx(skewed.units.sum() / 16 / efficiency(skewed.units, owner, 16))


def test_the_counter_is_one_place():
    """Units that take nothing are handed out one by one: a message each, at place 0."""
    found = Simulation(8, WIRE)
    found.dynamic(np.zeros(800))
    assert found.operations == 808
    alone = Simulation(2, WIRE)
    alone.clock[0] = 1  # busy elsewhere, so place 1 fetches all
    alone.dynamic(np.zeros(100))
    assert alone.clock[1] == pytest.approx(101 * WIRE.counter)
    ahead = Simulation(2, WIRE)
    ahead.clock[0] = 1
    ahead.dynamic(np.full(100, WIRE.counter), prefetch=True)
    assert ahead.clock[1] == pytest.approx(101 * WIRE.counter, rel=0.02)


def test_exchanges_and_trees():
    for places, steps in ((1, 0), (2, 1), (3, 2), (8, 3), (48, 6)):
        tree = Simulation(places, WIRE)
        tree.reduce(1000)
        assert tree.clock[0] == pytest.approx(steps * (WIRE.message + 1000 * WIRE.byte))
        all_pairs = Simulation(places, WIRE)
        all_pairs.exchange(1000)
        assert all_pairs.elapsed == pytest.approx((places - 1) * (WIRE.message + 1000 * WIRE.byte))
        spread = Simulation(places, WIRE)
        spread.broadcast(0)
        assert spread.elapsed == pytest.approx(steps * WIRE.message)
    late = Simulation(4, WIRE)
    late.clock[2] = 1
    late.exchange(0)
    assert (late.clock > 1).all()


def test_deals():
    assert ledger.block(10, 3).tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2, 2]
    assert ledger.block(2, 5).tolist() == [0, 1]
    assert ledger.cyclic([2, 0, 1], 2).tolist() == [1, 0, 0]


def test_what_cannot_be_simulated(costs):
    with pytest.raises(dgsuite.InputError, match="deal must be one of block, cyclic, dynamic"):
        replay(costs, 2, WIRE, "fair")
    with pytest.raises(dgsuite.InputError, match="places must be from 1"):
        replay(costs, 0, WIRE)


def test_measured_costs(client, client_of_one):
    found = ledger.transport(client, "tcp", repeats=1)
    assert found.name == "tcp"
    assert 0 < found.message < 1
    assert 0 <= found.byte < 1
    with pytest.raises(dgsuite.InputError, match="fewer"):
        ledger.transport(client_of_one, "tcp")
    done: list[int] = []
    assert ledger.units(done.append, 5, repeats=2).shape == (5,)
    assert done == [0, *range(5), *range(5)]
