"""Compiled loop of random walks."""

import numpy as np

from dgsuite.base.compiling import compiled
from dgsuite.kernels.analytics._ktruss import find
from dgsuite.kernels.tools._draws import picked, uniform

PROPOSAL, REFUSAL, RECORD, RESTART = 0, 1, 2, 3
"""Kinds of messages: a proposal to step to the receiver, a refusal of a proposal, a step to be recorded at
the node where the walk started, and a step back to there."""

SAME, NEXT, REFUSED, RECORDED = 0, 1, 2, 3
"""What becomes of a message: its walker tries the same step again, or goes on to the next one, or is refused;
or it is a record."""


@compiled
def chosen(indptr, sums, row, luck):
    """A random edge of a row, as an entry of the adjacency; -1 where there is none to take."""
    a, b = np.int64(indptr[row]), np.int64(indptr[row + 1])
    if len(sums) == 0:
        return a + np.int64(luck * (b - a)) if b > a else -1
    return a + picked(sums[a:b], luck) if b > a and sums[b - 1] > 0 else -1


@compiled
def accepts(indptr, indices, row, own, before, back, away, luck):
    """Whether a node accepts a walker, by the node that it came from."""
    if before < 0:
        return True
    if before == own:
        return luck < back
    near, far = luck < 1, luck < away
    if near == far:  # whether that node is a neighbour does not matter
        return near
    return near == (find(indices, indptr[row], indptr[row + 1], before) >= 0)


@compiled
def put(kinds, sent, at, kind, message):
    """Store a message: receiver, sender, and the fields after its kind. Returns the place of the next one."""
    kinds[at] = kind
    for i in range(len(message)):
        sent[i, at] = message[i]
    return at + 1


@compiled
def walk(indptr, indices, ids, sums, keys, chances, walks, n, messages):
    """Record steps, take or refuse walkers that arrive, and have them propose their next step.

    Parameters
    ----------
    sums
        Where weights count, those of a row up to each entry; else empty.
    keys
        Of random numbers: for edges, for acceptance, and for restarts.
    chances
        Of a restart; and relative to a common neighbour, of a step back, and of one to no neighbour.
    walks
        By node, number of the walk, and step.
    n
        Number of nodes.
    messages
        Rows of receivers, ascending; senders, and each field.

    Returns
    -------
    kinds, sent
        Of the messages to send, by ascending sender: their kinds; and rows of receivers, of senders, and of
        each other field.
    """
    restart, back, away = chances
    node, source, kind, start, step, before, tries = messages
    most, length, ways = max(1.0, back, away), walks.shape[2] - 1, n * walks.shape[1]
    kinds, sent = np.empty(2 * len(node), np.int8), np.empty((6, 2 * len(node)), np.int64)
    fates = np.empty(len(node), np.int8)
    count = last = 0
    while last < len(node):
        first, row = last, node[last]
        while last < len(node) and node[last] == row:
            m, last = last, last + 1
            number = (tries[m] * length + step[m] - 1) * ways + start[m]
            if kind[m] == RECORD:
                walks[row, start[m] // n, step[m]] = source[m]
                fates[m] = RECORDED
            elif kind[m] == REFUSAL:
                fates[m] = SAME
            else:
                luck = uniform(keys[1], number - 1) * most
                taken = accepts(indptr, indices, row, ids[row], before[m], back, away, luck)
                fates[m] = NEXT if kind[m] == RESTART or taken else REFUSED
        for returns in range(2 if restart > 0 else 1):  # those that step on are sent first
            for fate in (SAME, NEXT):
                for m in range(first, last):
                    if fates[m] != fate or step[m] + fate > length:
                        continue
                    came, tried = before[m], tries[m]
                    if fate == NEXT:
                        came, tried = -1 if kind[m] == RESTART else source[m], 0
                    number = (tried * length + step[m] + fate - 1) * ways + start[m]
                    entry = chosen(indptr, sums, row, uniform(keys[0], number - 1))
                    drawn = tried == 0 and uniform(keys[2], number - 1) < restart
                    stays = restart > 0 and (entry < 0 or drawn)
                    u, t = start[m], step[m] + fate
                    if stays and returns:
                        count = put(kinds, sent, count, RESTART, (u % n, row, u, t, came, tried))
                    elif not stays and not returns and entry >= 0:
                        if indptr[row + 1] - indptr[row] == 1:
                            came = -1  # the only neighbour always accepts
                        to = np.int64(indices[entry])
                        count = put(kinds, sent, count, PROPOSAL, (to, row, u, t, came, tried))
        for fate, reply in ((NEXT, RECORD), (REFUSED, REFUSAL)):
            for m in range(first, last):
                if fates[m] == fate:
                    to = start[m] % n if reply == RECORD else source[m]
                    tried = tries[m] + (reply == REFUSAL)
                    told = to, row, start[m], step[m], before[m], tried
                    count = put(kinds, sent, count, reply, told)
    return kinds[:count], sent[:, :count]
