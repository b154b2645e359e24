"""What a kernel is made of: programs of rounds, phases, and what a phase sends.

A *program* is plain control flow. It yields rounds and gets back the votes of each, reduced over
all clusters, so that everyone who replays it takes the same turns. A *phase* is a function of
(cluster, state, inbox) that changes its own state and returns what to send: a `unicast`, a
`broadcast`, a `known`, an `announce` or a `ship`, a `vote`, an `extra`, or a tuple of these.

Nothing in a kernel knows about processes, tasks, sockets or counters.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from kernels.exact import exact_sum
from partition.cluster import Cluster, Links, NodeSet
from partition.errors import InputError, unknown

if TYPE_CHECKING:
    from partition.graph import Graph


class State(SimpleNamespace):
    """State of a cluster's nodes: a struct of arrays with an entry a node."""


class Net(NamedTuple):
    """What a program may know of the network."""

    n: int


class Reply(Protocol):
    """The votes of a round, reduced over all clusters.

    Read one only where the program turns on it: until then the engine may run rounds ahead. A
    cluster that does not vote contributes nothing; to read what no cluster voted is an error.
    """

    @property
    def any(self) -> bool: ...
    @property
    def sum(self) -> Any: ...
    @property
    def min(self) -> Any: ...
    @property
    def max(self) -> Any: ...


class Inbox(Protocol):
    """The messages that a cluster's nodes got from the phase before, by receiver, then sender.

    Arrays that show what arrived are read-only; those that a reduction returns are the caller's.
    Nodes are local indices. The reductions take `among`, the nodes that care to look: an engine that
    knows who does not look need not fetch for them.
    """

    round: int

    def __len__(self) -> int: ...
    def __getitem__(self, name: str) -> NDArray:
        """One field of every message."""
        ...

    @property
    def node(self) -> NDArray:
        """Receiver of every message."""
        ...

    @property
    def src(self) -> NDArray:
        """Sender of every message, as a node id."""
        ...

    def receivers(self, among: NodeSet | None = None) -> NDArray:
        """Nodes that got a message, ascending."""
        ...

    def count(self, among: NodeSet | None = None) -> tuple[NDArray, NDArray, NDArray]:
        """Nodes that got a message, how many each, and how many of these from other clusters."""
        ...

    def local_minima(self, name: str, own: NDArray, among: NodeSet | None = None) -> NDArray:
        """Nodes (of those among) whose own value is less than every value they got, ascending."""
        ...

    def min(self, name: str, among: NodeSet | None = None) -> tuple[NDArray, NDArray]:
        """Nodes that got a message, and the smallest value each got."""
        ...

    def max(self, name: str, among: NodeSet | None = None) -> tuple[NDArray, NDArray]:
        """Nodes that got a message, and the largest value each got."""
        ...

    def sum(self, name: str, among: NodeSet | None = None) -> tuple[NDArray, NDArray]:
        """Nodes that got a message, and the sum of the values each got.

        Integers are added in 64 bits. Floats are added in 64 bits, from 0 and by ascending sender, and
        rounded to the field's dtype at the end: the same bits for every cut, style and worker.
        """
        ...

    def first(
        self, among: NodeSet | None = None, *, top_down: bool = False
    ) -> tuple[NDArray, NDArray, Note]:
        """Nodes that got a message, the smallest id of those who sent them one, and what it took to
        find out: adjacency entries ``examined``, nodes that looked ``bottom_up``. With `top_down`
        the senders' side is taken in any case.
        """
        ...

    def union(self, name: str, among: NodeSet | None = None) -> tuple[NDArray, NDArray]:
        """Nodes that got a message, and the bitwise or of the values each got."""
        ...

    def along(self, name: str, entries: NDArray | None = None) -> tuple[NDArray, NDArray]:
        """What neighbours said in a broadcast: for some entries of the cluster's adjacency (all by
        default), whether the neighbour spoke, and the value it said.
        """
        ...

    @property
    def origin(self) -> NDArray:
        """Cluster that each shipped item comes from, ascending."""
        ...

    def shipped(self, name: str) -> NDArray:
        """One field of the items that were shipped to this cluster."""
        ...

    def board(self, name: str) -> NDArray:
        """One field of all that was announced, by announcing cluster."""
        ...


Phase = Callable[[Cluster, Any, Inbox], Any]


