"""A page of the scheduler's dashboard, ``/dgsuite``: the runs that hold their turn or wait for it."""

from __future__ import annotations

import sys

from distributed import Scheduler
from distributed.utils import key_split
from tornado.web import RequestHandler

from dgsuite.base.markup import table


def add_page(scheduler: Scheduler) -> None:
    """Add the page, below any prefix that the dashboard is given; Dask's own pages list it."""
    route = (r"(?:/.*)?/dgsuite", RunsPage, {"scheduler": scheduler})
    scheduler.http_application.add_handlers(".*$", [route])
    if module := sys.modules.get("distributed.dashboard.scheduler"):
        pages = module.template_variables(scheduler)["pages"]
        pages += {"dgsuite"} - {*pages}


class RunsPage(RequestHandler):
    """Answers requests for the page, from what the scheduler knows anyway."""

    def initialize(self, scheduler: Scheduler) -> None:
        self.scheduler = scheduler

    def get(self) -> None:
        rows = []
        for place, tasks in enumerate(self.scheduler.plugins["dgsuite"].queue):
            key = min(tasks)
            clients = [client.client_key for client in self.scheduler.tasks[key].who_wants or ()]
            rows.append((key_split(key), ", ".join(clients), "waits" if place else "runs"))
        self.write(table("Runs of dgsuite", rows, ("tasks", "client", "")))
