"""What a phase reads: the messages that the phase before sent to a cluster's nodes."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels.bsp.messages import Note
from dgsuite.partition.arrays.reductions import Reduction
from dgsuite.partition.clusters.subset import Subset


class Latest(NamedTuple):
    """What the neighbours of a cluster's nodes have broadcast, for a compiled loop: see `Inbox.latest`.

    Attributes
    ----------
    indptr
        Shape (size + 1,): the neighbours of node i are in entries ``indptr[i]`` to ``indptr[i + 1]`` of
        `slots`, in the order of the cluster's adjacency. The first is not 0 for every cluster.
    slots
        Number of the slot of each neighbour.
    values
        What the node in each slot sent last.
    """

    indptr: NDArray
    slots: NDArray
    values: NDArray


class Shared(NamedTuple):
    """Lists that the neighbours of a cluster's nodes have shared, for a compiled loop: see `Inbox.shared`.

    Attributes
    ----------
    starts, ends
        By node id: the list of a neighbour is ``values[starts[node]:ends[node]]``; empty if it shared none.
    values
        The lists.
    """

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    values: NDArray


class Inbox(Protocol):
    """The messages that a cluster's nodes got from the phase before, by receiver, then sender.

    Arrays of messages are read-only; arrays that a reduction returns belong to the caller. Nodes are
    local indices. The reductions take `among`, the nodes whose messages are wanted: the engine need
    not look at the messages of others.

    Examples
    --------
    On a path of four nodes, every node sends its id to its neighbours:

    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> import dgsuite
    >>> from dgsuite.kernels import bsp
    >>> @dataclass(frozen=True)
    ... class Look(bsp.Kernel):
    ...     name = "look"
    ...     outputs = {}
    ...     fields = {"id": np.int64}
    ...     prepares = ("nearer",)  # calls inbox.nearer
    ...
    ...     def program(self, net):
    ...         yield bsp.Round(self.send, self.read)
    ...
    ...     def start(self, c):
    ...         return bsp.State(missing=c.degree.copy())
    ...
    ...     def send(self, c, s, inbox):
    ...         return bsp.broadcast(id=c.ids)
    ...
    ...     def read(self, c, s, inbox):
    ...         print(len(inbox), "messages in round", inbox.round)
    ...         print("node     ", inbox.node)
    ...         print("src      ", inbox.src)
    ...         print("id       ", inbox["id"])
    ...         print("receivers", inbox.receivers())
    ...         print("min, max ", inbox.min("id")[1], inbox.max("id")[1])
    ...         print("sum      ", inbox.sum("id")[1], inbox.reduce("sum", "id")[1], inbox.totals("id"))
    ...         print("union    ", inbox.reduce("or", "id")[1])
    ...         print("first    ", inbox.first()[1])
    ...         print("below all", inbox.local_minima("id", c.ids))
    ...         print("messages ", inbox.count()[1])
    ...         print("one left ", inbox.count_down(s.missing, 1))
    ...         print("along    ", inbox.along("id")[1])
    ...         print("all sent ", inbox.all_sent)
    ...         print("latest   ", inbox.latest("id").values[inbox.latest("id").slots])
    ...         print("nearer   ", *inbox.nearer("id"))
    ...         print("edges    ", inbox.edges(c.ids))
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3], clusters=1)
    >>> ds = dgsuite.run(Look, graph, style="serial")
    6 messages in round 0
    node      [0 1 1 2 2 3]
    src       [1 0 2 1 3 2]
    id        [1 0 2 1 3 2]
    receivers [0 1 2 3]
    min, max  [1 0 1 2] [1 2 3 2]
    sum       [1 2 4 2] [1 2 4 2] [1 2 4 2]
    union     [1 2 3 2]
    first     [1 0 1 2]
    below all [0]
    messages  [1 2 2 1]
    one left  [1 2]
    along     [1 0 2 1 3 2]
    all sent  True
    latest    [1 0 2 1 3 2]
    nearer    [0 1 2 3] [2. 1. 2. 3.] [1 0 1 2]
    edges     None

    Lists are read by other methods than values:

    >>> @dataclass(frozen=True)
    ... class Lists(bsp.Kernel):
    ...     name = "lists"
    ...     outputs = {}
    ...     fields = {"item": np.int64}
    ...
    ...     def program(self, net):
    ...         yield bsp.Round(self.share, self.announce, self.ship, self.read)
    ...
    ...     def start(self, c):
    ...         return bsp.State()
    ...
    ...     def share(self, c, s, inbox):  # [5, 6] from node 0, [7] from node 2
    ...         return bsp.share(np.array([0, 2]), np.array([2, 1]), item=np.array([5, 6, 7]))
    ...
    ...     def announce(self, c, s, inbox):
    ...         lists = inbox.shared("item")
    ...         print("node 1 got", lists.values[lists.starts[0] : lists.ends[0]], "from node 0")
    ...         return bsp.announce(np.array([1]), item=np.array([8, 9]))
    ...
    ...     def ship(self, c, s, inbox):
    ...         print("all nodes got", inbox.board("item"))
    ...         return bsp.ship(np.array([0, 0]), item=np.array([3, 4]))
    ...
    ...     def read(self, c, s, inbox):
    ...         print("cluster 0 got", inbox.shipped("item"), "from", inbox.origin)
    >>> ds = dgsuite.run(Lists, graph, style="serial")
    node 1 got [5 6] from node 0
    all nodes got [8 9]
    cluster 0 got [3 4] from [0 0]
    """

    round: int

    def __len__(self) -> int: ...
    def __getitem__(self, name: str) -> NDArray:
        """One field of every message."""

    @property
    def node(self) -> NDArray:
        """Receiver of every message."""

    @property
    def src(self) -> NDArray:
        """Sender of every message, as a node id."""

    def receivers(self, among: Subset | None = None) -> NDArray:
        """Nodes that got a message, ascending."""

    def count(self, among: Subset | None = None) -> tuple[NDArray, NDArray, NDArray]:
        """Nodes that got a message, how many each, and how many of these from other clusters."""

    def count_down(self, counts: NDArray, floor: int = 0) -> NDArray[np.int64]:
        """Take the number of messages that each node got from its count, and return the nodes whose count
        thereby reached a floor, ascending.

        Parameters
        ----------
        counts
            Signed integers, shape (size,), which are changed. Those at the floor or below stay; none falls
            below it.
        """

    def local_minima(self, name: str, own: NDArray, among: Subset | None = None) -> NDArray:
        """Nodes (of those among) whose own value is less than every value they got, ascending."""

    def min(self, name: str, among: Subset | None = None) -> tuple[NDArray, NDArray]:
        """Nodes that got a message, and the smallest value each got."""

    def max(self, name: str, among: Subset | None = None) -> tuple[NDArray, NDArray]:
        """Nodes that got a message, and the largest value each got."""

    def sum(self, name: str, among: Subset | None = None) -> tuple[NDArray, NDArray]:
        """Nodes that got a message, and the sum of the values each got.

        Integers are added in 64 bits. Floats are added in 64 bits, from 0 and by ascending sender, and
        rounded to the field's dtype at the end: the same bits for every cut, style and worker.
        """

    def totals(self, name: str) -> NDArray:
        """The sum of the values that each node got, for every node: 0 where it got none; see `sum`."""

    def first(
        self, among: Subset | None = None, *, top_down: bool = False
    ) -> tuple[NDArray, NDArray, Note]:
        """Nodes that got a message, the smallest id of each node's senders, and the cost of the
        search: adjacency entries ``examined``, nodes that searched ``bottom_up``. With `top_down` the
        search always begins at the senders.
        """

    def reduce(
        self, how: str | Reduction, name: str, among: Subset | None = None
    ) -> tuple[NDArray, NDArray]:
        """Nodes that got a message, and the values each got, reduced by "min", "max", "sum", "or" or
        a `dgsuite.partition.arrays.reductions.Reduction`.
        """

    def nearer(self, name: str) -> tuple[NDArray, NDArray, NDArray]:
        """Nodes that a broadcast brings nearer, ascending, their least offer and the smallest of its senders.

        An edge offers what was sent plus its weight, 1 without weights, as a float64, no larger than the
        largest number. A node comes nearer if it is offered less than in all phases before in this run. On
        a directed graph the kernel must be one that `Kernel.pulls`.
        """

    def along(self, name: str, entries: NDArray | None = None) -> tuple[NDArray, NDArray]:
        """Values of a broadcast along edges: for some entries of the cluster's adjacency (all by
        default), whether the neighbour sent, and the value that it sent. On a network with faults the value
        is 0 where no message has arrived; else it is then not defined.
        """

    @property
    def all_sent(self) -> bool:
        """Whether all neighbours of the worker's nodes have broadcast, and all of that has arrived: then
        `latest` has what they sent in this phase.
        """

    def latest(self, name: str) -> Latest:
        """What each neighbour broadcast last in a field, in this phase or before: 0 where it never did.

        A phase may call it where a broadcast has arrived; the arrays are the engine's, not to be changed.
        """

    def edges(self, nodes: NDArray) -> NDArray | None:
        """Edges of some nodes along which a message came: entries of the cluster's adjacency. None, at no
        cost, unless the run is traced: `Links.drop` and `broadcast` take it, so that a trace
        knows where messages go.
        """

    def shared(self, name: str) -> Shared:
        """One field of the lists that neighbours have shared; the arrays are not to be changed."""

    @property
    def origin(self) -> NDArray:
        """Cluster that each shipped item comes from, ascending."""

    def shipped(self, name: str) -> NDArray:
        """One field of the items that were shipped to this cluster."""

    def board(self, name: str) -> NDArray:
        """One field of all announcements, by announcing cluster."""
