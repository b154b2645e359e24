"""In a checked run, what the clusters of a site share is read-only while they run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from traceback import extract_tb
from types import MappingProxyType
from typing import Any

import numpy as np

from dgsuite.base.errors import RunError
from dgsuite.base.once import Lock, Once

READ_ONLY: dict[type, Callable[[Any], Any]] = {dict: MappingProxyType, list: tuple}
"""By type, what makes a value that reads like another and cannot be changed."""


@contextmanager
def sealed(*shared: object) -> Iterator[None]:
    """Make objects read-only: their attributes, and the arrays, lists and dictionaries among these.

    A thread that holds the lock of an object, or of its `Once`, may set its attributes. A class names in
    ``apart`` attributes whose entries belong to one cluster each, or are changed under the lock.

    Raises
    ------
    RunError
        In a thread that sets an attribute, which it names.
    """
    opened = [found for thing in shared for found in [_seal(thing)] if found is not None]
    try:
        yield
    finally:
        for thing, kind, writeable, replaced in opened:
            object.__setattr__(thing, "__class__", kind)
            for array in writeable:
                array.flags.writeable = True
            vars(thing).update(replaced)


def _seal(thing: Any) -> tuple[Any, type, list[np.ndarray], dict[str, Any]] | None:
    """Seal one object; what undoes it. None for what has no attributes to set."""
    if not hasattr(thing, "__dict__"):
        return None
    apart = getattr(type(thing), "apart", ())
    values = {name: value for name, value in vars(thing).items() if name not in apart}
    writeable = [
        array for value in values.values() for array in _arrays(value) if array.flags.writeable
    ]
    for array in writeable:
        array.flags.writeable = False
    replaced = {name: value for name, value in values.items() if type(value) in READ_ONLY}
    vars(thing).update({name: READ_ONLY[type(value)](value) for name, value in replaced.items()})
    kind: Any = type(thing)
    object.__setattr__(thing, "__class__", _sealed(kind))
    return thing, kind, writeable, replaced


def _arrays(value: Any) -> Iterator[np.ndarray]:
    """A value that is an array, or the arrays in a list or dictionary.

    Arrays in a tuple are left out: their owner writes to them under its lock.
    """
    inside = value.values() if isinstance(value, dict) else value
    for array in inside if isinstance(value, (dict, list)) else (value,):
        if isinstance(array, np.ndarray):
            yield array


def place_of_write(error: BaseException) -> str:
    """The line of code that wrote to something read-only, as text; empty if the error is another one."""
    if not any(said in str(error) for said in ("read-only", "'mappingproxy' object")):
        return ""
    frame = extract_tb(error.__traceback__)[-1]
    return (
        f", at {frame.line!r} ({frame.name}, line {frame.lineno} of {Path(frame.filename).name}); clusters "
        f"that run at the same time share it"
    )


@cache
def _sealed(kind: type) -> type:
    """The class of sealed objects of a class."""

    def refuse(self: Any, name: str, value: Any = None) -> None:
        made, lock = vars(self).get("made"), vars(self).get("_lock")
        lock = made.lock if isinstance(made, Once) else lock
        if isinstance(lock, Lock) and lock.is_mine:
            object.__setattr__(self, name, value)
            return
        raise RunError(
            f"{kind.__name__}.{name} is set while clusters run, which share it; complete it before, or "
            f"make it by Once"
        )

    body = {"__slots__": (), "__setattr__": refuse, "__delattr__": refuse, "__module__": __name__}
    return type(kind.__name__, (kind,), body)
