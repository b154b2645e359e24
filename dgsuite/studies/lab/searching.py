"""A search for a small graph and a few faults with which a kernel breaks a property."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from scipy.sparse import triu

from dgsuite.base.aliases import kernel_of
from dgsuite.base.errors import InputError, RunError, one_of
from dgsuite.base.extras import needed_by
from dgsuite.base.files import atomic_write
from dgsuite.core.running.runner import run
from dgsuite.genval import validate
from dgsuite.kernels import KERNELS
from dgsuite.partition.graph.graph import Graph
from dgsuite.studies.network.network import Crash, Network

Property = Callable[[Graph, xr.Dataset], Any]
"""Whether a result is right: a truth value, or a report of `dgsuite.genval.validate`."""

GRAPHS = ("connected", "complete", "ring", "path", "star")
FAULTS = ("drops", "crashes")

ROUNDS = 50
"""Rounds after which a run of a search ends, unless `max_rounds` is given."""


@dataclass(frozen=True)
class Example:
    """An execution that breaks a property.

    Attributes
    ----------
    kernel
        Its name.
    graph, network, parameters
        What it ran on, and with.
    dataset
        The result; None where the kernel failed.
    why
        What is wrong with it.

    Examples
    --------
    >>> import dgsuite
    >>> found = dgsuite.lab.search("bfs", lambda graph, ds: (ds.level >= 0).all(), nodes=4)
    >>> found.write("broken.toml")  # doctest: +SKIP
    """

    kernel: str
    graph: Graph
    network: Network
    parameters: dict[str, Any]
    dataset: xr.Dataset | None
    why: str

    def write(self, path: str) -> None:
        """Write an experiment file that repeats it: ``dgsuite run FILE``; its edges are beside it.

        Parameters
        ----------
        path
            Name of the file, which should end in .toml.
        """
        edges = Path(path).with_suffix(".edges")
        src, dst = triu(self.graph.to_scipy(), 1).nonzero()
        with atomic_write(str(edges)) as file:
            Path(file).write_text(
                "".join(f"{u} {v}\n" for u, v in zip(src, dst, strict=True)), encoding="utf-8"
            )
        lines = [
            f"# {self.why}",
            "[experiment]",
            f"name = {json.dumps(Path(path).stem)}",
            "plot = false",
            "",
            "[[run]]",
            f"kernel = {json.dumps(self.kernel)}",
            'style = "serial"',
            f"graph = {{edge_list = {json.dumps(edges.name)}, nodes = {self.graph.n}}}",
            f"network = {_toml(json.loads(self.network.described()))}",
            f"params = {_toml(self.parameters)}",
        ]
        with atomic_write(path) as file:
            Path(file).write_text("\n".join(lines) + "\n", encoding="utf-8")


def search(
    kernel: str,
    property: Property | None = None,
    *,
    nodes: int = 6,
    graphs: str = "connected",
    faults: tuple[str, ...] = FAULTS,
    most: int = 4,
    tries: int = 2000,
    max_rounds: int = ROUNDS,
    **parameters: Any,
) -> Example | None:
    """Look for a small graph and a few faults with which a kernel breaks a property, and make them smaller.

    Parameters
    ----------
    kernel
        Name of a kernel.
    property
        Called with a graph and the dataset of a run on it; by default `dgsuite.genval.validate`. A run that
        fails breaks any property.
    nodes
        Of a graph, at most.
    graphs
        "connected", "complete", "ring", "path" or "star".
    faults
        Which there may be: "drops", of messages in a round between two neighbours, and "crashes".
    most
        Faults of each kind, at most.
    tries
        Executions, at most, until the first that breaks the property.
    max_rounds
        Rounds after which a run ends.
    parameters
        Of the kernel, and ``seed``.

    Returns
    -------
    The smallest example that was found, or None.

    Raises
    ------
    InputError
        A parameter is wrong, or Hypothesis is not installed (the extra ``lab``).

    Notes
    -----
    Hypothesis (MacIver et al. 2019) draws and shrinks the examples; the same search finds the same one.

    Examples
    --------
    One lost message is enough for two neighbours to join an independent set, or for none to:

    >>> import dgsuite
    >>> found = dgsuite.lab.search("mis", nodes=4, faults=("drops",))
    >>> found.graph.n, len(found.network.drops)
    (2, 1)
    """
    with needed_by("dgsuite.lab.search"):
        import hypothesis
        from hypothesis.errors import NoSuchExample
    one_of("graphs", graphs, GRAPHS)
    kernel = kernel_of(kernel, KERNELS)
    for fault in faults:
        one_of("fault", fault, FAULTS)
    if nodes < 2:
        raise InputError(f"nodes must be 2 at least, got {nodes}")

    def tried(case: tuple[Graph, Network]) -> Example | None:
        graph, network = case
        try:
            ds = run(
                kernel, graph, style="serial", network=network, max_rounds=max_rounds, **parameters
            )
        except RunError as error:
            return Example(kernel, graph, network, parameters, None, str(error))
        verdict = property(graph, ds) if property else validate(kernel, graph, ds)
        if bool(getattr(verdict, "ok", verdict)):
            return None
        why = str(verdict) if hasattr(verdict, "ok") else "the property does not hold"
        return Example(kernel, graph, network, parameters, ds, why)

    every = list(hypothesis.HealthCheck)
    settings = hypothesis.settings(
        max_examples=tries,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=every,
    )
    cases = _cases(nodes, graphs, faults, most)
    try:
        found = hypothesis.find(cases, lambda case: tried(case) is not None, settings=settings)
    except NoSuchExample:
        return None
    return tried(found)


def _cases(most_nodes: int, graphs: str, faults: tuple[str, ...], most: int) -> Any:
    """Graphs and networks, for Hypothesis."""
    from hypothesis import strategies as st

    @st.composite
    def case(draw: Any) -> tuple[Graph, Network]:
        n = draw(st.integers(3 if graphs == "ring" else 2, max(most_nodes, 3)))
        node = st.integers(0, n - 1)
        if graphs == "connected":
            tree = [(draw(st.integers(0, v - 1)), v) for v in range(1, n)]
            more = draw(st.lists(st.tuples(node, node), max_size=n))
            pairs = {(min(pair), max(pair)) for pair in (*tree, *more) if pair[0] != pair[1]}
        else:
            pairs = set(_pairs(graphs, n))
        ends = np.array(sorted(pairs), np.int64)
        along = st.sampled_from([*map(tuple, ends.tolist()), *map(tuple, ends[:, ::-1].tolist())])
        when = st.integers(0, 2 * n)
        drops = st.lists(st.tuples(when, along), max_size=most, unique=True)
        crashes = st.lists(
            st.builds(Crash, node, when, partial=st.booleans()),
            max_size=min(most, n),
            unique_by=lambda crash: crash.node,
        )
        network = Network(
            drops=[(r, u, v) for r, (u, v) in draw(drops)] if "drops" in faults else (),
            crashes=draw(crashes) if "crashes" in faults else (),
        )
        return Graph.from_edges(*ends.T, n=n, clusters=1), network

    return case()


def _pairs(graphs: str, n: int) -> list[tuple[int, int]]:
    """The edges of a graph of a kind."""
    if graphs == "complete":
        return [(u, v) for v in range(n) for u in range(v)]
    if graphs == "star":
        return [(0, v) for v in range(1, n)]
    path = [(v, v + 1) for v in range(n - 1)]
    return [*path, (0, n - 1)] if graphs == "ring" else path


def _toml(value: Any) -> str:
    """A value in a line of TOML; what is None is left out."""
    if isinstance(value, dict):
        inner = (f"{json.dumps(k)} = {_toml(v)}" for k, v in value.items() if v is not None)
        return f"{{{', '.join(inner)}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value)
