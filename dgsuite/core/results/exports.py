"""A graph with the outputs of a run as attributes of its nodes, in files that other programs read.

GEXF and GraphML are written line by line, so that what is in memory are the arrays alone.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from typing import IO, TYPE_CHECKING, Any
from xml.sax.saxutils import escape, quoteattr

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.base.extras import pip_install
from dgsuite.base.files import atomic_write
from dgsuite.base.version import __version__
from dgsuite.core.results.dataframe import columns_of
from dgsuite.partition.graph.conversion import edges_of
from dgsuite.partition.graph.dask_views import here
from dgsuite.partition.graph.graph import Graph

if TYPE_CHECKING:
    import networkx as nx
    import pyarrow as pa

FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML cannot hold."""

LINES = 1 << 12
"""Lines that are written at a time."""


@dataclass
class Content:
    """What is written.

    Attributes
    ----------
    title
        Of the dataset.
    labels
        Names of the nodes, or None where they have none.
    outputs
        Values of the nodes, by name.
    source, target
        Ends of the edges, an undirected edge once.
    weights
        Of the edges, or None.
    """

    title: str
    labels: list[Any] | None
    outputs: dict[str, NDArray]
    directed: bool
    source: NDArray
    target: NDArray
    weights: NDArray | None
    n: int


def content(dataset: xr.Dataset, graph: Graph | nx.Graph) -> Content:
    """The outputs of a run that have a value for each node, and the edges of its graph, in this process.

    Raises
    ------
    InputError
        The graph has other nodes than the dataset.
    """
    if not isinstance(graph, Graph):
        graph = Graph.from_networkx(graph)
    nodes = here(dataset["node"]).values
    names = np.arange(graph.n) if graph.labels is None else graph.labels.array
    if len(nodes) != graph.n or nodes.tolist() != names.tolist():
        raise InputError(
            f"the graph has other nodes than the dataset, which has {len(nodes)}; give the one that the run "
            f"was on"
        )
    outputs = [str(n) for n, v in dataset.data_vars.items() if v.dims[:1] == ("node",)]
    by_node = columns_of(dataset, outputs)
    by_node.pop("node", None)
    source, target, weights = edges_of(graph.to_scipy(), graph.directed)
    return Content(
        title=str(dataset.attrs["title"]),
        labels=None if graph.labels is None else nodes.tolist(),
        outputs={name: here(values).values for name, values in by_node.items()},
        directed=graph.directed,
        source=source,
        target=target,
        weights=weights if graph.weighted else None,
        n=graph.n,
    )


def write_gexf(found: Content, path: str | os.PathLike[str]) -> None:
    """Write GEXF 1.2, which Gephi reads, and ``networkx.read_gexf``."""
    with _text(path) as file:
        file.write(
            "<?xml version='1.0' encoding='utf-8'?>\n"
            '<gexf xmlns="http://www.gexf.net/1.2draft" version="1.2">\n'
            f"<meta><creator>dgsuite {__version__}</creator>"
            f"<description>{_escaped(found.title)}</description></meta>\n"
            f'<graph defaultedgetype="{_direction(found)}" mode="static">\n'
            '<attributes class="node" mode="static">\n'
        )
        columns = []
        for k, (name, values) in enumerate(found.outputs.items()):
            kind, texts = _column(values)
            columns.append(texts)
            file.write(f'<attribute id="{k}" title={_quoted(name)} type="{kind}"/>\n')
        file.write("</attributes>\n<nodes>\n")
        labels = map(str, found.labels or range(found.n))
        rows = zip(*columns, strict=True) if columns else iter([()] * found.n)
        _lines(
            file,
            (
                f'<node id="{i}" label={_quoted(label)}><attvalues>'
                + "".join(f'<attvalue for="{k}" value={_quoted(v)}/>' for k, v in enumerate(row))
                + "</attvalues></node>"
                for i, (label, row) in enumerate(zip(labels, rows, strict=True))
            ),
        )
        file.write("</nodes>\n<edges>\n")
        _lines(
            file,
            (
                f'<edge id="{k}" source="{u}" target="{v}"{weight}/>'
                for k, (u, v, weight) in enumerate(_edges(found, ' weight="{}"'.format))
            ),
        )
        file.write("</edges>\n</graph>\n</gexf>\n")


def write_graphml(found: Content, path: str | os.PathLike[str]) -> None:
    """Write GraphML, which Gephi reads, igraph, Cytoscape, and ``networkx.read_graphml``."""
    outputs = {f"n{k}": (name, *_column(v)) for k, (name, v) in enumerate(found.outputs.items())}
    if found.labels is not None:
        outputs = {"label": ("label", "string", [*map(str, found.labels)]), **outputs}
    with _text(path) as file:
        file.write(
            "<?xml version='1.0' encoding='utf-8'?>\n"
            '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
        )
        for key, (name, kind, _) in outputs.items():
            file.write(
                f'<key id="{key}" for="node" attr.name={_quoted(name)} attr.type="{kind}"/>\n'
            )
        if found.weights is not None:
            kind, _ = _column(found.weights[:0])
            file.write(f'<key id="weight" for="edge" attr.name="weight" attr.type="{kind}"/>\n')
        file.write(f'<graph edgedefault="{_direction(found)}">\n')
        columns = [texts for _, _, texts in outputs.values()]
        rows = zip(*columns, strict=True) if columns else iter([()] * found.n)
        _lines(
            file,
            (
                f'<node id="{i}">'
                + "".join(
                    f'<data key="{key}">{_escaped(value)}</data>'
                    for key, value in zip(outputs, row, strict=True)
                )
                + "</node>"
                for i, row in enumerate(rows)
            ),
        )
        _lines(
            file,
            (
                f'<edge source="{u}" target="{v}">{weight}</edge>'
                for u, v, weight in _edges(found, '<data key="weight">{}</data>'.format)
            ),
        )
        file.write("</graph>\n</graphml>\n")


