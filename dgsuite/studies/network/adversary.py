"""An adversary of a network as a value: what it strikes, and what it may spend."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from dgsuite.base.errors import InputError, one_of
from dgsuite.core.engine.network import Target
from dgsuite.kernels.lab.delays import LONGEST
from dgsuite.partition.labels.nodes import listed
from dgsuite.studies.network.attack import (
    AIMS,
    CRASHES,
    DELAYS,
    DROPS,
    SIGHTS,
    SPENDS,
    STATES,
    Aim,
    Attack,
    View,
    in_order,
    leads_by,
)
from dgsuite.studies.network.names import is_whole, node_ids

NODES = "nodes of an adversary"

if TYPE_CHECKING:
    from dgsuite.kernels.bsp import Kernel
    from dgsuite.partition.clusters.cluster import Cluster
    from dgsuite.partition.graph.graph import Graph


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
        Or a function of a `dgsuite.studies.network.attack.View`, which returns a score for each node of a
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
        for "cut".
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
    start: int = 0
    sees: str | None = None
    nodes: Iterable[Any] = ()
    ticks: int | None = None

    def __post_init__(self) -> None:
        if not callable(self.aim):
            one_of("aim of an adversary", self.aim, (*AIMS,))
        nodes = listed(self.nodes, NODES)
        object.__setattr__(self, "nodes", tuple(nodes) if isinstance(nodes, list) else nodes)
        cut = self.aim == "cut"
        for name, least in (("budget", 1), ("each", 1), ("start", 0)):
            value = getattr(self, name)
            if not is_whole(value) or value < least:
                raise InputError(
                    f"{name} of an adversary must be a whole number from {least}, got {value!r}"
                )
        if self.each > self.budget:
            raise InputError(
                f"an adversary that strikes each={self.each} in a round is beyond its "
                f"budget={self.budget}"
            )
        if self.spends is None:
            object.__setattr__(self, "spends", DROPS if cut else CRASHES)
        one_of("spends of an adversary", self.spends, SPENDS)
        if self.sees is None:
            sees = STATES if callable(self.aim) else AIMS[self.aim][1]
            object.__setattr__(self, "sees", sees)
        one_of("sees of an adversary", self.sees, SIGHTS)
        if not callable(self.aim) and self.sees != AIMS[self.aim][1]:
            raise InputError(
                f"an adversary that aims at {self.aim!r} sees {AIMS[self.aim][1]}; sees= is for a function"
            )
        if self.aim == "frontier" and self.spends == DROPS:
            raise InputError(
                "aim 'frontier' of an adversary spends crashes or absences, or delays: it names nodes, and "
                "no edges"
            )
        if cut != (len(nodes) > 0) or (cut and self.spends not in (DROPS, DELAYS)):
            raise InputError(
                "aim 'cut' of an adversary needs nodes, those on one side, and spends drops or delays; no "
                "other aim has nodes"
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
        if self.spends == CRASHES and self.budget > n:
            raise InputError(
                f"an adversary has a budget of {self.budget} crashes, and the graph has {n} nodes"
            )
        inside = None
        if self.aim == "cut":
            inside = np.zeros(n, bool)
            inside[node_ids(self.nodes, graph, NODES)] = True
        aim: Aim = self.aim if callable(self.aim) else AIMS[self.aim][0]
        sees, spends = str(self.sees), str(self.spends)
        ticks = self.ticks or 0
        found = Attack(aim, sees, spends, self.budget, self.each, self.start, inside, ticks)
        return found if found.watches else replace(found, pool=_pool(found, graph))

    def unfit(self, kernel: Kernel) -> str:
        """Why it cannot aim at what a kernel does; empty if it can."""
        if self.aim == "leader" and leads_by(kernel) is None:
            return (
                "aim='leader' of the adversary is for kernels whose outputs name nodes, such as lcr"
            )
        return ""


def _pool(attack: Attack, graph: Graph) -> tuple[Target, ...]:
    """What an adversary that sees nothing of the run strikes, in order."""
    from dgsuite.partition.graph.checks import of_clusters

    count = attack.budget if attack.crashes else attack.each
    each = of_clusters(graph, partial(_of_cluster, attack, count))
    return tuple(sorted((target for part in each for target in part), key=in_order)[:count])


def _of_cluster(attack: Attack, count: int, cluster: Cluster) -> tuple[Target, ...]:
    return attack.targets(View(cluster, -1, None, None, None), count)
