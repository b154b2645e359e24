"""What strikes amid a run: a worker counts its phases and strikes at one, so no trial depends on time."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Any, NamedTuple


class Signal(NamedTuple):
    """Sends a signal to the process that strikes: by default it dies."""

    number: int = signal.SIGKILL

    def __call__(self) -> None:
        os.kill(os.getpid(), self.number)


def arm(number: int, after: bool, strike: Callable[[], None]) -> None:
    """On a worker: have its phases counted, and strike at one of them.

    Parameters
    ----------
    number
        Of the phase.
    after
        Whether to do so when the phase has changed the state, and not before.
    """
    from dgsuite.core.engine.site import Site

    undisturbed = Site.run
    count = 0

    def run(self: Any, *arguments: Any, **options: Any) -> Any:
        nonlocal count
        due, count = count == number, count + 1
        if due and not after:
            strike()
        result = undisturbed(self, *arguments, **options)
        if due and after:
            strike()
        return result

    Site.run = run
