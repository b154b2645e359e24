"""How commands end: with an exit status and one line, also when a signal ends them.

This module imports little, so that a command can handle signals before it imports what it works with.
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
"""Signals that end a command, and how its last line calls that."""

GRACE = 2.0
"""Seconds that a command has to clean up after a signal. Then its process ends as it is."""


class Command:
    """A command line: a function that takes arguments, by default the process's, and returns an exit status.

    The status is 0, or 1 where a run failed, 2 for wrong input, and 128 plus the number of the signal
    that ended the command. Whatever goes wrong is one line on stderr.

    Parameters
    ----------
    main
        Does the work, and returns the status.
    line
        Printed when a signal ends the command; ``{}`` stands for "interrupted" or "terminated".
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
        """Run the command as this process, and end the process.

        The first SIGINT or SIGTERM raises KeyboardInterrupt, later ones have no effect. The process ends
        once that exception has passed through the command, or after `GRACE` seconds, even while
        compiled code runs. Signals that were ignored, as nohup and a shell's background jobs have it,
        still are.
        """
        # a helper process of multiprocessing removes what an abrupt end leaves, and would report it
        warnings = filter(None, (os.environ.get("PYTHONWARNINGS"), "ignore:resource_tracker"))
        os.environ["PYTHONWARNINGS"] = ",".join(warnings)
        self._sockets = heard, told = socket.socketpair()  # open until the process ends
        told.setblocking(False)
        signal.set_wakeup_fd(told.fileno(), warn_on_full_buffer=False)
        threading.Thread(target=self._limit, args=(heard,), daemon=True).start()
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

    def _limit(self, heard: socket.socket) -> None:
        """End the process some time after a signal, whatever the main thread does meanwhile."""
        number = 0
        while number not in SIGNALS:  # others may have handlers, too
            number = heard.recv(1)[0]
        time.sleep(GRACE)
        self._leave(number)

    def _leave(self, number: int) -> NoReturn:
        """End the process at once: what libraries do at exit takes seconds, and is not needed then."""
        self._leaving.acquire()  # and never let go of: one thread prints, and ends the process
        if "multiprocessing" in sys.modules:
            for child in sys.modules["multiprocessing"].active_children():
                child.kill()
        line = self._line.format(SIGNALS[signal.Signals(number)])
        os.write(2, f"{line}\n".encode())
        os._exit(128 + number)


def _silence() -> None:
    """Keep libraries and other threads from reporting what ending in the middle does to them."""
    if "logging" in sys.modules:
        sys.modules["logging"].disable()
    sys.unraisablehook = lambda _: None
    threading.excepthook = lambda _: None
