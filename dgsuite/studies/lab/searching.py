"""A search for a small graph and a few faults with which a kernel breaks a property."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy.sparse import triu

from dgsuite.base.errors import InputError, RunError, one_of
from dgsuite.base.extras import needed_by
from dgsuite.base.files import atomic_write
from dgsuite.core.running.runner import run
from dgsuite.genval import validate
from dgsuite.genval.validation import VALIDATORS
from dgsuite.kernels.bsp import Kernel
from dgsuite.kernels.events.kernel import EventKernel
from dgsuite.kernels.own import name_of, named
from dgsuite.partition.graph.graph import Graph
from dgsuite.studies.lab.executions import Execution
from dgsuite.studies.network.network import Network
from dgsuite.studies.network.parts import Byzantine, Crash
from dgsuite.studies.network.strategies import STRATEGIES

Property = Callable[[Graph, xr.Dataset], Any]
"""Whether a result is right: a truth value, or a report of `dgsuite.genval.validate`."""

Case = tuple[Graph, Network, dict[str, Any]]
"""What a run is of: a graph, a network and parameters."""

GRAPHS = ("connected", "complete", "ring", "path", "star")
FAULTS = ("drops", "crashes")
"""Kinds of faults that a search draws, unless others are named."""

KINDS = (*FAULTS, "liars", "churn", "delays")

ROUNDS = 50
"""Rounds after which a run of a search ends, unless `max_rounds` is given."""


@dataclass(frozen=True)
class Example:
    """An execution that breaks a property.

    Attributes
    ----------
    kernel
        Its name, or its file and class.
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
            *[f"seed = {self.parameters['seed']}" for _ in range("seed" in self.parameters)],
            "",
            "[[run]]",
            f"kernel = {json.dumps(self.kernel)}",
            'style = "serial"',
            f"graph = {{edge_list = {json.dumps(edges.name)}, nodes = {self.graph.n}}}",
            f"network = {_toml(json.loads(self.network.described()))}",
            f"params = {_toml({k: v for k, v in self.parameters.items() if k != 'seed'})}",
        ]
        with atomic_write(path) as file:
            Path(file).write_text("\n".join(lines) + "\n", encoding="utf-8")


class Trial:
    """Runs of a kernel that are judged by a property.

    Parameters
    ----------
    kernel
        A name, or a class.
    property
        Called with a graph and the dataset of a run; by default the kernel's rule.

    Raises
    ------
    InputError
        There is no property, and the kernel has no rule.
    """

    def __init__(self, kernel: str | type[Kernel], property: Property | None) -> None:
        self.kernel = named(kernel)
        self.property = property
        if property is None and self.kernel.name not in VALIDATORS:
            raise InputError(f"kernel {self.kernel.name!r} has no rule: pass property=")

    def outline(
        self, graph: Graph, parameters: Mapping[str, Any], max_rounds: int
    ) -> tuple[list[str], int]:
        """The names of the phases of a run without faults in which nodes send, and its last round."""
        execution = Execution(self.kernel, graph, max_rounds=max_rounds, **parameters)
        names, last = dict[str, None](), 0
        with suppress(RunError):  # one that does not end
            for step, _ in execution.phases():
                if execution.senders().any():
                    names[step.phase] = None
                last = step.round
        return [*names] or [step.phase], last

    def tried(
        self, graph: Graph, network: Network, parameters: Mapping[str, Any], max_rounds: int | None
    ) -> Example | None:
        """A run as an example if it breaks the property."""
        how = {"style": "serial", "network": network, "max_rounds": max_rounds, **parameters}
        made = partial(Example, name_of(self.kernel), graph, network, dict(parameters))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # faults that struck nothing
                ds = run(self.kernel, graph, **how)
        except RunError as error:
            return made(None, str(error))
        name = self.kernel.name
        verdict = self.property(graph, ds) if self.property else validate(name, graph, ds)
        if bool(getattr(verdict, "ok", verdict)):
            return None
        return made(ds, str(verdict) if hasattr(verdict, "ok") else "the property does not hold")


