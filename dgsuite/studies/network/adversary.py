"""An adversary of a network: what it sees, what it strikes, and what it may spend."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError, one_of
from dgsuite.base.mixing import Domain, key, keyed
from dgsuite.core.engine.network import Strikes, Target
from dgsuite.kernels.bsp import Kernel
from dgsuite.kernels.lab.delays import LONGEST
from dgsuite.partition.arrays.segments import expand
from dgsuite.partition.clusters.cluster import Cluster
from dgsuite.partition.graph.graph import Graph
from dgsuite.partition.labels.nodes import listed
from dgsuite.studies.network.names import is_whole, node_ids, whole

NODES = "nodes of an adversary"

NOTHING, HISTORY, STATES = SIGHTS = "nothing", "history", "states"
"""What an adversary sees: it is oblivious, adaptive or strong."""

CRASHES, ABSENCES, DROPS, DELAYS = SPENDS = "crashes", "absences", "drops", "delays"
"""What an adversary spends its budget on."""

SPARED = -np.inf
"""The score of a node that is not struck."""


Reached = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Node ids, and a phase for each."""


@dataclass(frozen=True)
class View:
    """What an adversary sees of the nodes of a cluster, after a round.

    Attributes
    ----------
    cluster
        The nodes and their edges.
    round
        The round that is over; -1 before the first.
    sent
        How many messages each node has sent in the round: int64, shape (size,). None where the adversary sees
        nothing of the run.
    state
        The kernel's state, read-only; None where it does not see states.
    kernel
        The kernel that runs; None before the first round. Its seed is 0 where states are not seen.
    reach
        What `reached` calls; None where the adversary sees nothing of the run.

    Examples
    --------
    Those that have sent, the smallest node first:

    >>> import numpy as np
    >>> import dgsuite
    >>> def first(view):
    ...     return np.where(view.sent > 0, -view.cluster.ids, -np.inf)
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> network = dgsuite.Network(adversary=dgsuite.Adversary(first, sees="history"))
    >>> dgsuite.run("bfs", graph, root=3, network=network).crashed.values
    array([-1, -1,  1, -1])

    Of the nodes that a search is about to reach, the greatest; `reached` names nodes of any cluster:

    >>> def ahead(view):
    ...     nodes, _ = view.reached
    ...     return nodes, nodes
    >>> network = dgsuite.Network(adversary=dgsuite.Adversary(ahead, start=2))
    >>> dgsuite.run("bfs", graph, network=network).level.values
    array([ 0,  1,  2, -1], dtype=int32)
    """

    cluster: Cluster
    round: int
    sent: NDArray[np.int64] | None
    state: Any
    kernel: Kernel | None
    reach: Callable[[], Reached] | None = None

    @property
    def reached(self) -> Reached:
        """Nodes of any cluster that had sent nothing before, next to nodes of this cluster that have sent in
        the round: node ids, and the number of the phase in which these have sent.

        Raises
        ------
        InputError
            The adversary sees nothing, or the kernel's nodes do not broadcast along edges.
        """
        if self.reach is None:
            raise InputError("an adversary that sees nothing does not see which nodes are reached")
        return self.reach()


Aim = Callable[[View], Any]
"""A score for each node of a cluster, or any node ids and a score for each. The greatest are struck, and
those of minus infinity spared."""


def degree(view: View) -> NDArray:
    """Nodes with most neighbours first."""
    return view.cluster.degree


def frontier(view: View) -> tuple[NDArray, NDArray]:
    """Nodes that have sent nothing, next to those that have sent in the round, the latest first."""
    return view.reached


def sent(view: View) -> NDArray:
    """Nodes that have sent most in the round first."""
    assert view.sent is not None
    return view.sent


def leader(view: View) -> NDArray:
    """Nodes that take themselves for the leader, greatest identifiers first."""
    assert view.kernel is not None
    name = leads_by(view.kernel)
    assert name is not None
    own = view.cluster.uid if view.kernel.outputs[name].identifiers else view.cluster.ids
    return np.where(getattr(view.state, name) == own, own, SPARED)


