"""What a phase returns: messages to nodes or clusters, and quantities to be counted."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from numpy.typing import ArrayLike, NDArray

from dgsuite.base.errors import InputError
from dgsuite.partition.arrays.reductions import Reduction, reduction
from dgsuite.partition.clusters.cluster import Links

Range = Callable[[int], int]
"""How many values a field can have, from the number of nodes."""


Bounds = Callable[[int], tuple[int, int]]
"""Least and greatest value of a field, from the number of nodes."""


def nodes(n: int) -> int:
    """Values of a field that names a node, or counts nodes or hops.

    Parameters
    ----------
    n
        Number of nodes of the graph.

    Examples
    --------
    >>> from dgsuite.kernels import bsp
    >>> bsp.nodes(1000)
    1000
    """
    return n


def counts(n: int) -> int:
    """Values of a field that counts nodes or hops up to their number.

    Parameters
    ----------
    n
        Number of nodes of the graph.

    Examples
    --------
    >>> from dgsuite.kernels import bsp
    >>> bsp.counts(1000)
    1001
    """
    return n + 1


def values(count: int) -> Range:
    """Values of a field that has so many, whatever the graph.

    Parameters
    ----------
    count
        How many.

    Examples
    --------
    >>> from dgsuite.kernels import bsp
    >>> bsp.values(3)(1000)
    3
    """
    return lambda n: count


def between(least: int, most: int | Range) -> Bounds:
    """Least and greatest value of a field.

    Parameters
    ----------
    least, most
        Both included; `most` may be a function of the number of nodes.

    Examples
    --------
    >>> from dgsuite.kernels import bsp
    >>> bsp.between(-1, 1)(1000), bsp.between(-1, bsp.nodes)(1000)
    ((-1, 1), (-1, 1000))
    """
    return lambda n: (least, most if isinstance(most, int) else most(n))


class Unicast(NamedTuple):
    """Messages to given nodes; see `unicast`."""

    dst: NDArray
    src: NDArray | None
    combine: Reduction | None
    fields: dict[str, ArrayLike]


class Broadcast(NamedTuple):
    """The same message from a node to all its neighbours; see `broadcast`."""

    nodes: NDArray | None
    links: Links | None
    repeat: NDArray | None
    to: tuple[NDArray, NDArray] | None
    edges: NDArray | Callable[[], NDArray] | None
    backwards: bool
    fields: dict[str, ArrayLike]


class Announcement(NamedTuple):
    """Messages to all nodes; see `announce`."""

    nodes: NDArray
    fields: dict[str, ArrayLike]


class Share(NamedTuple):
    """Lists from nodes to all their neighbours; see `share`."""

    nodes: NDArray
    lengths: NDArray
    fields: dict[str, ArrayLike]


class Shipment(NamedTuple):
    """Items to clusters; see `ship`."""

    to: NDArray
    fields: dict[str, ArrayLike]


class Known(NamedTuple):
    """A broadcast that every cluster can foresee; see `known`."""

    node: int | None


class Extra(NamedTuple):
    """Work that only IMSuite's program does; see `extra`."""

    comm: int
    mutexes: int
    asyncs: int


class Note(NamedTuple):
    """Measured quantities of a phase, for the dataset; see `Kernel.notes`.

    Examples
    --------
    >>> from dgsuite.kernels import bsp
    >>> bsp.Note({"examined": 12})
    Note(values={'examined': 12})
    """

    values: dict[str, int]


def unicast(
    dst: NDArray,
    src: NDArray | None = None,
    *,
    combine: str | Reduction | None = None,
    **fields: ArrayLike,
) -> Unicast:
    """Send messages to given nodes.

    Parameters
    ----------
    dst
        Node id of each receiver.
    src
        Local index of each sender; by default node i of the cluster sends message i.
    combine
        "min", "max", "sum", "or" or a `dgsuite.partition.arrays.reductions.Reduction`: combine the messages
        to one receiver into one, on the way. The receiver then sees no sender. Floats are added at the
        receiver, by ascending sender, so that a sum is the same for every partition.
    fields
        One value per message, or one for all.

    Examples
    --------
    >>> import numpy as np
    >>> from dgsuite.kernels import bsp
    >>> sent = bsp.unicast(np.array([1, 2]), np.array([0, 0]), hops=np.array([1, 1]))
    >>> type(sent).__name__, sent.fields
    ('Unicast', {'hops': array([1, 1])})
    """
    return Unicast(dst, src, None if combine is None else reduction(combine), fields)


