"""What other libraries answer to the questions of `benchmarks/questions.py`: calls, and what is compared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from analytics_peers import Forms


class Peer(NamedTuple):
    """What is timed, and what of its result is compared with ours."""

    call: Callable[[], Any]
    answer: Callable[[Any], Any]


Prepare = Callable[[Forms], Peer]


def modularity(graph: Any, labels: Any) -> float:
    """By our own measure, for all."""
    import dgsuite

    return float(dgsuite.quality(graph, labels).modularity)


# Communities.

ITERATIONS = 2
"""Of Leiden, in all libraries; the default of ours, of leidenalg and of igraph."""


def leiden_leidenalg(g: Forms) -> Peer:
    """One thread."""
    import leidenalg

    kind = leidenalg.ModularityVertexPartition
    return Peer(
        lambda: leidenalg.find_partition(g.igraph, kind, n_iterations=ITERATIONS, seed=1),
        lambda found: modularity(g.graph, found.membership),
    )


def leiden_igraph(g: Forms) -> Peer:
    """One thread."""
    return Peer(
        lambda: g.igraph.community_leiden("modularity", n_iterations=ITERATIONS),
        lambda found: modularity(g.graph, found.membership),
    )


def louvain_igraph(g: Forms) -> Peer:
    """One thread."""
    return Peer(
        lambda: g.igraph.community_multilevel(),
        lambda found: modularity(g.graph, found.membership),
    )


def louvain_networkit(g: Forms) -> Peer:
    """PLM without refinement; two threads."""
    import networkit as nk

    return Peer(
        lambda: nk.community.PLM(g.networkit_plain, False).run().getPartition(),
        lambda found: modularity(g.graph, found.getVector()),
    )