def phase_name(what: str, phase: Phase | str) -> str:
    """Name of a phase, or task, that something is made of."""
    name = phase if isinstance(phase, str) else getattr(phase, "__name__", None)
    if name is None:
        raise InputError(
            f"{what} takes methods of the kernel, or their names, got {type(phase).__name__}"
        )
    return name


class Round:
    """One or more phases, with an exchange after each: the unit that results are indexed by.

    Parameters
    ----------
    phases
        Bound methods of the kernel, or their names.
    opening, closing
        Whether this only prepares the round after it, or ends the one before, and is counted with it.
    """

    def __init__(self, *phases: Phase | str, opening: bool = False, closing: bool = False) -> None:
        if not phases:
            raise InputError("Round() needs at least one phase, such as Round(self.send)")
        self.phases = tuple(phase_name("Round", p) for p in phases)
        self.opening = opening
        self.closing = closing


class Finish:
    """Launch tasks and wait until all that they spawn, at any depth, has ended: recursive kernels.

    Parameters
    ----------
    launch
        Runs on every cluster, with an empty inbox, at depth 0; its votes and those of all tasks are
        the reply. See `kernels.recursion`.
    """

    def __init__(self, launch: Phase | str) -> None:
        self.launch = phase_name("Finish", launch)


Program = Generator[Round | Finish, Reply, None]


class Unicast(NamedTuple):
    """Messages to given nodes; see `unicast`."""

    dst: NDArray
    src: NDArray | None
    combine: str | None
    fields: dict[str, ArrayLike]


class Broadcast(NamedTuple):
    """The same message from a node to all its neighbours; see `broadcast`."""

    nodes: NDArray | None
    links: Links | None
    repeat: NDArray | None
    to: tuple[NDArray, NDArray] | None
    fields: dict[str, ArrayLike]


class Announcement(NamedTuple):
    """Messages to all nodes; see `announce`."""

    nodes: NDArray
    fields: dict[str, ArrayLike]


class Shipment(NamedTuple):
    """Items to clusters; see `ship`."""

    to: NDArray
    fields: dict[str, ArrayLike]


class Known(NamedTuple):
    """What all clusters know anyway; see `known`."""

    node: int | None


class Extra(NamedTuple):
    """Work of the original alone; see `extra`."""

    comm: int
    mutexes: int
    asyncs: int


class Note(NamedTuple):
    """Measured quantities of a phase, for the dataset; see `Kernel.notes`."""

    values: dict[str, int]


class Vote(NamedTuple):
    """A contribution to the round's reply; see `vote`."""

    any: bool = False
    sum: int | Fraction = 0
    """A fraction where floats were voted: it is exact."""
    min: float | None = None
    max: float | None = None
    given: int = 0
    """Which of the others were voted, as a bitmap of `VOTES`."""


VOTES = {"any": 1, "sum": 2, "min": 4, "max": 8}
"""Bit of each kind of vote in `Vote.given`."""


COMBINERS = ("min", "max", "sum", "or")
"""How messages to one receiver may be folded into one."""


def unicast(
    dst: NDArray, src: NDArray | None = None, *, combine: str | None = None, **fields: ArrayLike
) -> Unicast:
    """Send messages to given nodes.

    Parameters
    ----------
    dst
        Node id of each receiver.
    src
        Local index of each sender; by default node i of the cluster sends message i.
    combine
        "min", "max", "sum" or "or": fold the messages to one receiver into one, on the way. The
        receiver then sees no sender. Floats are added where they arrive, by ascending sender, so that
        a sum is the same for every cut.
    fields
        One value a message, or one for all.
    """
    if combine is not None and combine not in COMBINERS:
        raise InputError(unknown("combine", combine, COMBINERS))
    return Unicast(dst, src, combine, fields)


def broadcast(
    nodes: NDArray | None = None,
    *,
    links: Links | None = None,
    repeat: NDArray | None = None,
    to: tuple[NDArray, NDArray] | None = None,
    **fields: ArrayLike,
) -> Broadcast:
    """Send one message from each given node to all its neighbours, or to those who care.

    Parameters
    ----------
    nodes
        Local indices of the senders, ascending; by default all nodes of the cluster.
    links
        Live links, where neighbours have been let go: only those left count as messages.
    repeat
        How many times each sender says the same; repeats are counted, and travel and arrive once.
    to
        Where a sender means only some of its neighbours, who know it: how many, and how many of
        these in other clusters, by sender.
    fields
        One value a sender, or one for all.
    """
    return Broadcast(nodes, links, repeat, to, fields)


