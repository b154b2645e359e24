"""Read Matrix Market files. The memory used depends on the size of the text, whatever the header says."""

from __future__ import annotations

import gzip
import os
import re
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.partition.sources.paths import check_file
from dgsuite.partition.sources.text import MARK, UNREADABLE, consists, loaded, wrong_line

FIELDS: dict[str, list[tuple[str, type]]] = {
    "real": [("value", np.float64)],
    "double": [("value", np.float64)],
    "integer": [("value", np.int64)],
    "unsigned-integer": [("value", np.uint64)],
    "pattern": [],
}
"""Columns of values, by the header's field."""

SYMMETRIES = ("general", "symmetric", "skew-symmetric")

COMMENT = re.compile(rb"%[^\n]*")

LINE = 1 << 16
"""Maximum bytes of a line before the entries."""

SPARSEST = 1 << 10
"""Maximum number of rows per byte of text. With more, the header is wrong, and each row takes memory."""


class Header(NamedTuple):
    """The header of a file, which takes `lines` lines."""

    field: str
    symmetry: str
    sizes: tuple[int, ...]
    lines: int


def read(path: str | os.PathLike[str]) -> Any:
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
    name = check_file(path)
    try:
        with gzip.open(name) if name.endswith(".gz") else open(name, "rb") as file:
            header = _header(name, file)
            text = file.read()
    except UNREADABLE as error:
        raise InputError(f"{name}: not a Matrix Market file: {error}") from None
    rows, columns, *_ = header.sizes
    if rows != columns:
        raise InputError(f"{name}: an adjacency matrix must be square, it is {rows} x {columns}")
    if rows > SPARSEST * (len(text) + LINE):
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
    banner = file.readline(LINE).removeprefix(MARK).decode("latin-1").lower().split()
    if len(banner) != 5 or banner[:2] != ["%%matrixmarket", "matrix"]:
        _fail(name, "line 1 must be '%%MatrixMarket matrix', format, field and symmetry")
    kind, field, symmetry = banner[2:]
    for word, known in ((kind, ["coordinate"]), (field, FIELDS), (symmetry, SYMMETRIES)):
        if word not in known:
            _fail(name, f"line 1: {word!r} is not one of {', '.join(known)}")
    lines = 1
    while line := file.readline(LINE):
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
        return loaded(text, columns) if consists(text) else None

    text = COMMENT.sub(b"", text)
    entries = read(text)
    if entries is None:
        line, what = wrong_line(text, read)
        _fail(name, f"Line {header.lines + line}: {what[:80]!r} is not an entry")
    if len(entries) != count:
        what = "Truncated" if len(entries) < count else "Too long"
        _fail(name, f"{what}: line {header.lines} says {count} entries, there are {len(entries)}")
    row, column = entries["row"] - 1, entries["column"] - 1
    wrong = np.flatnonzero((row < 0) | (row >= n) | (column < 0) | (column >= n))
    if len(wrong):
        at = entries[wrong[0]]
        # the number of the line is right if there are no comments between the entries
        _fail(
            name,
            f"Line {header.lines + 1 + wrong[0]}: entry ({at['row']}, {at['column']}) is outside "
            f"{n} x {n}",
        )
    values = np.ones(count, bool) if header.field == "pattern" else entries["value"]
    return row, column, values
