"""The errors a user can meet, from the lowest layer so that every package can raise them."""

from collections.abc import Iterable


class DgsuiteError(Exception):
    """Base of all errors that dgsuite raises on purpose."""


class InputError(DgsuiteError, ValueError):
    """The user's input is wrong: the message says what, where, and what would be right."""


class RunError(DgsuiteError, RuntimeError):
    """A run failed: the message names the kernel, where it was, and the cause."""


def hint(name: object, known: Iterable[str]) -> str:
    """The known name that is closest to another, as a question for its error; "" where none is close."""
    from difflib import get_close_matches  # which takes longer to import than all the rest here

    close = get_close_matches(str(name).lower(), list(known), 1)
    return f"did you mean {close[0]!r}? " if close else ""


def unknown(what: str, name: object, known: Iterable[str]) -> str:
    """Message for a name that is not known, with the closest one that is, and all of them."""
    known = list(known)
    return f"unknown {what} {name!r}; {hint(name, known)}One of: {', '.join(known)}"
