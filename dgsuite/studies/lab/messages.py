"""The messages of a phase one by one, and what becomes of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.core.engine.pairs import reached
from dgsuite.core.engine.program import Step
from dgsuite.core.engine.site import Site
from dgsuite.kernels.bsp import Announcement, Broadcast, Known, Share, Unicast
from dgsuite.kernels.lab.delays import numbers
from dgsuite.studies.network.disturbed import fate_at


@dataclass(frozen=True, eq=False)
class Messages:
    """What the nodes send in a phase: arrays with an entry for each message.

    They are those that `dgsuite.run` counts: a broadcast is a message to each neighbour that it is meant for.
    What clusters ship to clusters is not among them.

    Attributes
    ----------
    sender, receiver
        Node ids: int64.
    fields
        What is said, as it arrives. Of shared lists, `items`: how many there are.
    lost
        Whether it is lost on its way: bool.
    unheard
        Whether its receiver has crashed or is away: bool.
    false
        Whether what it says has been rewritten, since its sender lies or it is corrupted: bool.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> execution = dgsuite.lab.Execution("bfs", graph, network=dgsuite.Network(drops=[(0, 0, 1)]))
    >>> sent = next(execution.moments()).messages
    >>> sent.sender, sent.receiver, sent.lost
    (array([0]), array([1]), array([ True]))
    """

    sender: NDArray[np.int64]
    receiver: NDArray[np.int64]
    fields: dict[str, NDArray]
    lost: NDArray[np.bool_]
    unheard: NDArray[np.bool_]
    false: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.sender)


NODES, NO = np.empty(0, np.int64), np.empty(0, bool)

NONE = Messages(NODES, NODES, {}, NO, NO, NO)
"""No messages."""


def listed(site: Site, step: Step, result: Any) -> Messages:
    """The messages that a phase returned on a site which has the whole graph as its one cluster."""
    sender, receiver, fields, number = NODES, NODES, dict[str, NDArray](), None
    for item in result if type(result) is tuple else (result,):
        if isinstance(item, Known):
            nodes = np.array([] if item.node is None else [item.node], np.int64)
            item = Broadcast(nodes, None, None, None, None, False, {})
        if isinstance(item, Broadcast | Share | Announcement):
            sender, receiver, fields = _to_many(site, step, item)
        elif isinstance(item, Unicast):
            ids = site.clusters[0].ids
            receiver = np.asarray(item.dst, np.int64)
            sender = np.asarray(ids if item.src is None else ids[item.src], np.int64)
            fields = site.mailbox.columns(step, 0, item.fields, len(receiver))
            number = numbers(sender, receiver, len(ids))
    no = np.zeros(len(sender), bool)
    fate = fate_at(site)
    if fate is None:
        return Messages(sender, receiver, fields, no, no, no)
    false = no
    if fate.lies is not None:
        false = np.logical_or(*fate.lies.false(sender, receiver, number))
        fields = fate.lies.told(fields, sender, receiver, number)
    unheard = fate.dead[receiver]
    lost = (fate.lost(sender, receiver, number, fields) > 0) & ~unheard
    return Messages(sender, receiver, fields, lost, unheard, false)


def _to_many(
    site: Site, step: Step, item: Broadcast | Share | Announcement
) -> tuple[NDArray[np.int64], NDArray[np.int64], dict[str, NDArray]]:
    """Senders, receivers and fields of what nodes send to all neighbours, or to all nodes."""
    cluster = site.clusters[0]
    nodes = np.arange(cluster.size) if item.nodes is None else np.asarray(item.nodes)
    if isinstance(item, Announcement):
        at, receiver = (ends.ravel() for ends in np.indices((len(nodes), cluster.size)))
        away = nodes[at] != receiver
        return cluster.ids[nodes[at[away]]], receiver[away], {}
    back = isinstance(item, Broadcast) and item.backwards
    indptr, indices = cluster.senders if back else (cluster.indptr, cluster.indices)
    if isinstance(item, Share):
        columns = {"items": np.asarray(item.lengths)}
        item = Broadcast(nodes, None, None, None, None, False, {})
    else:
        columns = site.mailbox.columns(step, 0, item.fields, len(nodes))
    entries, times = reached(cluster, nodes, item)
    entries = np.sort(np.repeat(entries, times))
    row = np.searchsorted(indptr, entries, side="right") - 1
    fields = {name: column[np.searchsorted(nodes, row)] for name, column in columns.items()}
    return cluster.ids[row], indices[entries].astype(np.int64), fields
