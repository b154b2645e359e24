"""Files of CSV, read by pandas in blocks. What names nodes stays as it is written where numbers would not.

``007`` and ``7`` are two names, ``NA`` is one, and an empty field has no value.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from dask.utils import parse_bytes

from dgsuite.base.errors import InputError
from dgsuite.partition.client.tasks import delayed
from dgsuite.partition.sources.edges import Columns, Pieces, of_columns, of_partition, settled
from dgsuite.partition.sources.paths import matching
from dgsuite.partition.sources.piece import Piece, as_piece

ENDINGS = (".csv", ".csv.gz")
"""How files end that are CSV."""

BLOCK = 64 << 20
"""Bytes of a file that a task reads."""

Block = tuple[str, int | None, int]
"""A file, where a block of it begins, or None for all of it, and how many bytes it has."""

IN_BLOCKS = {"blocksize", "sep", "delimiter", "dtype", "decimal", "thousands", "storage_options"}
"""Arguments with which a file may be read in blocks, whose lines of data are all alike."""

TAKEN = ("storage_options", "compression", "index_col")
"""Arguments that are done with once a file is open and its columns are known."""

ABSENT = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "None")
"""Fields of weights that have no value. Of names only the empty one has none."""

PADDED = re.compile(rb"[^\w.-](?:\+|-?0[0-9])")
"""How integers begin that a number would not give back as they are written."""

WHOLE = r"-?(?:0|[1-9][0-9]*)(?:\.0*)?"
"""How integers are written, also by programs that make floats of them where a row has none."""


def pieces(
    path: str | os.PathLike[str], columns: Columns, read: Mapping[str, Any], drop: bool = False
) -> Pieces:
    """The edges of files, read by tasks.

    Parameters
    ----------
    path
        As for `dgsuite.partition.sources.paths.matching`.
    columns
        See `dgsuite.partition.sources.edges.Columns`.
    read
        Arguments of `pandas.read_csv`; and ``blocksize``, bytes of a file that a task reads.
    drop
        Whether rows without a value are left out, and counted.

    Raises
    ------
    InputError
        There is no such file, a column is missing, or an argument is unknown.
    """
    found, options = matching(path), dict(read)
    size = parse_bytes(options.pop("blocksize", None) or BLOCK)
    named = settled(_read(found[0], options, nrows=0), columns, f"{os.fspath(path)}: ")
    source, target, weight = named
    wanted = [source, target, *([] if weight is None else [weight])]
    blocks = [
        (name, start, size)
        for name in found
        for start in (_starts(name, size, options) if IN_BLOCKS.issuperset(options) else [None])
    ]
    task = delayed(_piece)
    return Pieces(
        task(block, wanted, options, of_partition(i), drop) for i, block in enumerate(blocks)
    )


def column(found: Sequence[str], name: Hashable) -> Any:
    """A column of files that names nodes.

    Raises
    ------
    InputError
        A file cannot be read.
    """
    import pandas as pd

    return pd.concat([_frame((each, None, 0), [name], 1, {})[name] for each in found])


def names(path: str) -> list[str]:
    """Names of the columns of a file.

    Raises
    ------
    InputError
        The file cannot be read.
    """
    return [str(name) for name in _read(path, {}, nrows=0).columns]


def _read(source: Any, read: Mapping[str, Any], **more: Any) -> Any:
    import pandas as pd

    try:
        return pd.read_csv(source, **{"low_memory": False, **read, **more})
    except (TypeError, ValueError) as error:
        where = source if isinstance(source, str) else "CSV"
        raise InputError(f"{where}: cannot be read: {str(error).partition(chr(10))[0]}") from None


def _starts(name: str, size: int, read: Mapping[str, Any]) -> list[int | None]:
    """Where the blocks of a file begin; None for one that is read whole."""
    from fsspec.core import url_to_fs

    files, inner = url_to_fs(name, **read.get("storage_options", {}))
    length = files.size(inner)
    return [None] if name.endswith(".gz") or length <= size else [*range(0, length, size)]


def _piece(
    block: Block, named: list[Hashable], read: dict[str, Any], where: str, drop: bool
) -> Piece:
    frame = _frame(block, named, 2, read)
    source, target, *weights = (frame[column] for column in named)
    names = of_columns(named)
    return as_piece(source, target, weights[0] if weights else None, where, names, drop)


def _frame(block: Block, named: list[Hashable], ends: int, read: dict[str, Any]) -> Any:
    """Columns of a block, by name, of which the first `ends` name nodes: all are text where one must be."""
    import fsspec
    from fsspec.utils import read_block

    name, start, size = block
    storage = read.get("storage_options", {})
    with fsspec.open(name, "rb", compression=read.get("compression", "infer"), **storage) as file:
        if start is None:
            text = file.read()
        else:
            head = file.readline() if start else b""
            text = head + read_block(file, start, size, b"\n")
    naming = named[:ends]
    read = {key: value for key, value in read.items() if key not in TAKEN}
    absent = {each: [""] if each in naming else ABSENT for each in named}
    read = {"keep_default_na": False, "na_values": absent, **read, "usecols": named}
    given = read.pop("dtype", None)
    if given is not None:
        kinds = given if isinstance(given, Mapping) else dict.fromkeys(naming, given)
        return _read(io.BytesIO(text), read, dtype=kinds)
    frame = _read(io.BytesIO(text), read)
    found = {frame[each].dtype.kind for each in naming}
    if found == {"O"} or (found <= set("iu") and not PADDED.search(b"\n" + text)):
        return frame
    frame = _read(io.BytesIO(text), read, dtype=dict.fromkeys(naming, str))
    if all(frame[each].str.fullmatch(WHOLE, na=True).all() for each in naming):
        for kind in ("Int64", "UInt64"):
            try:
                return {**frame, **{name: _whole(frame[name]).astype(kind) for name in naming}}
            except (ValueError, OverflowError):  # another kind, or text, holds all
                continue
    return frame


def _whole(texts: Any) -> Any:
    """Integers as text without a fraction."""
    return texts.str.replace(r"\.0*$", "", regex=True)
