"""Graphs divided into clusters: partitioning, construction, checks and files."""

from __future__ import annotations

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

PARTITIONERS = "dgsuite.partition.clusters.partitioners"

__getattr__, __dir__ = lazy_imports(
    __name__,
    {
        "arrange": "dgsuite.partition.clusters.grid:arrange",
        "balanced": f"{PARTITIONERS}:balanced",
        "blocks": f"{PARTITIONERS}:blocks",
        "check_clusters": f"{PARTITIONERS}:check_clusters",
        "describe": "dgsuite.partition.graph.measures:describe",
        "from_owner": f"{PARTITIONERS}:from_owner",
        "hashed": f"{PARTITIONERS}:hashed",
        "in_order": f"{PARTITIONERS}:in_order",
        "metis": f"{PARTITIONERS}:metis",
    },
)
