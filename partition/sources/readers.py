"""Readers of edge lists in text or Parquet, and of Matrix Market files.

Node ids are integers from 0 (Matrix Market: from 1) to the largest that occurs, or to ``n - 1``. Ids that no
edge names are nodes without edges. Memory grows with the largest id, so read a file with sparse ids with
``relabel=True``. What Matrix Market takes depends on the size of the text, whatever the header says.
"""

from __future__ import annotations

import gzip
import os
import re
from collections.abc import Iterable
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.partition.client.tasks import delayed
from dgsuite.partition.labels.labels import exact_array
from dgsuite.partition.sources import tables
from dgsuite.partition.sources import text as texts
from dgsuite.partition.sources.edges import COLUMNS, Columns, Pieces
from dgsuite.partition.sources.piece import Piece, common_dtype, extremes, joined

EMPTY_FIELD = re.compile(rb"^([^\n]*,)?[ \t]*,", re.MULTILINE)
"""A comma after an empty field."""

FLOAT_MARK = re.compile(rb"[.eE]")
"""Characters that occur in floats only."""

NUMBER = re.compile(r"-?[0-9]{1,1000}")
"""An integer, in digits of ASCII: Python takes others, too."""

BLANKS = " \t\r\n"

ENDS = [("src", np.int64), ("dst", np.int64)]

FIELDS: dict[str, list[tuple[str, type]]] = {
    "real": [("value", np.float64)],
    "double": [("value", np.float64)],
    "integer": [("value", np.int64)],
    "unsigned-integer": [("value", np.uint64)],
    "pattern": [],
}
"""Columns of values, by the header's field."""

SYMMETRIES = ("general", "symmetric", "skew-symmetric")

HEADER_LINE = 1 << 16
"""Maximum bytes of a line before the entries."""

SPARSEST = 1 << 10
"""Maximum number of rows per byte of text. With more, the header is wrong, and each row takes memory."""


