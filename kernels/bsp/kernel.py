"""The base of all kernels: parameters, outputs, program and phases."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from dgsuite.kernels.bsp.messages import Bounds, Range
from dgsuite.kernels.bsp.model import UNLIMITED, Model
from dgsuite.kernels.bsp.rounds import Net, Program
from dgsuite.kernels.bsp.state import ClusterState, dtype_of
from dgsuite.partition.clusters.cluster import Cluster

if TYPE_CHECKING:
    from dgsuite.partition.graph.graph import Graph


Node = Annotated[int, "node"]
"""Annotation of a parameter that names a node. Users give a label, where the graph has labels; the kernel
gets the node id. A sequence of nodes is a ``Sequence[Node]``."""

NodeOrNone = Annotated[int, "node or none"]
"""As `Node`, for sequences such as parents in which some entries are no node; the kernel gets -1."""

Pairs = Annotated[NDArray[np.int64], "pairs of nodes"]
"""Annotation of a parameter that names pairs of nodes. Users give a table, an array of shape (p, 2) or a
sequence of pairs, with labels where the graph has labels; the kernel gets node ids, shape (p, 2)."""


FAULTS = ("loss", "crashes", "recovery", "churn", "liars", "duplicates")
"""Kinds of faults: messages are lost; nodes crash; they come back; nodes or edges are away; nodes lie, or
messages are corrupted; messages arrive twice."""

NETWORKS = (*FAULTS, "delays")
"""Kinds of networks: those of `FAULTS`, and messages that take time."""

READS_LATEST = "it reads what neighbours sent last, also where no message came"
SHARES_LISTS = "its nodes share lists, which go whole to each worker"
ANNOUNCES = "it announces to all nodes, which is along no edge"
KEEPS_OFFERS = "it keeps the least offers that came along edges; take 'bf' for shortest paths"
KEEPS_LISTS = "it keeps lists that are not one entry for each node, such as rows of a table"
COUNTS_LINKS = (
    "it counts messages to know which neighbours are left, and would count a duplicate twice"
)
SHIPS = "its clusters send messages to clusters, not nodes to nodes"
BY_CLUSTER = "clusters of form='block' work on their own nodes to the end; take form='iterative'"
NO_ROUNDS = "tasks of form='recursive' have no rounds; give delay= or take form='iterative'"
"""Why a kernel does not take some kinds."""

UNDECLARED = "leave out network=, and have the kernel say so by refuses = bsp.no_faults(...)"
"""What to do about a kernel that does what a network with faults cannot transfer, and does not say so."""


def no_faults(why: str) -> dict[str, str]:
    """Declare that a kernel takes no network with faults: a value of `Kernel.refuses`.

    Parameters
    ----------
    why
        What it does that such a network cannot do, as a clause.

    Examples
    --------
    >>> from dgsuite.kernels import bsp
    >>> refuses = bsp.no_faults("it announces to all nodes, which is along no edge")
    """
    return dict.fromkeys(FAULTS, why)


class _First(int):
    """A number that can be told from an equal one, which may be a label."""


FIRST = _First(0)
"""The first node, whatever its label: default of parameters that name a node."""


class Output(NamedTuple):
    """Description of an output array: an attribute of the state with an entry per node, or a table's column.

    Attributes
    ----------
    long_name
        What it is. In outputs with `nodes`, "{none}" becomes what stands for no node.
    units
        Of UDUNITS.
    dims
        Of the array. The first one is ``node``, or of a column the name of the rows: such as ``pair``, which
        the kernel lists in `numbered`. A cluster then has any number of rows, the same in all columns. The
        first column is a node of the cluster, ascending, and the table is in its order.
    nodes
        Whether values are node ids, -1 for none. Results have the graph's labels instead, where it has
        some; -1 becomes `dgsuite.partition.labels.labels.Labels.none`.
    identifiers
        Whether values are identifiers of nodes: node ids, unless the graph was given others.
    from_root
        Whether values are distances from the root of a search: infinite or negative where it does not lead.

    Examples
    --------
    >>> from dgsuite.kernels import bsp
    >>> bsp.Output("time to the root", units="s").units
    's'
    >>> bsp.Output("parent in the tree, {none} at the root", nodes=True).dims
    ('node',)
    """

    long_name: str
    units: str = "1"
    dims: tuple[str, ...] = ("node",)
    nodes: bool = False
    identifiers: bool = False
    from_root: bool = False

    @property
    def tabular(self) -> bool:
        """Whether it is a column of a table, and has no entry per node."""
        return self.dims[0] != "node"


class _ByParameters:
    """An attribute that a method makes of the parameters; of the class, that with default parameters."""

    def __init__(self, method: Callable[[Any], dict[str, Output]]) -> None:
        self.method = method

    def __get__(self, kernel: Kernel | None, cls: type[Kernel]) -> dict[str, Output]:
        return self.method(cls() if kernel is None else kernel)


def by_parameters(method: Callable[[Any], dict[str, Output]]) -> Any:
    """Outputs that depend on the parameters of a kernel; those of the class are those by default.

    Parameters
    ----------
    method
        The outputs, of a kernel.

    Examples
    --------
    >>> from dgsuite.kernels import Leiden
    >>> Leiden.outputs["community"].dims, Leiden(levels=True).outputs["community"].dims
    (('node',), ('node', 'level'))
    """
    return _ByParameters(method)


COUNTS = (
    *("messages", "remote_messages", "bytes", "active"),
    *("finishes", "asyncs", "barriers", "mutexes", "comm"),
)
"""What is counted per round."""

EXCHANGED = ("exchanges", "reductions", "reduction_messages", "reduction_exchanges")
"""Other counts per round. Recursive forms have no rounds, and none of these."""

CUT_DEPENDENT = ("messages", "remote_messages", "bytes", "exchanges")
"""Counts that depend on the clusters where a kernel `ships`."""


@dataclass(frozen=True)
class Kernel:
    """Base of all kernels: a frozen dataclass of parameters.

    Parameters
    ----------
    seed
        Key of the counter-based random numbers.
    faithful
        Do what IMSuite's program does, and so get its counts, where the textbook needs fewer messages.
        A kernel that differs then has a faithful form, a subclass declared with ``faithful_to=``,
        in the kernel's module or in `faithful.py` of its package:
        ``MIS(faithful=True)`` makes a `FaithfulMIS`, as ``Path()`` makes a path of the platform.

    Examples
    --------
    Each node finds its smallest neighbour:

    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> from numpy.typing import NDArray
    >>> import dgsuite
    >>> from dgsuite.kernels import bsp
    >>> @dataclass(eq=False)
    ... class State(bsp.ClusterState):
    ...     least: NDArray[np.int64] = bsp.per_node(-1)
    >>> @dataclass(frozen=True)
    ... class Least(bsp.Kernel):
    ...     name = "least"
    ...     outputs = {"least": bsp.Output("smallest neighbour", nodes=True)}
    ...     fields = {"id": np.int64}
    ...     state = State
    ...
    ...     def program(self, net):
    ...         yield bsp.Round(self.send, self.read)
    ...
    ...     def check(self, c):
    ...         alone = c.ids[c.degree == 0]
    ...         return f"node {alone[0]} has no neighbour" if len(alone) else None
    ...
    ...     def send(self, c, s, inbox):
    ...         return bsp.broadcast(id=c.ids)
    ...
    ...     def read(self, c, s, inbox):
    ...         nodes, least = inbox.min("id")
    ...         s.least[nodes] = least
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3], clusters=2)
    >>> dgsuite.run(Least, graph, style="serial").least.values
    array([1, 0, 1, 2])

    The other methods have defaults:

    >>> (cluster,) = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3], clusters=1).gather()
    >>> Least().start(cluster).least, Least().first_state(cluster).least
    (array([-1, -1, -1, -1]), array([-1, -1, -1, -1]))
    >>> Least().widths(4), Least().axis("step", 4), Least().suited(graph) == Least()
    ({}, None, True)
    >>> Least().extra_bytes(4, 4, 6), Least().dtypes(4)
    (0, {'id': dtype('int64')})
    >>> Least().values("step") is None
    True
    >>> Least().spoils(np.array([1]), np.array([2]))
    array([False])
    >>> Least().attributes(4, {})
    {}
    >>> Least().crash(Least().start(cluster), np.array([0]))
    >>> Least().varies == bsp.COUNTS
    True
    >>> Least().limits(4), Least().unfit(), Least().cut_dependent
    ({'id': None}, {}, ())
    >>> Least().bits(4)
    {'id': 64}
    >>> Least.both_forms() is None, Least().field_model
    (True, '')
    """

    seed: int = 101
    faithful: bool = False

    _forms: ClassVar[tuple[type[Kernel], type[Kernel]] | None] = None
    """What `both_forms` says, once the faithful one is imported."""

    name: ClassVar[str]
    """Short name, as in IMSuite."""
    state: ClassVar[type[ClusterState]]
    """Class of a cluster's state; needed where `start` is not defined."""
    form: ClassVar[str] = "iterative"
    """Or "recursive": its program may yield finishes; see `dgsuite.kernels.bsp.rounds`. Or "block":
    clusters work on their own nodes to the end, so rounds and counts depend on the cut."""
    outputs: ClassVar[dict[str, Output]]
    """State arrays that are results."""
    fields: ClassVar[dict[str, DTypeLike]] = {}
    """Dtype of each message field, `bsp.NODE` for node ids; what is sent is cast to it, and an empty inbox
    has it."""
    ranges: ClassVar[dict[str, Range]] = {}
    """How many values message fields can have, as functions of the number of nodes such as ``bsp.nodes`` or
    ``values(3)``. Bits that edges carry are counted by them; by default all values of the dtype."""
    bounds: ClassVar[dict[str, Bounds | None]] = {}
    """Least and greatest value of integer message fields, as functions of the number of nodes such as
    ``bsp.between(-1, bsp.nodes)``, where these are not 0 and one less than `ranges` says; None for all of the
    dtype. What nodes that lie make up is held to them, so a field that is used as an index needs them."""
    unforgeable: ClassVar[tuple[str, ...]] = ()
    """Message fields that nobody can forge, such as signatures: nodes that lie cannot change them."""
    stable: ClassVar[tuple[str, ...]] = ()
    """Fields of the state that are in stable storage: they outlast a crash without memory."""
    refuses: ClassVar[dict[str, str]] = {}
    """Kinds of networks (`dgsuite.kernels.bsp.kernel.NETWORKS`) that it does not take, and why, as a
    clause: ``bsp.no_faults(bsp.READS_LATEST)`` of a kernel that calls ``inbox.latest``."""
    numbered: ClassVar[tuple[str, ...]] = ()
    """Dimensions of outputs that count from 0, such as steps; others list nodes."""
    broadcasts: ClassVar[bool] = True
    """Whether it broadcasts along the edges, so that a run prepares for it: that takes time for each edge."""
    prepares: ClassVar[tuple[str, ...]] = ()
    """Methods of the inbox that it calls in most rounds, and for which a run prepares before its clock
    starts; otherwise their first calls do. "first": loops. "nearer": loops, for its first field. "totals":
    edges in tiles, with which sums of what all nodes sent are faster, and each worker holds its edges once
    more."""
    streams: ClassVar[bool] = False
    """Whether its runs hold nothing in memory that has an element for each edge, so that the edges may be
    on disk and larger than memory."""
    notes: ClassVar[dict[str, str]] = {}
    """Names and descriptions of quantities that phases note for the dataset, summed per round. They may
    depend on the partition, as times do."""
    peaks: ClassVar[dict[str, str]] = {}
    """Names and descriptions of quantities for the dataset, by round the greatest ``vote(max=...)`` of its
    phases: whole numbers from 0."""
    undirected: ClassVar[bool] = True
    """Whether the kernel needs an undirected graph."""
    pulls: ClassVar[bool] = False
    """Whether clusters of a directed graph also have the edges that come in. Nodes then read broadcasts along
    these edges, which is faster than sending a message along each edge that leaves."""
    both_ways: ClassVar[bool] = False
    """Whether the kernel takes a directed graph as an undirected one whose clusters have `directions`: an
    edge is an entry at both its ends, so broadcasts go along it both ways."""
    sorts: ClassVar[bool] = True
    """Whether its inbox has unicasts in the order of receivers, then senders. Otherwise they are in that of
    senders, which takes less time, and a phase may read `node`, `src` and fields alone."""
    short_ids: ClassVar[bool] = False
    """Whether it keeps node ids in 32 bits, so that a graph may have fewer than 2^31 nodes."""
    obeys: ClassVar[Model] = UNLIMITED
    """What its phases may do; a checked run refuses the rest. By default they send any number of messages to
    any nodes, and the program reads all votes. Where clusters send to clusters
    (`dgsuite.kernels.bsp.ship`), a cluster folds what it sends, so messages are those of the cut: see
    `cut_dependent`."""
    by_cut: ClassVar[tuple[str, ...]] = ()
    """Names of `notes` that depend on the clusters."""
    allowed: ClassVar[dict[str, tuple[float, float]]] = {}
    """By parameter, its least and greatest value; infinity for no greatest. None is allowed, too."""
    by_component: ClassVar[bool] = False
    """Whether components run independently of each other, send nothing once they are done, and use no
    identifiers. Many runs on a small graph can then be one run on copies of it: see
    `dgsuite.studies.lab.repeating.repeat`."""
    needs: ClassVar[tuple[str, ...]] = ()
    """Other properties that it requires of a graph, by their names in `dgsuite.partition.graph.checks`."""
    weighs: ClassVar[bool] = False
    """Whether it always counts the weights of a graph that has some; others say so by ``weighted``."""
    same: ClassVar[tuple[str, ...]] = ()
    """Where it goes on from an earlier result: parameters that must be those of the earlier run."""

    def __init_subclass__(cls, faithful_to: type[Kernel] | None = None) -> None:
        super().__init_subclass__()
        cls._forms = None
        if faithful_to is not None:
            cls._forms = faithful_to._forms = faithful_to, cls
            # the parameter is True by default, as if the class said ``faithful: bool = True``
            cls.__annotations__["faithful"], cls.faithful = "bool", True
            dataclass(frozen=True)(cls)

    def __new__(cls, *arguments: Any, **parameters: Any) -> Self:
        faithful = bool(parameters.get("faithful", [*arguments[1:], cls.faithful][0]))
        forms = cls.both_forms() if faithful else cls._forms
        form: type[Kernel] = cls if forms is None else forms[faithful]
        if issubclass(form, cls):  # then Python calls __init__
            return super().__new__(form)
        return form(*arguments, **parameters)  # type: ignore[return-value]

    @classmethod
    def both_forms(cls) -> tuple[type[Kernel], type[Kernel]] | None:
        """The textbook form and the faithful one, where they differ."""
        folder = cls.__module__.rpartition(".")[0]
        if cls._forms is None and folder and find_spec(f"{folder}.faithful"):
            import_module(f"{folder}.faithful")  # where the faithful form declares itself
        return cls._forms

    def program(self, net: Net) -> Program:
        """The order of the rounds."""
        raise NotImplementedError

    def start(self, cluster: Cluster) -> Any:
        """The state before the first round."""
        return self.state.of(cluster)

    def first_state(self, cluster: Cluster) -> Any:
        """The state that `start` makes; outputs have the values of an earlier run, if this one goes on."""
        state = self.start(cluster)
        if cluster.earlier is not None:
            for name, values in cluster.earlier.outputs.items():
                getattr(state, name)[: len(values)] = values
        return state

    def widths(self, n: int) -> dict[str, int]:
        """Fields whose values are vectors, and their length on a graph of n nodes."""
        return {}

    def extra_bytes(self, n: int, nodes: int, entries: int) -> int:
        """Bytes of the state beyond an entry for each node in each field: for estimates.

        The clusters have so many nodes and entries, of a graph of n nodes.
        """
        return 0

    def dtypes(self, n: int) -> dict[str, np.dtype]:
        """Dtype of each message field on a graph of n nodes, vectors included."""
        found = {name: dtype_of(kind, n) for name, kind in self.fields.items()}
        widths = self.widths(n).items()
        return found | {name: np.dtype((found[name], (width,))) for name, width in widths}

    def limits(self, n: int) -> dict[str, tuple[int, int] | None]:
        """Least and greatest value of each message field on a graph of n nodes; None for all of its dtype."""
        found: dict[str, tuple[int, int] | None] = dict.fromkeys(self.fields)
        found |= {name: (0, count(n) - 1) for name, count in self.ranges.items()}
        return found | {name: bounds and bounds(n) for name, bounds in self.bounds.items()}

    def bits(self, n: int) -> dict[str, int]:
        """Bits of each field of a message on a graph of n nodes.

        A field without a declared range (`ranges`) has the bits of its dtype, for each item of a vector.
        """
        found = {}
        for name, dtype in self.dtypes(n).items():
            each = 1 if dtype.base.kind == "b" else 8 * dtype.base.itemsize
            found[name] = each * (dtype.itemsize // dtype.base.itemsize)
        return found | {name: (count(n) - 1).bit_length() for name, count in self.ranges.items()}

    @property
    def field_model(self) -> Literal["CONGEST", "LOCAL", ""]:
        """The name that the field has for its model, if any (Peleg 2000, section 2.3).

        "CONGEST": a phase sends a constant number of messages along an edge, which hold names and numbers.
        "LOCAL": any number, of any size. Neither has messages beside edges, or reductions.
        """
        if self.obeys.sends != "edges" or self.obeys.reduces != "nothing":
            return ""
        grows = self.obeys.messages is None or self.widths(1 << 4) != self.widths(1 << 16)
        return "LOCAL" if grows else "CONGEST"

    def unfit(self) -> dict[str, str]:
        """Kinds of networks that it does not take, and why: `refuses`, and what follows from the rest."""
        if self.obeys.ships:
            return dict.fromkeys(NETWORKS, SHIPS)
        if self.form == "block":
            return dict.fromkeys(NETWORKS, BY_CLUSTER)
        return no_faults(KEEPS_OFFERS) if "nearer" in self.prepares else self.refuses

    def axis(self, dim: str, n: int) -> NDArray[np.int64] | None:
        """The nodes that a dimension of outputs, other than ``node``, lists; None for all."""
        return None

    def spoils(self, before: NDArray, after: NDArray) -> NDArray[np.bool_]:
        """Of edges with other weights than before, which ones it cannot go on with from an earlier result."""
        return np.zeros(len(before), bool)

    def values(self, dim: str) -> NDArray | None:
        """The numbers along a dimension of outputs that lists no nodes, such as thresholds; else None."""
        return None

    def crash(self, s: Any, nodes: NDArray[np.int64]) -> None:
        """Called when nodes of a cluster crash: take out of its state what would have them act."""

    def attributes(self, n: int, noted: Mapping[str, NDArray[np.int64]]) -> dict[str, Any]:
        """More attributes of the dataset, from the number of nodes and what phases noted, by round."""
        return {}

    @property
    def cut_dependent(self) -> tuple[str, ...]:
        """Counts and notes that depend on the clusters, which the dataset's attribute of this name lists.

        Messages between clusters, and what is counted by cluster or by worker, do so with any kernel.
        """
        if self.form == "block":
            return (*COUNTS, *EXCHANGED, *self.notes)
        return (*CUT_DEPENDENT, *self.by_cut) if self.obeys.ships else self.by_cut

    @property
    def varies(self) -> tuple[str, ...]:
        """Variables of the dataset that depend on the order in which tasks arrive, for recursive
        kernels in style "finish_async".
        """
        return COUNTS

    def check(self, cluster: Cluster) -> str | None:
        """What is wrong with this cluster as input for this kernel, if anything; by default, with
        parameters that are not `allowed`.
        """
        for name, (least, most) in self.allowed.items():
            value = getattr(self, name)
            if value is not None and not least <= value <= most:
                wanted = f"at least {least}" if most == np.inf else f"from {least} to {most}"
                return f"{name} must be {wanted}, got {value}"
        return None

    def suited(self, graph: Graph) -> Self:
        """The kernel with the parameters that it chooses by the graph it is to run on."""
        return self


# what help shows of kernels that declare no parameters, where `__new__` would hide those of all kernels
Kernel.__new__.__signature__ = inspect.signature(Kernel.__init__)  # type: ignore[attr-defined]


@dataclass(frozen=True)
class Weighted(Kernel):
    """A kernel that takes the weights of edges into account, or leaves them alone.

    Parameters
    ----------
    weighted
        Whether the weights of edges count; by default where the graph has weights. Where it has none, all
        edges are alike. The dataset's attribute ``weighted`` is 1 if weights counted, else 0.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1], [1, 2], weights=[1.0, 9.0])
    >>> dgsuite.run("pagerank", graph)["rank"].values.round(2)
    array([0.09, 0.49, 0.42])
    >>> dgsuite.run("pagerank", graph, weighted=False)["rank"].values.round(2)
    array([0.26, 0.49, 0.26])
    """

    weighted: bool | None = None

    def suited(self, graph: Graph) -> Self:
        """Weighted if the graph has weights, unless told otherwise: from here on True or False."""
        return replace(self, weighted=graph.weighted and self.weighted is not False)


def wide_identifier(c: Cluster) -> str | None:
    """What is wrong with a cluster's identifiers where they must be from 0 to 2^32 - 1, or None."""
    wrong = np.flatnonzero((c.uid < 0) | (c.uid >= 1 << 32))
    if len(wrong):
        return f"identifier {c.uid[wrong[0]]} of node {c.ids[wrong[0]]} is not 0 to 2^32 - 1"
    return None


def no_node(what: str, node: int, n: int) -> str | None:
    """What is wrong with a node that a parameter names, or None."""
    if 0 <= node < n:
        return None
    return f"{what} {node} is not a node: nodes are 0 to {n - 1}, in the order of the graph's nodes"
