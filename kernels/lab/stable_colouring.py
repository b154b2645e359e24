"""Self-stabilising greedy colouring in the state model (Hedetniemi, Jacobs and Srimani, Linear time
self-stabilizing colorings, IPL 87(5), 2003, the first algorithm; Gradinariu and Tixeuil, Self-stabilizing
vertex coloring of arbitrary graphs, OPODIS 2000, for the coins).

A node takes the smallest colour that no neighbour has. Two neighbours that do so at once may get the same
colour, again and again; so nodes toss a coin before they move.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.kernels import bsp
from dgsuite.kernels.lab import state_model
from dgsuite.kernels.lab.state_model import STRUCK, StateModel
from dgsuite.kernels.lab.views import Rule, Variable, View, rule

COIN = STRUCK + 1
"""Number of the random numbers that are coins."""


@dataclass(eq=False)
class State(state_model.State):
    """What the nodes of a cluster know."""

    colour: NDArray[np.int64]


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
    outputs = {
        "colour": bsp.Output("number of the colour"),
        "moves": bsp.Output("how often the node has moved"),
    }
    variables = {"colour": Variable(bsp.nodes)}
    state = State

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


def smallest_free(
    row: NDArray[np.int64], colour: NDArray[np.int64], rows: int, n: int
) -> NDArray[np.int64]:
    """The smallest number that each row does not have, of numbers below n."""
    known = (colour >= 0) & (colour < n)
    pairs = np.unique(row[known] * n + colour[known])
    row, colour = pairs // n, pairs % n
    place = np.arange(len(row)) - np.searchsorted(row, row)  # in its row, by ascending colour
    return np.bincount(row[colour == place], minlength=rows)
