"""Read Matrix Market files. The memory used depends on the size of the text, whatever the header says."""

from __future__ import annotations

import gzip
import io
import re
import warnings
import zlib
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.partition.sources.text import MARK, consists

FIELDS: dict[str, list[tuple[str, type]]] = {
    "real": [("value", np.float64)],
    "double": [("value", np.float64)],
    "integer": [("value", np.int64)],
    "unsigned-integer": [("value", np.uint64)],
    "complex": [("real", np.float64), ("imaginary", np.float64)],
    "pattern": [],
}
"""Columns of values, by the header's field."""

SYMMETRIES = ("general", "symmetric", "skew-symmetric", "hermitian")
FORMATS = {"coordinate": 3, "array": 2}
"""Number of sizes in the header of each format."""

COMMENT = re.compile(rb"%[^\n]*")

LINE = 1 << 16
"""Maximum bytes of a line before the entries."""

SPARSEST = 1 << 10
"""Maximum number of rows per byte of text. With more, the header is wrong, and each row takes memory."""


class Header(NamedTuple):
    """The header of a file, which takes `lines` lines."""

    format: str
    field: str
    symmetry: str
    sizes: tuple[int, ...]
    lines: int


def read(name: str) -> Any:
    """The square sparse matrix of a file; see `dgsuite.partition.sources.readers.read_matrix_market`."""
    try:
        with gzip.open(name) if name.endswith(".gz") else open(name, "rb") as file:
            header = _header(name, file)
            text = file.read()
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{name}: not a Matrix Market file: {error}") from None
    rows, columns, *_ = header.sizes
    if rows != columns:
        raise InputError(f"{name}: an adjacency matrix must be square, it is {rows} x {columns}")
    if rows > SPARSEST * (len(text) + LINE):
        _fail(name, f"{len(text)} bytes of entries are too few for {rows} rows")
    row, column, values = (_listed if header.format == "coordinate" else _dense)(name, header, text)
    from scipy.sparse import coo_array

    if header.symmetry != "general":
        off = np.flatnonzero(row != column)
        mirrored = values[off]
        if header.symmetry == "skew-symmetric":
            mirrored = -mirrored
        elif header.symmetry == "hermitian":
            mirrored = mirrored.conj()
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
    for word, known in ((kind, FORMATS), (field, FIELDS), (symmetry, SYMMETRIES)):
        if word not in known:
            _fail(name, f"line 1: {word!r} is not one of {', '.join(known)}")
    lines = 1
    while line := file.readline(LINE):
        lines += 1
        if line.strip() and not line.startswith(b"%"):
            break
    fields = line.split()
    if len(fields) != FORMATS[kind] or not all(f.isdigit() and len(f) < 19 for f in fields):
        _fail(name, f"line {lines}: must have {FORMATS[kind]} sizes")
    return Header(kind, field, symmetry, tuple(map(int, fields)), lines)


def _entries(name: str, header: Header, text: bytes, columns: list[tuple[str, type]]) -> NDArray:
    """All lines of the text, as an array with the given columns."""
    if not text.strip():
        return np.empty(0, columns)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the text has no data, only comments
        try:
            if consists(COMMENT.sub(b"", text)):
                return np.loadtxt(io.BytesIO(text), columns, comments="%", ndmin=1)
        except ValueError:
            pass
    for number, line in enumerate(text.split(b"\n"), header.lines + 1):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                np.loadtxt(io.BytesIO(line), columns, comments="%", ndmin=1)
            wrong = not consists(COMMENT.sub(b"", line))
        except ValueError:
            wrong = True
        if wrong:
            _fail(name, f"Line {number}: {line[:80].decode(errors='replace')!r} is not an entry")
    _fail(name, "its entries cannot be read")


def _values(entries: NDArray, header: Header) -> NDArray:
    if header.field == "pattern":
        return np.ones(len(entries), bool)
    if header.field == "complex":
        return np.asarray(entries["real"] + 1j * entries["imaginary"])
    return entries["value"]


def _listed(name: str, header: Header, text: bytes) -> tuple[NDArray, NDArray, NDArray]:
    """Rows, columns and values of a file that lists its entries."""
    n, _, count = header.sizes
    entries = _entries(
        name, header, text, [("row", np.int64), ("column", np.int64), *FIELDS[header.field]]
    )
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
    return row, column, _values(entries, header)


def _dense(name: str, header: Header, text: bytes) -> tuple[NDArray, NDArray, NDArray]:
    """Rows, columns and values of the entries that are not zero, of a dense file."""
    n = header.sizes[0]
    if header.field == "pattern":
        _fail(name, "line 1: an array cannot be a pattern")
    entries = _entries(name, header, text, FIELDS[header.field])
    skew = header.symmetry == "skew-symmetric"
    count = (
        n * n if header.symmetry == "general" else n * (n - 1) // 2 if skew else n * (n + 1) // 2
    )
    if len(entries) != count:
        what = "Truncated" if len(entries) < count else "Too long"
        _fail(name, f"{what}: {n} x {n} needs {count} entries, there are {len(entries)}")
    values = _values(entries, header)
    if header.symmetry == "general":
        at = np.flatnonzero(values)
        return at % n, at // n, values[at]
    column, row = np.triu_indices(n, int(skew))
    at = np.flatnonzero(values)
    return row[at], column[at], values[at]
