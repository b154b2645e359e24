"""Readers of Matrix Market files and of edge lists in text or Parquet.

Node ids are integers from 0 (Matrix Market: from 1) to the largest that occurs, or to ``n - 1``. Ids that
no edge names are nodes without edges. Memory grows with the largest id, so read a file with sparse ids with
``relabel=True``.
"""

from __future__ import annotations

import io
import os
import re
import warnings
import zlib
from collections.abc import Iterable, Iterator
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.partition.client.tasks import delayed
from dgsuite.partition.labels.labels import exact_array
from dgsuite.partition.sources import matrixmarket, tables
from dgsuite.partition.sources.edges import COLUMNS, Columns, Pieces
from dgsuite.partition.sources.paths import check_file, matching
from dgsuite.partition.sources.piece import Piece, common_dtype, extremes, joined
from dgsuite.partition.sources.text import (
    COMMENTS,
    HASHES,
    MARK,
    NUMERALS,
    bare,
    checked,
    consists,
)

BLOCK = 16 << 20
"""Bytes of text that are parsed at a time."""

EMPTY_FIELD = re.compile(rb"^([^\n]*,)?[ \t]*,", re.MULTILINE)
"""A comma after an empty field."""

FLOAT_MARK = re.compile(rb"[.eE]")
"""Characters that occur in floats only."""

ENDS = [("src", np.int64), ("dst", np.int64)]

UNREADABLE = (OSError, EOFError, zlib.error)
"""Exceptions that damaged files raise."""


def read_matrix_market(path: str | os.PathLike[str]) -> Any:
    """Read the sparse matrix of a Matrix Market file (``.mtx``, ``.mtx.gz``).

    Returns
    -------
    scipy.sparse.coo_array, square, with the dtype of the file's field. Both triangles of "symmetric" files
    are filled. Zeros of dense files are left out.

    Raises
    ------
    InputError
        The file does not exist, is not a Matrix Market file, or its matrix is not square. The message names
        the line at fault, if there is one.
    """
    return matrixmarket.read(check_file(path))


def read_edge_list(
    path: str | os.PathLike[str],
    n: int | None = None,
    columns: Columns = COLUMNS,
    relabel: bool = False,
    comments: str | Iterable[str] | None = COMMENTS,
) -> Pieces:
    """An edge list that Dask tasks read in parallel by chunk.

    Parameters
    ----------
    path
        ``.parquet`` (a file or a folder of them) with columns ``source``, ``target`` and optionally
        ``weight``; or text: one edge per line, two node ids from 0 and optionally a weight, separated by
        blanks, tabs or commas. One task decompresses a ``.gz`` file. A pattern such as ``part*.txt`` names
        several files of one format; fsspec opens URLs.
    n
        Number of nodes, if it is known: reading text with other nodes then raises an error.
    columns
        Names of the columns of Parquet.
    relabel
        Whether ends of edges may be text. They are text unless both ends of the first edge are integers.
    comments
        Marks of comments in text: see `dgsuite.partition.sources.text.bare`.
    drop
        Whether rows of Parquet without a value are left out, and counted.

    Returns
    -------
    Edges for ``Graph.from_edges``. Those of text have int64 ids and weights of int64, of uint64 if some are
    above 2^63 - 1, or of float64 if some are not integers.

    Raises
    ------
    InputError
        The file or a column does not exist, or reading Parquet needs more packages. A line that is not an
        edge raises an error that names it when the line is read.
    """
    names = matching(path)
    if all(name.endswith((".parquet", ".pq")) or os.path.isdir(name) for name in names):
        return tables.parquet(path, columns)
    pieces = Pieces()
    marks = checked(comments)
    words = relabel and _has_words(names[0], marks)
    for name in names:
        with _open(name) as file:
            size = file.seek(0, os.SEEK_END)
        if not size:
            raise InputError(f"{name}: the file is empty")
        starts = range(0, 1 if _compressed(name) else size, BLOCK)
        pieces += [delayed(parse)(name, start, BLOCK, n, words, marks) for start in starts]
    return pieces


def _has_words(name: str, marks: tuple[bytes, ...]) -> bool:
    """Whether an end of a file's first edge is not an integer from 0."""
    fields = first_line(name, marks).replace(",", " ").split()[:2]
    return bool(fields) and _edges(" ".join(fields).encode(), None) is None


def _open(name: str) -> IO[bytes]:
    """Open a file or an fsspec URL, without decompression."""
    if "://" not in name:
        return open(name, "rb")
    import fsspec

    opened: IO[bytes] = fsspec.open(name, "rb").open()
    return opened


