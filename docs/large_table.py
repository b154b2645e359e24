"""The table of docs/howto/large.md: `python docs/large_table.py` prints it."""

from __future__ import annotations

from typing import Any

from dgsuite import estimate
from dgsuite.partition.sources.piece import MOST_NODES

GIB = 1 << 30
MEMORY = (8, 16, 24, 64, 128)
"""Of one machine, in GiB."""

WORKERS = 2
OTHERS = (WORKERS + 2) * GIB // 4
"""Bytes of Python and its libraries in the workers, the scheduler and the client."""

DEGREE = 16
"""Edges a node."""

COLUMNS: dict[str, tuple[str, dict[str, Any]]] = {
    "`bfs`": ("bfs", {}),
    "`wcc`": ("wcc", {}),
    "`pagerank`": ("pagerank", {}),
    "`sssp`, weights float32": ("sssp", {"weights": "float32"}),
    "`pagerank`, edges on disk": ("pagerank", {"edges": "disk"}),
}
"""By heading: a kernel, and options of the estimate."""


def fits(heading: str, memory: int) -> int:
    """The largest number of edges, in millions, that fits into some bytes."""
    kernel, options = COLUMNS[heading]

    def takes(millions: int) -> int:
        m = millions * 10**6
        found = estimate(
            kernel, max(m // DEGREE, 1), m, workers=WORKERS, **options
        )
        return found.total + OTHERS

    low, high = 0, MOST_NODES * DEGREE // 10**6
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (
            (middle, high) if takes(middle) <= memory else (low, middle - 1)
        )
    return low


def table() -> str:
    """The table in Markdown."""
    rows = [("memory", *COLUMNS), ("---", *["---:"] * len(COLUMNS))]
    rows += [
        (
            f"{size} GiB",
            *(f"{fits(heading, size * GIB):,}" for heading in COLUMNS),
        )
        for size in MEMORY
    ]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


if __name__ == "__main__":
    print(table())
