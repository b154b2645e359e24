"""Edge lists in columns of files: Parquet and Delta by Arrow, CSV by Dask."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dgsuite.base.errors import InputError
from dgsuite.base.extras import pip_install
from dgsuite.partition.sources.edges import Columns, Pieces, of_columns, of_partition, settled
from dgsuite.partition.sources.paths import matching
from dgsuite.partition.sources.piece import Piece, as_piece

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.dataset as pads

PIECE = 32 << 20
"""Bytes of files that a task reads; of a larger file a task reads some groups of rows."""

ENDINGS = (".parquet", ".parq", ".pq")
"""How files end that are read in a folder, if some do."""

CSV = (".csv", ".csv.gz")
"""How files end whose first line names columns, if some are asked for."""


@dataclass
class Table:
    """Files with the same columns.

    Attributes
    ----------
    name
        For messages.
    schema
        Names and types of the columns, of Arrow.
    fragments
        The files.
    """

    name: str
    schema: Any
    fragments: Sequence[pads.Fragment]

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        found: list[str] = self.schema.names
        return found

    def settled(self, columns: Columns) -> Columns:
        """The columns as names that are not defaults: see `dgsuite.partition.sources.edges.settled`."""
        return settled(self, columns, f"{self.name}: ")

    def narrow(self, columns: Columns) -> bool:
        """Whether both ends are integers of fewer than 64 bits: see `sources.frames.narrow`."""
        import pyarrow as pa

        ends = [self.schema.field(name).type for name in columns[:2]]
        return all(pa.types.is_integer(kind) and kind.bit_width < 64 for kind in ends)

    def pieces(self, columns: Columns) -> Pieces:
        """The edges, read by tasks; of a table without files, no edges.

        Parameters
        ----------
        columns
            As `settled` returns them.
        """
        named = [column for column in columns if column is not None]
        groups = list(_grouped(self.fragments))
        if not groups:
            return Pieces([_piece(self.schema.empty_table(), named, "")])
        from dask import delayed

        read = delayed(_read, traverse=False)
        return Pieces(
            read(group, self.schema, named, of_partition(i)) for i, group in enumerate(groups)
        )


@dataclass
class Held(Table):
    """A table in memory.

    Attributes
    ----------
    table
        The table, of Arrow.
    """

    table: pa.Table

    def pieces(self, columns: Columns) -> Pieces:
        """The edges."""
        named = [column for column in columns if column is not None]
        return Pieces([_piece(self.table, named, "")])


def held(frame: Any) -> Held:
    """A table that another library has in memory.

    Raises
    ------
    InputError
        It cannot be read, or packages are missing.
    """
    name = f"{type(frame).__module__.partition('.')[0]}.{type(frame).__name__}"
    with needing(name, "a table of Arrow", "parquet"):
        import pyarrow as pa

        if hasattr(frame, "__arrow_c_stream__"):
            table = pa.RecordBatchReader.from_stream(frame).read_all()
        else:
            from pyarrow.interchange import from_dataframe

            table = from_dataframe(frame)
        return Held(name, table.schema, [], table)


def parquet(path: str | os.PathLike[str]) -> Table:
    """Parquet files: one, those of a folder, of a pattern, or at a URL of fsspec.

    Raises
    ------
    InputError
        There is no such file, it is not Parquet, or packages are missing.
    """
    name = os.fspath(path)
    found = matching(path)
    with needing(name, "a Parquet file", "parquet"):
        import pyarrow.dataset as pads
        from fsspec.core import url_to_fs

        sets = []
        for each in found:
            files, inner = url_to_fs(each)
            folder = files.isdir(inner)
            below = _in_folder(files.find(inner), inner) if folder else [inner]
            base = inner if folder else None
            if not below:
                raise InputError(f"{each}: there is no Parquet file in this folder")
            sets.append(
                pads.dataset(
                    below,
                    filesystem=files,
                    format="parquet",
                    partitioning="hive" if folder else None,
                    partition_base_dir=base,
                )
            )
        return _table(name, sets)


def _in_folder(files: Iterable[str], folder: str) -> list[str]:
    """The files of a folder that hold rows, not what programs write beside them."""
    below = [
        file
        for file in sorted(files)
        if not any(part.startswith((".", "_")) for part in file[len(folder) :].split("/"))
    ]
    return [file for file in below if file.endswith(ENDINGS)] or below


def delta(path: str | os.PathLike[str], version: int | None = None) -> Table:
    """A Delta table.

    Parameters
    ----------
    version
        By default the newest.

    Raises
    ------
    InputError
        There is no such table, it cannot be read, or packages are missing.
    """
    name = os.fspath(path)
    with needing(name, "a Delta table", "delta"):
        from deltalake import DeltaTable

        return _table(name, [DeltaTable(name, version=version).to_pyarrow_dataset()])


def csv(
    path: str | os.PathLike[str], columns: Columns, read: Mapping[str, Any]
) -> tuple[Any, Columns]:
    """A Dask dataframe of CSV files, and the columns as `sources.edges.settled` returns them.

    Parameters
    ----------
    read
        Arguments of `dask.dataframe.read_csv`.

    Raises
    ------
    InputError
        There is no such file, a column is missing, the file cannot be read, or packages are missing.
    """
    name = os.fspath(path)
    found = matching(path)
    with needing(name, "a CSV file", "parquet"):
        import dask.dataframe as dd

        frame = dd.read_csv(found, **read)
        columns = settled(frame, columns, f"{name}: ")
        return frame[[column for column in columns if column is not None]], columns


@contextmanager
def needing(name: str, form: str, extra: str) -> Iterator[None]:
    """Say which packages reading needs, or that a file is not of a form."""
    try:
        yield
    except InputError:
        raise
    except ImportError as error:
        raise InputError(
            f"{name}: reading {form} needs more packages: {pip_install(extra)} ({error})"
        ) from None
    except Exception as error:  # the type depends on what is damaged
        reason = str(error.__cause__ or error).partition("\n")[0]
        raise InputError(f"{name}: not {form}: {reason}") from None


def _table(name: str, sets: Sequence[pads.Dataset]) -> Table:
    fragments = [fragment for each in sets for fragment in each.get_fragments()]
    return Table(name, sets[0].schema, fragments)


def _grouped(fragments: Sequence[pads.Fragment]) -> Iterator[list[pads.Fragment]]:
    """Fragments of about `PIECE` bytes together; none of no bytes at all."""
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


def _read(fragments: list[pads.Fragment], schema: Any, named: Sequence[Any], where: str) -> Piece:
    import pyarrow as pa

    # without threads, since Dask runs a task on each core
    tables = [f.to_table(schema, columns=list(named), use_threads=False) for f in fragments]
    return _piece(pa.concat_tables(tables), named, where)


def _piece(table: pa.Table, named: Sequence[Any], where: str) -> Piece:
    source, target, *weights = (table[name] for name in named)
    return as_piece(source, target, weights[0] if weights else None, where, of_columns(named))
