"""Options that all suites have, in files and on the command line; how large a generated graph is, and whether
there is room for it. No heavy imports.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dgsuite.base.errors import InputError
from dgsuite.base.names import Edges, Rule
from dgsuite.studies.experiment.model import Count, Section


class Place(Section):
    """Where a suite runs."""

    workers: Count = 2
    """Worker processes."""
    threads: Count = 1
    """Threads of each worker."""
    scheduler: str | None = None
    """Run on the Dask cluster at this address, such as tcp://127.0.0.1:8786."""
    protocol: str | None = None
    """Transport between workers (by default mpb, shared memory, on Linux; else tcp)."""


class Reading(Section):
    """How the graph of a file is read."""

    directed: bool = False
    """Edges of the file have a direction."""
    relabel: bool = False
    """Nodes of the file have names: text or any integers."""
    duplicates: Rule | None = None
    """Which weight stays if the file has an edge several times (by default the smallest, with a warning)."""
    edges: Edges = "memory"
    """Where the edges of the graph are; on disk they may be more than fit into memory."""


def read[S: Section](
    file: type[S], table: str, path: str | None, overrides: Sequence[str], flags: Mapping[str, Any]
) -> Any:
    """The table of a file of options, or of none, with those of the command line in their place.

    Parameters
    ----------
    file
        Model of the file.
    overrides
        See `dgsuite.studies.experiment.toml.override`.

    Raises
    ------
    InputError
        The file cannot be read, is not TOML, or has other keys or values than it may have; or a transport is
        given for workers that are there already.
    """
    from dgsuite.studies.experiment import toml

    data = toml.read(path, overrides)
    found = data.setdefault(table, {})
    if isinstance(found, dict):  # the model refuses others
        found.update(flags)
    read = getattr(toml.checked(file, data, path or "command line", flags), table)
    check_place(read)
    return read


def check_place(place: Place) -> None:
    """Refuse options that contradict each other.

    Raises
    ------
    InputError
        A transport is given for workers that are there already.
    """
    if place.protocol and place.scheduler:
        raise InputError("--protocol is for workers of our own; --scheduler has its transport")


def check_names(option: str, given: Sequence[str], known: Iterable[str]) -> None:
    """Refuse names that are not known.

    Raises
    ------
    InputError
        The message lists those that are.
    """
    for name in given:
        if name not in known:
            raise InputError(f"{option} {name}: unknown; one of {', '.join(known)}")


EDGE_FACTOR = 16
"""Edge tuples a node, by default."""

LARGEST = 31
"""Scale of the largest graph that there can be; beyond, each scale takes twice as much."""


def need(
    scale: int,
    weighted: bool = False,
    degree: int = EDGE_FACTOR,
    disk: bool = False,
    grid: bool = False,
) -> int:
    """Bytes that building a graph takes in memory, about; arranging it in a grid makes a second one.

    Parameters
    ----------
    scale
        The graph has ``2**scale`` nodes.
    weighted
        Whether its edges have weights.
    degree
        Edge tuples a node.
    disk
        Whether its edges are to be on disk.
    grid
        Whether it is to be arranged in a grid.
    """
    import numpy as np

    from dgsuite.partition.graph.data import adjacency

    known = min(scale, LARGEST)
    n, ends = 2**known, 2 * degree * 2**known
    rows = adjacency(n, np.array([n]), np.array([ends * (not disk)]), 8 * weighted)
    sorting = ends // 2  # a block of edge ends at a time
    return int(rows.sum() * (1 + grid) + sorting) << (scale - known)


def check_scale(scale: int, **how: Any) -> None:
    """Refuse a scale that is not at least 1, or whose graph could not be built in memory.

    Parameters
    ----------
    how
        The graph is made, as for `need`.

    Raises
    ------
    InputError
        The message says what would fit.
    """
    import psutil

    if scale < 1:
        raise InputError(f"scale must be at least 1, got {scale}")
    room = psutil.virtual_memory().available
    wanted = need(scale, **how)
    if wanted > room:
        smaller = range(scale - 1, 1, -1)
        largest = next((fewer for fewer in smaller if need(fewer, **how) <= room), 1)
        raise InputError(
            f"scale {scale} needs about {wanted / 2**30:.1f} GiB, and "
            f"{room / 2**30:.1f} GiB are free; the largest that fits is {largest}"
        )
