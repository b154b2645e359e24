"""A page of the scheduler's dashboard, ``/dgsuite``, that shows the runs of all clients."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from distributed import Client, Scheduler, SchedulerPlugin
from distributed.utils import key_split
from tornado.web import RequestHandler

from dgsuite.core.engine.progress import Progress, united
from dgsuite.core.workers.pages import Record, page
from dgsuite.partition.client.session import Session

MOST = 32
"""Runs that the page shows."""

SOON = 0.05
"""Seconds after which the page is told of a run: not while the next one starts."""

PREFIX = "dgsuite-"
"""With which the topics begin under which runs report how far they are."""


class DashboardPlugin(SchedulerPlugin):
    """Remembers the last runs, how far others are, and adds the page to the scheduler's."""

    name = "dgsuite-dashboard"
    idempotent = True

    async def start(self, scheduler: Scheduler) -> None:
        self.scheduler = scheduler
        self.runs: deque[Record] = deque(maxlen=MOST)
        self._running: dict[str, Progress] = {}
        self._sites: dict[str, Any] = {}
        scheduler.handlers["dgsuite_ran"] = self.ran
        # below any prefix that the dashboard is given
        route = (r"(?:/.*)?/dgsuite", RunsPage, {"plugin": self})
        scheduler.http_application.add_handlers(".*$", [route])
        if module := sys.modules.get("distributed.dashboard.scheduler"):  # its pages list pages
            pages = module.template_variables(scheduler)["pages"]
            pages += {"dgsuite"} - {*pages}

    def ran(self, runs: Sequence[Record]) -> None:
        """RPC: runs have ended."""
        ended = datetime.now().astimezone().isoformat(" ", "seconds")
        self.runs.extendleft({**run, "ended": ended} for run in runs)

    def log_event(self, topic: str, msg: Any) -> None:
        if not topic.startswith(PREFIX):
            return
        run, site, progress = msg
        if run not in self._sites:
            self._forget()
            self._sites[run] = united(lambda whole: self._running.update({run: whole}))
        self._sites[run](site, Progress(*progress))

    def _forget(self) -> dict[str, str]:
        """Forget runs that are over; names of the others, by run."""
        keys = (str(key) for key, task in self.scheduler.tasks.items() if task.processing_on)
        busy = {run: key_split(key) for key in keys for run in self._sites if run in key}
        for run in self._sites.keys() - busy.keys():
            del self._sites[run]
            self._running.pop(run, None)
        return busy

    def page(self) -> str:
        """The page."""
        names = self._forget()
        running = {f"{names[run]} {run}": progress for run, progress in self._running.items()}
        return page(self.runs, running)


class RunsPage(RequestHandler):
    """Answers requests for the page."""

    def initialize(self, plugin: DashboardPlugin) -> None:
        self.plugin = plugin

    def get(self) -> None:
        self.write(self.plugin.page())


def tell(client: Client, run: Record) -> None:
    """Have the page show a run that has ended: soon, together with others that end meanwhile. Thread-safe."""

    def add() -> None:  # on the client's loop, as all that touches the list
        untold.append(run)
        if len(untold) == 1:
            client.loop.call_later(SOON, send)

    def send() -> None:
        session.tell("dgsuite_ran", runs=untold[-MOST:])
        untold.clear()

    session = Session.of(client)
    untold: list[Record] = session.kept.get("untold", list)
    client.loop.add_callback(add)