def _compressed(name: str) -> bool:
    return name.endswith(".gz")


def parse(
    name: str,
    start: int,
    size: int,
    n: int | None = None,
    words: bool = False,
    marks: tuple[bytes, ...] = HASHES,
) -> Piece:
    """Parse the lines that begin in a block of a text file, or all lines if it is compressed.

    Parameters
    ----------
    start, size
        First byte and number of bytes of the block.
    n
        Ids must be less than n.
    words
        Whether ends of edges are words, that is text between separators.
    marks
        What comments begin with: see `dgsuite.partition.sources.text.bare`.

    Raises
    ------
    InputError
        A line is not an edge, or does not have as many fields as the first edge of its block.
    """
    found: list[Piece] = []
    lines = 0
    try:
        for text in _texts(name, start, size, marks):
            edges = _word_edges(text) if words else _edges(text, n)
            if edges is None or (found and len(edges[0]) and _width(edges) != _width(found[0])):
                line, what = _first_wrong(text, n, _width(found[0]) if found else 0, words)
                line += lines + _lines_before(name, start)
                ends = f"node ids from 0{'' if n is None else f' to {n - 1}'}, such as 12 and not 12.0,"
                ends = "names" if words else ends
                first = "; of a file whose first line names columns, choose two: Graph.from_csv, or --columns"
                raise InputError(
                    f"{name}, line {line}: {what!r} is not an edge: expected two {ends} and optionally a "
                    f"finite weight{', as in the lines before' if line > 1 else ''}; integers have at most "
                    f"64 bits, and beside floats those that float64 holds{first * (line == 1)}"
                )
            if len(edges[0]):
                found.append(edges)
            lines += text.count(b"\n")
    except UNREADABLE as error:
        raise InputError(f"{name}: cannot be read: {error}") from None
    if not found:
        return np.empty(0, np.int64), np.empty(0, np.int64), None
    src, dst = (np.concatenate([edges[end] for edges in found]) for end in (0, 1))
    weights = [w for _, _, w in found if w is not None]
    if not weights:
        return src, dst, None
    return src, dst, joined(weights, common_dtype([(w.dtype, extremes(w)) for w in weights]))


def rows(name: str, start: int, size: int, dtype: list[tuple[str, Any]], expected: str) -> NDArray:
    """The lines that begin in a block of a text file as a structured array, a field per column.

    Parameters
    ----------
    start, size
        As for `parse`.
    dtype
        Names and types of the columns. Columns are separated by blanks or tabs.
    expected
        What a line must be, for errors.

    Raises
    ------
    InputError
        The file cannot be read, or a line is something else: the message names it.
    """
    found = [np.empty(0, dtype)]
    lines = 0
    try:
        for text in _texts(name, start, size):
            table = _loaded(text, dtype) if consists(text) else None
            if table is None:
                each = enumerate(text.split(b"\n"), 1)
                line, what = next(
                    (k, t.decode(errors="replace"))
                    for k, t in each
                    if not consists(t) or _loaded(t, dtype) is None
                )
                line += lines + _lines_before(name, start)
                raise InputError(f"{name}, line {line}: {what.strip()!r} is not {expected}")
            found.append(table)
            lines += text.count(b"\n")
    except UNREADABLE as error:
        raise InputError(f"{name}: cannot be read: {error}") from None
    return np.concatenate(found)


def first_line(name: str, marks: tuple[bytes, ...] = HASHES) -> str:
    """The first line of a text file that is neither empty nor a comment, or "".

    Raises
    ------
    InputError
        The file cannot be read.
    """
    try:
        for text in _texts(name, 0, BLOCK, marks):
            for line in text.split(b"\n"):
                if line.strip():
                    return line.decode(errors="replace").strip()
    except UNREADABLE as error:
        raise InputError(f"{name}: cannot be read: {error}") from None
    return ""


def _width(edges: Piece) -> int:
    return 2 if edges[2] is None else 3


def _texts(name: str, start: int, size: int, marks: tuple[bytes, ...] = HASHES) -> Iterator[bytes]:
    """Complete lines without comments: those that begin in a block, or all of a compressed file."""
    for text in _lines(name, start, size):
        yield bare(text, marks)


def _lines(name: str, start: int, size: int) -> Iterator[bytes]:
    """Complete lines: those that begin in a block, or all of a compressed file, a block at a time."""
    import fsspec
    from fsspec.utils import read_block

    with fsspec.open(name, "rb", compression="infer") as file:
        if not _compressed(name):
            text = read_block(file, start, size, b"\n")
            yield text if start else text.removeprefix(MARK)
            return
        before = MARK
        while text := file.read(size):
            yield (text + file.readline()).removeprefix(before)
            before = b""


