"""The benchmark's files: a graph is read by tasks on the workers, outputs are read and written here."""

from __future__ import annotations

import os
from functools import partial
from typing import Any

import numpy as np
from distributed import Client
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.base.files import atomic_write
from dgsuite.partition.arrays.segments import distinct
from dgsuite.partition.client.waiting import Watch
from dgsuite.partition.graph.graph import Graph
from dgsuite.partition.sources import edges
from dgsuite.partition.sources.piece import Piece
from dgsuite.partition.sources.text import BLOCK, consists, first_line, loaded, parsed
from dgsuite.suites.graphalytics.setting import Setting

VERTEX = [("vertex", np.uint64)]
ENDS = [("source", np.uint64), ("target", np.uint64)]

LINES = 1 << 16
"""Lines that are formatted at a time."""


def read(setting: Setting, client: Client | None) -> Graph:
    """The graph of a setting. Its nodes are the vertices, also those without edges, in ascending order; their
    identifiers are its labels. Where it is not known whether the graph is directed, an edge whose source is
    larger than its target shows that it is: undirected edges have their smaller end first.

    Raises
    ------
    InputError
        A file does not exist, a line is not what it should be, a vertex occurs twice, or an edge names a
        vertex that there is not.
    """
    labels: NDArray = _vertices(setting.vertices, client)
    table: Any = labels
    if client is not None:
        table = Watch(client, edges.BUILDING).scatter(labels)
    path = setting.edges
    dtype = _columns(path)
    weight = f"property {setting.weight}" if len(dtype) > len(ENDS) else None
    if weight is not None and weight not in dict(dtype):
        raise InputError(f"{path}: a line has no {weight}; they are numbered from 0")
    from dask import delayed

    pieces = edges.Pieces(
        delayed(_edges)(path, start, dtype, weight, table, setting.vertices)
        for start in _starts(path)
    )
    directed = setting.directed
    if directed is None:
        directed = bool(edges.each(_descends, any, pieces, client))
    if labels[-1] < 2**63:
        labels = labels.astype(np.int64)
    return Graph.from_edges(pieces, n=len(labels), directed=directed, labels=labels, client=client)


def _vertices(path: str, client: Client | None) -> NDArray[np.uint64]:
    """The identifiers of the vertices, ascending."""
    from dask import delayed

    blocks = edges.Pieces(delayed(_identifiers)(path, start) for start in _starts(path))
    found, count = edges.each(_distinct, _merged, blocks, client)
    if not count:
        raise InputError(f"{path}: a graph needs at least one vertex")
    if len(found) < count:
        raise InputError(f"{path}: {count - len(found)} vertices occur more than once")
    return found  # type: ignore[no-any-return]


def _starts(path: str) -> range:
    """Where the blocks of a file begin."""
    if not os.path.isfile(path):
        raise InputError(f"{path}: no such file")
    return range(0, os.path.getsize(path) or 1, BLOCK)


def _rows(path: str, start: int, dtype: list[tuple[str, Any]], expected: str) -> NDArray:
    """The lines that begin in a block of a file as a structured array, a field for each column."""
    found = parsed(
        path,
        start,
        BLOCK,
        lambda text: loaded(text, dtype) if consists(text) else None,
        lambda line: expected,
    )
    return np.concatenate([np.empty(0, dtype), *found])


def _identifiers(path: str, start: int) -> NDArray[np.uint64]:
    return _rows(path, start, VERTEX, "a vertex: an integer from 0 to 2^64 - 1")["vertex"]


def _distinct(ids: NDArray, where: str) -> tuple[NDArray, int]:
    return distinct(ids), len(ids)


def _merged(found: list[tuple[NDArray, int]]) -> tuple[NDArray, int]:
    return distinct(np.concatenate([ids for ids, _ in found])), sum(count for _, count in found)


def _columns(path: str) -> list[tuple[str, type]]:
    """Names and types of the columns of a file of edges."""
    _starts(path)
    fields = first_line(path).split()
    return [*ENDS, *((f"property {k}", np.float64) for k in range(max(len(fields) - 2, 0)))]


def _edges(
    path: str, start: int, dtype: list, weight: str | None, table: NDArray, vertices: str
) -> Piece:
    """Edges of a block, their ends as node ids."""
    expected = "an edge: two vertices and its properties, numbers, as in the first line"
    found = _rows(path, start, dtype, expected)
    number = partial(_numbered, table=table, path=path, vertices=vertices)
    source, target = number(found["source"]), number(found["target"])
    return source, target, None if weight is None else np.ascontiguousarray(found[weight])


def _numbered(ids: NDArray, table: NDArray, path: str, vertices: str) -> NDArray[np.int64]:
    at = np.minimum(np.searchsorted(table, ids), len(table) - 1)
    wrong = table[at] != ids
    if wrong.any():
        raise InputError(
            f"{path}: an edge names vertex {ids[wrong][0]}, which is not in {vertices}"
        )
    return at


def _descends(piece: Piece, where: str) -> bool:
    """Whether an edge leads from a larger vertex to a smaller one."""
    return bool((piece[0] > piece[1]).any())


def read_output(path: str, real: bool) -> tuple[NDArray[np.uint64], NDArray]:
    """Vertices, ascending, and their values in an output of the benchmark.

    Raises
    ------
    InputError
        A line is not a vertex and a number.
    """
    dtype = [*VERTEX, ("value", np.float64 if real else np.uint64)]
    expected = f"a vertex and {'a number' if real else 'an integer'}"
    found = np.concatenate([_rows(path, start, dtype, expected) for start in _starts(path)])
    order = np.argsort(found["vertex"], kind="stable")
    return found["vertex"][order], found["value"][order]


def write_output(path: str, vertices: NDArray, values: NDArray) -> None:
    """Write an output as the benchmark does: a line for each vertex, real numbers with 16 digits.

    Raises
    ------
    InputError
        The file cannot be written.
    """
    form = "%d %.15e\n" if values.dtype.kind == "f" else "%d %d\n"
    with atomic_write(path) as part, open(part, "w", encoding="ascii") as file:
        for lo in range(0, len(vertices), LINES):
            some = slice(lo, lo + LINES)
            pairs = zip(vertices[some].tolist(), values[some].tolist(), strict=True)
            file.write("".join(map(form.__mod__, pairs)).replace("inf", "Infinity"))
