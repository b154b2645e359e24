"""Values of kernels' parameters, held to the annotations of their fields. No heavy imports."""

from __future__ import annotations

import operator
from collections.abc import Sized
from functools import lru_cache
from numbers import Real
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from kernels.base import Kernel, Node, NodeOrNone
from partition.errors import InputError
from partition.labels import Labels, to_json

PLAIN = {
    int: "a whole number of 64 bits",
    float: "a number",
    bool: "True or False",
    str: "text",
    NoneType: "None",
}


def fitting(kernel: type[Kernel], name: str, value: Any, labels: Labels | None = None) -> Any:
    """A parameter's value as its annotation has it.

    NumPy's numbers become Python's; what is in a sequence, or of a kind that is not known here, is
    left alone. Labels of nodes become node ids.

    Parameters
    ----------
    labels
        Of the graph's nodes, where it has some.

    Raises
    ------
    InputError
        The value is none that the parameter can have, or names no node.
    """
    kinds = _kinds(kernel, name)
    for one in kinds:
        try:
            if labels is None:
                return _cast(value, _bare(one), 64 if name == "seed" else 63)
            if one == Node:
                return labels.node(value)
            if _of_nodes(one):
                lenient = NodeOrNone in get_args(one)
                return labels.nodes(_cast(value, one, 63), missing=lenient)
            return _cast(value, one, 64 if name == "seed" else 63)
        except (TypeError, OverflowError):
            pass
        except InputError as error:
            raise InputError(f"kernel {kernel.name!r}: {name} {error}") from None
    wanted = " or ".join(map(_said, kinds))
    raise InputError(f"kernel {kernel.name!r}: {name} must be {wanted}, got {value!r}")


def labelled(kernel: Kernel, name: str, labels: Labels | None) -> Any:
    """A parameter's value with the graph's labels, where it has some, in place of node ids."""
    value = getattr(kernel, name)
    if labels is None or value is None:
        return int(value) if isinstance(value, int) and not isinstance(value, bool) else value
    for one in _kinds(type(kernel), name):
        if one == Node:
            return labels[value]
        if _of_nodes(one) and isinstance(value, Sized):
            return labels.of(np.asarray(value, np.int64)).tolist()
    return value


def stated(kernel: Kernel, name: str, labels: Labels | None) -> Any:
    """A parameter's value for JSON; a node whose label JSON cannot hold is ``{"node": its id}``."""
    value = labelled(kernel, name, labels)
    if labels is None or value is getattr(kernel, name):
        return value
    if isinstance(value, list):
        return [_told(label, labels) for label in value]
    return _told(value, labels)


def _told(label: Any, labels: Labels) -> Any:
    try:
        return to_json(label)
    except InputError:
        return {"node": labels.node(label)}


def _kinds(kernel: type[Kernel], name: str) -> tuple[Any, ...]:
    """What a parameter may be: the members of its annotation's union."""
    kind = _annotations(kernel).get(name, Any)  # type: ignore[arg-type]
    return get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)


def _of_nodes(kind: Any) -> bool:
    return _sequence(kind) and bool({Node, NodeOrNone}.intersection(get_args(kind)))


def _bare(kind: Any) -> Any:
    return get_args(kind)[0] if get_origin(kind) is Annotated else kind


@lru_cache
def _annotations(kernel: type[Kernel]) -> dict[str, Any]:
    try:
        return get_type_hints(kernel, include_extras=True)
    except (NameError, AttributeError, TypeError):  # names that only a type checker sees
        return get_type_hints(Kernel, include_extras=True)


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
    return "a sequence" if _sequence(kind) else PLAIN[_bare(kind)]
