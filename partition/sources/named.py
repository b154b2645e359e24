"""Nodes that a file names: a column of Parquet or CSV, or the lines of a text file."""

from __future__ import annotations

import os
import re
from typing import Any

import numpy as np

from dgsuite.base.errors import InputError, unknown
from dgsuite.partition.labels.labels import exact_array
from dgsuite.partition.sources import tables
from dgsuite.partition.sources.edges import refusing_damage
from dgsuite.partition.sources.paths import matching
from dgsuite.partition.sources.text import MARK, bare

TABLES = (*tables.PARQUET, *tables.CSV)
"""How files end that have columns; others are text."""

NUMBER = re.compile(r"-?[0-9]{1,1000}")
"""An integer, in digits of ASCII: Python takes others, too."""

BLANKS = " \t\r\n"


def split(given: str) -> tuple[str, str | None]:
    """Path and column of ``FILE[:COLUMN]``; the column is None where only a file is named."""
    path, colon, column = given.rpartition(":")
    if not colon or column.startswith("//") or os.path.exists(given):
        return given, None
    return path, column


def nodes_of(given: str | int, folder: str | os.PathLike[str] = "") -> Any:
    """Nodes for the argument `nodes` of `dgsuite.partition.graph.graph.Graph.from_edges`.

    Parameters
    ----------
    given
        A number of nodes, or ``FILE[:COLUMN]``: a file, a folder or a pattern of Parquet or CSV, whose column
        may be left out where it is the only one; or a text file with a node in each line, with comments
        as in `dgsuite.partition.sources.readers.read_edge_list`. These are integers if all are, else text.
    folder
        Where a path starts.

    Returns
    -------
    int, dask.dataframe.Series or numpy.ndarray

    Raises
    ------
    InputError
        There is no such file or column, or the file cannot be read.
    """
    if isinstance(given, int) or (given.isascii() and given.isdecimal()):
        return int(given)
    path, column = split(given if "://" in given else os.path.abspath(os.path.join(folder, given)))
    named = given if column is None else given.removesuffix(f":{column}")
    found = matching(path)
    if all(each.endswith(TABLES) or os.path.isdir(each) for each in found):
        return _column(named, found, column)
    if column is not None:
        raise InputError(
            f"{named}: text has no columns: a node is a line; {', '.join(TABLES)} have columns"
        )
    return _lines(found)


def _column(name: str, found: list[str], column: str | None) -> Any:
    of_text = found[0].endswith(tables.CSV)
    if of_text:
        there = tables.csv_names(found[0])
    else:
        with refusing_damage(name):
            import dask.dataframe as dd

            frame = dd.read_parquet(found)
        there = [str(each) for each in frame.columns]
    if column is None and len(there) != 1:
        raise InputError(
            f"{name}: which column names nodes? {name}:COLUMN, one of {', '.join(there)}"
        )
    if column is not None and column not in there:
        raise InputError(f"{name}: {unknown('column', column, there)}")
    column = column or there[0]
    return tables.csv_column(found, column) if of_text else frame[column]


def _lines(found: list[str]) -> Any:
    lines: list[str] = []
    for name in found:
        try:
            with open(name, "rb") as file:
                content = file.read()
            text = bare(content.removeprefix(MARK)).decode()
        except OSError as error:
            raise InputError(f"{name}: cannot be read: {error}") from None
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            raise InputError(f"{name}, line {line}: cannot be read: {error}") from None
        lines += [line.strip(BLANKS) for line in text.split("\n")]
    nodes = [line for line in lines if line]
    if all(map(NUMBER.fullmatch, nodes)):
        return exact_array([int(node) for node in nodes]) if nodes else np.empty(0, np.int64)
    return exact_array(nodes)
