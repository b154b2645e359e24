"""What the author of a self-stabilising kernel writes with: variables, rules, and what nodes see."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dgsuite.kernels.bsp.messages import Range


class Variable(NamedTuple):
    """What a variable of a node can be: so many whole numbers, from the least on.

    Attributes
    ----------
    count
        How many values, from the number of nodes.
    least
        The smallest.
    pointer
        Whether only neighbours of the node are values, and -1 for none.

    Examples
    --------
    >>> from dgsuite.kernels.lab.views import POINTER, Variable
    >>> Variable(lambda n: n + 1).count(8), POINTER.least
    (9, -1)
    >>> POINTER.bounds(8)
    (-1, 7)
    """

    count: Range
    least: int = 0
    pointer: bool = False

    def bounds(self, n: int) -> tuple[int, int]:
        """The smallest and the greatest, on a graph of n nodes."""
        return self.least, self.least + self.count(n) - 1


POINTER = Variable(lambda n: n + 1, -1, pointer=True)
"""A variable that is a neighbour, or -1."""


class Rule(NamedTuple):
    """Which nodes may move, and the values that their variables get then."""

    guard: NDArray[np.bool_]
    action: dict[str, ArrayLike]


def rule(guard: NDArray[np.bool_], **action: ArrayLike) -> Rule:
    """A rule: a guard for each node that looks, and new values of some variables, one each or one for all.

    Parameters
    ----------
    guard, action
        What holds, and what then becomes of the variables.

    Examples
    --------
    >>> import numpy as np
    >>> from dgsuite.kernels.lab.views import rule
    >>> rule(np.array([True, False]), colour=0).action
    {'colour': 0}
    """
    return Rule(guard, action)


class View(NamedTuple):
    """What some nodes see: their own variables, and those of their neighbours.

    Attributes
    ----------
    n
        Nodes of the graph.
    id
        The nodes that look.
    own
        Their variables.
    row
        Of each neighbour, which of the nodes it is a neighbour of; ascending.
    other
        The neighbours' ids.
    near
        Their variables.

    Examples
    --------
    Nodes 0 and 2 on the path 0, 1, 2, 3; node 2 sees nodes 1 and 3:

    >>> import numpy as np
    >>> from dgsuite.kernels.lab.views import View
    >>> view = View(4, np.array([0, 2]), {}, np.array([0, 1, 1]), np.array([1, 1, 3]), {})
    >>> view.any(view.other == 3), view.least(view.other, view.other > 1, otherwise=9)
    (array([False,  True]), array([9, 3]))
    >>> view.greatest(view.other, view.other > 1, otherwise=-1)
    array([-1,  3])
    """

    n: int
    id: NDArray[np.int64]
    own: dict[str, NDArray[np.int64]]
    row: NDArray[np.int64]
    other: NDArray[np.int64]
    near: dict[str, NDArray[np.int64]]

    def any(self, holds: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Whether it holds for a neighbour of each node."""
        found = np.zeros(len(self.id), bool)
        found[self.row[holds]] = True
        return found

    def least(self, values: NDArray, among: NDArray, otherwise: int) -> NDArray[np.int64]:
        """The least value of some neighbours of each node."""
        found = np.full(len(self.id), np.iinfo(np.int64).max)
        np.minimum.at(found, self.row[among], values[among])
        return np.where(self.any(among), found, otherwise)

    def greatest(self, values: NDArray, among: NDArray, otherwise: int) -> NDArray[np.int64]:
        """The greatest value of some neighbours of each node."""
        return -self.least(-values, among, -otherwise)
