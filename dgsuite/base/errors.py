"""The errors that users see. They are in the lowest layer so that every package can raise them."""

import os
from collections.abc import Iterable


class DgsuiteError(Exception):
    """Base class of all errors that dgsuite raises on purpose.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1], [1, 2])
    >>> try:
    ...     dgsuite.run("bfs", graph, root=7)
    ... except dgsuite.DgsuiteError as error:
    ...     print(type(error).__name__, error)
    InputError kernel 'bfs': root 7 is not a node: nodes are 0 to 2, in the order of the graph's nodes
    """


class InputError(DgsuiteError, ValueError):
    """The user's input is wrong. The message says what is wrong, where, and what would be right.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1], [1, 2])
    >>> dgsuite.run("mis", graph, style="clockedd")
    Traceback (most recent call last):
    dgsuite.base.errors.InputError: unknown style 'clockedd'; did you mean 'clocked'? One of: serial, ...
    """


class NegativeCycle(InputError):  # noqa: N818
    """Paths lead to a cycle of negative length, so there is none that is the shortest.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1], [1, 0], weights=[1, -2], directed=True)
    >>> dgsuite.run("bellman_ford", graph)
    Traceback (most recent call last):
    dgsuite.base.errors.NegativeCycle: kernel 'bellman_ford': the cycle 0 -> 1 -> 0 is of negative length, ...
    """


class Unfit(InputError):  # noqa: N818
    """A phase of a kernel does what a network with faults cannot transfer, and the kernel does not say so.

    Examples
    --------
    >>> from dgsuite.base.errors import InputError, Unfit
    >>> issubclass(Unfit, InputError)
    True
    """


class RunError(DgsuiteError, RuntimeError):
    """A run failed. The message names the kernel, the point it had reached, and the cause.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import dgsuite
    >>> from dgsuite.kernels import bsp
    >>> @dataclass(frozen=True)
    ... class Broken(bsp.Kernel):
    ...     name = "broken"
    ...     outputs = {}
    ...
    ...     def program(self, net):
    ...         yield bsp.Round(self.divide)
    ...
    ...     def start(self, c):
    ...         return bsp.State()
    ...
    ...     def divide(self, c, s, inbox):
    ...         return bsp.vote(sum=1 // 0)
    >>> graph = dgsuite.Graph.from_edges([0, 1], [1, 2])
    >>> dgsuite.run(Broken, graph, style="serial")
    Traceback (most recent call last):
    dgsuite.base.errors.RunError: kernel 'broken', round 0, phase 'divide', cluster 0: ZeroDivisionError: ...
    """


class WorkerLost(RunError):  # noqa: N818
    """A worker was lost, or what it held. The same may succeed on the workers that are left.

    Parameters
    ----------
    worker
        Address of the worker, if it is known.

    Examples
    --------
    >>> import dgsuite
    >>> def twice(kernel, graph):
    ...     try:
    ...         return dgsuite.run(kernel, graph)
    ...     except dgsuite.WorkerLost as error:
    ...         print(f"once more, without {error.worker}")
    ...         return dgsuite.run(kernel, graph)
    >>> ds = twice("mis", dgsuite.Graph.from_edges([0, 1], [1, 2]))
    """

    def __init__(self, message: str, worker: str = "") -> None:
        super().__init__(message)
        self.worker = worker


def hint(name: object, known: Iterable[str]) -> str:
    """ "did you mean ...? " with the known name that is closest to `name`; "" if none is close.

    One with the same letters in another order, or with more zeros, is closer than any other.
    """
    from difflib import get_close_matches  # slow to import

    known, text = list(known), str(name).lower()
    letters = sorted(text.replace("0", ""))
    same = [word for word in known if sorted(word.replace("0", "")) == letters]
    close = same or get_close_matches(text, known, 1)
    return f"did you mean {close[0]!r}? " if close else ""


def shown(value: object) -> str:
    """A value as messages show it: scalars of NumPy, also in lists, as the values that they hold."""
    if type(value) in (list, tuple):
        items = ", ".join(map(shown, value))  # type: ignore[call-overload]
        if type(value) is list:
            return f"[{items}]"
        return f"({items},)" if len(value) == 1 else f"({items})"  # type: ignore[arg-type]
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    if kind and getattr(value, "ndim", None) == 0 and hasattr(value, "item"):
        return repr(str(value) if kind in "mM" else value.item())
    return repr(value)


def check_path(path: object, bytes_too: bool = False) -> None:
    """See that what was given as the name of a file, or of a folder, can be one.

    Parameters
    ----------
    bytes_too
        Whether it may be the content of a file, as bytes.

    Raises
    ------
    InputError
        It cannot.
    """
    if not isinstance(path, str | os.PathLike) and not (bytes_too and isinstance(path, bytes)):
        more = ", or the content as bytes" if bytes_too else ""
        raise InputError(
            f"path must be text or a pathlib.Path{more}, got {type(path).__name__} {path!r:.60}"
        )


def one_of(what: str, name: object, known: Iterable[str]) -> None:
    """See that a name is known.

    Raises
    ------
    InputError
        It is not, or it is no text.
    """
    known = list(known)
    if not isinstance(name, str) or name not in known:
        raise InputError(unknown(what, name, known))


def unknown(what: str, name: object, known: Iterable[str]) -> str:
    """Error message for an unknown name, with the closest known name and a list of all."""
    known = list(known)
    close = hint(name, known)
    return f"unknown {what} {name!r}; {close}{'One' if close else 'one'} of: {', '.join(known)}"
