"""What strikes amid a run: a worker counts its phases and strikes at one, so no trial depends on time."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable
from typing import Any, NamedTuple


class Signal(NamedTuple):
    """Sends a signal to a process: by default kills the one that strikes."""

    number: int = signal.SIGKILL
    pid: int | None = None

    def __call__(self) -> None:
        os.kill(self.pid or os.getpid(), self.number)


class Cut(NamedTuple):
    """Drops, without a word, all that this host sends to another one."""

    host: str

    def __call__(self) -> None:
        subprocess.run(["ip", "route", "add", "blackhole", self.host], check=True)


def mend(host: str) -> bool:
    """On a worker: undo a `Cut`; whether there was one."""
    done = subprocess.run(
        ["ip", "route", "del", "blackhole", host], check=False, capture_output=True
    )
    return done.returncode == 0


def arm(number: int, after: bool, strike: Callable[[], None]) -> None:
    """On a worker: have its phases counted, and strike at one of them.

    Parameters
    ----------
    number
        Of the phase; -1 for none.
    after
        Whether to do so when the phase has changed the state, and not before.
    """
    from dgsuite.core.engine.site import Site

    undisturbed = Site.call
    count = 0

    def call(self: Any, *arguments: Any, **options: Any) -> Any:
        nonlocal count
        due, count = count == number, count + 1
        if due and not after:
            strike()
        result = undisturbed(self, *arguments, **options)
        if due and after:
            strike()
        return result

    Site.call = call
    Site.counted = staticmethod(lambda: count)
    Site.undisturbed = undisturbed


def disarm() -> int:
    """On a worker: undo `arm`; the number of phases counted."""
    from dgsuite.core.engine.site import Site

    if not hasattr(Site, "undisturbed"):
        return 0
    count = Site.counted()
    Site.call = Site.undisturbed
    del Site.undisturbed, Site.counted
    return int(count)
