"""Hooks: where a client, a scheduler and workers tell the board that they pass.

They are put in from here, by patches of what dgsuite and Dask do; the product has none.
"""

import asyncio
import inspect
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from typing import Any

from distributed import Client, Scheduler, SchedulerPlugin, Worker

from tests.faults.board import FIRST, Board

Patch = tuple[Any, str, str, str]
"""A class, the name of its function, and the hooks before and after it; "" for none."""

ADDRESSES = "addresses"
"""Name of a file beside the board: the place and the address of each worker that there has been."""

ASKS = "ask", "answered"
"""Hooks of requests: polls, and what waits ask again, do not pass them."""


def polls(request: str, options: Mapping[str, Any]) -> bool:
    """Whether a request is about tasks that a wait of the client needs."""
    return request == "dgsuite_workers" and bool(options.get("keys"))


def named(request: str, options: Mapping[str, Any]) -> str:
    """What is the same when a wait asks again."""
    keys = options.get("keys")
    return f"{request} {keys or time.monotonic_ns()}"


def of_client() -> list[Patch]:
    """Where a client passes."""
    from dgsuite.partition.client.session import Session
    from dgsuite.partition.client.waiting import Watch

    return [
        (Session, "ask", "ask", ""),
        (Session, "_call", "", "answered"),
        (Watch, "until", "wait", ""),
        (Watch, "check_workers", "poll", ""),
        (Watch, "call", "request", ""),
        (Client, "_graph_to_futures", "submit", ""),
        (Client, "scatter", "scatter", ""),
        (Client, "gather", "gather", ""),
        (Client, "cancel", "cancel", ""),
        (Client, "run", "run", ""),
    ]


def of_worker() -> list[Patch]:
    """Where a worker passes."""
    from dgsuite.core.engine.checkpoint import Kept
    from dgsuite.core.engine.site import Site
    from dgsuite.core.exchange.channels import Channels
    from dgsuite.core.exchange.mesh import Mesh
    from dgsuite.core.workers.plugin import RunPlugin
    from dgsuite.studies.in_turn import InTurn

    return [
        (Worker, "execute", "task begins", "task ends"),
        (Worker, "get_data", "give", ""),
        (Site, "run", "phase begins", "phase ends"),
        (Mesh, "exchange", "exchange begins", "exchange ends"),
        (InTurn, "exchange", "exchange begins", "exchange ends"),
        (Channels, "write", "send", ""),
        (RunPlugin, "enter", "enter", ""),
        (RunPlugin, "leave", "leave", ""),
        (RunPlugin, "keep", "keep", ""),
        (RunPlugin, "_meet", "meet", ""),
        (RunPlugin, "_votes", "votes", ""),
        (RunPlugin, "tell", "told", ""),
        (Kept, "write", "file", ""),
    ]


HANDLERS = {"dgsuite_workers": "workers", "dgsuite_results": "results"}
"""Requests to the scheduler that pass a hook before they are handled."""


def patched(board: Board, patch: Patch) -> Callable[[], None]:
    """Put hooks before and after a function; returns what takes them away."""
    owner, name, before, after = patch
    function = getattr(owner, name)

    def passing(hook: str, arguments: tuple[Any, ...], options: Mapping[str, Any]) -> None:
        if hook in ASKS:
            request = arguments[1]
            asked = arguments[2] if hook == "answered" else options
            if polls(request, asked) or not board.is_first(f"{hook} {named(request, asked)}"):
                return
        if hook:
            board.passing(hook)

    @contextmanager
    def between(*what: Any) -> Iterator[None]:
        passing(before, *what)
        yield
        passing(after, *what)

    @wraps(function)
    def hooked(*arguments: Any, **options: Any) -> Any:
        with between(arguments, options):
            return function(*arguments, **options)

    @wraps(function)
    async def awaited(*arguments: Any, **options: Any) -> Any:
        with between(arguments, options):
            return await function(*arguments, **options)

    hooked = awaited if inspect.iscoroutinefunction(function) else hooked
    setattr(owner, name, hooked)
    return lambda: setattr(owner, name, function)


@contextmanager
def hooked_client(board: Board) -> Iterator[None]:
    """Have clients of this process pass hooks."""
    undo = [patched(board, patch) for patch in of_client()]
    try:
        yield
    finally:
        for each in undo:
            each()


class Onlooker(SchedulerPlugin):
    """On a scheduler: its hooks, and a note on the board of each worker that it has lost."""

    name = "onlooker"

    def __init__(self, board: Board) -> None:
        self.board = board
        self._places: dict[str, int] = {}

    async def start(self, scheduler: Scheduler) -> None:
        from dgsuite.partition.client.scheduler import DgsuiteSchedulerPlugin

        self.scheduler = scheduler
        begin = DgsuiteSchedulerPlugin.start

        async def start(plugin: DgsuiteSchedulerPlugin, scheduler: Scheduler) -> None:
            await begin(plugin, scheduler)
            for request, hook in HANDLERS.items():
                handler = self._hooked(scheduler.handlers[request], hook, request)
                scheduler.handlers[request] = handler

        DgsuiteSchedulerPlugin.start = start  # type: ignore[method-assign]
        graphs = scheduler.stream_handlers["update-graph"]
        scheduler.stream_handlers["update-graph"] = self._hooked(graphs, "graph")

    def _hooked(self, handler: Callable[..., Any], hook: str, request: str = "") -> Any:
        signature = inspect.signature(handler)

        @wraps(handler)
        async def hooked(*arguments: Any, **options: Any) -> Any:
            if polls(request, options):
                self.board.count("polled")
            elif not request or self.board.is_first(named(request, options)):
                self.board.count(hook)
            while self.board.unseen():
                await asyncio.sleep(0.001)
            result = handler(*arguments, **options)
            return await result if inspect.isawaitable(result) else result

        hooked.__signature__ = signature  # type: ignore[attr-defined]
        return hooked

    def add_worker(self, scheduler: Scheduler, worker: str) -> None:
        self._places[worker] = FIRST + int(scheduler.workers[worker].name)
        with self.board.path.with_name(ADDRESSES).open("a") as file:
            print(self._places[worker], worker, file=file)

    def remove_worker(self, scheduler: Scheduler, worker: str, **_: Any) -> None:
        self.board.gone[self._places.pop(worker)] += 1