def _lines_before(name: str, start: int) -> int:
    if not start:
        return 0
    with _open(name) as file:
        file.seek(start)
        file.readline()
        end = file.tell()
        file.seek(0)
        lines = 0
        while end > 0 and (text := file.read(min(end, BLOCK))):
            lines += text.count(b"\n")
            end -= len(text)
    return lines


def _edges(text: bytes, n: int | None) -> Piece | None:
    """Edges with ids below n, or None if the text is not a list of such edges.

    Weights are int64 if all fit, else uint64, else float64, so integers are read exactly.
    """
    if b"," in text:
        bare = b"\n" + text.translate(None, b" \t")
        if (b",," in bare or b"\n," in bare) and EMPTY_FIELD.search(text):
            return None
        text = text.replace(b",", b" ")
    if not consists(text, NUMERALS):
        return None
    rows = _loaded(text, np.int64)
    if rows is not None:
        if not rows.size:
            return np.empty(0, np.int64), np.empty(0, np.int64), None
        if rows.shape[1] not in (2, 3):
            return None
        columns = [np.ascontiguousarray(column) for column in rows.T]
    elif (long := _loaded(text, [*ENDS, ("weight", np.uint64)])) is not None:
        columns = [np.ascontiguousarray(long[name]) for name in long.dtype.names or ()]
    else:
        short = _loaded(text, [*ENDS, ("weight", np.float64)])
        if short is None:
            return None
        columns = [np.ascontiguousarray(short[name]) for name in short.dtype.names or ()]
    most = np.iinfo(np.int64).max if n is None else n - 1
    if any(ids.min() < 0 or ids.max() > most for ids in columns[:2]):
        return None
    weights = columns[2] if len(columns) == 3 else None
    if weights is not None and weights.dtype == np.float64:
        if not np.isfinite(weights).all():
            return None
        large = np.flatnonzero(abs(weights) >= 2**53)
        if len(large):
            fields = _fields(text)
            if any(_rounds(fields[at][-1]) for at in large.tolist()):
                return None
    return columns[0], columns[1], weights


def _fields(text: bytes) -> list[list[bytes]]:
    """Words of each line that has some."""
    lines = text.replace(b",", b" ").split(b"\n")
    return [words for line in lines if (words := line.split())]


def _rounds(token: bytes) -> bool:
    """Whether a number is an integer that float64, or no integer of 64 bits, does not hold."""
    if FLOAT_MARK.search(token):
        return False
    value = int(token)
    return value != int(float(token)) or not -(2**63) <= value < 2**64


def _word_edges(text: bytes) -> Piece | None:
    """Edges between words, or None if the text is not a list of edges."""
    lines = _fields(text)
    if not lines:
        return np.empty(0, np.int64), np.empty(0, np.int64), None
    width = len(lines[0])
    if width not in (2, 3) or any(len(line) != width for line in lines):
        return None
    try:
        src, dst = (exact_array([line[end].decode() for line in lines]) for end in (0, 1))
    except UnicodeDecodeError:
        return None
    if width == 2:
        return src, dst, None
    numbered = _edges(b"\n".join(b"0 0 " + line[2] for line in lines), 1)
    return None if numbered is None else (src, dst, numbered[2])


def _loaded(text: bytes, dtype: Any) -> np.ndarray | None:
    """Numbers of a text, or None if they do not have the dtype."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the text has no data
        warnings.simplefilter("error", DeprecationWarning)  # a float instead of an integer
        try:
            return np.loadtxt(
                io.BytesIO(text), dtype, comments=None, ndmin=1 if isinstance(dtype, list) else 2
            )
        except (ValueError, OverflowError, DeprecationWarning):
            return None


def _first_wrong(text: bytes, n: int | None, width: int, words: bool) -> tuple[int, str]:
    """Number and text of the first line that is not an edge or does not have `width` fields."""
    for number, line in enumerate(text.decode(errors="replace").split("\n"), 1):
        fields = line.replace(",", " ").split()
        if not fields:
            continue
        edges = _word_edges(line.encode()) if words else _edges(line.encode(), n)
        if edges is None or not len(edges[0]) or (width and len(fields) != width):
            return number, line.strip()
        width = len(fields)
    # each line is right by itself, so a float among weights makes an integer one that is not held
    for number, line in enumerate(text.decode(errors="replace").split("\n"), 1):
        fields = line.replace(",", " ").split()
        if len(fields) == 3 and _rounds(fields[2].encode()):
            return number, line.strip()
    return 1, text[:40].decode(errors="replace").strip()
