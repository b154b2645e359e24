"""Values of kernels' parameters, held to the annotations of their fields. No heavy imports."""

from __future__ import annotations

import operator
from collections.abc import Sized
from functools import lru_cache
from numbers import Real
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from kernels.base import Kernel
from partition.errors import InputError

PLAIN = {
    int: "a whole number of 64 bits",
    float: "a number",
    bool: "True or False",
    str: "text",
    NoneType: "None",
}


def fitting(kernel: type[Kernel], name: str, value: Any) -> Any:
    """A parameter's value as its annotation has it.

    NumPy's numbers become Python's; what is in a sequence, or of a kind that is not known here, is
    left alone.

    Raises
    ------
    InputError
        The value is none that the parameter can have.
    """
    kind = _annotations(kernel).get(name, Any)  # type: ignore[arg-type]
    kinds = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    for one in kinds:
        try:
            return _cast(value, one, 64 if name == "seed" else 63)
        except (TypeError, OverflowError):
            pass
    wanted = " or ".join(map(_said, kinds))
    raise InputError(f"kernel {kernel.name!r}: {name} must be {wanted}, got {value!r}")


@lru_cache
def _annotations(kernel: type[Kernel]) -> dict[str, Any]:
    try:
        return get_type_hints(kernel)
    except (NameError, AttributeError, TypeError):  # names that only a type checker sees
        return get_type_hints(Kernel)


def _cast(value: Any, kind: Any, bits: int) -> Any:
    """A value as one of a kind, whole numbers of so many bits, or TypeError."""
    flag = isinstance(value, bool | np.bool_)
    if kind is int and not flag:
        number = operator.index(value)
        if -(2**63) <= number < 2**bits:
            return number
    elif kind is float and not flag and isinstance(value, Real):
        return float(value)
    elif kind is bool and flag:
        return bool(value)
    elif kind in (str, NoneType) and isinstance(value, kind):
        return value
    elif get_origin(kind) is Literal:
        for one in get_args(kind):
            if isinstance(value, type(one)) and value == one and flag == isinstance(one, bool):
                return one
    elif _sequence(kind):
        if isinstance(value, Sized) and not isinstance(value, str):
            return value
    elif kind not in PLAIN:
        return value
    raise TypeError


def _sequence(kind: Any) -> bool:
    origin = get_origin(kind)
    return isinstance(origin, type) and issubclass(origin, Sized)


def _said(kind: Any) -> str:
    """A kind in words."""
    if get_origin(kind) is Literal:
        return f"one of {', '.join(map(str, get_args(kind)))}"
    return "a sequence" if _sequence(kind) else PLAIN[kind]
