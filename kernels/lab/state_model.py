"""The state model, in which self-stabilising algorithms are given (Dijkstra 1974; Dolev, Self-Stabilization,
2000, sections 2.1 and 2.2).

A node has variables, reads those of its neighbours, and has rules: a guard, and an action that gives
variables new values. A node with a guard that holds is enabled. In a step a daemon picks some of the enabled
nodes, and all of these move at once, by their first rule whose guard holds. Here nodes tell their neighbours
what they have come to, and guards look at what neighbours told last: without faults of the network, that is
what they have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, make_dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.mixing import Domain
from dgsuite.kernels import bsp
from dgsuite.kernels.lab.views import Rule, Variable, View
from dgsuite.kernels.tools.rng import uniform
from dgsuite.partition.arrays.segments import distinct, expand

MAX_VALUE = 1 << 31
"""Of random parts of lots, and of values of a variable."""

STRUCK = 1 << 20
"""Number of the random numbers that say which nodes a fault strikes; those of variables count from 0."""

ONE = ("central", "largest", "busiest")
"""Daemons that pick one node."""

MOVES = {"moves": bsp.Output("how often the node has moved")}
"""An output that all self-stabilising kernels have."""

Daemon = Literal["synchronous", "distributed", "central", "largest", "busiest"]


@dataclass(eq=False, kw_only=True)
class State(bsp.ClusterState):
    """What the nodes of a cluster know, besides their variables."""

    moves: NDArray[np.int64] = bsp.per_node(0)
    enabled: NDArray[np.int64] = bsp.every_node()  # all until they look
    waiting: NDArray[np.int64] = bsp.no_nodes()  # enabled since the asynchronous round began
    near: dict[str, NDArray[np.int64]]  # variables of neighbours, by entry of `indices`


@dataclass(frozen=True)
class StateModel(bsp.Kernel):
    """Base of self-stabilising kernels: a kernel has variables, and rules over what nodes see.

    In round 0 nodes only tell their variables; every later round is a step of the daemon, or a fault. By
    round, ``enabled`` counts the nodes that may move at its end, ``moved`` those that have moved, and
    ``waiting`` those enabled nodes that have been so since the asynchronous round began, and have not moved.
    An asynchronous round is over when none is waiting (Dolev, Israeli and Moran 1993). Attributes:

    - ``legitimate_round``: from the last fault on, the first round with a legitimate state, or -1.
    - ``steps_to_legitimacy``, ``moves_to_legitimacy``, ``rounds_to_legitimacy``: steps, moves and
      asynchronous rounds from the last fault, or the start, to that round; -1 if there is none.
    - ``closure``: 1 if no step led from a legitimate state to one that is not, else 0.

    Parameters
    ----------
    begin
        Variables at first: "arbitrary", any of their values, drawn by seed; or a mapping from names of
        variables to a value of each node, or one for all. Those that it does not name are arbitrary.
    daemon
        Which enabled nodes move in a step: all ("synchronous"); each with a `probability` ("distributed");
        one, drawn by seed ("central"); or, by an unfair daemon, the one with the largest id ("largest") or
        the one that has moved most, of several that with the largest id ("busiest").
    probability
        Above 0 and at most 1.
    faults
        Transient faults, as a mapping from rounds to the share of nodes that get arbitrary variables then. In
        such a round no node moves.
    after
        Steps that the run goes on in legitimate states after the last fault.
    repeat
        Nodes tell their variables in every step, to make up for lost messages; else when these have changed.

    Examples
    --------
    Each node takes the least value of its neighbours, if its own is larger. That does not recover from
    values that are too small.

    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> import dgsuite
    >>> from dgsuite.kernels import bsp
    >>> from dgsuite.kernels.lab import state_model
    >>> from dgsuite.kernels.lab.state_model import StateModel
    >>> from dgsuite.kernels.lab.views import Rule, Variable, View, rule
    >>> @dataclass(eq=False)
    ... class State(state_model.State):
    ...     value: np.ndarray
    >>> @dataclass(frozen=True)
    ... class Least(StateModel):
    ...     name = "least"
    ...     variables = {"value": Variable(bsp.nodes)}
    ...     outputs = {"value": bsp.Output("value at the end")}
    ...     state = State
    ...
    ...     def rules(self, v: View) -> list[Rule]:
    ...         value, near = v.own["value"], v.near["value"]
    ...         least = v.least(near, near >= 0, otherwise=v.n)
    ...         return [rule(least < value, value=least)]
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> ds = dgsuite.run(Least, graph, begin={"value": [3, 0, 2, 1]}, faults={3: 0.5})
    >>> ds.value.values, ds.enabled.values, ds.moved.values
    (array([0, 0, 0, 0]), array([2, 1, 0, 1, 0]), array([0, 2, 1, 0, 1]))
    """

    obeys = bsp.Model("edges", reduces="data")

    begin: Literal["arbitrary"] | Mapping[str, Any] = "arbitrary"
    daemon: Daemon = "synchronous"
    probability: float = 0.5
    faults: Mapping[int, float] | None = None
    after: int = 0
    repeat: bool = False

    variables: ClassVar[dict[str, Variable]] = {}
    """What each variable can be; the state has an array of each. A `state` that has more is declared."""
    enabled_at_last: ClassVar[int] = 0
    """How many nodes are enabled in legitimate states."""
    counted: ClassVar[str] = "enabled"
    """What the note of enabled nodes is called."""
    notes = {
        "enabled": "nodes that may move at the end of the round",
        "moved": "nodes that moved",
        "waiting": "nodes that have waited for a move since the asynchronous round began",
    }

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        cls.fields = dict.fromkeys(cls.variables, np.int64)
        if "ranges" not in vars(cls):
            cls.ranges = {name: one.count for name, one in cls.variables.items()}
            cls.bounds = {name: one.bounds for name, one in cls.variables.items()}
        if "state" not in vars(cls) and "variables" in vars(cls):
            arrays = [(name, NDArray) for name in cls.variables]
            cls.state = make_dataclass("state", arrays, bases=(State,), eq=False)
            # where pickles find it
            cls.state.__module__ = cls.__module__
            cls.state.__qualname__ = f"{cls.__qualname__}.state"

    def rules(self, v: View) -> Sequence[Rule]:
        """The rules, for the nodes that look: of several whose guards hold, the first counts."""
        raise NotImplementedError

    def check(self, c: bsp.Cluster) -> str | None:
        if not 0 < self.probability <= 1:
            return f"probability must be above 0 and at most 1, got {self.probability}"
        if self.after < 0:
            return f"after must be from 0 on, got {self.after}"
        return self.wrong_faults() or self.wrong_begin(c)

    def wrong_faults(self) -> str | None:
        """What is wrong with the faults, if anything."""
        try:
            faults = self.struck
        except (TypeError, ValueError):
            faults = {0: 0.0}
        if all(number > 0 and 0 <= share <= 1 for number, share in faults.items()):
            return None
        return f"faults must map rounds, from 1 on, to shares of nodes, from 0 to 1, got {self.faults!r}"

    def wrong_begin(self, c: bsp.Cluster) -> str | None:
        """What is wrong with the given first values, if anything."""
        if not isinstance(self.begin, str):
            for name, values in dict(self.begin).items():
                if name not in self.variables:
                    return f"begin names {name!r}; variables are {', '.join(self.variables)}"
                if (wrong := self.wrong_values(c, name, values)) is not None:
                    return wrong
        return None

    def wrong_values(self, c: bsp.Cluster, name: str, given: Any) -> str | None:
        """What is wrong with given values of a variable, if anything."""
        low = self.variables[name].least
        high = low + self.ranges[name](c.n) - 1
        values = np.asarray(given)
        fits = values.shape in ((), (c.n,)) and values.dtype.kind in "iu"
        if not fits or ((values < low) | (values > high)).any():
            return f"begin: {name!r} must have a value from {low} to {high} for each of {c.n} nodes"
        if self.variables[name].pointer:
            mine = np.broadcast_to(values, c.n)[c.ids]
            some = np.flatnonzero(mine >= 0)
            lost = some[c.entries(some, mine[some]) < 0]
            if len(lost):
                node, got = c.ids[lost[0]], mine[lost[0]]
                return f"begin: {name!r} of node {node} must be a neighbour or -1, got {got}"
        return None

    @property
    def struck(self) -> dict[int, float]:
        """Share of nodes that a fault strikes, by round."""
        return {int(number): float(share) for number, share in dict(self.faults or {}).items()}

    def attributes(self, n: int, noted: Mapping[str, NDArray[np.int64]]) -> dict[str, Any]:
        legitimate = noted[self.counted] == self.enabled_at_last
        faults = [number for number in self.struck if number < len(legitimate)]
        since = max(faults, default=0)
        kept = legitimate[1:] | ~legitimate[:-1]
        kept[np.array(faults, np.int64) - 1] = True
        found = np.flatnonzero(legitimate[since:])
        at = since + int(found[0]) if len(found) else -1
        then = slice(since + 1, at + 1)
        over = int(np.count_nonzero(noted["waiting"][then] == 0)) + int(noted["waiting"][at] > 0)
        return {
            "legitimate_round": at,
            "steps_to_legitimacy": at - since if at >= 0 else -1,
            "moves_to_legitimacy": int(noted["moved"][then].sum()) if at >= 0 else -1,
            "rounds_to_legitimacy": over if at >= 0 else -1,
            "closure": int(kept.all()),
        }

    def start(self, c: bsp.Cluster) -> Any:
        given = {} if isinstance(self.begin, str) else dict(self.begin)
        values = {name: self.arbitrary(c, name, np.arange(c.size), 0) for name in self.variables}
        for name in given:
            values[name] = np.broadcast_to(np.asarray(given[name], np.int64), c.n)[c.ids]
        near = {name: np.zeros(len(c.indices), np.int64) for name in self.variables}
        return self.state.of(c, near=near, **values)

    def drawn(self, ids: NDArray, number: int, step: int) -> NDArray[np.float64]:
        """Random numbers of nodes in a step."""
        return uniform("counter", self.seed, ids, number << 40 | step)

    def chance(self, ids: NDArray, step: int) -> NDArray[np.float64]:
        """Random numbers of the daemon for nodes in a step."""
        return uniform("counter", self.seed, ids, step, Domain.DAEMON)

    def arbitrary(self, c: bsp.Cluster, name: str, nodes: NDArray, step: int) -> NDArray[np.int64]:
        """Any of a variable's values, for each of some nodes."""
        number, drawn = [*self.variables].index(name), c.ids[nodes]
        luck = self.drawn(drawn, number, step)
        if not self.variables[name].pointer:
            return self.variables[name].least + (luck * self.ranges[name](c.n)).astype(np.int64)
        degree = c.degree[nodes].astype(np.int64)
        which = (luck * (degree + 1)).astype(np.int64)
        found = np.full(len(nodes), -1)
        some = which < degree
        found[some] = c.indices[c.indptr[nodes[some]] + which[some]]
        return found

    def program(self, net: bsp.Net) -> bsp.Program:
        faults = self.struck
        last = max(faults, default=0)
        seen = yield bsp.Round(self.introduce, self.look)
        step = kept = 0
        while step < last or seen.sum != self.enabled_at_last or kept < self.after:
            step += 1
            kept += step > last and seen.sum == self.enabled_at_last
            if step in faults:
                seen = yield bsp.Round(self.strike, self.look, share=faults[step])
            else:
                first = seen.min if self.daemon in ONE else None
                over = not seen.any
                seen = yield bsp.Round(self.move, self.look, first=first, over=over)

    def introduce(self, c: bsp.Cluster, s: Any, inbox: bsp.Inbox) -> Any:
        return self.tell(c, s, np.arange(c.size)), bsp.Note({"moved": 0})

    def look(self, c: bsp.Cluster, s: Any, inbox: bsp.Inbox) -> Any:
        """Nodes that were enabled, or hear something new, see whether they are now."""
        heard = self.hear(c, s, inbox)
        nodes = distinct(np.concatenate([s.enabled, heard]))
        s.enabled = nodes[self.consider(c, s, nodes)[0]]
        s.waiting = np.intersect1d(s.waiting, s.enabled, assume_unique=True)
        number = len(s.enabled)
        first = self.lots(c, s, s.enabled, inbox.round + 1) if self.daemon in ONE else None
        noted = bsp.Note({self.counted: number, "waiting": len(s.waiting)})
        return bsp.vote(sum=number, min=first, any=len(s.waiting) > 0), noted

    def move(self, c: bsp.Cluster, s: Any, inbox: bsp.Inbox, first: int | None, over: bool) -> Any:
        """The nodes that the daemon picks move."""
        if over:
            s.waiting = s.enabled.copy()
        nodes = self.picked(c, s, inbox.round, first)
        for name, values in self.consider(c, s, nodes)[1].items():
            getattr(s, name)[nodes] = values
        s.moves[nodes] += 1
        s.waiting = np.setdiff1d(s.waiting, nodes, assume_unique=True)
        tell = self.tell(c, s, np.arange(c.size) if self.repeat else nodes)
        return tell, bsp.Note({"moved": len(nodes)})

    def picked(self, c: bsp.Cluster, s: Any, step: int, first: int | None) -> NDArray[np.int64]:
        """The enabled nodes that move."""
        nodes: NDArray[np.int64] = s.enabled
        if self.daemon in ONE:
            return nodes[self.lots(c, s, nodes, step) == first]
        if self.daemon == "distributed":
            return nodes[self.chance(c.ids[nodes], step) < self.probability]
        return nodes

    def strike(self, c: bsp.Cluster, s: Any, inbox: bsp.Inbox, share: float) -> Any:
        """Some nodes get arbitrary variables."""
        nodes = np.flatnonzero(self.drawn(c.ids, STRUCK, inbox.round) < share)
        for name in self.variables:
            getattr(s, name)[nodes] = self.arbitrary(c, name, nodes, inbox.round)
        s.enabled = distinct(np.concatenate([s.enabled, nodes]))
        s.waiting = nodes[:0]
        return self.tell(c, s, np.arange(c.size) if self.repeat else nodes)

    def tell(self, c: bsp.Cluster, s: Any, nodes: NDArray[np.int64]) -> Any:
        """Nodes tell all neighbours their variables."""
        return bsp.broadcast(nodes, **{name: getattr(s, name)[nodes] for name in self.variables})

    def hear(self, c: bsp.Cluster, s: Any, inbox: bsp.Inbox) -> NDArray[np.int64]:
        """The nodes that are told something, which they keep."""
        nodes = inbox.node
        entries = c.entries(nodes, inbox.src)
        for name in self.variables:
            s.near[name][entries] = inbox[name]
        return nodes

    def see(self, s: Any, ends: NDArray[np.int64], before: NDArray[np.int64] | None) -> None:
        """Have all nodes know what their neighbours hold.

        Parameters
        ----------
        ends
            Of each entry of the adjacency, where the neighbour's variables are.
        before
            In a ring, where those of each node's predecessor are.
        """
        s.near = {name: getattr(s, name)[ends] for name in self.variables}

    def consider(
        self, c: bsp.Cluster, s: Any, nodes: NDArray
    ) -> tuple[NDArray, dict[str, NDArray]]:
        """Which of some nodes are enabled, and what the variables of each become if it moves."""
        row, entry = expand(c.indptr, nodes)
        own = {name: getattr(s, name)[nodes] for name in self.variables}
        near = {name: s.near[name][entry] for name in self.variables}
        view = View(c.n, c.ids[nodes], own, row, c.indices[entry].astype(np.int64), near)
        enabled, values = np.zeros(len(nodes), bool), {n: own[n].copy() for n in own}
        for guard, action in self.rules(view):
            now = guard & ~enabled
            for name, new in action.items():
                values[name] = np.where(now, new, values[name])
            enabled |= now
        return enabled, values

    def lots(self, c: bsp.Cluster, s: Any, nodes: NDArray, step: int) -> NDArray[np.int64]:
        """A number for each node, no two the same: the daemon picks the least."""
        ids = c.ids[nodes]
        if self.daemon == "largest":
            return -ids
        if self.daemon == "busiest":
            return -(s.moves[nodes] * c.n + ids)
        return (self.chance(ids, step) * MAX_VALUE).astype(np.int64) * c.n + ids
