"""State of a cluster's nodes: what a phase reads and changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, is_dataclass
from types import SimpleNamespace
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from dgsuite.partition.clusters.cluster import Cluster
from dgsuite.partition.clusters.subset import Subset
from dgsuite.partition.construction.build import id_dtype

NODE = "node"
"""Dtype of node ids, in a state or a message field: int32 where the graph's fit into it, else int64."""

NodeIds = NDArray[np.signedinteger]
"""Type of an array of node ids."""

INITIAL = "initial"
"""Key of a field's metadata: the function that makes its first value."""

LIST = "list"
"""Key of the metadata of a field that does not have one entry for each node: whether it holds nodes."""


def dtype_of(kind: DTypeLike, n: int) -> np.dtype:
    """A dtype, which may be `NODE`, on a graph of n nodes."""
    named = isinstance(kind, str) and kind == NODE
    return np.dtype(id_dtype(n) if named else kind)


class State(SimpleNamespace):
    """State without declared fields, for a first draft: ``State(level=c.full(-1), front=root)``.

    Examples
    --------
    >>> from dgsuite.kernels import bsp
    >>> bsp.State(level=[-1, -1], front=0)
    State(level=[-1, -1], front=0)
    """


@dataclass(eq=False)
class ClusterState:
    """Base of a kernel's state: a dataclass whose fields are arrays and sets of nodes.

    Fields that are declared with `per_node`, `node_set`, `no_nodes` or `initial` know their first
    value; `of` makes a state from these. Those declared with `later` get one in a phase.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> from numpy.typing import NDArray
    >>> from dgsuite.kernels import bsp
    >>> @dataclass(eq=False)
    ... class Search(bsp.ClusterState):
    ...     level: NDArray[np.int32] = bsp.per_node(-1, np.int32)  # hops from the root
    ...     unseen: bsp.Subset = bsp.node_set()  # nodes without a level

    >>> import dgsuite
    >>> (cluster,) = dgsuite.Graph.from_edges([0, 1], [1, 2], clusters=1).gather()
    >>> Search.of(cluster).level
    array([-1, -1, -1], dtype=int32)
    >>> Search.of(cluster, level=np.array([0, 1, 2], np.int32)).level
    array([0, 1, 2], dtype=int32)
    """

    @classmethod
    def of(cls, cluster: Cluster, **given: Any) -> Self:
        """The first state of a cluster; `given` are values of fields that do not begin as declared."""
        ways = {f.name: f.metadata[INITIAL] for f in fields(cls) if INITIAL in f.metadata}
        made = {name: make(cluster) for name, make in ways.items() if name not in given}
        return cls(**made, **given)


def initial(make: Callable[[Cluster], Any]) -> Any:
    """Declare a field of a state with the function that makes its first value for a cluster.

    Parameters
    ----------
    make
        Called with the cluster.

    Examples
    --------
    >>> from dgsuite.kernels import bsp
    >>> largest = bsp.initial(lambda c: c.uid.copy())  # in a `ClusterState`
    """
    return field(kw_only=True, metadata={INITIAL: make})


def per_node(fill: Any = 0, dtype: DTypeLike | None = None) -> Any:
    """Declare a field of a state: an array with one entry per node, each `fill` at first.

    Parameters
    ----------
    fill
        First value of each entry.
    dtype
        By default that of `fill`; ``bsp.NODE`` is that of node ids.

    Examples
    --------
    >>> import numpy as np
    >>> from dgsuite.kernels import bsp
    >>> level = bsp.per_node(-1, np.int32)  # in a `ClusterState`
    >>> parent = bsp.per_node(-1, bsp.NODE)
    """
    return initial(lambda c: c.full(fill, None if dtype is None else dtype_of(dtype, c.n)))


def node_dtype(cluster: Cluster) -> np.dtype:
    """The dtype of node ids: int32 where those of the graph fit into it, else int64.

    Parameters
    ----------
    cluster
        A cluster of the graph.

    Examples
    --------
    >>> import dgsuite
    >>> from dgsuite.kernels import bsp
    >>> (cluster,) = dgsuite.Graph.from_edges([0, 1], [1, 2], clusters=1).gather()
    >>> cluster.full(-1, bsp.node_dtype(cluster))
    array([-1, -1, -1], dtype=int32)
    """
    return dtype_of(NODE, cluster.n)


def node_set(every: bool = True) -> Any:
    """Declare a field of a state: a set that holds every node at first, or none.

    Parameters
    ----------
    every
        Whether it holds every node at first.

    Examples
    --------
    >>> from dgsuite.kernels import bsp
    >>> unseen = bsp.node_set()  # in a `ClusterState`
    """
    return initial(lambda cluster: Subset(cluster.full(every, bool)))


def no_nodes() -> Any:
    """Declare a field of a state: a list of nodes (local indices) that is empty at first.

    Examples
    --------
    >>> from dgsuite.kernels import bsp
    >>> front = bsp.no_nodes()  # in a `ClusterState`
    """
    return field(kw_only=True, metadata={INITIAL: lambda _: np.empty(0, np.int64), LIST: True})


def every_node() -> Any:
    """Declare a field of a state: a list of nodes (local indices) that has all of them at first.

    Examples
    --------
    >>> from dgsuite.kernels import bsp
    >>> front = bsp.every_node()  # in a `ClusterState`
    """
    return field(kw_only=True, metadata={INITIAL: lambda c: np.arange(c.size), LIST: True})


def rows(make: Callable[[Any], NDArray] = lambda _: np.empty(0, np.int64)) -> Any:
    """Declare a field of a state: an array whose length changes and that does not hold nodes.

    Parameters
    ----------
    make
        Makes its first value for a cluster; by default int64, shape (0,).

    Examples
    --------
    >>> from dgsuite.kernels import bsp
    >>> offers = bsp.rows()  # in a `ClusterState`
    """
    return field(kw_only=True, metadata={INITIAL: make, LIST: False})


def lists_of(state: type) -> dict[str, bool]:
    """Fields of a state that are declared as lists or rows, and whether they are lists of nodes."""
    declared = fields(state) if is_dataclass(state) else ()
    return {f.name: f.metadata[LIST] for f in declared if LIST in f.metadata}


def later() -> Any:
    """Declare a field of a state that has no value until a phase sets it.

    Examples
    --------
    >>> from dgsuite.kernels import bsp
    >>> least = bsp.later()  # in a `ClusterState`
    """
    return field(init=False)
