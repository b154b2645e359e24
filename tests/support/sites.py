"""The exchange between sites, without sockets."""

import pickle
from itertools import pairwise

import numpy as np

from dgsuite.core.engine.broadcast_store import Window
from dgsuite.core.engine.checkpoint import begun
from dgsuite.core.engine.log import merge
from dgsuite.core.engine.program import reduce_votes, steps
from dgsuite.core.engine.run_spec import RunSpec
from dgsuite.core.engine.site import Site
from dgsuite.core.executors import serial
from dgsuite.core.results.dataset import by_node

CHECKED = RunSpec(check=True)


def simulate(kernel, graph, sites, checkpoints=None, shared=False, spec=CHECKED):
    """Run a kernel on several sites that hand each other pickled parcels, perhaps from a checkpoint on.

    Parameters
    ----------
    shared
        Whether they store broadcasts in memory that they share, once they know how many nodes they read.
    spec
        What all sites get.
    """
    clusters = graph.parts
    sites = min(sites, len(clusters))
    bounds = np.arange(sites + 1) * len(clusters) // sites
    places = enumerate(pairwise(bounds))
    all_sites = [Site(kernel, clusters[a:b], bounds, me, spec) for me, (a, b) in places]
    runs = [kept for site in all_sites if (kept := begun(checkpoints, site)) is not None]
    if shared and all(site.clusters[0].pulls for site in all_sites):
        size = Window.size(graph.n, len(all_sites), all_sites[0].mailbox.dtypes)
        memory = np.zeros(size, np.uint8)
        for site in all_sites:
            assert site.mailbox.slots >= 0  # workers make this halo first
            site.mailbox.share(memory)
    for site in all_sites:
        site.warm()
    logs = [site.log for site in all_sites]
    votes = []

    def exchange(outgoing):
        outgoing = pickle.loads(pickle.dumps(outgoing, protocol=5))
        for me, site in enumerate(all_sites):
            site.deliver({s: parcels[me] for s, parcels in enumerate(outgoing) if me in parcels})

    for number in range(len(runs[0].sends) if runs else 0):
        exchange([run.resent(number) for run in runs])

    def reply(over):
        reduced = reduce_votes([*over, *votes])
        votes.clear()
        return lambda: reduced

    for step in steps(kernel, graph.n, reply, *spec.limits, runs[0].votes if runs else ()):
        exchange([site.step(step) for site in all_sites])
        for site, log in zip(all_sites, logs, strict=True):
            log.add(step, site.tally, site.compute, site.cpu, 0.0)
            votes.append(site.tally.vote)
    found = [site.outputs() for site in all_sites]
    outputs = {name: np.concatenate([each[name] for each in found]) for name in kernel.outputs}
    return by_node(kernel, graph, outputs), merge(logs)


def alone(kernel, graph):
    """A serial run, with outputs in the order of node ids."""
    outputs, log = serial.run(kernel, graph.parts)
    return by_node(kernel, graph, outputs), log


def assert_same(left, right, messages=True):
    """Outputs, phases, messages and votes of two runs are the same.

    Parameters
    ----------
    messages
        Whether messages are; those of kernels that ship are only on the same cut.
    """
    (outputs, log), (others, other_log) = left, right
    assert outputs.keys() == others.keys()
    for name in outputs:
        np.testing.assert_array_equal(outputs[name], others[name], err_msg=name)
    assert [*log.steps] == [*other_log.steps]
    for name in ("messages", "nbytes", "active") if messages else ("active",):
        np.testing.assert_array_equal(log[name], other_log[name], err_msg=name)
    assert log.votes == other_log.votes
