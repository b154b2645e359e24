"""What the scheduler keeps of dgsuite's span."""

from __future__ import annotations

from typing import Any

from distributed import Scheduler, SchedulerPlugin

from dgsuite.partition.client.tasks import SPAN

MAX_GROUPS = 1 << 8
"""Groups of tasks, and descriptions of collections, that the span may have: it never drops any by itself."""


class SpanPlugin(SchedulerPlugin):
    """Has the span forget groups of tasks that the scheduler itself has forgotten."""

    name = "dgsuite-spans"
    idempotent = True

    def update_graph(self, scheduler: Scheduler, **kwargs: Any) -> None:
        extension = scheduler.extensions.get("spans")
        span = None if extension is None else extension.spans.get(SPAN)
        if span is None:
            return
        if len(span.groups) > MAX_GROUPS:
            span.groups = {g for g in span.groups if scheduler.task_groups.get(g.name) is g}
        described = (span._metadata or {}).get("collections", [])
        if len(described) > MAX_GROUPS:
            described.clear()
