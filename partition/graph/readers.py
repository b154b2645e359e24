"""The constructors of a graph that read files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from inspect import signature
from typing import Any, Self

from dgsuite.partition.graph.constructors import Constructors, drops
from dgsuite.partition.sources import edges
from dgsuite.partition.sources.text import COMMENTS


class Readers(Constructors):
    """The constructors of `dgsuite.partition.graph.graph.Graph` that read files."""

    @classmethod
    def from_parquet(
        cls,
        path: str | os.PathLike[str],
        source: str = "source",
        target: str = "target",
        weight: str | None = "weight",
        **options: Any,
    ) -> Self:
        """Make a graph from Parquet files with an edge in each row.

        Parameters
        ----------
        path
            A file or a folder of files, a pattern such as ``part*.parquet``, or a URL of fsspec.
        source, target, weight, options
            As for `from_dataframe`; with ``directed=True`` edges have a direction.

        Raises
        ------
        InputError
            A file does not exist or cannot be read, or as `from_dataframe` says.

        Examples
        --------
        >>> import pandas as pd
        >>> from dgsuite import Graph
        >>> frame = pd.DataFrame({"source": [0, 1], "target": [1, 2]})
        >>> frame.to_parquet("edges.parquet")
        >>> Graph.from_parquet("edges.parquet")
        <dgsuite.Graph: 3 nodes, 2 edges, undirected; 1 clusters in this process>
        """
        from dgsuite.partition.sources import tables

        with edges.refusing_damage(path):
            pieces = tables.parquet(path, (source, target, weight), drops(options))
            return cls._named(pieces, **options)

    @classmethod
    def from_delta(
        cls,
        path: str | os.PathLike[str],
        source: str = "source",
        target: str = "target",
        weight: str | None = "weight",
        *,
        version: int | None = None,
        **options: Any,
    ) -> Self:
        """Make a graph from a Delta table with an edge in each row; needs the extra ``delta``.

        Parameters
        ----------
        path
            The folder of the table, or a URL that deltalake knows.
        version
            Version of the table; by default the newest.
        source, target, weight, options
            As for `from_dataframe`; with ``directed=True`` edges have a direction.

        Raises
        ------
        InputError
            There is no such table, packages are missing, or as `from_dataframe` says.

        Examples
        --------
        >>> import pandas as pd
        >>> from deltalake import write_deltalake
        >>> from dgsuite import Graph
        >>> frame = pd.DataFrame({"source": [0, 1], "target": [1, 2]})
        >>> write_deltalake("edges", frame)
        >>> Graph.from_delta("edges")
        <dgsuite.Graph: 3 nodes, 2 edges, undirected; 1 clusters in this process>
        """
        from dgsuite.partition.sources import tables

        with edges.refusing_damage(path):
            pieces = tables.delta(path, version, (source, target, weight), drops(options))
            return cls._named(pieces, **options)

    @classmethod
    def from_csv(
        cls,
        path: str | os.PathLike[str],
        source: str = "source",
        target: str = "target",
        weight: str | None = "weight",
        *,
        read: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> Self:
        """Make a graph from CSV files with a line of column names and an edge in each other line.

        Parameters
        ----------
        path
            A file, a pattern such as ``part*.csv``, or a URL of fsspec.
        read
            Arguments of `pandas.read_csv`, such as ``{"sep": ";"}``, and ``blocksize``, the bytes that a task
            reads. Ends of edges are integers if all of them are written as integers are, else text: ``007``
            and ``NA`` are names, and an empty field has no value. With ``{"dtype": str}`` they are text.
        source, target, weight, options
            As for `from_dataframe`; with ``directed=True`` edges have a direction.

        Raises
        ------
        InputError
            A file does not exist or cannot be read, or as `from_dataframe` says.

        Examples
        --------
        >>> from pathlib import Path
        >>> from dgsuite import Graph
        >>> _ = Path("edges.csv").write_text("source,target\\n7,8\\n8,9\\n")
        >>> graph = Graph.from_csv("edges.csv")
        >>> graph.n, list(graph.labels)
        (3, [7, 8, 9])
        """
        from dgsuite.partition.sources import tables

        if odd := options.keys() - signature(cls.from_edges).parameters.keys():
            raise TypeError(
                f"from_csv takes no {min(odd)!r}; arguments of pandas.read_csv go into read=, as in "
                f"read={{'sep': ';'}}"
            )
        with edges.refusing_damage(path):
            pieces = tables.csv(path, (source, target, weight), read or {}, drops(options))
            return cls._named(pieces, **options)

    @classmethod
    def read_imsuite(
        cls, path: str | os.PathLike[str] | bytes, kernel: str = "mis", **options: Any
    ) -> Self:
        """Read an input file of IMSuite.

        Parameters
        ----------
        path
            The text file, or its content as bytes.
        kernel
            The kernel that it is an input of ("bf", "lcr", "mis", ...), which decides its sections.
        options
            As for `from_edges`.

        Raises
        ------
        InputError
            The message names the file, the line, and what was expected.

        Examples
        --------
        >>> from dgsuite import genval
        >>> from dgsuite import Graph
        >>> text = genval.generate("mis", 8, "spmin", seed=101)
        >>> Graph.read_imsuite(text, "mis").n
        8
        """
        from dgsuite.partition.sources.imsuite import read

        return cls.from_edges(**vars(read(path, kernel)), **options)

    @classmethod
    def read_matrix_market(cls, path: str | os.PathLike[str], **options: Any) -> Self:
        """Read a Matrix Market file; a "general" matrix must be symmetric unless ``directed=True``.

        The rules are those of `from_scipy`: a matrix of the field "pattern" has no weights. The file lists
        its entries (format "coordinate"), which are real numbers or integers. This process reads it.

        Parameters
        ----------
        path
            The file.
        options
            As for `from_edges`.

        Raises
        ------
        InputError
            The file does not exist, is not in Matrix Market format, or its matrix is not square or not
            symmetric.

        Examples
        --------
        >>> import scipy.io
        >>> import scipy.sparse as sp
        >>> from dgsuite import Graph
        >>> scipy.io.mmwrite("edges.mtx", sp.coo_array(([1, 1], ([0, 1], [1, 0]))))
        >>> Graph.read_matrix_market("edges.mtx")
        <dgsuite.Graph: 2 nodes, 1 edges, undirected, weights int64; 1 clusters in this process>
        """
        from dgsuite.partition.sources.readers import read_matrix_market

        return cls.from_scipy(read_matrix_market(path), **options)

    @classmethod
    def read_edge_list(
        cls,
        path: str | os.PathLike[str],
        *,
        comments: str | Iterable[str] | None = COMMENTS,
        **options: Any,
    ) -> Self:
        """Read an edge list, text or Parquet, in parallel by chunk.

        A text file has one edge per line: two node ids and optionally a weight, separated by blanks, tabs
        or commas. ``.gz`` files are decompressed. Weights are int64, or uint64, if all are integers,
        float64 otherwise. A Parquet file has columns ``source``, ``target`` and optionally ``weight``, or
        those named by `source`, `target` and `weight`.

        Nodes are 0 to the largest id, or to ``n - 1``. With ``relabel=True`` they are the identifiers that
        edges name; those of a text file are text unless both ends of the first edge are integers.

        With a client, the workers must be able to read the files.

        Parameters
        ----------
        path
            A file, a pattern such as ``part*.txt``, or a URL of fsspec.
        comments
            Marks that comments in a text begin with, as one text or several; None where there are none. A
            comment begins a line, or follows a blank or a tab: ``http://x.org/onto#eat`` is a name.
        options
            As for `from_edges`.

        Raises
        ------
        InputError
            A file does not exist, or a line is not an edge: the message names file, line and text.

        Examples
        --------
        >>> from pathlib import Path
        >>> from dgsuite import Graph
        >>> _ = Path("edges.txt").write_text("0 1\\n1 2\\n# the end\\n")
        >>> Graph.read_edge_list("edges.txt")
        <dgsuite.Graph: 3 nodes, 2 edges, undirected; 1 clusters in this process>
        """
        from dgsuite.partition.sources.readers import read_edge_list

        source, target, weight = (options.get(name, name) for name in edges.COLUMNS)
        n, relabel = options.get("n"), options.get("relabel", False)
        with edges.refusing_damage(path):
            columns = source, target, weight
            pieces = read_edge_list(path, n, columns, relabel, comments, drops(options))
            return cls.from_edges(pieces, **options)
