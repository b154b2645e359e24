"""Runs one after another on the same graph: `graph.session()`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from dgsuite.base.errors import InputError
from dgsuite.core.running.runner import run_each
from dgsuite.partition.client.session import current_client
from dgsuite.partition.client.workers import worker_addresses
from dgsuite.partition.graph.graph import Graph

if TYPE_CHECKING:
    import xarray as xr
    from distributed import Client

    from dgsuite.kernels.bsp import Kernel


class GraphSession:
    """Runs on a graph, by default in style "clocked", over connections that its workers keep between runs.

    Make one by `Graph.session`, best by ``with``. Its runs are those of `dgsuite.run`. A graph in this
    process is cut and sent to the workers once for all of them.

    Attributes
    ----------
    graph
        What it runs on.
    client
        Whose workers run it; None for this process.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> with graph.session() as session:
    ...     [int(session.run("bfs", root=root).level.max()) for root in range(4)]
    [3, 2, 2, 3]
    >>> session = graph.session()
    >>> runs = session.run_each("bfs", [{"root": 0}, {"root": 3}])
    >>> [ds.level.values.tolist() for ds in runs]
    [[0, 1, 2, 3], [3, 2, 1, 0]]
    >>> session.close()
    """

    def __init__(self, graph: Graph, client: Client | None = None) -> None:
        self.client = current_client(client or graph.client)
        if self.client and graph.local and not graph.chosen and graph.partition.order is None:
            graph = graph.repartition(len(worker_addresses(self.client)))
        self.graph = graph
        self._open = True

    def run(self, kernel: str | type[Kernel] | Kernel, **options: Any) -> xr.Dataset:
        """Run a kernel: `dgsuite.run` without `graph` and `client`.

        Raises
        ------
        InputError
            The session is closed, or as `dgsuite.run` says.
        RunError
            As `dgsuite.run` says.
        """
        return self.run_each(kernel, [{}], **options)[0]

    def run_each(
        self, kernel: str | type[Kernel] | Kernel, each: Sequence[Mapping[str, Any]], **options: Any
    ) -> list[xr.Dataset]:
        """Run a kernel with each of some parameters, as `dgsuite.run_each` does; raises as `run` does."""
        if not self._open:
            raise InputError("the session is closed; make another: graph.session()")
        if "client" in options:
            raise InputError("client: a session has its own; give it to graph.session(client=...)")
        if self.client is not None:
            options = {"style": "clocked", **options, "client": self.client}
        return run_each(kernel, self.graph, each, **options)

    def close(self) -> None:
        """Let it run nothing any more."""
        self._open = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "open" if self._open else "closed"
        return f"<dgsuite session on {self.graph.n} nodes: {state}>"
