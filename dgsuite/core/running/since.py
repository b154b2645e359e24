"""Runs that go on from an earlier result, on the same graph or on one that has grown since."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from dgsuite.base.aliases import kernel_of
from dgsuite.base.errors import InputError
from dgsuite.core.parameters import stated
from dgsuite.core.running.options import RunOptions
from dgsuite.kernels import KERNELS, SINCE
from dgsuite.kernels.bsp import Kernel
from dgsuite.partition.client.tasks import computed, submitted
from dgsuite.partition.client.waiting import Watch
from dgsuite.partition.clusters.cluster import Cluster, Earlier
from dgsuite.partition.clusters.partitioners import Partition
from dgsuite.partition.graph.dask_views import client_of, here
from dgsuite.partition.graph.graph import Graph
from dgsuite.partition.graph.growing import Lineage, Step
from dgsuite.partition.labels.labels import Labels


def going_on(kernel: Any, each: Sequence[Mapping[str, Any]], options: RunOptions) -> type[Kernel]:
    """The kernel that goes on from an earlier result.

    Parameters
    ----------
    kernel
        A name.
    each
        Parameters of each run.

    Raises
    ------
    InputError
        There is none, or it has no such parameter or option.
    """
    name = kernel_of(kernel, KERNELS) if isinstance(kernel, str) else ""
    if name not in SINCE:
        name = kernel if isinstance(kernel, str) else getattr(kernel, "name", kernel)
        raise InputError(
            f"kernel {name!r} cannot go on from an earlier result; these can, by their names: "
            f"{', '.join(sorted(SINCE))}. Leave out since= to run from the start"
        )
    chosen = SINCE[name]
    if options.form is not None or options.checkpoint is not None:
        what = "form=" if options.form is not None else "folder of checkpoints"
        raise InputError(f"kernel {name!r}: a run with since= has no {what}; leave out one of them")
    others = {f.name for f in fields(KERNELS[name])} - {f.name for f in fields(chosen)}
    if wrong := sorted(others.intersection(*each)):
        raise InputError(
            f"kernel {name!r}: a run with since= has no {wrong[0]}=; leave out one of them"
        )
    return chosen


@dataclass(frozen=True)
class Since:
    """What a run goes on from.

    Attributes
    ----------
    identity
        Of the graph of the earlier run.
    outputs
        Of the earlier run, by name, each by node: arrays, or Dask arrays that stay where they are.
    nodes, ends, weights
        Node ids of both ends of the entries that are new since or have another weight, and their weights.
    edges
        How many edges these are.
    """

    identity: str
    outputs: dict[str, Any]
    nodes: NDArray[np.int64]
    ends: NDArray[np.int64]
    weights: NDArray
    edges: int

    @classmethod
    def of(cls, kernels: Sequence[Kernel], graph: Graph, dataset: xr.Dataset) -> Since:
        """Read an earlier result.

        Raises
        ------
        InputError
            It is of another kernel, of a graph from which this one has not grown, or of other parameters; or
            weights have changed so that the kernel cannot go on from there.
        """
        kernel, attrs = kernels[0], dataset.attrs
        if attrs.get("kernel") != kernel.name or not kernel.outputs.keys() <= dataset.keys():
            raise InputError(
                f"since must be a whole result of dgsuite.run({kernel.name!r}, ...), "
                f"got one of {attrs.get('kernel')!r}"
            )
        identity = attrs.get("graph", "")
        steps = Lineage.of(graph).since(identity)
        if steps is None:
            raise InputError(
                f"since is of a graph of {attrs.get('n')} nodes and {attrs.get('m')} edges from which this "
                f"one has not grown by with_edges or with_nodes; leave out since= to run from the start"
            )
        for one in kernels:
            _check_same(one, graph, dataset)
        _check_weights(kernel, graph, steps)
        n = steps[0].n if steps else graph.n
        outputs = {}
        for name, output in kernel.outputs.items():
            values = dataset[name].variable.data
            if len(values) != n or values.ndim != len(output.dims):
                raise InputError(
                    f"since: {name} must have a value for each of {n} nodes, got shape {values.shape}"
                )
            if output.nodes and graph.labels is not None:
                values = node_ids(here(values), graph.labels, n)
            outputs[name] = values
        none = np.empty((2, 0), np.int64)
        ends = np.concatenate([none, *((step.nodes, step.ends) for step in steps)], axis=1)
        edges = ends.shape[1] if graph.directed else ends.shape[1] // 2
        weights = np.concatenate([step.weights for step in steps] or [np.empty(0)])
        return cls(identity, outputs, ends[0], ends[1], weights, edges)

    def seen(self, graph: Graph) -> Graph:
        """The graph, each of whose clusters has its part of this."""
        partition, client = graph.partition, graph.client
        stay = {
            name: values
            for name, values in self.outputs.items()
            if client is not None and partition.order is None and client_of(values) is client
        }
        sent = {name: here(values) for name, values in self.outputs.items() if name not in stay}
        position = partition.position(self.nodes)
        order = np.argsort(position, kind="stable")
        position, ends, weights = position[order], self.ends[order], self.weights[order]
        cuts = np.searchsorted(position, partition.offsets)
        each = [
            Earlier(_of_cluster(sent, partition, k), position[a:b] - first, ends[a:b], weights[a:b])
            for k, ((a, b), first) in enumerate(
                zip(pairwise(cuts.tolist()), partition.offsets, strict=False)
            )
        ]
        if client is None:
            return graph.like([*map(_with, graph.parts, each)], graph.entries)
        watch = Watch(client, "sending the earlier result", inputs=graph.parts)
        parts = []
        for k, (part, earlier, held) in enumerate(
            zip(graph.parts, each, watch.holders(graph.parts), strict=True)
        ):
            there = watch.scatter(earlier, held[0])
            more = _of_cluster(stay, partition, k)
            futures = dict(zip(more, computed(client, [*more.values()]), strict=True))
            parts.append(submitted(client, _with, part, there, futures))
        return graph.like(parts, graph.entries)


def _of_cluster(outputs: dict[str, Any], partition: Partition, cluster: int) -> dict[str, Any]:
    """Outputs of the nodes of a cluster that there were; new ones come after them."""
    if partition.order is None:
        first, end = partition.offsets[cluster : cluster + 2].tolist()
        return {name: values[first:end] for name, values in outputs.items()}
    nodes = partition.nodes(cluster)
    return {name: values[nodes[nodes < len(values)]] for name, values in outputs.items()}


def _with(c: Cluster, earlier: Earlier, more: dict[str, NDArray] | None = None) -> Cluster:
    made = copy(c)
    made.earlier = earlier._replace(outputs=earlier.outputs | (more or {})).read_only()
    return made


def _check_same(kernel: Kernel, graph: Graph, dataset: xr.Dataset) -> None:
    """See that an earlier run had the parameters that must be the same.

    Raises
    ------
    InputError
        It had others.
    """
    had = json.loads(dataset.attrs["parameters"])
    for name in kernel.same:
        value = stated(kernel, name, graph.labels) if hasattr(kernel, name) else None
        if (wanted := json.loads(json.dumps(value))) != had.get(name):
            raise InputError(
                f"kernel {kernel.name!r}: since is of a run with {name}={had.get(name)!r}, and this one has "
                f"{name}={wanted!r}; leave out since= to run from the start"
            )


def _check_weights(kernel: Kernel, graph: Graph, steps: Sequence[Step]) -> None:
    """See that weights have changed in no other way than a kernel can go on from.

    Raises
    ------
    InputError
        They have.
    """
    for step in steps:
        bad = np.flatnonzero(kernel.spoils(step.before, step.weights))
        if len(bad):
            first = bad[np.lexsort([step.ends[bad], step.nodes[bad]])[0]]
            ends = np.array([step.nodes[first], step.ends[first]])
            u, v = (ends if graph.labels is None else graph.labels.of(ends)).tolist()
            raise InputError(
                f"kernel {kernel.name!r}: edge ({u!r}, {v!r}) weighs {step.weights[first]}, and "
                f"{step.before[first]} in the run that since is of; leave out since= to run from the start"
            )
    had = next((step.dtype for step in steps if step.dtype != graph.weight_dtype), None)
    if getattr(kernel, "thresholds", None) and had is not None and had.kind == "f":
        raise InputError(
            f"kernel {kernel.name!r}: weights are of dtype {graph.weight_dtype}, and in the run that since "
            f"is of {had}, which rounds thresholds; leave out since= to run from the start"
        )


def node_ids(values: NDArray, labels: Labels, n: int) -> NDArray[np.int64]:
    """Node ids of labels of the first n nodes; -1 for no node."""
    codes, distinct = pd.factorize(values.ravel())
    found = labels.nodes(distinct, missing=True)
    return np.append(np.where(found < n, found, -1), -1)[codes].reshape(values.shape)
