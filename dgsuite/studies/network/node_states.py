"""The states of single nodes: taken out of that of their cluster, and put back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.kernels.bsp.state import lists_of
from dgsuite.partition.clusters.subset import Subset


def take(state: Any, nodes: NDArray[np.int64], size: int) -> dict[str, NDArray]:
    """What a state holds of some nodes: a value for each, by field.

    Parameters
    ----------
    state
        Of a cluster: arrays with an entry for each node, sets of nodes, and lists of nodes that are
        declared as such. Values of no node are ignored; objects within it are visited.
    nodes
        Local indices.
    size
        Nodes of the cluster.

    Returns
    -------
    For sets and lists, whether the node is in it.

    Raises
    ------
    InputError
        It has an array that is none of these.
    """
    found: dict[str, NDArray] = {}
    lists = lists_of(type(state))
    for name, value in vars(state).items():
        if isinstance(value, Subset):
            found[name] = value.mask[nodes]
        elif isinstance(value, np.ndarray) and value.ndim:
            if lists.get(name):
                found[name] = np.isin(nodes, value)
            elif len(value) == size and name not in lists:
                found[name] = value[nodes]
            else:
                raise InputError(_uneven(name, len(value), size))
        elif hasattr(value, "__dict__"):
            inner = take(value, nodes, size)
            found |= {f"{name}.{key}": held for key, held in inner.items()}
    return found


def put(state: Any, nodes: NDArray[np.int64], size: int, held: Mapping[str, NDArray]) -> None:
    """Put back what `take` returned, of the fields that it has.

    Raises
    ------
    InputError
        An array has no longer one entry for each node.
    """
    lists = lists_of(type(state))
    for key, values in held.items():
        name, _, inner = key.partition(".")
        now = getattr(state, name)
        if inner:
            put(now, nodes, size, {inner: values})
        elif isinstance(now, Subset):
            mask = now.mask.copy()
            mask[nodes] = values
            setattr(state, name, Subset(mask))
        elif name in lists:
            others = now[~np.isin(now, nodes)]
            setattr(state, name, np.union1d(others, nodes[values]))
        else:
            if len(now) != size:
                raise InputError(_uneven(name, len(now), size))
            now = now.copy()  # it may be an array of the graph
            now[nodes] = values
            setattr(state, name, now)


def _uneven(name: str, entries: int, size: int) -> str:
    """What is wrong with an array that is not one entry for each node."""
    return (
        f"its state has {entries} entries of {name!r} for {size} nodes, and not one for each; a list of "
        f"nodes is declared with bsp.no_nodes() or bsp.every_node()"
    )