def leads_by(kernel: Kernel) -> str | None:
    """The output of a kernel that says which node leads, or None."""
    named = (name for name, output in kernel.outputs.items() if output.identifiers or output.nodes)
    return next(named, None)


def swizzle(view: View) -> NDArray:
    """All nodes alike: `Campaign` draws which ones are cut off, and when."""
    return view.cluster.zeros()


AIMS: dict[str, tuple[Aim, str, tuple[str, ...]]] = {
    "swizzle": (swizzle, NOTHING, (ABSENCES,)),
    "degree": (degree, NOTHING, SPENDS),
    "frontier": (frontier, HISTORY, (CRASHES, ABSENCES, DELAYS)),
    "leader": (leader, STATES, SPENDS),
    "cut": (sent, HISTORY, (DROPS, DELAYS)),
}
"""By name: the function, what it sees, and what the adversary may spend, first what it does by default."""


@dataclass(frozen=True)
class Adversary:
    """An adversary, which strikes a few nodes or edges each round until its budget is spent.

    Parameters
    ----------
    aim
        What it strikes first. "degree": nodes with most neighbours. "frontier": nodes that have sent nothing
        yet, with a neighbour that has sent in the round before. "leader": nodes that take themselves for the
        leader, the greatest identifier first: those whose first output that names nodes has their own.
        "cut": of the edges between `nodes` and the others, those whose senders sent most in the round before.
        "swizzle": `budget` nodes drawn by the network's seed are cut off, one more in each round, and are let
        back one by one in another order.
        Or a function of a `dgsuite.studies.network.adversary.View`, which returns a score for each node of a
        cluster: the greatest are struck, and those of minus infinity spared. Of equal scores the smallest
        node ids go first.
    budget
        How much it strikes in all.
    each
        How much it strikes in a round.
    spends
        "crashes": nodes crash before the round. "absences": nodes are cut off for a round. "drops": all that
        a node sends a neighbour in a round is lost; an edge has the score of the sender. "delays": all that a
        node sends in a round takes longer; for "cut" all that it sends a neighbour. By default crashes; drops
        for "cut", absences for "swizzle".
    start
        First round in which it strikes.
    sees
        What a function sees: "nothing", "history" (which nodes have sent) or "states". One that sees nothing
        is called once, before the run; others after each round, so that they first strike in round 1. By
        default "states".
    nodes
        One side of the cut: labels, or node ids, in any collection; or an array of truth values, one for each
        node.
    ticks
        How many ticks longer what it delays takes; by default 1.

    Raises
    ------
    InputError
        A value is not one of these, or more is struck in a round than the budget has.

    Examples
    --------
    The leader of a ring crashes once it is elected, and the others go on to say that it leads:

    >>> import dgsuite
    >>> ring = dgsuite.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
    >>> adversary = dgsuite.Adversary("leader", budget=1)
    >>> ds = dgsuite.run("lcr", ring, network=dgsuite.Network(adversary=adversary))
    >>> ds.crashed.values, ds.spent.values
    (array([-1, -1, -1,  5]), array([0, 0, 0, 0, 0, 1, 0, 0]))
    """

    aim: str | Aim = "degree"
    _: KW_ONLY
    budget: int = 1
    each: int = 1
    spends: str | None = None
    start: int = 0
    sees: str | None = None
    nodes: Iterable[Any] = ()
    ticks: int | None = None

    def __post_init__(self) -> None:
        if not callable(self.aim):
            one_of("aim of an adversary", self.aim, (*AIMS,))
        nodes = listed(self.nodes, NODES)
        object.__setattr__(self, "nodes", tuple(nodes) if isinstance(nodes, list) else nodes)
        for name, least in (("budget", 1), ("each", 1), ("start", 0)):
            whole(f"{name} of an adversary", getattr(self, name), least)
        if self.each > self.budget:
            raise InputError(
                f"an adversary that strikes each={self.each} in a round is beyond its "
                f"budget={self.budget}"
            )
        own: Any = (self.aim, STATES, SPENDS)
        _, sees, spends = own if callable(self.aim) else AIMS[self.aim]
        if self.spends is None:
            object.__setattr__(self, "spends", spends[0])
        one_of("spends of an adversary", self.spends, SPENDS)
        if self.sees is None:
            object.__setattr__(self, "sees", sees)
        one_of("sees of an adversary", self.sees, SIGHTS)
        if not callable(self.aim) and self.sees != sees:
            raise InputError(
                f"an adversary that aims at {self.aim!r} sees {sees}; sees= is for a function"
            )
        if self.spends not in spends:
            raise InputError(
                f"aim {self.aim!r} of an adversary spends {' or '.join(spends)}, got {self.spends!r}"
            )
        if (self.aim == "cut") != (len(nodes) > 0):
            raise InputError(
                "aim 'cut' of an adversary needs nodes, those on one side; no other aim has nodes"
            )
        if self.delays and self.ticks is None:
            object.__setattr__(self, "ticks", 1)
        if self.ticks is not None and not (
            self.delays and is_whole(self.ticks) and 1 <= self.ticks <= LONGEST
        ):
            raise InputError(
                f"ticks of an adversary must be a whole number from 1 to {LONGEST}, and are for one that "
                f"spends 'delays'; got ticks={self.ticks!r} with spends={self.spends!r}"
            )

    @property
    def crashes(self) -> bool:
        """Whether it has nodes crash."""
        return self.spends == CRASHES

    @property
    def watches(self) -> bool:
        """Whether what it strikes depends on the run."""
        return self.sees != NOTHING

    @property
    def delays(self) -> bool:
        """Whether it has messages take longer, and does no more."""
        return self.spends == DELAYS

    def attack(self, graph: Graph) -> Attack:
        """The adversary on the node ids of a graph.

        Raises
        ------
        InputError
            A node of the cut is not one of the graph, or more nodes are to crash than there are.
        """
        n = graph.n
        if self.crashes and self.budget > n:
            raise InputError(
                f"an adversary has a budget of {self.budget} crashes, and the graph has {n} nodes"
            )
        inside = None
        if self.aim == "cut":
            inside = np.zeros(n, bool)
            inside[node_ids(self.nodes, graph, NODES)] = True
        found = Attack(self, inside)
        return found if self.watches else replace(found, pool=_pool(found, graph))

    def unfit(self, kernel: Kernel) -> str:
        """Why it cannot aim at what a kernel does; empty if it can."""
        if self.aim == "leader" and leads_by(kernel) is None:
            return (
                "aim='leader' of the adversary is for kernels whose outputs name nodes, such as lcr"
            )
        return ""