def read_edge_list(
    path: str | os.PathLike[str],
    n: int | None = None,
    columns: Columns = COLUMNS,
    relabel: bool = False,
    comments: str | Iterable[str] | None = texts.COMMENTS,
    drop: bool = False,
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
        Marks that comments in a text begin with.
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
    names, marks = texts.matching(path), texts.checked(comments)
    if all(name.endswith((".parquet", ".pq")) or os.path.isdir(name) for name in names):
        return tables.parquet(path, columns, drop)
    words = relabel and _has_words(names[0], marks)
    task = delayed(parse)
    return Pieces(
        task(name, at, texts.BLOCK, n, words, marks) for name in names for at in texts.starts(name)
    )


def _has_words(name: str, marks: tuple[bytes, ...]) -> bool:
    """Whether an end of a file's first edge is not an integer from 0."""
    fields = texts.first_line(name, marks).replace(",", " ").split()[:2]
    return bool(fields) and _edges(" ".join(fields).encode(), None) is None


def parse(
    name: str,
    start: int,
    size: int,
    n: int | None = None,
    words: bool = False,
    marks: tuple[bytes, ...] = texts.HASHES,
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
        Marks that comments begin with.

    Raises
    ------
    InputError
        A line is not an edge, or does not have as many fields as the first edge of its block.
    """
    width = 0

    def read(text: bytes) -> Piece | None:
        nonlocal width
        edges = _word_edges(text) if words else _edges(text, n)
        if edges is None or not len(edges[0]):
            return edges
        own = 2 if edges[2] is None else 3
        width = width or own
        return edges if own == width else None

    def expected(line: int) -> str:
        ends = f"node ids from 0{'' if n is None else f' to {n - 1}'}, such as 12 and not 12.0,"
        first = (
            "; of a file whose first line names columns, choose two: Graph.from_csv, or --columns"
        )
        return (
            f"an edge: expected two {'names' if words else ends} and optionally a finite weight"
            f"{', as in the lines before' if line > 1 else ''}; integers have at most 64 bits, and beside "
            f"floats those that float64 holds{first * (line == 1)}"
        )

    parts = texts.parsed(name, start, size, read, expected, marks)
    found = [edges for edges in parts if len(edges[0])]
    if not found:
        return np.empty(0, np.int64), np.empty(0, np.int64), None
    src, dst = (np.concatenate([edges[end] for edges in found]) for end in (0, 1))
    weights = [w for _, _, w in found if w is not None]
    if not weights:
        return src, dst, None
    return src, dst, joined(weights, common_dtype([(w.dtype, extremes(w)) for w in weights]))


def _edges(text: bytes, n: int | None) -> Piece | None:
    """Edges with ids below n, or None if the text is not a list of such edges.

    Weights are int64 if all fit, else uint64, else float64, so integers are read exactly.
    """
    if b"," in text:
        bare = b"\n" + text.translate(None, b" \t")
        if (b",," in bare or b"\n," in bare) and EMPTY_FIELD.search(text):
            return None
        text = text.replace(b",", b" ")
    if not texts.consists(text, texts.NUMERALS):
        return None
    rows = texts.loaded(text, np.int64)
    if rows is not None:
        if not rows.size:
            return np.empty(0, np.int64), np.empty(0, np.int64), None
        columns = [np.ascontiguousarray(column) for column in rows.T]
    else:
        tried = (texts.loaded(text, [*ENDS, ("weight", kind)]) for kind in (np.uint64, np.float64))
        rows = next((found for found in tried if found is not None), None)
        if rows is None:
            return None
        columns = [np.ascontiguousarray(rows[name]) for name in rows.dtype.names or ()]
    most = np.iinfo(np.int64).max if n is None else n - 1
    if len(columns) not in (2, 3) or any(c.min() < 0 or c.max() > most for c in columns[:2]):
        return None
    weights = columns[2] if len(columns) == 3 else None
    if weights is not None and weights.dtype == np.float64:
        large = np.flatnonzero(abs(weights) >= 2**53)
        if not np.isfinite(weights).all():
            return None
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


class Header(NamedTuple):
    """The header of a file, which takes `lines` lines."""

    field: str
    symmetry: str
    sizes: tuple[int, ...]
    lines: int


def read_matrix_market(path: str | os.PathLike[str]) -> Any:
    """The square sparse matrix of a Matrix Market file (``.mtx``, ``.mtx.gz``) that lists its entries.

    Returns
    -------
    scipy.sparse.coo_array, square, with the dtype of the file's field. Both triangles of "symmetric" files
    are filled.

    Raises
    ------
    InputError
        The file does not exist, is not such a file, or its matrix is not square. The message names the line
        at fault, if there is one.
    """
    name = texts.check_file(path)
    try:
        with gzip.open(name) if name.endswith(".gz") else open(name, "rb") as file:
            header = _header(name, file)
            text = file.read()
    except texts.UNREADABLE as error:
        raise InputError(f"{name}: not a Matrix Market file: {error}") from None
    rows, columns, *_ = header.sizes
    if rows != columns:
        raise InputError(f"{name}: an adjacency matrix must be square, it is {rows} x {columns}")
    if rows > SPARSEST * (len(text) + HEADER_LINE):
        _fail(name, f"{len(text)} bytes of entries are too few for {rows} rows")
    row, column, values = _listed(name, header, text)
    from scipy.sparse import coo_array

    if header.symmetry != "general":
        off = np.flatnonzero(row != column)
        mirrored = -values[off] if header.symmetry == "skew-symmetric" else values[off]
        row, column = np.append(row, column[off]), np.append(column, row[off])
        values = np.append(values, mirrored)
    return coo_array((values, (row, column)), shape=(rows, columns))


def _fail(name: str, what: str) -> NoReturn:
    raise InputError(f"{name}: not a Matrix Market file: {what}")


def _header(name: str, file: Any) -> Header:
    """Parse the header."""
    banner = file.readline(HEADER_LINE).removeprefix(texts.MARK).decode("latin-1").lower().split()
    if len(banner) != 5 or banner[:2] != ["%%matrixmarket", "matrix"]:
        _fail(name, "line 1 must be '%%MatrixMarket matrix', format, field and symmetry")
    kind, field, symmetry = banner[2:]
    for word, known in ((kind, ["coordinate"]), (field, FIELDS), (symmetry, SYMMETRIES)):
        if word not in known:
            _fail(name, f"line 1: {word!r} is not one of {', '.join(known)}")
    lines = 1
    while line := file.readline(HEADER_LINE):
        lines += 1
        if line.strip() and not line.startswith(b"%"):
            break
    fields = line.split()
    if len(fields) != 3 or not all(f.isdigit() and len(f) < 19 for f in fields):
        _fail(name, f"line {lines}: must have 3 sizes")
    return Header(field, symmetry, tuple(map(int, fields)), lines)


def _listed(name: str, header: Header, text: bytes) -> tuple[NDArray, NDArray, NDArray]:
    """Rows, columns and values of a file that lists its entries."""
    n, _, count = header.sizes
    columns = [("row", np.int64), ("column", np.int64), *FIELDS[header.field]]

    def read(text: bytes) -> Any:
        return texts.loaded(text, columns) if texts.consists(text) else None

    text = re.sub(rb"%[^\n]*", b"", text)
    entries = read(text)
    if entries is None:
        line, what = texts.wrong_line(text, read)
        _fail(name, f"Line {header.lines + line}: {what[:80]!r} is not an entry")
    if len(entries) != count:
        what = "Truncated" if len(entries) < count else "Too long"
        _fail(name, f"{what}: line {header.lines} says {count} entries, there are {len(entries)}")
    row, column = entries["row"] - 1, entries["column"] - 1
    wrong = np.flatnonzero((row < 0) | (row >= n) | (column < 0) | (column >= n))
    if len(wrong):
        at = entries[wrong[0]]
        # the number of the line is right if there are no comments between the entries
        line, entry = header.lines + 1 + wrong[0], f"({at['row']}, {at['column']})"
        _fail(name, f"Line {line}: entry {entry} is outside {n} x {n}")
    values = np.ones(count, bool) if header.field == "pattern" else entries["value"]
    return row, column, values


def nodes_of(given: str | int, folder: str | os.PathLike[str] = "") -> Any:
    """Nodes for the argument `nodes` of `dgsuite.partition.graph.graph.Graph.from_edges`.

    Parameters
    ----------
    given
        A number of nodes, or ``FILE[:COLUMN]``: a file, a folder or a pattern of Parquet or CSV, whose column
        may be left out where it is the only one; or a text file with a node in each line, with comments
        as in `read_edge_list`. These are integers if all are, else text.
    folder
        Where a path starts.

    Raises
    ------
    InputError
        There is no such file or column, or the file cannot be read.
    """
    if isinstance(given, int) or (given.isascii() and given.isdecimal()):
        return int(given)
    name = given if "://" in given else os.path.abspath(os.path.join(folder, given))
    path, colon, column = name.rpartition(":")
    if not colon or column.startswith("//") or os.path.exists(name):
        path, column = name, ""
    files = texts.matching(path)
    if all(each.endswith((*tables.PARQUET, *tables.CSV)) or os.path.isdir(each) for each in files):
        return tables.column(given.removesuffix(f":{column}"), files, column)
    if column:
        raise InputError(
            f"{path}: text has no columns: a node is a line; files of Parquet and CSV have columns"
        )
    nodes: list[str] = []
    for name in files:
        for at in texts.starts(name):
            found = texts.parsed(name, at, texts.BLOCK, _decoded, lambda line: "text in UTF-8")
            nodes += [
                node for text in found for line in text.split("\n") if (node := line.strip(BLANKS))
            ]
    if all(map(NUMBER.fullmatch, nodes)):
        return exact_array([int(node) for node in nodes]) if nodes else np.empty(0, np.int64)
    return exact_array(nodes)


def _decoded(text: bytes) -> str | None:
    try:
        return text.decode()
    except UnicodeDecodeError:
        return None
