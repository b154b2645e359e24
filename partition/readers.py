"""Graph files of others: Matrix Market, and edge lists in text or Parquet."""

from __future__ import annotations

import io
import os
import warnings
from typing import Any

import numpy as np

from partition.build import Piece
from partition.distribute import Pieces
from partition.errors import InputError

BLOCK = "32 MiB"
"""Text of one chunk."""


def _check_file(path: str | os.PathLike[str]) -> str:
    name = os.fspath(path)
    if not os.path.exists(name):
        raise InputError(f"{name}: no such file")
    return name


def read_matrix_market(path: str | os.PathLike[str]) -> Any:
    """The sparse matrix of a Matrix Market file.

    Raises
    ------
    InputError
        No such file, not a Matrix Market file, or not square.
    """
    from scipy.io import mminfo, mmread

    name = _check_file(path)
    try:
        rows, columns, *_ = mminfo(name)
        if rows != columns:
            raise InputError(
                f"{name}: an adjacency matrix must be square, it is {rows} x {columns}"
            )
        return mmread(name, spmatrix=False)
    except InputError:
        raise
    except (ValueError, OverflowError, OSError) as error:
        raise InputError(f"{name}: not a Matrix Market file: {error}") from None


def read_edge_list(path: str | os.PathLike[str]) -> Any:
    """An edge list, to be read in parallel by chunk.

    Parameters
    ----------
    path
        ``.parquet`` (a file or a folder of them) with columns ``src``, ``dst`` and perhaps
        ``weight``; or text: an edge a line, two node ids from 0 and perhaps a weight, separated by
        blanks, tabs or commas; ``#`` starts a comment; ``.gz`` is unpacked.

    Returns
    -------
    What ``Graph.from_edges`` takes as edges: a Dask DataFrame, or pieces of text to be parsed.

    Raises
    ------
    InputError
        No such file, or no such columns. A line that is not an edge is found when it is read.
    """
    name = _check_file(path)
    if name.endswith(".parquet") or os.path.isdir(name):
        return _read_parquet(name)
    from dask import delayed
    from dask.bytes import read_bytes

    packed = name.endswith(".gz")
    blocks = read_bytes(
        name,
        delimiter=None if packed else b"\n",
        blocksize=None if packed else BLOCK,
        sample=False,
        compression="gzip" if packed else None,
    )[1]
    pieces = Pieces(delayed(_parse)(block, name) for file in blocks for block in file)
    if not pieces:
        raise InputError(f"{name}: the file is empty")
    return pieces


def _read_parquet(name: str) -> Any:
    try:
        import dask.dataframe as dd
    except ImportError as error:
        raise InputError(
            f"reading Parquet needs dask.dataframe: pip install 'dgsuite[parquet]' ({error})"
        ) from None
    frame = dd.read_parquet(name)
    missing = [c for c in ("src", "dst") if c not in frame.columns]
    if missing:
        found = ", ".join(map(str, frame.columns))
        raise InputError(f"{name}: no column {missing[0]!r}; there are: {found}")
    return frame[[c for c in ("src", "dst", "weight") if c in frame.columns]]


def _parse(block: bytes, name: str) -> Piece:
    """Edges of some lines."""
    text = block.replace(b",", b" ")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a block without data is no cause for alarm
        try:
            rows = np.loadtxt(io.BytesIO(text), comments="#", ndmin=2)
        except ValueError:
            rows = np.zeros((1, 0))
    ids = rows[:, :2]
    if rows.size and rows.shape[1] in (2, 3) and (ids == np.floor(ids)).all():
        src, dst = ids.astype(np.int64).T
        return src, dst, rows[:, 2] if rows.shape[1] == 3 else None
    if not rows.size and not len(rows):
        return np.empty(0, np.int64), np.empty(0, np.int64), None
    raise InputError(f"{name}: {_offender(block)!r} is not an edge: two node ids, perhaps a weight")


def _offender(block: bytes) -> str:
    """The first line that is not like an edge, or not like the first edge."""
    width = 0
    for line in block.decode(errors="replace").splitlines():
        fields = line.split("#")[0].replace(",", " ").split()
        if not fields:
            continue
        try:
            number = [int(f) for f in fields[:2]], [float(f) for f in fields[2:]]
        except ValueError:
            return line.strip()
        if len(number[0]) < 2 or len(number[1]) > 1 or (width and len(fields) != width):
            return line.strip()
        width = len(fields)
    return block[:40].decode(errors="replace").strip()
