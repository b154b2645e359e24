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
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, NoReturn

from dgsuite.base.errors import DgsuiteError, InputError
from dgsuite.base.extras import needed_by

if TYPE_CHECKING:
    import click

SIGNALS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}
"""Signals that end a command, each with a word for the last line of its output."""

if hasattr(signal, "SIGHUP"):  # its terminal is gone
    SIGNALS[signal.SIGHUP] = "hung up"

READER_LEFT = 128 + 13
"""Status of a command whose output is no longer read, as of a program that SIGPIPE ended."""

DEBUG = "dgsuite.debug"
"""Key of a click context's `meta`: whether errors come with a traceback."""

GRACE = 2.0
"""Seconds that a command has to clean up after a signal. Then the process is ended."""

TIMES = 40
"""How often in these seconds a signal that the main thread has not handled is sent to it again."""


class Command:
    """A command: a function of command-line arguments, by default the process's, that returns an exit status.

    The status is 0; 1 if a run failed or a result is wrong; 2 for wrong usage or input, or a file that
    cannot be read or written; or 128 plus the number of the signal that ended the command: 130 for Ctrl-C.
    An error is reported as one line on stderr. A reader that closes the command's output ends it
    quietly.

    Parameters
    ----------
    main
        Function that does the work and returns the status.
    line
        Line printed when a signal ends the command; ``{}`` stands for its word among `SIGNALS`.

    Attributes
    ----------
    line
        As given.
    """

    def __init__(self, main: Callable[..., int], line: str = "{}") -> None:
        functools.update_wrapper(self, main)
        self._main = main
        self.line = line
        self._signal: int | None = None
        self._leaving = threading.Lock()

    def __call__(self, *arguments: Any) -> int:
        try:
            status = self._main(*arguments)
            if sys.stdout is not None:  # it is closed: a caller wants no output
                sys.stdout.flush()
            return status
        except KeyboardInterrupt:
            if self._signal is None:  # no signal of `run`, which prints the line itself
                print(self.line.format(SIGNALS[signal.SIGINT]), file=sys.stderr)
            return 128 + signal.SIGINT
        except BrokenPipeError:  # what is left of the output goes nowhere
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return READER_LEFT
        except (DgsuiteError, OSError) as error:
            if self._signal is None:
                print(f"error: {_text(error)}", file=sys.stderr)
            return 2 if isinstance(error, InputError) or _of_a_file(error) else 1

    def run(self) -> NoReturn:
        """Run the command, then end the process.

        The first of `SIGNALS` raises KeyboardInterrupt; later ones have no effect. The process ends
        when that exception has left the command, or after `GRACE` seconds, even while compiled code runs.
        Signals that the process ignores, for example under nohup or in a shell's background job, stay
        ignored.
        """
        # multiprocessing's resource tracker cleans up after an abrupt end, and would warn about it
        ignored = filter(None, (os.environ.get("PYTHONWARNINGS"), "ignore:resource_tracker"))
        os.environ["PYTHONWARNINGS"] = ",".join(ignored)
        # the line of code that warns is none of the user's
        warnings.formatwarning = lambda message, *_, **__: f"warning: {message}\n"
        self._sockets = reader, writer = socket.socketpair()  # open until the process ends
        writer.setblocking(False)
        signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
        limit = threading.Thread(
            target=self._limit, args=(reader, threading.get_ident()), daemon=True
        )
        limit.start()
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

    def _limit(self, reader: socket.socket, main: int) -> None:
        """End the process `GRACE` seconds after a signal, whatever the main thread does."""
        number = 0
        while number not in SIGNALS:  # other signals may have handlers, too
            number = reader.recv(1)[0]
        from dgsuite.base import capabilities  # only now: it imports what most commands do not need

        for _ in range(TIMES):
            time.sleep(GRACE / TIMES)
            if self._signal is None and capabilities.has("signal masks"):
                # one that came to another thread, or just before a system call, does not interrupt that
                signal.pthread_kill(main, number)
        self._leave(number)

    def _leave(self, number: int) -> NoReturn:
        """End the process at once. The exit handlers of libraries take seconds and are not needed."""
        self._leaving.acquire()  # never released: one thread prints and ends the process
        if "multiprocessing" in sys.modules:
            for child in sys.modules["multiprocessing"].active_children():
                child.kill()
        line = self.line.format(SIGNALS[signal.Signals(number)])
        # on a terminal in place of what is left in its line, such as a bar or ^C
        over = "\r\033[K" if os.isatty(2) else ""
        with suppress(OSError):  # the terminal is gone
            os.write(2, f"{over}{line}\n".encode())
        os._exit(128 + number)


class CommandLine(Command):
    """A command whose options click reads.

    It is the `obj` of the click context, so that a sub-command may change its `line`.

    Parameters
    ----------
    path
        ``module:attribute`` of the click command. It is imported when the command is called, so that
        signals are handled before.
    name
        How users call it, such as "python -m dgsuite.experiment".
    line
        See `Command`.
    """

    def __init__(self, path: str, name: str, line: str = "{}") -> None:
        super().__init__(self._invoke, line)
        self._path = path
        self._name = name

    @needed_by("this command")
    def _invoke(self, arguments: Sequence[str] | None = None) -> int:
        """Run the click command; its errors become ours. In its own main, click has other rules."""
        command: click.Command = resolve_name(self._path)
        import click
        from click.shell_completion import shell_complete

        variable = f"_{self._name}_COMPLETE".upper()
        if self._name.isidentifier() and variable in os.environ:
            return shell_complete(command, {}, self._name, variable, os.environ[variable])
        context = None
        try:
            given = sys.argv[1:] if arguments is None else list(arguments)
            context = command.make_context(self._name, given, obj=self)
            with context:
                return int(command.invoke(context) or 0)
        except click.exceptions.Exit as end:  # of --help and --version
            return end.exit_code
        except click.exceptions.NoArgsIsHelpError as error:
            error.show()
            return 2
        except click.ClickException as error:
            where = getattr(error, "ctx", None)
            more = f"; {where.command_path} --help says more" if where is not None else ""
            raise InputError(error.format_message().rstrip(".") + more) from None
        except Exception:
            if context is not None and context.meta.get(DEBUG):
                import traceback

                traceback.print_exc()
            raise


def _text(error: Exception) -> str:
    """An error in words, without the number of one of the system's."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror if error.filename is None else f"{error.filename}: {error.strerror}"
    return str(error) or type(error).__name__


def _of_a_file(error: Exception) -> bool:
    """Whether an error is the operating system's about a file, and not about a connection."""
    connection = isinstance(error, (ConnectionError, TimeoutError))
    return isinstance(error, OSError) and error.errno is not None and not connection


def _silence() -> None:
    """Suppress reports of libraries and other threads about being interrupted."""
    if "logging" in sys.modules:
        sys.modules["logging"].disable()
    sys.unraisablehook = lambda _: None
    threading.excepthook = lambda _: None
