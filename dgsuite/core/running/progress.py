"""Show a person how far a run is: a line on a terminal, or in a notebook, that changes twice a second."""

from __future__ import annotations

import contextvars
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

from dgsuite.core.engine.progress import Progress, Tell

AFTER = 2.0
"""Seconds that a run lasts before it is shown: one that is over sooner needs no line."""

EVERY = 0.5
"""Seconds between two states of the line."""

SELDOM = 10.0
"""The same in a file, where each state is a line of its own."""


Show = Callable[[str, bool], None]
"""Shows a text in place of the one before; called with the text, and whether it is the last one."""


@contextmanager
def shown(
    what: str, unit: str, wanted: bool | None, on_round: Callable[[int], None] | None
) -> Iterator[Tell | None]:
    """Show the progress of a run while it lasts.

    A thread draws the line, so that it also changes in rounds that take long.

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
    screen = None if wanted is False else _screen(bool(wanted))
    if screen is None:
        yield None if on_round is None else lambda progress: on_round(progress.rounds)
        return
    (show, every), begun, over = screen, monotonic(), threading.Event()
    latest: Progress | None = None

    def tell(progress: Progress) -> None:
        nonlocal latest
        latest = progress
        if on_round is not None:
            on_round(progress.rounds)

    def text() -> str:
        found = []
        if latest is not None:
            rounds, active, messages = latest
            found.append(f"{unit} {rounds:,}")
            found += [f"{active:,} active nodes"] * (active is not None)
            found += [f"{messages:,} messages"] * (messages is not None)
        return f"{what}: {', '.join([*found, f'{monotonic() - begun:.0f} s'])}"

    def draw() -> None:
        if over.wait(AFTER) and monotonic() - begun < AFTER:
            return
        while not over.is_set():
            show(text(), False)
            over.wait(every)
        show(text(), True)

    # a notebook shows what a thread displays below the cell that its context says
    context = contextvars.copy_context()
    thread = threading.Thread(target=context.run, args=(draw,), daemon=True)
    thread.start()
    try:
        yield tell
    finally:
        over.set()
        thread.join()


def _screen(wanted: bool) -> tuple[Show, float] | None:
    """Where progress is shown, if it is, and the seconds between two texts."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if hasattr(shell, "kernel"):
        return _notebook(), EVERY
    if sys.stderr is not None and sys.stderr.isatty():
        # a task of a worker whose log is on a terminal has no person before it
        person = threading.current_thread() is threading.main_thread()
        return (_terminal, EVERY) if wanted or person else None
    return (_file, SELDOM) if wanted else None


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
