"""Self-stabilising kernels.

A self-stabilising breadth-first tree (Dolev, Israeli and Moran, Self-stabilization of dynamic systems
assuming only read/write atomicity, Distributed Computing 7(1), 1993; Dolev, Self-Stabilization, 2000, section
2.5), in the state model (Devismes and Johnen, Silent self-stabilizing BFS tree algorithms revisited, JPDC 97,
2016).

The root has level 0. Every other node takes the least level of its neighbours, and one more; its parent is
the first of these neighbours. Levels that are too low rise from round to round until they are right.

Self-stabilising maximal independent sets in the state model (Turau, Linear self-stabilizing algorithms for
the independent and dominating set problems using an unfair distributed scheduler, IPL 103(3), 2007; Shukla,
Rosenkrantz and Ravi, Observations on self-stabilizing graph algorithms for anonymous networks, 1995).

Shukla's nodes join if they have no neighbour in the set, and leave if they have one. Where two neighbours do
so at once they may do so for ever. So Turau's nodes wait before they join: of neighbours that wait the one
with the smallest id joins.

Self-stabilising greedy colouring in the state model (Hedetniemi, Jacobs and Srimani, Linear time
self-stabilizing colorings, IPL 87(5), 2003, the first algorithm; Gradinariu and Tixeuil, Self-stabilizing
vertex coloring of arbitrary graphs, OPODIS 2000, for the coins).

A node takes the smallest colour that no neighbour has. Two neighbours that do so at once may get the same
colour, again and again; so nodes toss a coin before they move.

Self-stabilising maximal matchings in the state model (Manne, Mjelde, Pilard and Tixeuil, A new
self-stabilizing maximal matching algorithm, TCS 410(14), 2009; Hsu and Huang, A self-stabilizing algorithm
for maximal matching, IPL 43(2), 1992).

A node points to a neighbour, or to none. It accepts a neighbour that points to it; if there is none, it
points to a neighbour that points to none; and it gives up a neighbour that points elsewhere. In Manne's
protocol nodes also tell whether they are married, and only point to neighbours with a larger id, so that
there are no circles.

Dijkstra's token ring with k states (Dijkstra, Self-stabilizing systems in spite of
distributed control, CACM 17(11), 1974, the solution with K-state machines; Dolev, Self-Stabilization, 2000,
section 2.6).

Every node has a number below k. Node 0 is privileged if its number is that of its predecessor, the others if
theirs is not. Of the privileged nodes a daemon picks those that move: node 0 counts on, the others copy their
predecessor. From any numbers the ring comes to a state with one privilege, the token, which then goes around
for ever.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.bsp.messages import Range
from dgsuite.kernels.lab.state_model import MAX_VALUE, MOVES, STRUCK, State, StateModel
from dgsuite.kernels.lab.views import POINTER, Rule, Variable, View, rule


@dataclass(frozen=True)
class StableBFS(StateModel):
    """A tree of fewest hops from a root that recovers from any state, under any daemon.

    Outputs ``level``, -1 where the root cannot be reached, ``parent`` and ``moves``. Nodes count to n where
    there is no root: level n and beyond are -1. `dgsuite.kernels.lab.state_model.StateModel` says what the
    other parameters, variables and attributes are. A state is legitimate if no node is enabled: then levels
    are those of `bfs`, and parents nearer by one.

    Parameters
    ----------
    root
        The node with level 0.

    Notes
    -----
    Rounds: with the synchronous daemon ``hops + 1`` steps from the last fault if the root reaches every node,
    else n; with any daemon as many asynchronous rounds. After k of them nodes nearer than k have their level
    and parent, and all others a level of k at least. The number of steps may be exponential under an unfair
    daemon (Devismes and Johnen).

    Exchanges: at most ``rounds``.

    Messages: at most ``2 * m * rounds``: a node tells its neighbours at first, and whenever it has changed.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> ds = dgsuite.run("stable_bfs", graph, begin={"level": 0, "parent": -1})
    >>> ds.level.values, ds.parent.values, ds.moves.values
    (array([0, 1, 2, 3]), array([-1,  0,  1,  2]), array([0, 1, 2, 3]))
    >>> ds.steps_to_legitimacy, ds.moves_to_legitimacy
    (3, 6)
    """

    root: bsp.Node = bsp.FIRST

    name = "stable_bfs"
    outputs = {
        "level": bsp.Output("hops from the root, -1 if not reached", from_root=True),
        "parent": bsp.Output("parent in the tree, {none} at the root", nodes=True),
        **MOVES,
    }
    variables = {"level": Variable(lambda n: n + 1, -1), "parent": POINTER}

    def rules(self, v: View) -> Sequence[Rule]:
        theirs = np.where(v.near["level"] < 0, v.n, v.near["level"])
        least = v.least(theirs, theirs >= 0, otherwise=v.n)
        reached = least < v.n - 1
        parent = v.least(v.other, (theirs == least[v.row]) & reached[v.row], otherwise=-1)
        level = np.where(reached, least + 1, -1)
        level[v.id == self.root], parent[v.id == self.root] = 0, -1
        wrong = (v.own["level"] != level) | (v.own["parent"] != parent)
        return [rule(wrong, level=level, parent=parent)]


OUT, IN, WAITS = range(3)
"""What ``in_mis`` can be."""


@dataclass(frozen=True)
class StableMIS(StateModel):
    """A maximal independent set that recovers from any state.

    Outputs ``in_mis``, 1 in the set and 0 outside, and ``moves``. While the run goes on, nodes that wait have
    2. `dgsuite.kernels.lab.state_model.StateModel` says what the other parameters, variables and attributes
    are. A state is legitimate if no node is enabled: then the set is independent, and no node can be added.

    Parameters
    ----------
    protocol
        "turau", for any daemon; or "shukla", which has two rules and no ids, for daemons that pick one node.
        With others it may never end: limit it with ``max_rounds``.

    Notes
    -----
    Rounds: where the daemon picks a node in each step, no more steps than moves from the last fault. By
    Turau's protocol a node moves at most three times: it may leave the set or stop to wait, since it has a
    neighbour that was in the set at first; then it waits, and joins or leaves for good, as nodes that join
    have no neighbour that does at the same time. By Shukla's it moves twice at most, with daemons that pick
    one node: a node that joins never leaves.

    Exchanges: at most ``rounds``.

    Messages: at most ``2 * m * rounds``: a node tells its neighbours at first, and whenever it has changed.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> ds = dgsuite.run("stable_mis", graph, begin={"in_mis": 0})
    >>> ds.in_mis.values, ds.moves.values, ds.enabled.values
    (array([1, 0, 1, 0]), array([2, 2, 2, 2]), array([4, 1, 1, 1, 1, 0]))

    Two neighbours join and leave for ever:

    >>> how = {"protocol": "shukla", "begin": {"in_mis": 0}}
    >>> ds = dgsuite.lab.legitimacy("stable_mis", graph, max_rounds=7, **how)
    >>> ds.legitimate.values, ds.moved.values
    (array([0, 0, 0, 0, 0, 0, 0]), array([0, 4, 4, 4, 4, 4, 4]))
    """

    protocol: Literal["turau", "shukla"] = "turau"

    name = "stable_mis"
    outputs = {"in_mis": bsp.Output("whether the node is in the set"), **MOVES}
    variables = {"in_mis": Variable(bsp.values(3))}

    def rules(self, v: View) -> Sequence[Rule]:
        own, near = v.own["in_mis"], v.near["in_mis"]
        blocked = v.any(near == IN)
        if self.protocol == "shukla":
            return [
                rule((own != IN) & ~blocked, in_mis=IN),
                rule((own != OUT) & blocked, in_mis=OUT),
            ]
        earlier = v.any((near == WAITS) & (v.other < v.id[v.row]))
        return [
            rule((own == OUT) & ~blocked, in_mis=WAITS),
            rule((own == WAITS) & blocked, in_mis=OUT),
            rule((own == WAITS) & ~blocked & ~earlier, in_mis=IN),
            rule((own == IN) & blocked, in_mis=OUT),
        ]


COIN = STRUCK + 1
"""Number of the random numbers that are coins."""


@dataclass(frozen=True)
class StableColouring(StateModel):
    """A greedy colouring that recovers from any state, under any daemon with probability 1.

    Outputs ``colour``, from 0 on, and ``moves``. `dgsuite.kernels.lab.state_model.StateModel` says what the
    other parameters, variables and attributes are. A state is legitimate if no node is enabled: then
    neighbours have different colours, and a node of a colour has neighbours of all smaller ones, so that
    there are at most as many colours as the largest degree and one.

    Parameters
    ----------
    coin
        Probability that a node which the daemon picks moves, above 0 and at most 1. With 1 the protocol is
        made for daemons that pick one node, and may never end with others: limit it with ``max_rounds``.

    Notes
    -----
    Rounds: no bound that holds for each seed. With a daemon that picks one node there are ``n + 2 * m`` moves
    at most from the last fault: a node that has moved differs from its neighbours for good, so that all its
    later moves are to a smaller colour, and the first is to one of at most its degree.

    Exchanges: at most ``rounds``.

    Messages: at most ``2 * m * rounds``: a node tells its neighbours at first, and whenever it has changed.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> ds = dgsuite.run("stable_colouring", graph, begin={"colour": 0})
    >>> ds.colour.values, ds.moves.values, ds.enabled.values
    (array([0, 1, 0, 1]), array([0, 1, 0, 1]), array([4, 0]))
    """

    coin: float = 0.5

    name = "stable_colouring"
    outputs = {"colour": bsp.Output("number of the colour"), **MOVES}
    variables = {"colour": Variable(bsp.nodes)}

    def check(self, c: bsp.Cluster) -> str | None:
        if not 0 < self.coin <= 1:
            return f"coin must be above 0 and at most 1, got {self.coin}"
        return super().check(c)

    def rules(self, v: View) -> Sequence[Rule]:
        free = smallest_free(v.row, v.near["colour"], len(v.id), v.n)
        return [rule(v.own["colour"] != free, colour=free)]

    def picked(self, c: bsp.Cluster, s: Any, step: int, first: int | None) -> NDArray[np.int64]:
        nodes = super().picked(c, s, step, first)
        return nodes[self.drawn(c.ids[nodes], COIN, step) < self.coin]


def smallest_free(row: NDArray, colour: NDArray, rows: int, n: int) -> NDArray[np.int64]:
    """The smallest number that each row does not have, of numbers below n."""
    known = (colour >= 0) & (colour < n)
    pairs = np.unique(row[known] * n + colour[known])
    row, colour = pairs // n, pairs % n
    place = np.arange(len(row)) - np.searchsorted(row, row)  # in its row, by ascending colour
    return np.bincount(row[colour == place], minlength=rows)


@dataclass(frozen=True)
class StableMatching(StateModel):
    """A maximal matching that recovers from any state.

    Outputs ``mate``, -1 where the node has none, and ``moves``. `dgsuite.kernels.lab.state_model.StateModel`
    says what the other parameters, variables and attributes are. A state is legitimate if no node is enabled:
    then nodes point to nodes that point to them, and no two neighbours point to none.

    Parameters
    ----------
    protocol
        "manne", for any daemon; or "hsu-huang", for daemons that pick one node. With others it may never end:
        limit it with ``max_rounds``. Which of several neighbours it takes is left open by Hsu and Huang: here
        the one with the next larger id, and after the largest the smallest. (With the smallest id for all,
        the synchronous daemon would do, too: Goddard, Hedetniemi, Jacobs and Srimani 2003.)

    Notes
    -----
    Rounds: where the daemon picks a node in each step, no more steps than moves from the last fault, which
    are O(m) with any daemon (Manne et al.), and of Hsu's and Huang's protocol ``2 * m + n`` at most with
    daemons that pick one node (Hedetniemi, Jacobs and Srimani, Maximal matching stabilizes in time O(m), IPL
    80(5), 2001).

    Exchanges: at most ``rounds``.

    Messages: at most ``2 * m * rounds``: a node tells its neighbours at first, and whenever it has changed.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
    >>> ds = dgsuite.run("stable_matching", graph, begin={"mate": -1, "married": 0})
    >>> ds.mate.values, ds.moves.values, ds.enabled.values
    (array([1, 0, 3, 2]), array([4, 4, 2, 2]), array([3, 1, 2, 2, 1, 1, 2, 0]))

    On this ring all point to the next node, and give up, for ever:

    >>> how = {"protocol": "hsu-huang", "begin": {"mate": -1}}
    >>> ds = dgsuite.lab.legitimacy("stable_matching", graph, max_rounds=7, **how)
    >>> ds.legitimate.values, ds.moved.values
    (array([0, 0, 0, 0, 0, 0, 0]), array([0, 4, 4, 4, 4, 4, 4]))
    """

    protocol: Literal["manne", "hsu-huang"] = "manne"

    name = "stable_matching"
    outputs = {
        "mate": bsp.Output("the other end of the edge in the matching, {none} alone", nodes=True),
        **MOVES,
    }
    variables = {"mate": POINTER, "married": Variable(bsp.values(2))}

    def rules(self, v: View) -> Sequence[Rule]:
        return self.manne(v) if self.protocol == "manne" else self.hsu_huang(v)

    def manne(self, v: View) -> Sequence[Rule]:
        """Update, marriage, seduction and abandonment."""
        own, mate, me = v.own["mate"], v.near["mate"], v.id[v.row]
        mine = v.other == own[v.row]
        married = v.any(mine & (mate == me))
        told = (v.own["married"] == 1) == married
        single = (mate == -1) & (v.other > me) & (v.near["married"] == 0)
        suitor = v.greatest(v.other, mate == me, otherwise=-1)
        wooed = v.greatest(v.other, single, otherwise=-1)
        hopeless = v.any(mine & (mate != me) & ((v.near["married"] == 1) | (v.other <= me)))
        return [
            rule(~told, married=married),
            rule((own == -1) & (suitor >= 0), mate=suitor),
            rule((own == -1) & (wooed >= 0), mate=wooed),
            rule(hopeless, mate=-1),
        ]

    def hsu_huang(self, v: View) -> Sequence[Rule]:
        """Marriage, seduction and abandonment."""
        own, mate, me = v.own["mate"], v.near["mate"], v.id[v.row]
        turn = (v.other - me) % v.n
        suitor = v.least(turn, mate == me, otherwise=0)
        wooed = v.least(turn, mate == -1, otherwise=0)
        hopeless = v.any((v.other == own[v.row]) & (mate != me) & (mate != -1))
        return [
            rule((own == -1) & (suitor > 0), mate=(v.id + suitor) % v.n),
            rule((own == -1) & (wooed > 0), mate=(v.id + wooed) % v.n),
            rule(hopeless, mate=-1),
        ]


@dataclass(eq=False)
class Ring(State):
    """What the nodes of a cluster know."""

    value: NDArray[np.int64]
    heard: NDArray[np.int64] = bsp.per_node(0)  # value of the predecessor, as it said last


@dataclass(frozen=True)
class TokenRing(StateModel):
    """Mutual exclusion on a ring 0, 1, ..., n - 1, 0 that recovers from any state.

    Outputs ``value`` and ``moves``. ``privileges`` counts the privileged nodes at the end of each round: in
    round 0 nodes only tell their values, and every later round is a step of the daemon, or a fault. The
    number never rises, unless there are faults or messages are lost. A state is legitimate if one node is
    privileged. The attribute ``legitimate_round`` is the first round with one privilege after the last fault,
    and without faults the number of steps until then; -1 if there is none.

    Parameters
    ----------
    k
        Number of values, from 2 on; by default n + 1. From n on every daemon leads to one privilege, as
        Dijkstra proves; the central one does from n - 1 on (Fokkink, Hoepman and Pang, A note on K-state
        self-stabilization in a ring with K=N, 2005). With less the run may never end: limit it with
        ``max_rounds``.
    begin
        Values at first: "arbitrary", drawn by seed; "legitimate", all 0, so that node 0 has the token; or the
        value of each node.
    daemon
        Which privileged nodes move in a step: all ("synchronous"), each with a `probability` ("distributed"),
        or one: drawn by seed ("central"), the one with the largest id ("largest"), or the one that has moved
        most ("busiest").
    probability
        Above 0 and at most 1.
    faults
        Transient faults, as a mapping from rounds to the share of nodes that get arbitrary values then.
    after
        Steps that the run goes on with one privilege after the last fault.
    repeat
        Nodes tell their value in every step, to make up for lost messages; else when they have moved.

    Notes
    -----
    Rounds: with the synchronous daemon ``2 * n - 2 + after`` at most, for k from n on and n from 2 on. With
    any daemon nodes move at most ``3 * n * (n - 1) / 2`` times until one is privileged: node 0 counts at most
    n - 1 times until it comes to a value that no node has, and others move once more than their predecessor.

    Exchanges: at most ``rounds``.

    Messages: at most ``n * rounds``: each node tells its value at first, and whenever it has moved.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
    >>> ds = dgsuite.run("token_ring", graph, after=3)
    >>> ds.privileges.values, ds.legitimate_round
    (array([4, 4, 3, 2, 1, 1, 1, 1]), 4)
    >>> ds.value.values, ds.moves.values
    (array([3, 3, 2, 2]), array([3, 4, 4, 5]))
    """

    k: int | None = None
    begin: Literal["arbitrary", "legitimate"] | Sequence[int] = "arbitrary"  # type: ignore[assignment]
    after: int = 10

    name = "token_ring"
    outputs = {"value": bsp.Output("number that the node has at the end"), **MOVES}
    variables = {"value": Variable(lambda n: n + 1)}
    enabled_at_last = 1
    counted = "privileges"
    notes = {
        "privileges": "privileged nodes at the end of the round",
        **{name: StateModel.notes[name] for name in ("moved", "waiting")},
    }
    needs = ("ring",)
    state = Ring

    @property
    def ranges(self) -> dict[str, Range]:  # type: ignore[override]
        return {"value": (lambda n: n + 1) if self.k is None else bsp.values(self.k)}

    def check(self, c: bsp.Cluster) -> str | None:
        if self.k is not None and not 2 <= self.k <= MAX_VALUE:
            return f"k must be from 2 to 2^31, got {self.k}"
        return super().check(c)

    def wrong_begin(self, c: bsp.Cluster) -> str | None:
        if isinstance(self.begin, str):
            return None
        begin, k = np.asarray(self.begin), self.ranges["value"](c.n)
        if begin.shape != (c.n,) or not ((begin >= 0) & (begin < k)).all():
            return f"begin must have a value from 0 to {k - 1} for each of {c.n} nodes"
        return None

    def start(self, c: bsp.Cluster) -> Ring:
        if self.begin == "arbitrary":
            value = self.arbitrary(c, "value", np.arange(c.size), 0)
        elif self.begin == "legitimate":
            value = c.zeros()
        else:
            value = np.asarray(self.begin, np.int64)[c.ids]
        return Ring.of(c, value=value, near={})

    def tell(self, c: bsp.Cluster, s: Ring, nodes: NDArray[np.int64]) -> bsp.Unicast:
        return bsp.unicast(c.successor[nodes], nodes, value=s.value[nodes])

    def hear(self, c: bsp.Cluster, s: Ring, inbox: bsp.Inbox) -> NDArray[np.int64]:
        s.heard[inbox.node] = inbox["value"]
        return inbox.node

    def see(self, s: Any, ends: NDArray[np.int64], before: NDArray[np.int64] | None) -> None:
        s.heard = s.value[before]

    def consider(self, c: bsp.Cluster, s: Ring, nodes: NDArray[np.int64]) -> Any:
        """Node 0 counts on where it has its predecessor's value, others copy that where they have another."""
        first, same = c.ids[nodes] == 0, s.value[nodes] == s.heard[nodes]
        on = (s.value[nodes] + 1) % self.ranges["value"](c.n)
        return same == first, {"value": np.where(first, on, s.heard[nodes])}
