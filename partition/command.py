"""End commands with an exit status and one line of text, also after a signal.

This module imports little, so that a command handles signals before it imports the rest.
"""

from __future__ import annotations

import functools
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, NoReturn

from partition.errors import DgsuiteError, InputError

SIGNALS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}
"""Signals that end a command, each with a word for the last line of its output."""

GRACE = 2.0
"""Seconds that a command has to clean up after a signal. Then the process is ended."""


class Command:
    """A command: a function of command-line arguments, by default the process's, that returns an exit status.

    The status is 0, 1 if a run failed, 2 for wrong input, or 128 plus the number of the signal that ended
    the command. An error is reported as one line on stderr.

    Parameters
    ----------
    main
        Function that does the work and returns the status.
    line
        Line printed when a signal ends the command; ``{}`` stands for "interrupted" or "terminated".
    """

    def __init__(self, main: Callable[..., int], line: str = "{}") -> None:
        functools.update_wrapper(self, main)
        self._main = main
        self._line = line
        self._signal: int | None = None
        self._leaving = threading.Lock()

    def __call__(self, *arguments: Any) -> int:
        try:
            return self._main(*arguments)
        except KeyboardInterrupt:
            if self._signal is None:  # no signal of `run`, which prints the line itself
                print(self._line.format(SIGNALS[signal.SIGINT]), file=sys.stderr)
            return 128 + signal.SIGINT
        except (DgsuiteError, OSError) as error:
            if self._signal is None:
                print(f"error: {str(error) or type(error).__name__}", file=sys.stderr)
            return 2 if isinstance(error, InputError) else 1

    def run(self) -> NoReturn:
        """Run the command, then end the process.

        The first SIGINT or SIGTERM raises KeyboardInterrupt; later ones have no effect. The process ends
        when that exception has left the command, or after `GRACE` seconds, even while compiled code runs.
        Signals that the process ignores, for example under nohup or in a shell's background job, stay
        ignored.
        """
        # multiprocessing's resource tracker cleans up after an abrupt end, and would warn about it
        warnings = filter(None, (os.environ.get("PYTHONWARNINGS"), "ignore:resource_tracker"))
        os.environ["PYTHONWARNINGS"] = ",".join(warnings)
        self._sockets = reader, writer = socket.socketpair()  # open until the process ends
        writer.setblocking(False)
        signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
        threading.Thread(target=self._limit, args=(reader,), daemon=True).start()
        for number in SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._stop)
        try:
            status = self()
        finally:
            if self._signal is not None:
                self._leave(self._signal)
        sys.exit(status)

    def _stop(self, number: int, frame: object) -> None:
        """Handle the first signal."""
        for other in SIGNALS:
            signal.signal(other, signal.SIG_IGN)
        self._signal = number
        _silence()
        raise KeyboardInterrupt

    def _limit(self, reader: socket.socket) -> None:
        """End the process `GRACE` seconds after a signal, whatever the main thread does."""
        number = 0
        while number not in SIGNALS:  # other signals may have handlers, too
            number = reader.recv(1)[0]
        time.sleep(GRACE)
        self._leave(number)

    def _leave(self, number: int) -> NoReturn:
        """End the process at once. The exit handlers of libraries take seconds and are not needed."""
        self._leaving.acquire()  # never released: one thread prints and ends the process
        if "multiprocessing" in sys.modules:
            for child in sys.modules["multiprocessing"].active_children():
                child.kill()
        line = self._line.format(SIGNALS[signal.Signals(number)])
        os.write(2, f"{line}\n".encode())
        os._exit(128 + number)


def _silence() -> None:
    """Suppress reports of libraries and other threads about being interrupted."""
    if "logging" in sys.modules:
        sys.modules["logging"].disable()
    sys.unraisablehook = lambda _: None
    threading.excepthook = lambda _: None
