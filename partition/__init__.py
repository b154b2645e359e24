"""Graphs divided into clusters: partitioning, construction, checks and files."""

from typing import TYPE_CHECKING

from dgsuite.base.lazy import lazy_imports

if TYPE_CHECKING:
    from dgsuite.partition.clusters.grid import arrange
    from dgsuite.partition.clusters.partitioners import (
        balanced,
        blocks,
        check_clusters,
        from_owner,
        hashed,
        in_order,
        metis,
    )
    from dgsuite.partition.graph.measures import describe

__all__ = [
    "arrange",
    "balanced",
    "blocks",
    "check_clusters",
    "describe",
    "from_owner",
    "hashed",
    "in_order",
    "metis",
]

HOMES = dict.fromkeys(__all__, "clusters.partitioners")
HOMES |= {"arrange": "clusters.grid", "describe": "graph.measures"}

__getattr__, __dir__ = lazy_imports(
    __name__, {name: f"dgsuite.partition.{home}:{name}" for name, home in HOMES.items()}
)