def search(
    kernel: str | type[Kernel],
    property: Property | None = None,
    *,
    graph: Graph | None = None,
    nodes: int | tuple[int, int] = 6,
    graphs: str = "connected",
    faults: tuple[str, ...] = FAULTS,
    most: int | Mapping[str, int] = 4,
    tries: int = 5000,
    max_rounds: int = ROUNDS,
    **parameters: Any,
) -> Example | None:
    """Look for a small graph and a few faults with which a kernel breaks a property, and make them smaller.

    Parameters
    ----------
    kernel
        Name of a kernel, its class, or ``"FILE.py:Class"``.
    property
        Called with a graph and the dataset of a run on it; by default `dgsuite.genval.validate`. A run that
        fails breaks any property. ``ds.crashed`` and ``ds.lies`` say which nodes have failed.
    graph
        The graph, if it is not to be drawn; without labels.
    nodes
        Of a graph, at most; or at least and at most: ``(4, 4)`` for exactly four.
    graphs
        "connected", "complete", "ring", "path" or "star".
    faults
        Which there may be: "drops", of messages in a round between two neighbours; "crashes", in any phase,
        before it or once the node has sent to any of its neighbours; "liars", of any strategy; "churn", nodes
        that are cut off for some rounds; "delays", of event-driven kernels with others, else alone.
    most
        Faults of each kind, at most, or of each kind by name.
    tries
        Executions, at most, until the first that breaks the property.
    max_rounds
        Rounds after which a run ends.
    parameters
        Of the kernel, and ``seed``, which is else drawn. A parameter may also be one of Hypothesis's
        strategies, to draw from, or a function of the number of nodes that returns a value or a strategy.

    Returns
    -------
    The smallest example that was found, or None.

    Raises
    ------
    InputError
        A parameter is wrong, or the kernel does not take such a network; or Hypothesis is not installed (the
        extra ``lab``).

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

    With one round FloodSet does not bear a crash (Lynch 1996, section 6.7):

    >>> found = dgsuite.lab.search("floodset", graphs="complete", faults=("crashes",), most=1, f=0)
    >>> found.graph.n, found.network.crashes[0].round
    (3, 0)
    """
    with needed_by("dgsuite.lab.search"):
        import hypothesis
        from hypothesis.errors import NoSuchExample
    one_of("graphs", graphs, GRAPHS)
    for fault in faults:
        one_of("fault", fault, KINDS)
    trial = Trial(kernel, property)
    if "delays" in faults and len(faults) > 1 and not issubclass(trial.kernel, EventKernel):
        raise InputError("delays go with other faults for event-driven kernels alone")
    least, largest = (2, nodes) if isinstance(nodes, int) else nodes
    if not 2 <= least <= largest:
        raise InputError(f"nodes must be 2 at least, got {nodes}")
    if graphs == "ring":
        least, largest = max(least, 3), max(largest, 3)
    sizes = [graph.n] if graph is not None else range(least, largest + 1)
    settings = hypothesis.settings(
        max_examples=max(tries // len(sizes), 1),
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=[*hypothesis.HealthCheck],
    )

    def breaks(case: Case) -> bool:
        graph, network, given = case
        return trial.tried(graph, network, given, max_rounds) is not None

    for n in sizes:
        drawn = _Cases(trial, graph, n, graphs, faults, most, max_rounds, parameters)
        with suppress(NoSuchExample):
            made, network, given = hypothesis.find(drawn.cases(), breaks, settings=settings)
            return trial.tried(made, network, given, max_rounds)
    return None


@dataclass(frozen=True)
class _Cases:
    """Graphs, networks and parameters, for Hypothesis: see `search`."""

    trial: Trial
    graph: Graph | None
    n: int
    graphs: str
    faults: tuple[str, ...]
    most: int | Mapping[str, int]
    max_rounds: int
    parameters: Mapping[str, Any]

    def cases(self) -> Any:
        from hypothesis import strategies as st

        outlines: list[tuple[list[str], int]] = []

        @st.composite
        def case(draw: Any) -> Case:
            graph = self.graph
            if graph is None:
                graph = Graph.from_edges(*self._edges(draw, st).T, n=self.n, clusters=1)
            given = {"seed": st.integers(0, 99), **self.parameters}
            made = {name: _value(draw, value, graph.n) for name, value in given.items()}
            if not outlines:
                outlines.append(self.trial.outline(graph, made, self.max_rounds))
            return graph, self._network(draw, st, graph, *outlines[0]), made

        return case()

    def _edges(self, draw: Any, st: Any) -> NDArray[np.int64]:
        """Pairs of nodes: shape (edges, 2)."""
        n, pairs = self.n, set[tuple[int, int]]()
        if self.graphs == "connected":
            node = st.integers(0, n - 1)
            tree = [(draw(st.integers(0, v - 1)), v) for v in range(1, n)]
            more = draw(st.lists(st.tuples(node, node), max_size=n))
            pairs = {(min(pair), max(pair)) for pair in (*tree, *more) if pair[0] != pair[1]}
        return np.array(sorted(pairs or _pairs(self.graphs, n)), np.int64)

    def _network(
        self, draw: Any, st: Any, graph: Graph, phases: Sequence[str], last: int
    ) -> Network:
        near = neighbours(graph)
        node, when = st.integers(0, graph.n - 1), st.integers(0, last)

        def some(kind: str, items: Any, room: int = graph.n, **how: Any) -> list[Any]:
            """Up to so many faults of a kind."""
            limit = self.most if isinstance(self.most, int) else self.most.get(kind, 0)
            if kind not in self.faults:
                return []
            count = draw(st.integers(0, min(limit, room)))
            return draw(st.lists(items, min_size=count, max_size=count, **how))  # type: ignore[no-any-return]

        def crash(draw: Any) -> Crash:
            v, at = draw(node), (draw(when), draw(st.sampled_from(phases)))
            return Crash(v, *at, receivers=[u for u in near[v] if draw(st.booleans())])

        pairs = [(u, v) for u, others in enumerate(near) for v in others]
        along, moments = st.sampled_from(pairs), len(pairs) * (last + 1)
        absence = st.tuples(when, st.integers(1, graph.n), node)
        liars = some("liars", node, unique=True)
        delay = ("uniform", 1, draw(st.integers(1, 9))) if "delays" in self.faults else None
        strategy = draw(st.sampled_from([*STRATEGIES, "silent"])) if liars else ""
        return Network(
            drops=[
                (r, u, v)
                for r, (u, v) in some("drops", st.tuples(when, along), moments, unique=True)
            ],
            crashes=some("crashes", st.composite(crash)(), unique_by=lambda one: one.node),
            churn=[(first, first + long, v) for first, long, v in some("churn", absence)],
            byzantine=Byzantine(liars, strategy) if liars else None,
            delay=delay,
        )


def _value(draw: Any, given: Any, n: int) -> Any:
    """A parameter's value: what is given, or a function of n returns, or one drawn from that."""
    from hypothesis.strategies import SearchStrategy

    value = given(n) if callable(given) and not isinstance(given, SearchStrategy) else given
    return draw(value) if isinstance(value, SearchStrategy) else value


def refuse_labels(graph: Graph) -> None:
    """See that a graph has no labels.

    Raises
    ------
    InputError
        It has.
    """
    if graph.labels is not None:
        raise InputError("executions are looked for on graphs without labels: faults name node ids")


def neighbours(graph: Graph) -> list[list[int]]:
    """The neighbours of each node of a graph without labels."""
    refuse_labels(graph)
    (cluster,) = graph.repartition(1).gather()
    return [part.tolist() for part in np.split(cluster.indices, cluster.indptr[1:-1])]


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