def write_parquet(found: Content, folder: str | os.PathLike[str]) -> None:
    """Write ``nodes.parquet``, with a column ``node``, and ``edges.parquet``.

    Raises
    ------
    InputError
        Packages are missing, a file cannot be written, or a column of Parquet cannot hold the labels.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise InputError(
            f"Parquet files need more packages: {pip_install('parquet')} ({error})"
        ) from None
    labels = found.labels or [*range(found.n)]
    names, column = _arrow(labels), _arrow
    if names is None:
        names, column = _texts(labels), _texts
    edges = {"source": names.take(found.source), "target": names.take(found.target)}
    if found.weights is not None:
        edges["weight"] = found.weights
    outputs = {
        name: column(values.tolist()) if values.dtype == object else values
        for name, values in found.outputs.items()
    }
    nodes = {"node": names, **outputs}
    os.makedirs(folder, exist_ok=True)
    for name, table in (("nodes", nodes), ("edges", edges)):
        with atomic_write(os.path.join(folder, f"{name}.parquet")) as part:
            pq.write_table(pa.table(table), part)


def _arrow(values: list[Any]) -> pa.Array | None:
    """A column of Arrow that gives the same values when it is read; None if there is none."""
    import pyarrow as pa

    kinds = {type(value) for value in values if value is not None}
    large = kinds == {int} and max(value for value in values if value is not None) >= 2**63
    with suppress(pa.ArrowException, OverflowError, UnicodeError):
        column = pa.array(values, pa.uint64() if large else None)
        if len(kinds) < 2 and not kinds & {tuple, frozenset}:
            return column
    return None


def _texts(values: list[Any]) -> pa.Array:
    """A column of the texts of values.

    Raises
    ------
    InputError
        Two different values have the same text, or a file cannot hold it.
    """
    import pyarrow as pa

    texts = {value: str(value) for value in values if value is not None}
    with suppress(UnicodeError):
        if len({*texts.values()}) == len(texts):
            return pa.array([texts.get(value) for value in values], pa.string())
    kinds = ", ".join(sorted({type(value).__name__ for value in texts}))
    raise InputError(
        f"Parquet cannot hold the labels, of type {kinds}, and their texts are not different, or no "
        f"texts of a file; relabel the nodes, or use dgsuite.save"
    )


@contextmanager
def _text(path: str | os.PathLike[str]) -> Iterator[IO[str]]:
    """A text file that has its name once it is whole, packed as the ending says, such as ``.gz``."""
    from fsspec.compression import compr
    from fsspec.utils import infer_compression

    packed = infer_compression(os.fspath(path))
    with atomic_write(path) as part, open(part, "wb") as raw:
        made = raw if packed is None else compr[packed](raw, mode="wb")
        with io.TextIOWrapper(made, encoding="utf-8", newline="\n") as file:
            yield file


def _lines(file: IO[str], lines: Iterable[str]) -> None:
    left = iter(lines)
    while some := [*islice(left, LINES)]:
        file.write("\n".join(some) + "\n")


def _direction(found: Content) -> str:
    return "directed" if found.directed else "undirected"


def _edges(found: Content, weight: Callable[[str], str]) -> Iterator[tuple[int, int, str]]:
    """Ends of each edge, and its weight as a part of the line."""
    texts: Iterable[str] = iter([""] * len(found.source))
    if found.weights is not None:
        texts = map(weight, _column(found.weights)[1])
    return zip(found.source.tolist(), found.target.tolist(), texts, strict=True)


def _column(values: NDArray) -> tuple[str, Sequence[str]]:
    """The type of values as these formats, and Java, call it, and each as text."""
    kind = values.dtype.kind
    if kind == "b":
        return "boolean", ["true" if value else "false" for value in values.tolist()]
    if kind in "iu" and values.dtype != np.uint64:
        return "long", [str(value) for value in values.tolist()]
    if kind == "f":
        return "double", [_real(value) for value in values.tolist()]
    return "string", [str(value) for value in values.tolist()]


def _real(value: float) -> str:
    if value != value:
        return "NaN"
    return repr(value) if abs(value) < np.inf else "Infinity" if value > 0 else "-Infinity"


def _escaped(text: str) -> str:
    return escape(FORBIDDEN.sub("\ufffd", text))


def _quoted(text: str) -> str:
    return quoteattr(FORBIDDEN.sub("\ufffd", text))
