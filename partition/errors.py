"""The errors that users see. They are in the lowest layer so that every package can raise them."""

from collections.abc import Iterable


class DgsuiteError(Exception):
    """Base class of all errors that dgsuite raises on purpose."""


class InputError(DgsuiteError, ValueError):
    """The user's input is wrong. The message says what is wrong, where, and what would be right."""


class RunError(DgsuiteError, RuntimeError):
    """A run failed. The message names the kernel, the point it had reached, and the cause."""


class WorkerLost(RunError):  # noqa: N818
    """A worker was lost, or what it held. The same may succeed on the workers that are left.

    Parameters
    ----------
    worker
        Address of the worker, if it is known.
    """

    def __init__(self, message: str, worker: str = "") -> None:
        super().__init__(message)
        self.worker = worker


def hint(name: object, known: Iterable[str]) -> str:
    """ "did you mean ...? " with the known name that is closest to `name`; "" if none is close."""
    from difflib import get_close_matches  # slow to import

    close = get_close_matches(str(name).lower(), list(known), 1)
    return f"did you mean {close[0]!r}? " if close else ""


def unknown(what: str, name: object, known: Iterable[str]) -> str:
    """Error message for an unknown name, with the closest known name and a list of all."""
    known = list(known)
    return f"unknown {what} {name!r}; {hint(name, known)}One of: {', '.join(known)}"