@dataclass(frozen=True)
class Attack:
    """An adversary on the node ids of a graph.

    Attributes
    ----------
    adversary
        What it spends, and when.
    inside
        By node, whether it is on one side of a cut; None without one.
    pool
        What an adversary that sees nothing strikes, in order; None of one that sees something.
    """

    adversary: Adversary
    inside: NDArray[np.bool_] | None = None
    pool: tuple[Target, ...] | None = None

    def targets(
        self, view: View, count: int, dead: NDArray[np.bool_] | None = None
    ) -> tuple[Target, ...]:
        """The best targets in a cluster.

        Parameters
        ----------
        count
            How many, at most.
        dead
            By node, whether it is crashed: then it is no target.

        Raises
        ------
        InputError
            The aim does not return a number for each node.
        """
        aim = self.adversary.aim
        c, found = view.cluster, (aim if callable(aim) else AIMS[aim][0])(view)
        named = isinstance(found, tuple)
        src, scores = map(np.asarray, found if named else (c.ids, found))
        if scores.shape != src.shape or scores.dtype.kind not in "biuf":
            raise InputError(
                f"an adversary's aim must return a number for each of {len(src)} nodes, got shape "
                f"{scores.shape}, {scores.dtype}"
            )
        rows = np.flatnonzero(scores.astype(np.float64) > SPARED)
        src, scores = src[rows], scores[rows].astype(np.float64)
        dst: NDArray = np.full(len(rows), -1)
        if self.adversary.spends == DROPS or self.inside is not None:
            if named:
                raise InputError(
                    "an adversary that spends drops needs a score for each node of the cluster"
                )
            at, entry = expand(c.indptr, rows)
            src, dst, scores = src[at], c.indices[entry], scores[at]
        kept = np.ones(len(src), bool)
        if dead is not None:
            kept &= ~dead[src] & ((dst < 0) | ~dead[dst])
        if self.inside is not None:
            kept &= self.inside[src] != self.inside[dst]
        return best(scores[kept], src[kept], dst[kept], count)


