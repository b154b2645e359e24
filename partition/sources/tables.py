"""Edge lists in columns of files: Parquet and Delta, read by Arrow, and CSV, read by pandas in blocks.

What names nodes in CSV stays as it is written where numbers would not: ``007`` and ``7`` are two names,
``NA`` is one, and an empty field has no value.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dask.utils import parse_bytes

from dgsuite.base.errors import InputError, unknown
from dgsuite.base.extras import pip_install
from dgsuite.partition.client.tasks import delayed
from dgsuite.partition.sources import edges
from dgsuite.partition.sources.edges import Columns, Pieces
from dgsuite.partition.sources.piece import Piece
from dgsuite.partition.sources.text import matching

if TYPE_CHECKING:
    import pyarrow.dataset as pads

PIECE = 32 << 20
"""Bytes of Parquet files that a task reads; of a larger file a task reads some groups of rows."""

PARQUET = (".parquet", ".parq", ".pq")
"""How files of Parquet end that are read in a folder, if some do."""

CSV = (".csv", ".csv.gz")
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

FRACTION = r"\.0*$"
WHOLE = r"-?(?:0|[1-9][0-9]*)(?:\.0*)?"
"""How integers are written, also by programs that make floats of them where a row has none."""


def parquet(path: str | os.PathLike[str], columns: Columns, drop: bool = False) -> Pieces:
    """The edges of Parquet files, read by tasks: one, those of a folder or a pattern, or at a URL of fsspec.

    Raises
    ------
    InputError
        There is no such file, or a column is missing.
    """
    import pyarrow.dataset as pads
    from fsspec.core import url_to_fs

    fragments: list[pads.Fragment] = []
    schema: Any = None
    for each in matching(path):
        files, inner = url_to_fs(each)
        folder = files.isdir(inner)
        below = _in_folder(files.find(inner), inner) if folder else [inner]
        if not below:
            raise InputError(f"{each}: there is no Parquet file in this folder")
        kind, base = ("hive", inner) if folder else (None, None)
        options: Any = {"filesystem": files, "partitioning": kind, "partition_base_dir": base}
        found = pads.dataset(below, format="parquet", **options)
        schema = found.schema if schema is None else schema
        fragments += found.get_fragments()
    return _pieces(path, schema, fragments, columns, drop)


def delta(
    path: str | os.PathLike[str], version: int | None, columns: Columns, drop: bool = False
) -> Pieces:
    """The edges of a Delta table, by default of its newest version, read by tasks.

    Raises
    ------
    InputError
        There is no such table, packages are missing, or as `parquet`.
    """
    name = os.fspath(path)
    try:
        from deltalake import DeltaTable
    except ImportError as error:
        raise InputError(
            f"{name}: reading a Delta table needs more packages: {pip_install('delta')} ({error})"
        ) from None
    try:
        found = DeltaTable(name, version=version).to_pyarrow_dataset()
    except Exception as error:  # the type depends on what is damaged
        reason = str(error).partition("\n")[0]
        raise InputError(f"{name}: not a Delta table: {reason}") from None
    return _pieces(path, found.schema, list(found.get_fragments()), columns, drop)


def _pieces(
    path: str | os.PathLike[str],
    schema: Any,
    fragments: Sequence[pads.Fragment],
    columns: Columns,
    drop: bool,
) -> Pieces:
    """The edges of files, read by tasks; of a table without files, no edges."""
    named = edges.settled(schema.names, columns, f"{os.fspath(path)}: ")
    if not fragments:
        return Pieces([edges.of_table(schema.empty_table(), named)])
    task = delayed(_rows)
    return Pieces(
        task(group, schema, named, edges.of_partition(i), drop)
        for i, group in enumerate(_grouped(fragments))
    )


def _in_folder(files: Iterable[str], folder: str) -> list[str]:
    """The files of a folder that hold rows, not what programs write beside them."""
    below = [
        file
        for file in sorted(files)
        if not any(part.startswith((".", "_")) for part in file[len(folder) :].split("/"))
    ]
    return [file for file in below if file.endswith(PARQUET)] or below


def _grouped(fragments: Sequence[pads.Fragment]) -> Iterator[list[pads.Fragment]]:
    """Fragments of about `PIECE` bytes together."""
    group: list[pads.Fragment] = []
    size = 0
    for fragment, more in _sized(fragments):
        group.append(fragment)
        size += more
        if size >= PIECE:
            yield group
            group, size = [], 0
    if group:
        yield group


def _sized(fragments: Sequence[pads.Fragment]) -> Iterator[tuple[pads.Fragment, int]]:
    """Fragments with their bytes; large ones by groups of rows."""
    for fragment in fragments:
        size = fragment.filesystem.get_file_info(fragment.path).size or 0
        if size < 2 * PIECE:
            yield fragment, size
        else:
            for some in fragment.split_by_row_group():
                yield some, sum(rows.total_byte_size for rows in some.row_groups)


def _rows(
    fragments: list[pads.Fragment], schema: Any, named: list[Any], where: str, drop: bool
) -> Piece:
    import pyarrow as pa

    # without threads, since Dask runs a task on each core
    tables = [f.to_table(schema, columns=named, use_threads=False) for f in fragments]
    return edges.of_table(pa.concat_tables(tables), named, where, drop)


def csv(
    path: str | os.PathLike[str], columns: Columns, read: Mapping[str, Any], drop: bool = False
) -> Pieces:
    """The edges of CSV files, read by tasks.

    Parameters
    ----------
    path
        As for `dgsuite.partition.sources.text.matching`.
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
    named = edges.settled(
        _read(found[0], options, nrows=0).columns, columns, f"{os.fspath(path)}: "
    )
    blocks = [
        (name, start, size)
        for name in found
        for start in (_starts(name, size, options) if IN_BLOCKS.issuperset(options) else [None])
    ]
    task = delayed(_lines)
    return Pieces(
        task(block, named, options, edges.of_partition(i), drop) for i, block in enumerate(blocks)
    )


def column(path: str, files: Sequence[str], name: str) -> Any:
    """A column of files of Parquet or CSV that names nodes; by the name "" the only one.

    Raises
    ------
    InputError
        There is no such column, there are several and none is named, or a file cannot be read.
    """
    import pandas as pd

    frame = None
    if not files[0].endswith(CSV):
        with edges.refusing_damage(path):
            import dask.dataframe as dd

            frame = dd.read_parquet(list(files))
    there = [*map(str, (_read(files[0], {}, nrows=0) if frame is None else frame).columns)]
    if not name and len(there) != 1:
        raise InputError(
            f"{path}: which column names nodes? {path}:COLUMN, one of {', '.join(there)}"
        )
    name = name or there[0]
    if name not in there:
        raise InputError(f"{path}: {unknown('column', name, there)}")
    if frame is not None:
        return frame[name]
    return pd.concat([_frame((each, None, 0), [name], {})[name] for each in files])


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


def _lines(
    block: Block, named: list[Hashable], read: dict[str, Any], where: str, drop: bool
) -> Piece:
    return edges.of_table(_frame(block, named, read), named, where, drop)


def _frame(block: Block, named: list[Hashable], read: dict[str, Any]) -> Any:
    """Columns of a block, by name, of which the first two name nodes: both are text where one must be."""
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
    naming = named[:2]
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
                whole = {each: frame[each].str.replace(FRACTION, "", regex=True) for each in naming}
                return {**frame, **{each: texts.astype(kind) for each, texts in whole.items()}}
            except (ValueError, OverflowError):  # another kind, or text, holds all
                continue
    return frame
