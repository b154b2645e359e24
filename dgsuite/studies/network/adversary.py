"""An adversary of a network: what it sees, what it strikes, and what it may spend."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError, one_of
from dgsuite.core.engine.network import Strikes, Target
from dgsuite.partition.arrays.segments import expand
from dgsuite.partition.labels.nodes import listed
from dgsuite.studies.network.names import is_whole, node_ids

if TYPE_CHECKING:
    from dgsuite.kernels.bsp import Kernel
    from dgsuite.partition.clusters.cluster import Cluster
    from dgsuite.partition.graph.graph import Graph

CRASHES, ABSENCES, DROPS = SPENDS = "crashes", "absences", "drops"
"""What an adversary spends its budget on."""

SPARED = -np.inf
"""The score of a node that is not struck."""

NODES = "nodes of an adversary"


class View(NamedTuple):
    """What an adversary sees of the nodes of a cluster, after a round.

    Attributes
    ----------
    cluster
        The nodes and their edges.
    round
        The round that is over.
    sent
        How many messages each node has sent in the round: int64, shape (size,).
    state
        The kernel's state, which must not be changed.
    kernel
        The kernel that runs.

    Examples
    --------
    Those that have sent, the smallest node first:

    >>> import numpy as np
    >>> import dgsuite
    >>> def first(view):
    ...     return np.where(view.sent > 0, -view.cluster.ids, -np.inf)
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> network = dgsuite.Network(adversary=dgsuite.Adversary(first))
    >>> dgsuite.run("bfs", graph, root=3, network=network).crashed.values
    array([-1, -1,  1, -1])
    """

    cluster: Cluster
    round: int
    sent: NDArray[np.int64]
    state: Any
    kernel: Kernel


Aim = Callable[[View], Any]
"""A score for each node of a cluster. The greatest are struck, and those of minus infinity spared."""


def degree(view: View) -> NDArray:
    """Nodes with most neighbours first."""
    return view.cluster.degree


def sent(view: View) -> NDArray:
    """Nodes that have sent most in the round first."""
    return view.sent


def leader(view: View) -> NDArray:
    """Nodes that take themselves for the leader, greatest identifiers first."""
    name = leads_by(view.kernel)
    assert name is not None
    own = view.cluster.uid if view.kernel.outputs[name].identifiers else view.cluster.ids
    return np.where(getattr(view.state, name) == own, own, SPARED)


def leads_by(kernel: Kernel) -> str | None:
    """The output of a kernel that says which node leads, or None."""
    named = (name for name, output in kernel.outputs.items() if output.identifiers or output.nodes)
    return next(named, None)


AIMS: dict[str, Aim] = {"degree": degree, "leader": leader, "cut": sent}
"""By name."""


@dataclass(frozen=True)
class Adversary:
    """An adversary, which strikes a few nodes or edges each round until its budget is spent.

    It looks at the run after each round, and so strikes from round 1 on.

    Parameters
    ----------
    aim
        What it strikes first. "degree": nodes with most neighbours. "leader": nodes that take themselves for
        the leader, the greatest identifier first: those whose first output that names nodes has their own.
        "cut": of the edges between `nodes` and the others, those whose senders sent most in the round before.
        Or a function of a `dgsuite.studies.network.adversary.View`, which returns a score for each node of a
        cluster: the greatest are struck, and those of minus infinity spared. Of equal scores the smallest
        node ids go first.
    budget
        How much it strikes in all.
    each
        How much it strikes in a round.
    spends
        "crashes": nodes crash before the round. "absences": nodes are cut off for a round. "drops": all that
        a node sends a neighbour in a round is lost; an edge has the score of the sender. By default crashes;
        drops for "cut".
    start
        First round in which it strikes.
    nodes
        One side of the cut: labels, or node ids, in any collection; or an array of truth values, one for each
        node.

    Raises
    ------
    InputError
        A value is not one of these, or more is struck in a round than the budget has.

    Examples
    --------
    The leader of a ring crashes in round 2, and is elected none the less:

    >>> import dgsuite
    >>> ring = dgsuite.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
    >>> adversary = dgsuite.Adversary("leader", budget=1, start=2)
    >>> ds = dgsuite.run("lcr", ring, network=dgsuite.Network(adversary=adversary))
    >>> ds.crashed.values, ds.spent.values
    (array([-1, -1, -1,  2]), array([0, 0, 1, 0]))
    """

    aim: str | Aim = "degree"
    _: KW_ONLY
    budget: int = 1
    each: int = 1
    spends: str | None = None
    start: int = 1
    nodes: Iterable[Any] = ()

    def __post_init__(self) -> None:
        if not callable(self.aim):
            one_of("aim of an adversary", self.aim, (*AIMS,))
        nodes = listed(self.nodes, NODES)
        object.__setattr__(self, "nodes", tuple(nodes) if isinstance(nodes, list) else nodes)
        cut = self.aim == "cut"
        for name in ("budget", "each", "start"):
            value = getattr(self, name)
            if not is_whole(value) or value < 1:
                raise InputError(
                    f"{name} of an adversary must be a whole number from 1, got {value!r}"
                )
        if self.each > self.budget:
            raise InputError(
                f"an adversary that strikes each={self.each} in a round is beyond its "
                f"budget={self.budget}"
            )
        if self.spends is None:
            object.__setattr__(self, "spends", DROPS if cut else CRASHES)
        one_of("spends of an adversary", self.spends, SPENDS)
        if cut != (len(nodes) > 0) or (cut and self.spends != DROPS):
            raise InputError(
                "aim 'cut' of an adversary needs nodes, those on one side, and spends drops; no other aim "
                "has nodes"
            )

    def on(self, graph: Graph) -> Self:
        """The adversary on a graph: its `nodes` are truth values, one for each node.

        Raises
        ------
        InputError
            A node of the cut is not one of the graph, or more nodes are to crash than there are.
        """
        if self.spends == CRASHES and self.budget > graph.n:
            raise InputError(
                f"an adversary has a budget of {self.budget} crashes, and the graph has {graph.n} nodes"
            )
        if self.aim != "cut":
            return self
        inside = np.zeros(graph.n, bool)
        inside[node_ids(self.nodes, graph, NODES)] = True
        return replace(self, nodes=inside)

    def unfit(self, kernel: Kernel) -> str:
        """Why it cannot aim at what a kernel does; empty if it can."""
        if self.aim == "leader" and leads_by(kernel) is None:
            return (
                "aim='leader' of the adversary is for kernels whose outputs name nodes, such as lcr"
            )
        return ""

    def targets(self, view: View, dead: NDArray[np.bool_]) -> tuple[Target, ...]:
        """The best targets in a cluster, on a graph: see `on`.

        Parameters
        ----------
        dead
            By node, whether it is crashed: then it is no target.

        Raises
        ------
        InputError
            The aim does not return a number for each node.
        """
        c = view.cluster
        scores = np.asarray(self.aim(view) if callable(self.aim) else AIMS[self.aim](view))
        if scores.shape != (c.size,) or scores.dtype.kind not in "biuf":
            raise InputError(
                f"an adversary's aim must return a number for each of {c.size} nodes, got shape "
                f"{scores.shape}, {scores.dtype}"
            )
        scores = scores.astype(np.float64)
        rows = np.flatnonzero((scores > SPARED) & ~dead[c.ids])
        src, dst, scores = c.ids[rows], np.full(len(rows), -1), scores[rows]
        if self.spends == DROPS:
            at, entry = expand(c.indptr, rows)
            src, dst, scores = src[at], c.indices[entry], scores[at]
            kept = ~dead[dst]
            if isinstance(self.nodes, np.ndarray):
                kept &= self.nodes[src] != self.nodes[dst]
            src, dst, scores = src[kept], dst[kept], scores[kept]
        return best(scores, src, dst, self.each)


def best(scores: NDArray, src: NDArray, dst: NDArray, count: int) -> tuple[Target, ...]:
    """The targets of the greatest scores; of equal ones, of the smallest node ids."""
    if len(scores) > count:
        likely = scores >= np.partition(scores, len(scores) - count)[len(scores) - count]
        scores, src, dst = scores[likely], src[likely], dst[likely]
    order = np.lexsort((dst, src, -scores))[:count]
    return tuple(zip(scores[order].tolist(), src[order].tolist(), dst[order].tolist(), strict=True))


class Campaign:
    """What an adversary strikes in each round of a run: every driver of the program finds the same."""

    def __init__(self, adversary: Adversary) -> None:
        self.adversary = adversary
        self.left = adversary.budget
        self.round = 0
        self.strikes: Strikes = ()

    def strike(self, round: int, targets: Iterable[Target]) -> Strikes:
        """What is struck in a round, or in what is left of it.

        Parameters
        ----------
        targets
            What the clusters named after the turn of the program before.
        """
        if round == self.round:  # a turn that is counted with the one before
            return self.strikes
        self.round, adversary = round, self.adversary
        best_first = sorted(targets, key=lambda target: (-target[0], *target[1:]))
        count = min(adversary.each, self.left) if round >= adversary.start else 0
        self.strikes = tuple((node, other) for _, node, other in best_first[:count])
        self.left -= len(self.strikes)
        return self.strikes


def struck(
    adversary: Adversary, turns: Iterable[tuple[int, Iterable[Target]]]
) -> dict[int, Strikes]:
    """What was struck in each round of a run.

    Parameters
    ----------
    turns
        Of each turn of the program the round, and what the clusters named.
    """
    campaign, found = Campaign(adversary), dict[int, Strikes]()
    said: Iterable[Target] = ()
    for round_, targets in turns:
        found[round_] = campaign.strike(round_, said)
        said = targets
    return found
