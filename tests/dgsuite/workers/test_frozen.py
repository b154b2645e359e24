"""A site as a value: what is made of it, wherever and however often, goes on with the same bits."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pytest

from dgsuite import genval
from dgsuite.core.engine.log import merge
from dgsuite.core.engine.program import Guard, reduce_votes, steps
from dgsuite.core.engine.site import Site
from dgsuite.core.parameters import make_kernel
from dgsuite.core.running.attempt import as_seen
from dgsuite.core.workers.frozen import freeze, thaw
from tests.support import references
from tests.support.cases import NAMES, typical
from tests.support.sites import assert_same, simulate

BOUNDS = np.array([0, 3, 6])


def copied(value):
    """As it comes to another process."""
    return pickle.loads(pickle.dumps(value, protocol=5))


def simulate_tasks(kernel, graph):
    """Run a kernel on two sites, whose every phase runs twice, on clusters that have derived nothing."""
    parts = [graph.parts[a:b] for a, b in pairwise(BOUNDS)]
    guard = Guard(check=True)
    made = [Site(kernel, part, BOUNDS, me, guard=guard) for me, part in enumerate(parts)]
    logs = [site.log for site in made]
    values, packed, votes = [freeze(site) for site in made], [{}, {}], []

    def task(me, step):
        site = thaw(values[me], copied(parts[me]), BOUNDS, me)
        site.deliver({peer: sent[me] for peer, sent in enumerate(copied(packed)) if me in sent})
        return site.step(step), site.tally, freeze(site), site

    def reply(over):
        reduced = reduce_votes(votes)
        votes.clear()
        return lambda: reduced

    for step in steps(kernel, graph.n, reply):
        done = [task(me, step) for _ in range(2) for me in range(2)][2:]
        packed, tallies, values = ([each[i] for each in done] for i in range(3))
        votes += [tally.vote for tally in tallies]
        for log, tally, (*_, site) in zip(logs, tallies, done, strict=True):
            log.add(step, tally, site.compute, site.cpu, 0.0)
    ends = [thaw(values[me], copied(parts[me]), BOUNDS, me) for me in range(2)]
    outputs = {
        name: np.concatenate([end.outputs()[name] for end in ends]) for name in kernel.outputs
    }
    return outputs, merge(logs)


@pytest.mark.few(4)
@pytest.mark.parametrize("name", typical(NAMES))
def test_phases_that_run_again_elsewhere_change_nothing(name):
    graph = references.mine(name, 6).repartition(6)
    kernel = make_kernel(name, graph, None, {}, None)
    seen = as_seen(graph, kernel)
    assert_same(simulate(kernel, seen, 2), simulate_tasks(kernel, seen))


def test_a_value_is_small():
    """It holds the state and what was sent, and nothing of the graph."""
    graph = genval.graph("er", 500, m=20_000, client=None, clusters=6)
    kernel, clusters = make_kernel("pagerank", graph, None, {}, None), graph.parts[:3]
    site = Site(kernel, clusters, BOUNDS, 0)
    site.warm()
    site.step(next(steps(kernel, graph.n, lambda over: None)))
    value = freeze(site)
    assert sum(part.nbytes for part in value) < sum(cluster.nbytes for cluster in clusters) / 4
