"""Outputs in the order of node ids, where clusters are no blocks of nodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dgsuite.kernels.bsp import Kernel
from dgsuite.partition.graph.graph import Graph


def by_node(kernel: Kernel, graph: Graph, outputs: Mapping[str, Any]) -> dict[str, Any]:
    """Outputs that come in the order of the clusters, by ascending node; on the workers they are.

    The rows of a table ascend by its first column, whose nodes ascend in each cluster.
    """
    order = graph.partition.order
    found, rows = dict(outputs), None
    if order is None:
        return found
    for name, values in outputs.items():
        if not isinstance(values, np.ndarray):
            continue
        if kernel.outputs[name].tabular:
            rows = np.argsort(values, kind="stable") if rows is None else rows
            found[name] = values[rows]
        else:
            found[name] = np.empty_like(values)
            found[name][order] = values
    return found
