"""Compiled loops that lower core numbers within a cluster until none falls.

Positions are those of the graph's layout, as in `dgsuite.kernels.analytics._blocks`.
"""

import numpy as np

from dgsuite.base.compiling import compiled


@compiled
def count(indptr, positions, first, core, support):
    """Count each node's neighbours whose values are no less than its own, and all in other clusters."""
    size = len(core)
    for node in range(size):
        support[node] = 0
        for e in range(indptr[node], indptr[node + 1]):
            other = positions[e] - first
            if other < 0 or other >= size or core[other] >= core[node]:
                support[node] += 1


@compiled
def hear(nodes, entries, values, heard, core, support, due, short):
    """Take new values of neighbours in other clusters.

    Parameters
    ----------
    nodes, entries, values
        By message: receiver, its entry for the sender, and the sender's value.
    heard
        By entry; others are by node.
    due
        False, and so it is afterwards.
    short
        Room for all nodes of the cluster.

    Returns
    -------
    How many nodes have too few neighbours with no less than they have: the first in `short`.
    """
    found = 0
    for k, node in enumerate(nodes):
        e = entries[k]
        if values[k] < core[node] <= heard[e]:
            support[node] -= 1
            if support[node] < core[node] and not due[node]:
                due[node] = True
                short[found] = node
                found += 1
        heard[e] = values[k]
    due[short[:found]] = False
    return found


@compiled
def lower(indptr, positions, first, heard, core, support, due, short, fallen):
    """Give nodes the largest k such that k of their neighbours have k or more, as long as some fall.

    Parameters
    ----------
    short
        Nodes that have fewer neighbours with no less than they have.
    due
        By node, False, and so it is afterwards.
    fallen
        Room for all nodes of the cluster.

    Returns
    -------
    How many nodes have fallen: the first in `fallen`, each once.
    """
    size, found, waiting, head = len(core), 0, len(short), 0
    queue, has_fallen = np.empty(size, np.int64), np.zeros(size, np.bool_)
    tally = np.zeros(1024, np.int64)
    due[short] = True
    queue[:waiting] = short
    while waiting > 0:
        node = queue[head]
        head = head + 1 if head + 1 < size else 0
        waiting -= 1
        due[node] = False
        old = core[node]
        if old >= len(tally):
            tally = np.zeros(2 * old, np.int64)
        tally[: old + 1] = 0
        for e in range(indptr[node], indptr[node + 1]):
            other = positions[e] - first
            value = core[other] if 0 <= other < size else heard[e]
            tally[min(value, old)] += 1
        new, held = old, tally[old]
        while held < new:
            new -= 1
            held += tally[new]
        core[node], support[node] = new, held
        if not has_fallen[node]:
            has_fallen[node] = True
            fallen[found] = node
            found += 1
        for e in range(indptr[node], indptr[node + 1]):
            other = positions[e] - first
            if 0 <= other < size and new < core[other] <= old:
                support[other] -= 1
                if support[other] < core[other] and not due[other]:
                    due[other] = True
                    tail = head + waiting
                    queue[tail if tail < size else tail - size] = other
                    waiting += 1
    return found


UNTRIED, NEW, TOLD, FAILED = 0, 1, 2, 3
"""What is known of a node's next core number: nothing; that it may be one more, which other clusters do not
know yet, or know; that it is not."""

PENDING = np.iinfo(np.int32).max
"""Support of a node that is still to be tried."""


@compiled
def rise(indptr, positions, first, core, status, support, seeds, short, tried, fallen):
    """Search, from some nodes on, for nodes whose core number k may rise to k + 1.

    It may if k + 1 neighbours count: those with a larger core number, and those with the same one that may
    rise, too. Neighbours in other clusters count until they say that they do not.

    Parameters
    ----------
    core, status, support
        By node. The last is how many of its neighbours count, of those that may have one more.
    seeds
        Nodes to try.
    short
        Nodes that are told, and have too few neighbours.
    tried, fallen
        Room for all nodes of the cluster.

    Returns
    -------
    How many nodes are tried, the first in `tried`; and how many that were told have fallen, the first in
    `fallen`.
    """
    size = len(core)
    to_try, to_fall = np.empty(size, np.int64), np.empty(size, np.int64)
    trying, found, falling, lost = 0, 0, len(short), len(short)
    status[short] = FAILED
    to_fall[:falling] = short
    fallen[:lost] = short
    for node in seeds:
        if status[node] == UNTRIED:
            status[node], support[node] = NEW, PENDING
            to_try[trying] = node
            trying += 1
    while trying > 0 or falling > 0:
        if falling > 0:
            falling -= 1
            node = to_fall[falling]
            for e in range(indptr[node], indptr[node + 1]):
                other = positions[e] - first
                if other < 0 or other >= size or core[other] != core[node]:
                    continue
                if status[other] == UNTRIED or status[other] == FAILED or support[other] == PENDING:
                    continue
                support[other] -= 1
                if support[other] <= core[other]:
                    if status[other] == TOLD:
                        fallen[lost] = other
                        lost += 1
                    status[other] = FAILED
                    to_fall[falling] = other
                    falling += 1
            continue
        trying -= 1
        node = to_try[trying]
        tried[found] = node
        found += 1
        held = 0
        for e in range(indptr[node], indptr[node + 1]):
            other = positions[e] - first
            elsewhere = other < 0 or other >= size
            if elsewhere or core[other] >= core[node] + (status[other] == FAILED):
                held += 1
        support[node] = held
        if held <= core[node]:
            status[node] = FAILED
            to_fall[falling] = node
            falling += 1
            continue
        for e in range(indptr[node], indptr[node + 1]):
            other = positions[e] - first
            if 0 <= other < size and core[other] == core[node] and status[other] == UNTRIED:
                status[other], support[other] = NEW, PENDING
                to_try[trying] = other
                trying += 1
    return found, lost


@compiled
def lift(indptr, core, status, refused, tried):
    """Give the nodes that may have one more that number, and forget what is known of it.

    Parameters
    ----------
    tried
        Nodes of which something is known. Those that may have one more come first afterwards.

    Returns
    -------
    How many these are.
    """
    found = 0
    for k, node in enumerate(tried):
        refused[indptr[node] : indptr[node + 1]] = False
        if status[node] != FAILED:
            core[node] += 1
            tried[found], tried[k] = node, tried[found]
            found += 1
        status[node] = UNTRIED
    return found
