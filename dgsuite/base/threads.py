"""Threads that outlive what started them."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

from dgsuite.base import capabilities


def start(target: Callable[[], object], name: str | None = None) -> threading.Thread:
    """Start a daemon thread that may use all processors of its process.

    A thread begins with the processors of the one that starts it. A task of a run may be bound to one
    (`dgsuite.core.workers.processor.bound`), and what it starts would stay there after its end.

    Examples
    --------
    >>> from dgsuite.base import threads
    >>> threads.start(lambda: print("here"), "example").join()
    here
    """

    def unbound() -> None:
        if capabilities.has("affinity"):
            # by the process's number the system finds its first thread, which runs no tasks
            os.sched_setaffinity(0, os.sched_getaffinity(os.getpid()))
        target()

    thread = threading.Thread(target=unbound, name=name, daemon=True)
    thread.start()
    return thread