def known(node: int | None = None) -> Known:
    """Have a node tell all its neighbours what every cluster knows that it says; or nobody anything.

    All clusters return the same. Nothing travels then, and nobody waits for anybody: the phase that
    follows begins at once, unless there are votes to collect.

    Parameters
    ----------
    node
        Id of the sender, if there is one. It says no more than that it spoke.
    """
    return Known(node)


def announce(nodes: NDArray, **fields: ArrayLike) -> Announcement:
    """Send a list from each given node to every other node; it travels once to each worker.

    Parameters
    ----------
    nodes
        Local indices of the senders.
    fields
        The lists of all senders, one after the other: columns of one length, read by
        ``inbox.board``.
    """
    return Announcement(nodes, fields)


def ship(to: NDArray, **fields: ArrayLike) -> Shipment:
    """Send items to clusters, for kernels whose data is dealt to clusters otherwise than by node.

    Parameters
    ----------
    to
        Number of the cluster that gets each item.
    fields
        One value an item; read by ``inbox.shipped``, by sending cluster, in the order of sending.
    """
    return Shipment(to, fields)


def extra(comm: object = 0, mutexes: object = 0, asyncs: object = 0) -> Extra:
    """Count what the original does beyond the messages of a phase, such as reading its neighbours'
    state once more; for kernels that are told to be `faithful`.
    """
    return Extra(int(comm), int(mutexes), int(asyncs))  # type: ignore[call-overload]


_UNSAID: Any = object()


def vote(*, any: Any = _UNSAID, sum: Any = _UNSAID, min: Any = _UNSAID, max: Any = _UNSAID) -> Vote:
    """Contribute to the round's reply, which is the same however nodes are dealt to clusters.

    Parameters
    ----------
    any
        Whether something holds, or an array of such.
    sum
        An integer, or an array of numbers such as one a node. Floats come as an array only, and
        finite: they are added exactly, over all clusters, and the sum is rounded once. A sum that
        a phase takes itself is rounded in a way that depends on the cluster's nodes.
    min, max
        A number but NaN, or an array of such; None, or an empty array, where the cluster has none.
    """
    given, held = 0, False
    total: int | Fraction = 0
    least = most = None
    if any is not _UNSAID:
        given, held = VOTES["any"], bool(np.any(any)) if isinstance(any, np.ndarray) else bool(any)
    if sum is not _UNSAID:
        given, total = given | VOTES["sum"], _total(sum)
    if min is not _UNSAID:
        given, least = given | VOTES["min"], _extreme(min, np.min)
    if max is not _UNSAID:
        given, most = given | VOTES["max"], _extreme(max, np.max)
    return Vote(held, total, least, most, given)


def _total(value: Any) -> int | Fraction:
    """What a cluster adds to the sum of the votes."""
    if isinstance(value, np.ndarray) and value.ndim:
        return exact_sum(value)
    try:
        return int(operator.index(bool(value) if isinstance(value, np.bool_) else value))
    except TypeError:
        raise InputError(
            f"vote(sum={value!r}) is not an integer: a float that a cluster's phase adds up is rounded in "
            f"a way that depends on the cluster's nodes; vote the array of what is to be added"
        ) from None


def _extreme(value: Any, pick: Callable[[NDArray], Any]) -> float | None:
    """What a cluster votes as the least or greatest, picked from an array."""
    if value is None or type(value) is int:
        return value
    values = np.asarray(value)
    if not values.size:
        return None
    found = pick(values).item() if values.dtype.kind in "biuf" else value
    if not isinstance(found, int | float) or found != found:
        raise InputError(f"vote: {found!r} cannot be compared with other numbers")
    return found + 0  # no negative zero, and no truth value


Node = Annotated[int, "node"]
"""A parameter that names a node. Users give it in the graph's labels, where it has some; the kernel gets
the node id. Annotate sequences of such likewise: ``Sequence[Node]``."""

NodeOrNone = Annotated[int, "node or none"]
"""Of a sequence, such as parents, in which what is no node stands for none; the kernel gets -1."""


class _First(int):
    """A number that is known apart from others of its value, which may be labels."""


FIRST = _First(0)
"""The first node, whatever its label: default of parameters that name a node."""