def broadcast(
    nodes: NDArray | None = None,
    *,
    links: Links | None = None,
    repeat: NDArray | None = None,
    to: tuple[NDArray, NDArray] | None = None,
    edges: NDArray | Callable[[], NDArray] | None = None,
    backwards: bool = False,
    **fields: ArrayLike,
) -> Broadcast:
    """Send one message from each given node to all its neighbours.

    Parameters
    ----------
    nodes
        Local indices of the senders, ascending; by default all nodes of the cluster.
    links
        Live links, where some neighbours have been dropped: only messages to the others count.
    repeat
        How many times each sender repeats its message; repeats are counted, and transferred once.
    to
        Where a message is for some neighbours only, and the others ignore it: per sender, the number of these
        neighbours, and how many of them belong to other clusters. Only these messages count.
    edges
        With ``to``, for traced runs: the edges to these neighbours, as entries of the adjacency. Made
        from ``inbox.edges``; or a function that makes them, which only a traced run calls.
    backwards
        On a directed graph, send against the direction of edges. The kernel needs ``pulls = True``. In one
        phase all clusters send in the same direction. Not with `links` or `repeat`.
    fields
        One value per sender, or one for all.

    Examples
    --------
    >>> import numpy as np
    >>> from dgsuite.kernels import bsp
    >>> sent = bsp.broadcast(np.array([0, 3]), uid=np.array([7, 9]))
    >>> type(sent).__name__, sent.fields
    ('Broadcast', {'uid': array([7, 9])})
    """
    if backwards and not (links is None and repeat is None):
        raise InputError(
            "broadcast(backwards=True) goes along all edges: leave out links and repeat"
        )
    return Broadcast(nodes, links, repeat, to, edges, backwards, fields)


def known(node: int | None = None) -> Known:
    """Broadcast without an exchange, from a node that every cluster knows to be the only sender.

    All clusters return the same. Nothing is transferred, and no cluster waits: the next phase begins
    at once, unless there are votes to collect.

    Parameters
    ----------
    node
        Id of the sender, which sends no fields; None where no node sends.

    Examples
    --------
    >>> from dgsuite.kernels import bsp
    >>> bsp.known(3)
    Known(node=3)
    """
    return Known(node)


def announce(nodes: NDArray, **fields: ArrayLike) -> Announcement:
    """Send a list from each given node to every other node; it is transferred once to each worker.

    Parameters
    ----------
    nodes
        Local indices of the senders.
    fields
        The lists of all senders, one after the other: columns of one length, read by
        ``inbox.board``.

    Examples
    --------
    >>> import numpy as np
    >>> from dgsuite.kernels import bsp
    >>> sent = bsp.announce(np.array([1, 3]), peer=np.array([0, 2, 2]))
    >>> type(sent).__name__, sent.fields
    ('Announcement', {'peer': array([0, 2, 2])})
    """
    return Announcement(nodes, fields)


def share(nodes: NDArray, lengths: NDArray, **fields: ArrayLike) -> Share:
    """Send a list from each given node to all its neighbours: one message per edge, whatever its length. A
    list is transferred once to each worker that has a neighbour.

    Parameters
    ----------
    nodes
        Local indices of the senders, ascending.
    lengths
        Number of items in the list of each.
    fields
        The lists of all senders, one after the other: columns of one length, read by ``inbox.shared``.

    Examples
    --------
    Node 0 shares the list [5, 6], node 2 the list [7]:

    >>> import numpy as np
    >>> from dgsuite.kernels import bsp
    >>> sent = bsp.share(np.array([0, 2]), np.array([2, 1]), item=np.array([5, 6, 7]))
    >>> type(sent).__name__, sent.fields
    ('Share', {'item': array([5, 6, 7])})
    """
    return Share(nodes, lengths, fields)


def ship(to: NDArray, **fields: ArrayLike) -> Shipment:
    """Send items to clusters, for kernels whose data is not distributed by node.

    Parameters
    ----------
    to
        Number of the cluster that gets each item.
    fields
        One value per item; read by ``inbox.shipped``, by sending cluster, in the order of sending.

    Examples
    --------
    >>> import numpy as np
    >>> from dgsuite.kernels import bsp
    >>> sent = bsp.ship(np.array([0, 1]), block=np.array([4, 5]))
    >>> type(sent).__name__, sent.fields
    ('Shipment', {'block': array([4, 5])})
    """
    return Shipment(to, fields)


def extra(comm: object = 0, mutexes: object = 0, asyncs: object = 0) -> Extra:
    """Count what IMSuite's program does besides sending the messages of a phase, such as reading the
    state of neighbours once more.

    Parameters
    ----------
    comm
        Communication.
    mutexes
        Mutex operations.
    asyncs
        Tasks.

    Examples
    --------
    >>> from dgsuite.kernels import bsp
    >>> bsp.extra(comm=2)
    Extra(comm=2, mutexes=0, asyncs=0)
    """
    return Extra(int(comm), int(mutexes), int(asyncs))  # type: ignore[call-overload]
