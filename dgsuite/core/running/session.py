"""Runs one after another in the same tasks: `graph.session()`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from threading import RLock
from typing import TYPE_CHECKING, Any, Self

from dask.utils import parse_timedelta

from dgsuite.base.errors import InputError
from dgsuite.core.executors.session_tasks import SessionTasks
from dgsuite.core.running.runner import run_each
from dgsuite.partition.client.session import current_client
from dgsuite.partition.client.workers import worker_addresses
from dgsuite.partition.graph.graph import Graph

if TYPE_CHECKING:
    import xarray as xr
    from distributed import Client

    from dgsuite.kernels.bsp import Kernel


class GraphSession:
    """Runs on a graph whose tasks stay on the workers between runs, so that a run starts none.

    Make one by `Graph.session`, and close it, best by ``with``. Its runs have the results of `dgsuite.run`.

    While it has nothing to run, its tasks leave the workers' threads to others. They end when the session is
    closed, when it has run nothing for some time, or when another run of style "clocked" needs the workers;
    the next run of the session starts them again. Runs of several threads take turns. When a worker is lost,
    a run begins again as one without a session does; a graph in this process is sent to the workers again.

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

    def __init__(
        self, graph: Graph, client: Client | None = None, idle: str | float = "60 s"
    ) -> None:
        self.client = current_client(client or graph.client)
        self.graph = graph if self.client is None else _cut(graph, self.client)
        try:
            seconds = float(parse_timedelta(idle, "s"))
        except (KeyError, TypeError, ValueError):
            seconds = 0.0
        if not seconds > 0:
            raise InputError(f"idle must be a time above 0, such as '60 s', got {idle!r}")
        self._tasks = None if self.client is None else SessionTasks(self.client, seconds)
        self._lock = RLock()
        self._open = True

    def run(self, kernel: str | type[Kernel] | Kernel, **options: Any) -> xr.Dataset:
        """Run a kernel: `dgsuite.run` without `graph` and `client`, by default in style "clocked".

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
        with self._lock:
            if self._tasks is None:
                return run_each(kernel, self.graph, each, **options)
            with self._tasks.used():
                how = {"style": "clocked", **options, "client": self.client}
                return run_each(kernel, self.graph, each, **how)

    def close(self) -> None:
        """End its tasks; it runs nothing any more."""
        with self._lock:
            self._open = False
            if self._tasks is not None:
                self._tasks.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "closed" if not self._open else "open"
        there = self._tasks is not None and self._tasks.are_there
        tasks = ", tasks on the workers" if there else ""
        return f"<dgsuite session on {self.graph.n} nodes: {state}{tasks}>"


def _cut(graph: Graph, client: Client) -> Graph:
    """A graph in the clusters that its runs have; one in this process stays here, and cannot be lost."""
    if graph.local and not graph.chosen and graph.partition.order is None:
        return graph.repartition(len(worker_addresses(client)))
    return graph