class Output(NamedTuple):
    """Description of an output array: an attribute of the state, one entry a node.

    Attributes
    ----------
    long_name
        What it is. In outputs with `nodes`, "{none}" becomes what stands for no node.
    units
        Of UDUNITS.
    dims
        Of the array.
    nodes
        Whether values are node ids, -1 for none. Results have the graph's labels instead, where it has
        some; -1 becomes `partition.labels.Labels.none`.
    identifiers
        Whether values are identifiers of nodes: node ids, unless the graph was given others.
    """

    long_name: str
    units: str = "1"
    dims: tuple[str, ...] = ("node",)
    nodes: bool = False
    identifiers: bool = False


COUNTS = (
    *("messages", "remote_messages", "bytes", "active"),
    *("finishes", "asyncs", "barriers", "mutexes", "comm"),
)
"""What is counted a round."""


@dataclass(frozen=True)
class Kernel:
    """Base of all kernels: a frozen dataclass of parameters.

    Parameters
    ----------
    seed
        Key of the counter-based random numbers.
    faithful
        Do what the original did, so that its counts come out, where the textbook does better.
    """

    seed: int = 101
    faithful: bool = False

    name: ClassVar[str]
    """Short name, as in IMSuite."""
    form: ClassVar[str] = "iterative"
    """Or "recursive": its program may yield finishes; see `kernels.recursion`."""
    outputs: ClassVar[dict[str, Output]]
    """State arrays that are results."""
    fields: ClassVar[dict[str, DTypeLike]] = {}
    """Dtype of each message field; what is sent is cast to it, and an empty inbox has it."""
    looks_for_first: ClassVar[bool] = False
    """Whether it asks ``inbox.first``, for which a run prepares."""
    notes: ClassVar[dict[str, str]] = {}
    """Quantities that phases note for the dataset, summed a round, with what they are. They may
    depend on how the graph is cut, as times do."""
    undirected: ClassVar[bool] = True
    """Whether the kernel needs an undirected graph."""
    along_edges: ClassVar[bool] = False
    """Whether all its unicasts go to neighbours; a checked run holds it to that."""
    needs: ClassVar[tuple[str, ...]] = ()
    """What else it needs of a graph, in the words of `partition.checks`."""

    def program(self, net: Net) -> Program:
        """The order of the rounds."""
        raise NotImplementedError

    def start(self, cluster: Cluster) -> State:
        """The state before the first round."""
        raise NotImplementedError

    def widths(self, n: int) -> dict[str, int]:
        """Fields that hold a vector a message, and its length on a graph of n nodes."""
        return {}

    @property
    def varies(self) -> tuple[str, ...]:
        """Of a recursive form: variables of the dataset that depend on which tasks arrive first, where
        tasks wait for no clock (style "finish_async").
        """
        return COUNTS

    def check(self, cluster: Cluster) -> str | None:
        """What is wrong with this cluster as input for this kernel, if anything."""
        return None

    def suited(self, graph: Graph) -> Self:
        """The kernel with the parameters that it chooses by the graph it is to run on."""
        return self


@dataclass(frozen=True)
class Replicated(Kernel):
    """A kernel that can also run as independent chunks of work on the whole graph."""

    @property
    def dynamic(self) -> bool:
        """Whether chunks are to be fetched by workers as these become free."""
        return False

    def hold(self, parts: Sequence[Cluster]) -> Any:
        """What a worker keeps for its chunks: the whole graph, from all its clusters."""
        raise NotImplementedError

    def chunk(self, held: Any, number: int, count: int) -> tuple[Any, dict[str, int]]:
        """Result of one of some chunks, and what there is to note."""
        raise NotImplementedError

    def add(self, results: Sequence[Any]) -> Any:
        """Several results as one; neither order nor grouping may matter."""
        raise NotImplementedError

    def results(self, total: Any, graph: Graph) -> dict[str, NDArray]:
        """The outputs, in the order of the graph's layout."""
        raise NotImplementedError


def no_node(what: str, node: int, n: int) -> str | None:
    """What is wrong with a node that a parameter names, if anything."""
    if 0 <= node < n:
        return None
    return f"{what} {node} is not a node: nodes are 0 to {n - 1}, in the order of the graph's nodes"


def empty(dtype: DTypeLike) -> NDArray:
    """An empty array."""
    return np.empty(0, dtype)
