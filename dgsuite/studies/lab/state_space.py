"""All states of a self-stabilising kernel on a small graph, and the steps between them."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, dijkstra

from dgsuite.base.errors import InputError
from dgsuite.core.parameters import make_kernel
from dgsuite.kernels.lab.state_model import StateModel
from dgsuite.partition.clusters.cluster import Cluster
from dgsuite.partition.graph.graph import Graph

DAEMONS = ("synchronous", "distributed", "central")
"""Daemons all of whose choices are explored; the others pick one node by a fixed rule."""

STARTS = 100
"""States that a cycle is looked for through, at most."""

BYTES = 200
"""About how much memory a state takes for each choice of the daemon while steps are worked out."""


class Space:
    """The states of a kernel, numbered: the values of all variables of all nodes.

    Parameters
    ----------
    kernel, cluster
        The cluster has all nodes.

    Attributes
    ----------
    count
        How many there are.
    """

    def __init__(self, kernel: StateModel, cluster: Cluster) -> None:
        self.kernel, self.cluster, n = kernel, cluster, cluster.n
        near = np.split(cluster.indices.astype(np.int64), cluster.indptr[1:-1])
        self.options: dict[str, list[NDArray[np.int64]]] = {}
        for name, variable in kernel.variables.items():
            every = variable.least + np.arange(kernel.ranges[name](n))
            self.options[name] = [
                np.append(-1, np.sort(near[v])) if variable.pointer else every for v in range(n)
            ]
        self.count, self.weights = 1, dict[str, list[int]]()
        for name, options in self.options.items():
            self.weights[name] = []
            for values in options:
                self.weights[name].append(self.count)
                self.count *= len(values)

    def values(self, states: NDArray[np.int64]) -> dict[str, NDArray[np.int64]]:
        """The variables in some states: shape (states, n)."""
        return {
            name: np.stack(
                [
                    values[states // weight % len(values)]
                    for values, weight in zip(options, self.weights[name], strict=True)
                ],
                axis=1,
            )
            for name, options in self.options.items()
        }

    def numbers(self, values: Mapping[str, NDArray[np.int64]]) -> NDArray[np.int64]:
        """By node, what its variables add to the number of a state: shape (states, n)."""
        found = np.zeros(next(iter(values.values())).shape, np.int64)
        for name, options in self.options.items():
            for v, (some, weight) in enumerate(zip(options, self.weights[name], strict=True)):
                found[:, v] += np.searchsorted(some, values[name][:, v]) * weight
        return found

    def moves(self, states: NDArray[np.int64]) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """Which nodes are enabled, and what a move of each adds to the number of the state."""
        cluster, kernel, times = self.cluster, self.kernel, len(states)
        n, held = cluster.n, self.values(states)
        shift = np.arange(times)[:, None] * n
        copies = SimpleNamespace(
            n=n,
            ids=np.tile(cluster.ids, times),
            indptr=np.append(0, np.cumsum(np.tile(np.diff(cluster.indptr), times))),
            indices=np.tile(cluster.indices, times),
        )
        state = SimpleNamespace(near={}, **{name: some.ravel() for name, some in held.items()})
        before = None
        if "ring" in kernel.needs:
            before = (shift + np.argsort(cluster.successor)).ravel()
        kernel.see(state, (shift + cluster.indices).ravel(), before)
        enabled, values = kernel.consider(copies, state, np.arange(times * n))  # type: ignore[arg-type]
        new = {name: some.reshape(times, n) for name, some in values.items()}
        return enabled.reshape(times, n), self.numbers(new) - self.numbers(held)


def explored(
    kernel: str | type | Any, graph: Graph, most: int, parameters: Mapping[str, Any]
) -> dict[str, Any]:
    """What holds of all executions of a self-stabilising kernel: the fields of an `Exploration`.

    Raises
    ------
    InputError
        There are too many states, or the daemon picks by a rule of its own.
    """
    how = dict(parameters)
    made: Any = make_kernel(kernel, graph, how.pop("seed", None), how)
    if made.daemon not in DAEMONS:
        raise InputError(f"daemon must be one of {', '.join(DAEMONS)}, got {made.daemon!r}")
    (cluster,) = graph.repartition(1).gather()
    space, n = Space(made, cluster), graph.n
    picks = 2**n if made.daemon == "distributed" else n
    if space.count > most:
        room = space.count * picks * BYTES / 1e9
        raise InputError(
            f"there are {space.count:,} states, which take about {room:,.1f} GB, "
            f"and most={most:,}: take a smaller graph, or fewer values"
        )
    states = np.arange(space.count)
    enabled, delta = space.moves(states)
    right = enabled.sum(axis=1) == made.enabled_at_last
    source, target, moved = _steps(made.daemon, states, enabled, delta)
    every = {"executions": space.count, "looked_at": space.count}

    def broken(*why: NDArray[np.int64]) -> dict[str, Any]:
        return {"holds": False, **every, "states": _shown(space, np.concatenate(why))}

    leaves = np.flatnonzero(right[source] & ~right[target])[:1]
    if len(leaves):
        return broken(source[leaves], target[leaves])
    stuck = np.flatnonzero(~right & ~enabled.any(axis=1))[:1]
    if len(stuck):
        return broken(stuck)
    inside = ~right[source] & ~right[target]
    steps = csr_array(
        (np.ones(np.count_nonzero(inside)), (source[inside], target[inside])),
        shape=(space.count, space.count),
    )
    if (cycle := _cycle(steps)) is not None:
        return broken(cycle)
    moves, count = (_longest(source, target, by, ~right) for by in (moved, np.ones_like(moved)))
    return {"holds": True, **every, "most_moves": moves, "most_steps": count}


def _steps(
    daemon: str, states: NDArray[np.int64], enabled: NDArray[np.bool_], delta: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """All steps: from which state to which, and how many nodes move."""
    if daemon == "synchronous":
        some = enabled.any(axis=1)
        to = states + np.where(enabled, delta, 0).sum(axis=1)
        return states[some], to[some], enabled.sum(axis=1)[some]
    n = enabled.shape[1]
    found = []
    for count in range(1, 2 if daemon == "central" else n + 1):
        for nodes in map(list, combinations(range(n), count)):
            some = enabled[:, nodes].all(axis=1)
            to = states[some] + delta[some][:, nodes].sum(axis=1)
            found.append((states[some], to, np.full(len(to), count)))
    source, target, moved = map(np.concatenate, zip(*found, strict=True))
    return source, target, moved


def _cycle(steps: csr_array) -> NDArray[np.int64] | None:
    """States of a short cycle, in order: the shortest through some states; None if there is no cycle."""
    loops = np.flatnonzero(steps.diagonal())
    if len(loops):
        return loops[:1]
    _, part = connected_components(steps, connection="strong")
    sizes = np.bincount(part)
    if sizes.max(initial=0) < 2:
        return None
    states = np.flatnonzero(part == np.flatnonzero(sizes > 1)[0])
    among = steps[states][:, states]
    best: NDArray[np.int64] | None = None
    for first in range(min(len(states), STARTS)):
        far, previous = dijkstra(among, indices=first, unweighted=True, return_predecessors=True)
        last = np.flatnonzero(among[:, [first]].toarray().ravel())
        at = int(last[np.argmin(far[last])])
        path = [at]
        while at != first:
            at = int(previous[at])
            path.append(at)
        if best is None or len(path) < len(best):
            best = states[np.array(path[::-1])]
    return best


def _longest(
    source: NDArray[np.int64], target: NDArray[np.int64], cost: NDArray, open_: NDArray[np.bool_]
) -> int:
    """The greatest cost of an execution that ends once its state is not open; open states have no cycle."""
    some = open_[source]
    source, target, cost = source[some], target[some], cost[some]
    most = np.zeros(len(open_), np.int64)
    while True:
        new = np.zeros_like(most)
        np.maximum.at(new, source, cost + most[target])
        if (new == most).all():
            return int(most.max(initial=0))
        most = new


def _shown(space: Space, states: NDArray[np.int64]) -> list[dict[str, list[int]]]:
    """States as mappings from variables to the values of the nodes."""
    values = space.values(states)
    return [
        {name: some[k].tolist() for name, some in values.items()}
        for k in range(len(next(iter(values.values()))))
    ]