def best(scores: NDArray, src: NDArray, dst: NDArray, count: int) -> tuple[Target, ...]:
    """The targets of the greatest scores; of equal ones, of the smallest node ids."""
    if len(scores) > count:
        likely = scores >= np.partition(scores, len(scores) - count)[len(scores) - count]
        scores, src, dst = scores[likely], src[likely], dst[likely]
    order = np.lexsort((dst, src, -scores))[:count]
    return tuple(zip(scores[order].tolist(), src[order].tolist(), dst[order].tolist(), strict=True))


def in_order(target: Target) -> tuple[float, int, int]:
    """What targets are sorted by: the greatest scores first, then the smallest node ids."""
    score, node, other = target
    return -score, node, other


class Campaign:
    """What an adversary strikes in each round of a run: every driver of the program finds the same."""

    def __init__(self, attack: Attack, seed: int) -> None:
        self.attack = attack
        self.seed = seed
        self.watches = attack.adversary.watches  # whether what it strikes depends on the run
        self.left = attack.adversary.budget
        self.round = -1
        self.strikes: Strikes = ()

    def strike(self, round: int, targets: Iterable[Target] = ()) -> Strikes:
        """What is struck in a round, or in what is left of it.

        Parameters
        ----------
        targets
            What the clusters named after the turn of the program before.
        """
        if round == self.round:  # a turn that is counted with the one before
            return self.strikes
        self.round, adversary = round, self.attack.adversary
        if adversary.aim == "swizzle":
            self.strikes = self._swizzled(round - adversary.start)
            return self.strikes
        found = self.attack.pool
        if found is None:
            once = {target[1:]: target for target in sorted(targets, key=in_order, reverse=True)}
            found = tuple(sorted(once.values(), key=in_order))
        elif adversary.crashes:
            found = found[adversary.budget - self.left :]
        count = min(adversary.each, self.left) if round >= adversary.start else 0
        self.strikes = tuple((node, other) for _, node, other in found[:count])
        self.left -= len(self.strikes)
        return self.strikes

    def _swizzled(self, since: int) -> Strikes:
        """The nodes that are cut off so many rounds after the start."""
        count = self.attack.adversary.budget
        pool = np.array([node for _, node, _ in self.attack.pool or ()], np.int64)
        words = keyed(key(self.seed, 0, Domain.SWIZZLE), pool)
        order = np.argsort(words, kind="stable")[:count]
        out, back = pool[order], np.argsort(np.argsort(keyed(words[order], pool[order])))
        away = (np.arange(len(out)) <= since) & (back > since - len(out))
        return tuple((node, -1) for node in np.sort(out[away]).tolist())


def struck(
    attack: Attack, turns: Iterable[tuple[int, Iterable[Target]]], seed: int = 0
) -> dict[int, Strikes]:
    """What was struck in each round of a run.

    Parameters
    ----------
    turns
        Of each turn of the program the round, and what the clusters named.
    seed
        Of the network.
    """
    campaign, found = Campaign(attack, seed), dict[int, Strikes]()
    said: Iterable[Target] = ()
    for round_, targets in turns:
        found[round_] = campaign.strike(round_, said)
        said = targets
    return found


def _pool(attack: Attack, graph: Graph) -> tuple[Target, ...]:
    """What an adversary that sees nothing of the run strikes, in order."""
    from dgsuite.partition.graph.checks import of_clusters

    adversary = attack.adversary
    count = adversary.budget if adversary.crashes else adversary.each
    if adversary.aim == "swizzle":
        count = graph.n
    each = of_clusters(graph, partial(_of_cluster, attack, count))
    return tuple(sorted((target for part in each for target in part), key=in_order)[:count])


def _of_cluster(attack: Attack, count: int, cluster: Cluster) -> tuple[Target, ...]:
    return attack.targets(View(cluster, -1, None, None, None), count)
