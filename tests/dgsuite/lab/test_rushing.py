"""An adversary that sees the messages of a phase before it strikes."""

import numpy as np
import pytest

import dgsuite
from dgsuite import Crash, Graph, InputError, genval
from dgsuite.studies.lab import rushing

SIX = Graph.from_edges(*np.triu_indices(6, 1))


def last_to_know(moment):
    """The one node that knows of value 0 crashes once it has told one other (Lynch, section 6.7)."""
    seen, up = moment.states["seen"], np.flatnonzero(~moment.crashed)
    knows = [v for v in up if seen[v] & np.uint64(1)]
    if moment.step.phase != "tell" or len(knows) != 1:
        return []
    other = next(v for v in up if v not in knows)
    return [Crash(int(knows[0]), receivers=[int(other)])]


@pytest.mark.parametrize("f", [1, 2, 3])
def test_f_rounds_do_not_bear_f_crashes(f):
    """And f + 1 rounds do, whatever it strikes."""
    how = {"inputs": [0, 1, 1, 1, 1, 1]}
    network = rushing("floodset", SIX, last_to_know, budget=f, f=f - 1, **how)
    assert [crash.round for crash in network.crashes] == [*range(f)]
    for rounds, agree in ((f - 1, False), (f, True)):
        ds = dgsuite.run("floodset", SIX, network=network, f=rounds, **how)
        assert genval.validate("floodset", SIX, ds).ok == agree
        cut = SIX.repartition(4)
        again = dgsuite.run("floodset", cut, network=network, f=rounds, **how, style="serial")
        assert np.array_equal(again.decision, ds.decision)


def test_liars_act_together():
    """One tells each node that the other liars agree with it, by what all nodes have sent."""

    def splits(moment):
        sent = moment.messages
        for u, v, value in zip(
            sent.sender, sent.receiver, sent.fields.get("value", ()), strict=False
        ):
            if u in (1, 4):
                yield u, v, {"value": v % 2 if value == sent.fields["value"][0] else value}

    graph = Graph.from_edges(*np.triu_indices(8, 1))
    network = rushing("phase_king", graph, splits, liars=[1, 4], f=1)
    assert network.byzantine.strategy.lies
    ds = dgsuite.run("phase_king", graph, network=network, f=1)
    assert ds.lies.values.tolist() == [0, 1, 0, 0, 1, 0, 0, 0]
    assert int(ds.struck.sel(fault="byzantine").sum()) > 0
    with pytest.raises(InputError, match="node 1 is no liar"):
        rushing("phase_king", graph, splits, liars=[4], f=1)


def test_a_budget_is_all_that_is_struck():
    def everything(moment):
        return zip(moment.messages.sender, moment.messages.receiver, strict=True)

    network = rushing("bfs", SIX, everything, budget=3)
    assert network.drops == ((0, 0, 1), (0, 0, 2), (0, 0, 3))
    assert dgsuite.run("bfs", SIX, network=network).lost.sum() == 3
