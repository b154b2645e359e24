"""The cluster of Medya et al., simulated: times of the two-dimensional search from counted traffic.

The search is counted on smaller graphs. R-MAT's levels, and each block's share of them, are taken not to
depend on the scale, so that bytes and time computing grow with the graph. Computing takes the time that it
takes here. Processes of a node share its link; what they send each other takes no time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import xarray as xr

from dgsuite import genval
from dgsuite.base.errors import InputError
from dgsuite.core.results.dataset import made_by, variable
from dgsuite.studies.experiment.model import Scaling
from dgsuite.studies.scaling.analysis import Analysis, analyse
from dgsuite.studies.scaling.traffic import trace
from dgsuite.studies.scaling.whatif import Machine, what_if

SCALES = (27, 28)
"""Of the paper's graphs: 2^scale nodes, 16 edges for each."""

GROWS = ("compute_seconds", "out_bytes", "in_bytes")
"""What grows with the graph."""

WARMUP = 9
"""Searches besides the one that is counted: the fastest is disturbed least."""


@dataclass(frozen=True)
class PaperCluster:
    """The paper's cluster.

    Attributes
    ----------
    nodes
        How many of its nodes search.
    throttled
        Those of these numbers whose bandwidth the paper varies.
    percent
        Bandwidths, in per cent of the link.
    processes_per_node
        Processes that share a link.
    in_turn
        Whether processes are dealt to the nodes in turn; else a node has successive ones, as is MPI's
        usual default. The paper does not say.
    link
        Bytes per second of a node's link, in each direction: 56 Gbit/s.
    latency
        Seconds that a message takes its sender, and that one of a barrier is on its way. The paper prints
        none.
    """

    nodes: tuple[int, ...] = (2, 4, 6, 9, 12, 16, 20, 25, 32)
    throttled: tuple[int, ...] = (4, 9, 16, 25)
    percent: tuple[float, ...] = (*range(20, 42, 2), 60, 80, 100)
    processes_per_node: int = 18
    in_turn: bool = False
    link: float = 7e9
    latency: float = 1e-6

    def times(self, traffic: xr.Dataset) -> xr.Dataset:
        """Seconds over p (processes) and bandwidth (per cent), their parts, and messages, from `trace`."""
        rates = self.link * np.array(self.percent) / 100
        costs = Machine(partner=self.latency, header=0)
        found = what_if(traffic, bandwidth=rates, latency=self.latency, machine=costs)
        found["messages"] = traffic.partners.sum("step")
        found["messages"].attrs = {"long_name": "messages of the busiest process", "units": "1"}
        return (
            found.drop_vars("latency").rename(clusters="p").assign_coords(bandwidth=[*self.percent])
        )


def simulate(
    scale: int = 20,
    cluster: PaperCluster | None = None,
    on_clusters: Callable[[int], None] = lambda p: None,
) -> xr.Dataset:
    """Completion times of the paper's searches on its cluster, simulated.

    Parameters
    ----------
    scale
        Of the graph that stands for scale 28; for scale 27 stands that of half the size.
    cluster
        By default as the paper has it.
    on_clusters
        Called as each number of processes is counted.

    Returns
    -------
    xarray.Dataset
        ``seconds`` over n (nodes that the counts stand for), p (processes), bandwidth (per cent of a node's
        link) and repeat (one), as `analyse` takes them; ``compute``, ``transfer``, ``barrier`` and
        ``messages``.
    """
    if not 2 <= scale <= SCALES[-1]:
        raise InputError(f"scale must be 2 to {SCALES[-1]}, got {scale}")
    cluster = cluster or PaperCluster()
    by_size = []
    for n in (2 ** (scale - 1), 2**scale):
        graph = genval.graph("rmat", n, clusters=1, client=None)
        (whole,) = graph.gather()
        busiest = np.diff(whole.indptr).argmax()
        traffic = trace(
            "bfs2d",
            graph,
            clusters=[cluster.processes_per_node * k for k in cluster.nodes],
            processes_per_node=cluster.processes_per_node,
            in_turn=cluster.in_turn,
            warmup=WARMUP,
            on_clusters=on_clusters,
            root=int(whole.indices[whole.indptr[busiest]]),  # in the largest component
        )
        grown = {name: traffic[name] * 2 ** (SCALES[-1] - scale) for name in GROWS}
        by_size.append(cluster.times(traffic.assign(grown)))
    found = xr.concat(by_size, xr.DataArray([2**s for s in SCALES], dims="n", name="n"))
    found["seconds"] = found.seconds.expand_dims(repeat=[0]).transpose(
        "n", "p", "bandwidth", "repeat"
    )
    found["oversubscribed"] = variable("p", np.zeros(found.sizes["p"], bool), "never")
    throttled = np.isin(cluster.nodes, cluster.throttled)
    found["throttled"] = variable("p", throttled, "in Figures 4 to 6")
    found["n"].attrs["long_name"] = "nodes of the graph that the counts stand for"
    found["p"].attrs["long_name"] = "processes"
    found["bandwidth"].attrs = {"long_name": "bandwidth of a node's link", "units": "percent"}
    found.attrs = {
        "title": f"Medya et al.'s cluster, SIMULATED from traffic counted at scale {scale - 1} and {scale}",
        "kernel": "bfs2d",
        "simulated": 1,
        "counted_scale": scale,
        "processes_per_node": cluster.processes_per_node,
        "in_turn": int(cluster.in_turn),
        "nominal_bandwidth": cluster.link,
        "latency": cluster.latency,
        **made_by(),
    }
    return found


def designs(found: xr.Dataset) -> dict[str, xr.Dataset]:
    """The paper's two experiments: over nodes, and over bandwidth on some numbers of nodes."""
    throttled = found.throttled.values.astype(bool)
    return {
        "Figures 2 and 3": found.sel(bandwidth=[100]),
        "Figures 4 to 6": found.isel(p=throttled),
    }


def analyses(found: xr.Dataset, settings: Scaling) -> list[Analysis]:
    """An analysis of each size of what is simulated."""
    each = [analyse(found.sel(n=n), settings=settings) for n in found.n]
    for one in each:
        one.title = f"{one.kernel}, n = {one.sizes[0]}, simulated"
    return each
