"""What an adversary strikes: the best of what the clusters name after each round, within a budget."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.core.engine.network import Strikes, Target
from dgsuite.partition.arrays.segments import expand
from dgsuite.partition.clusters.cluster import Cluster

if TYPE_CHECKING:
    from dgsuite.kernels.bsp import Kernel

NOTHING, HISTORY, STATES = SIGHTS = "nothing", "history", "states"
"""What an adversary sees: it is oblivious, adaptive or strong."""

CRASHES, ABSENCES, DROPS, DELAYS = SPENDS = "crashes", "absences", "drops", "delays"
"""What an adversary spends its budget on."""

SPARED = -np.inf
"""The score of a node that is not struck."""


Reached = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Node ids, and a phase for each."""


def no_reach() -> Reached:
    """What an adversary that sees nothing sees of reached nodes."""
    raise InputError("an adversary that sees nothing does not see which nodes are reached")


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
        The kernel's state, which must not be changed; None where it does not see states.
    kernel
        The kernel that runs; None before the first round.
    reach
        What `reached` calls.

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
    reach: Callable[[], Reached] = no_reach

    @property
    def reached(self) -> Reached:
        """Nodes of any cluster that had sent nothing before, next to nodes of this cluster that have sent in
        the round: node ids, and the number of the phase in which these have sent.

        Raises
        ------
        InputError
            The adversary sees nothing, or the kernel's nodes do not broadcast along edges.
        """
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


AIMS: dict[str, tuple[Aim, str]] = {
    "degree": (degree, NOTHING),
    "frontier": (frontier, HISTORY),
    "leader": (leader, STATES),
    "cut": (sent, HISTORY),
}
"""By name: the function, and what it sees."""


@dataclass(frozen=True)
class Attack:
    """An adversary on the node ids of a graph; see `dgsuite.studies.network.adversary.Adversary`.

    Attributes
    ----------
    aim, sees, spends, budget, each, start
        As of the adversary.
    inside
        By node, whether it is on one side of a cut; None without one.
    ticks
        How much longer what it delays takes.
    pool
        What an adversary that sees nothing strikes, in order; None of one that sees something.
    """

    aim: Aim
    sees: str
    spends: str
    budget: int
    each: int
    start: int
    inside: NDArray[np.bool_] | None = None
    ticks: int = 0
    pool: tuple[Target, ...] | None = None

    @property
    def crashes(self) -> bool:
        """Whether it has nodes crash."""
        return self.spends == CRASHES

    @property
    def delays(self) -> bool:
        """Whether it has messages take longer, and does no more."""
        return self.spends == DELAYS

    @property
    def watches(self) -> bool:
        """Whether what it strikes depends on the run."""
        return self.sees != NOTHING

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
        c, found = view.cluster, self.aim(view)
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
        if self.spends == DROPS or self.inside is not None:
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

    def __init__(self, attack: Attack) -> None:
        self.attack = attack
        self.left = attack.budget
        self.round = -1
        self.strikes: Strikes = ()

    @property
    def watches(self) -> bool:
        """Whether what it strikes depends on the run."""
        return self.attack.watches

    def strike(self, round: int, targets: Iterable[Target] = ()) -> Strikes:
        """What is struck in a round, or in what is left of it.

        Parameters
        ----------
        targets
            What the clusters named after the turn of the program before.
        """
        if round == self.round:  # a turn that is counted with the one before
            return self.strikes
        self.round, attack = round, self.attack
        found = attack.pool
        if found is None:
            best_first = {
                target[1:]: target for target in sorted(targets, key=in_order, reverse=True)
            }
            found = tuple(sorted(best_first.values(), key=in_order))
        elif attack.crashes:
            found = found[attack.budget - self.left :]
        count = min(attack.each, self.left) if round >= attack.start else 0
        self.strikes = tuple((node, other) for _, node, other in found[:count])
        self.left -= len(self.strikes)
        return self.strikes


def struck(
    attack: Attack | None, turns: Iterable[tuple[int, Iterable[Target]]]
) -> dict[int, Strikes]:
    """What was struck in each round of a run.

    Parameters
    ----------
    turns
        Of each turn of the program the round, and what the clusters named.
    """
    found: dict[int, Strikes] = {}
    if attack is None:
        return found
    campaign = Campaign(attack)
    said: Iterable[Target] = ()
    for round_, targets in turns:
        found[round_] = campaign.strike(round_, said)
        said = targets
    return found
