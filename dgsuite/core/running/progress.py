"""Show a person how far a run is: a line on a terminal, or in a notebook, that changes twice a second."""

from __future__ import annotations

import contextvars
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import NamedTuple

from dgsuite.core.engine.progress import Progress, Tell

AFTER = 2.0
"""Seconds that a run lasts before it is shown: one that is over sooner needs no line."""

EVERY = 0.5
"""Seconds between two states of the line."""

SELDOM = 10.0
"""The same in a file, where each state is a line of its own."""


class Screen(NamedTuple):
    """What shows a text in place of the one before.

    Attributes
    ----------
    show
        Called with the text, and whether it is the last one.
    every
        Seconds between two texts.
    """

    show: Callable[[str, bool], None]
    every: float = EVERY


@contextmanager
def shown(
    what: str, unit: str, wanted: bool | None, on_round: Callable[[int], None] | None
) -> Iterator[Tell | None]:
    """Show the progress of a run while it lasts.

    Parameters
    ----------
    what
        What runs, for the line.
    unit
        What is counted: "round" or "depth".
    wanted
        Whether to show it; with None on a terminal or in a notebook, unless `on_round` is given.
    on_round
        Also called with the number of rounds.

    Yields
    ------
    What the run shall report to, if anything.
    """
    if wanted is None and on_round is not None:
        wanted = False
    screen = _screen(wanted)
    if screen is None:
        yield None if on_round is None else lambda progress: on_round(progress.rounds)
        return
    line = Line(what, unit, screen)

    def tell(progress: Progress) -> None:
        line.progress = progress
        if on_round is not None:
            on_round(progress.rounds)

    with line:
        yield tell


class Line:
    """The line: a thread draws it, so that it also changes in rounds that take long.

    Parameters
    ----------
    unit
        What is counted.

    Attributes
    ----------
    progress
        What was reported last.
    """

    def __init__(self, what: str, unit: str, screen: Screen) -> None:
        self.progress: Progress | None = None
        self._what, self._unit, self._screen = what, unit, screen
        self._begun = monotonic()
        self._over = threading.Event()
        # a notebook shows what a thread displays below the cell that its context says
        context = contextvars.copy_context()
        self._thread = threading.Thread(target=context.run, args=(self._draw,), daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *error: object) -> None:
        self._over.set()
        self._thread.join()

    def _draw(self) -> None:
        over = self._over.wait(AFTER)
        if monotonic() - self._begun < AFTER:
            return
        while not over:
            self._screen.show(self._text(), False)
            over = self._over.wait(self._screen.every)
        self._screen.show(self._text(), True)

    def _text(self) -> str:
        found = []
        if self.progress is not None:
            rounds, active, messages = self.progress
            found.append(f"{self._unit} {rounds:,}")
            if active is not None:
                found.append(f"{active:,} active nodes")
            if messages is not None:
                found.append(f"{messages:,} messages")
        found.append(f"{monotonic() - self._begun:.0f} s")
        return f"{self._what}: {', '.join(found)}"


def _screen(wanted: bool | None) -> Screen | None:
    """Where progress is shown, if it is."""
    if wanted is False:
        return None
    if _in_notebook():
        return Screen(_notebook())
    if sys.stderr is not None and sys.stderr.isatty():
        # a task of a worker whose log is on a terminal has no person before it
        person = threading.current_thread() is threading.main_thread()
        return Screen(_terminal) if wanted or person else None
    return Screen(_file, SELDOM) if wanted else None


def _in_notebook() -> bool:
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")


def _notebook() -> Callable[[str, bool], None]:
    handle = None

    def show(text: str, last: bool) -> None:
        from IPython.display import display

        nonlocal handle
        content = {"text/plain": text}
        if handle is None:
            handle = display(content, raw=True, display_id=True)  # type: ignore[no-untyped-call]
        else:
            handle.update(content, raw=True)

    return show


def _terminal(text: str, last: bool) -> None:
    width = shutil.get_terminal_size().columns - 1
    # what others print meanwhile begins where the line does, not behind it
    print(f"\r{text[:width].ljust(width)}", end="\n" if last else "\r", file=sys.stderr, flush=True)


def _file(text: str, last: bool) -> None:
    print(text, file=sys.stderr, flush=True)
