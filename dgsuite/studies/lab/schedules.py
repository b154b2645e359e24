"""Schedulers of event-driven kernels: objects that say when messages arrive, given as ``Network(delay=)``.

A fair random scheduler is ``("uniform", 1, most)``. An adversary is any function of fields, senders,
receivers and ticks that has an attribute ``sees``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.pairs import pair_key
from dgsuite.kernels.lab.delays import numbers
from dgsuite.studies.lab.executions import Execution


class RoundRobin:
    """Nodes get messages in turns: node v at ticks t with ``t % nodes == v``.

    Parameters
    ----------
    nodes
        How many there are.

    Examples
    --------
    >>> import numpy as np
    >>> import dgsuite
    >>> turns = dgsuite.lab.RoundRobin(4)
    >>> turns(np.array([0, 0]), np.array([1, 3]), np.array([5, 5]))
    array([4, 2])
    """

    def __init__(self, nodes: int) -> None:
        self.nodes = nodes

    def __call__(self, src: NDArray, dst: NDArray, tick: NDArray) -> NDArray[np.int64]:
        return 1 + (dst - tick - 1) % self.nodes


class Replay:
    """The delays of an execution again. A message that the execution did not have takes one tick.

    Parameters
    ----------
    execution
        Of an event-driven kernel.

    Examples
    --------
    >>> import dgsuite
    >>> from dgsuite import genval
    >>> graph = genval.graph("cplt", 4)
    >>> slow = dgsuite.Network(delay=("uniform", 1, 9))
    >>> again = dgsuite.Network(delay=dgsuite.lab.Replay(dgsuite.lab.Execution("paxos", graph, network=slow)))
    >>> ds = [dgsuite.run("paxos", graph, network=network) for network in (slow, again)]
    >>> ds[0].sizes["round"] == ds[1].sizes["round"]
    True
    """

    def __init__(self, execution: Execution) -> None:
        self.n = execution.graph.n
        keys, waits = [np.array([-1])], [np.array([1])]  # -1 is no message
        for tick, moment in enumerate(execution.moments()):
            m = moment.messages
            if not len(m):
                continue
            ticks = np.full(len(m), tick)
            keys.append(self._keys(m.sender, m.receiver, ticks))
            waits.append(m.fields["due"] - tick)
        key, wait = np.concatenate(keys), np.concatenate(waits)
        order = np.argsort(key)
        self.keys, self.waits = key[order], wait[order]

    def _keys(self, src: NDArray, dst: NDArray, tick: NDArray) -> NDArray[np.int64]:
        """A number of each message: of its tick, its nodes, and how many are before it between these."""
        number = numbers(src, dst, self.n)
        pair = pair_key(pair_key(tick, src, self.n), dst, self.n)
        return pair_key(pair, np.zeros_like(pair) if number is None else number, 1 << 10)

    def __call__(self, src: NDArray, dst: NDArray, tick: NDArray) -> NDArray[np.int64]:
        key = self._keys(src, dst, tick)
        at = np.minimum(np.searchsorted(self.keys, key), len(self.keys) - 1)
        return np.where(self.keys[at] == key, self.waits[at], 1)
