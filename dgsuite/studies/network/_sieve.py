"""The compiled loop that takes lost messages out of an adjacency."""

import numpy as np

from dgsuite.base.compiling import compiled
from dgsuite.kernels.tools._draws import keyed
from dgsuite.studies.network.chances import CODES, FALLING, PLAIN, halved

lowered = compiled(halved)


@compiled
def sieve(indptr, indices, names, first, sent, key, source, target, dead, starts, kept):
    """Of each row, the entries along which a message arrives.

    Parameters
    ----------
    names
        Node of each slot; empty where a slot is the node.
    first
        Slot of the first row.
    sent
        By slot: 0 if its node did not send, `PLAIN`, `FALLING`, or why nothing of it arrives.
    key, source, target, dead
        See `dgsuite.studies.network.faults.Fate`.
    starts, kept
        Where the rows are put that result, as `indptr` and `indices`.

    Returns
    -------
    How many messages are lost, by code: shape (CODES,).
    """
    full = 0
    lost = np.zeros(CODES, np.int64)
    by_source, by_target = len(source) > 1, len(target) > 1
    limit = max(source[0], target[0])
    for row in range(len(indptr) - 1):
        starts[row] = full
        dst = names[first + row] if len(names) else first + row
        if dead[dst]:
            continue
        mine = keyed(key, dst)
        if by_target:
            limit = max(source[0], target[dst])
        for entry in range(indptr[row], indptr[row + 1]):
            slot = indices[entry]
            if not sent[slot]:
                continue
            src = names[slot] if len(names) else slot
            if by_source:
                limit = max(source[src], target[dst] if by_target else target[0])
            luck = keyed(mine, src) >> np.uint64(11)
            if sent[slot] > FALLING:
                lost[sent[slot]] += 1
            elif luck < limit:
                lost[PLAIN] += 1
            elif sent[slot] == FALLING and luck < lowered(limit):
                lost[FALLING] += 1
            else:
                kept[full] = slot
                full += 1
    starts[len(indptr) - 1] = full
    return lost
