"""Make kernels, and check and convert the values of their parameters. No heavy imports."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable, Iterable, Mapping, Sized
from functools import lru_cache
from numbers import Real
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    TypeAliasType,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.aliases import kernel_of
from dgsuite.base.errors import InputError, one_of, shown, unknown
from dgsuite.kernels import FORMS, KERNELS
from dgsuite.kernels.bsp import Kernel, Node, NodeOrNone, Pairs, no_node
from dgsuite.kernels.bsp.declared import check_declared
from dgsuite.partition.construction import build
from dgsuite.partition.labels.columns import is_array, numpy_column
from dgsuite.partition.labels.labels import Labels, to_json
from dgsuite.partition.labels.nodes import node_ids

if TYPE_CHECKING:
    from dgsuite.partition.graph.graph import Graph

LISTED = 1 << 12
"""Arrays of up to this many entries are written into the attributes of a dataset."""

PLAIN = {
    int: "a 64-bit integer",
    float: "a number",
    bool: "True or False",
    str: "text",
    NoneType: "None",
}


def make_kernel(
    kernel: str | type[Kernel] | Kernel,
    graph: Graph,
    seed: int | None,
    parameters: Mapping[str, Any],
    form: str | None = None,
) -> Kernel:
    """An instance of a kernel.

    Values of parameters are those given, else those of the kernel if it is an instance, else those of the
    graph's `attrs`, else the kernel's defaults. Some kernels then choose values that suit the graph.
    """
    made = unsuited(kernel, graph.n, graph.attrs, graph.labels, seed, parameters, form)
    return made.suited(graph)


def unsuited(
    kernel: str | type[Kernel] | Kernel,
    n: int,
    attrs: Mapping[str, Any],
    labels: Labels | None,
    seed: int | None,
    parameters: Mapping[str, Any],
    form: str | None = None,
) -> Kernel:
    """The same for a graph of which so much is known, before the kernel chooses values that suit it."""
    if form is not None:
        one_of("form", form, FORMS)
    if isinstance(kernel, str):
        name = kernel_of(kernel, KERNELS)
        formed = FORMS[form or "iterative"]
        if name not in formed:
            raise InputError(
                f"kernel {kernel!r} has no {form} form; these kernels have one: {', '.join(formed)}"
            )
        kernel = formed[name]
    if not isinstance(kernel, Kernel) and not (
        isinstance(kernel, type) and issubclass(kernel, Kernel)
    ):
        raise InputError(f"kernel must be a name or a Kernel, got {kernel!r}")
    cls = kernel if isinstance(kernel, type) else type(kernel)
    check_declared(cls)  # type: ignore[arg-type]
    if form is not None and kernel.form != form:
        raise InputError(f"the given kernel {kernel.name!r} is {kernel.form}, not {form}")
    fields = {f.name: f for f in dataclasses.fields(kernel) if f.init}
    for name in parameters:
        if name not in fields:
            raise InputError(unknown(f"parameter of {kernel.name!r}", name, fields))
    if all(parameters.get(name) is not None for name in ("root", "sources")):
        raise InputError("root and sources both say where paths start; leave one out")
    if kernel is cls:
        own = {name: value for name, value in attrs.items() if name in fields}
    else:  # defaults need no check
        own = {n: v for n, f in fields.items() if (v := getattr(kernel, n)) is not f.default}
    key = {} if seed is None else {"seed": seed}
    values = {**own, **key, **parameters}
    fitted = {name: fitting(cls, name, value, labels, n) for name, value in values.items()}
    made = cls(**fitted)
    if made.short_ids and n > build.MOST_SHORT:
        raise InputError(
            f"kernel {made.name!r} keeps node ids in 32 bits: it takes at most {build.MOST_SHORT:,} nodes, "
            f"not {n:,}; run it on a part, such as graph.component() or graph.subgraph(nodes)"
        )
    for name in fields:
        _check_nodes(made, name, n)
    return made


def fitting(
    kernel: type[Kernel],
    name: str,
    value: Any,
    labels: Labels | None = None,
    n: int | None = None,
) -> Any:
    """Convert a value to the type in a parameter's annotation.

    NumPy scalars become Python's numbers, labels of nodes become node ids, also as keys of a mapping, and
    columns become arrays. Items of sequences, and values with annotations that this module does not know,
    are not changed.

    Parameters
    ----------
    labels
        Labels of the graph's nodes, or None.
    n
        Number of nodes, if it is known.

    Raises
    ------
    InputError
        The value does not fit the annotation, or is not a node.
    """
    kinds = _kinds(kernel, name)
    if getattr(value, "ndim", None) == 0 and value.dtype.kind not in "mM":
        value = value.item()  # a scalar of NumPy or xarray
    if any(map(_sequence, kinds)) and Pairs not in kinds:
        value = _column(kernel, name, value)
    for one in kinds:
        try:
            if one == Pairs:
                from dgsuite.core.pairs import pairs_of

                return pairs_of(value, labels)
            if _by_node(one):
                return _keyed(_cast(value, one, 63), one, labels)
            if _of_nodes(one) and NodeOrNone not in get_args(one):
                if labels is None and isinstance(value, list | tuple):
                    return value  # its items are checked as they are
                return _named(name, value, labels, n)
            if labels is None:
                return _cast(value, _bare(one), 64 if name == "seed" else 63)
            if one == Node:
                return labels.node(value)
            if _of_nodes(one):
                return labels.nodes(_cast(value, one, 63), missing=True)
            return _cast(value, one, 64 if name == "seed" else 63)
        except (TypeError, OverflowError):
            pass
        except InputError as error:
            text = str(error) if str(error).startswith(name) else f"{name} {error}"
            raise InputError(f"kernel {kernel.name!r}: {text}") from None
    wanted = " or ".join(map(_described, kinds))
    raise InputError(f"kernel {kernel.name!r}: {name} must be {wanted}, got {shown(value)}")


def _column(kernel: type[Kernel], name: str, value: Any) -> Any:
    """A column that is the value of a parameter as an array; other values as they are."""
    if not is_array(value) or hasattr(value, "dask"):
        return value
    lenient = any(NodeOrNone in get_args(one) for one in _kinds(kernel, name))
    try:
        return numpy_column(value, name, optional=lenient)
    except InputError as error:
        raise InputError(f"kernel {kernel.name!r}: {error}") from None


def _named(name: str, value: Any, labels: Labels | None, n: int | None) -> NDArray[np.int64]:
    """Node ids of several nodes. Raises TypeError if a value does not name several."""
    if not isinstance(value, Iterable) or isinstance(value, str | bytes | Mapping):
        raise TypeError
    return node_ids(value, n, labels, name)


def _check_nodes(kernel: Kernel, name: str, n: int) -> None:
    """See that a parameter that names nodes names some of a graph with n nodes, by their ids.

    Raises
    ------
    InputError
        It does not.
    """
    value = getattr(kernel, name)
    for one in _kinds(type(kernel), name):
        if one == Node and isinstance(value, int):
            nodes, least = np.array([value]), 0
        elif _of_nodes(one) and isinstance(value, Sized) and not isinstance(value, Mapping):
            nodes, least = np.asarray(value), -1 if NodeOrNone in get_args(one) else 0
        elif one == Pairs and isinstance(value, np.ndarray):
            nodes, least = value.ravel(), 0
        elif _by_node(one) and _to_node(one) and isinstance(value, Mapping):
            nodes, least = np.array([*value, *value.values()], np.int64), 0
        else:
            continue
        if nodes.size and (nodes.ndim != 1 or nodes.dtype.kind not in "iu"):
            wanted = described(type(kernel), name)
            raise InputError(f"kernel {kernel.name!r}: {name} must be {wanted}, got {shown(value)}")
        outside = nodes[(nodes < least) | (nodes >= n)]
        if len(outside) and (wrong := no_node(name, outside[0], n)):
            raise InputError(f"kernel {kernel.name!r}: {wrong}")


def labelled(kernel: Kernel, name: str, labels: Labels | None) -> Any:
    """A parameter's value with node ids replaced by labels, if the graph has labels."""
    value = getattr(kernel, name)
    if labels is None or value is None:
        return int(value) if isinstance(value, int) and not isinstance(value, bool) else value
    for one in _kinds(type(kernel), name):
        if one == Node:
            return labels[value]
        if _by_node(one) and isinstance(value, Mapping):
            found = [labels[v] for v in value.values()] if _to_node(one) else value.values()
            return dict(zip(map(labels.__getitem__, value), found, strict=True))
        if _of_nodes(one) and isinstance(value, Sized):
            return labels.of(np.asarray(value, np.int64)).tolist()
    return value


def stated(kernel: Kernel, name: str, labels: Labels | None) -> Any:
    """A parameter's value for JSON. A node whose label JSON cannot hold becomes ``{"node": id}``; a mapping
    from nodes becomes pairs.
    """
    value = labelled(kernel, name, labels)
    if labels is not None and Pairs in _kinds(type(kernel), name) and isinstance(value, np.ndarray):
        if value.size > LISTED:
            return value  # which the dataset does not list
        return [[_label_json(label, labels) for label in labels.of(pair)] for pair in value]
    if isinstance(value, Mapping):
        pairs = [list(pair) for pair in value.items()]
        if labels is None:
            return pairs
        named = 2 if any(map(_to_node, filter(_by_node, _kinds(type(kernel), name)))) else 1
        return [[*(_label_json(v, labels) for v in p[:named]), *p[named:]] for p in pairs]
    if labels is None or value is getattr(kernel, name):
        return value
    if isinstance(value, list):
        return [_label_json(label, labels) for label in value]
    return _label_json(value, labels)


def _label_json(label: Any, labels: Labels) -> Any:
    try:
        return to_json(label)
    except InputError:
        return {"node": labels.node(label)}


def described(kernel: type[Kernel], name: str) -> str:
    """What a parameter may be, in words."""
    words = []
    for one in _kinds(kernel, name):
        if one == Node:
            words.append("a node")
        elif _of_nodes(one):
            words.append("a sequence of nodes")
        elif one == Pairs:
            words.append("a table of pairs of nodes")
        else:
            words.append(_described(one))
    return " or ".join(words)


def _kinds(kernel: type[Kernel], name: str) -> tuple[Any, ...]:
    """The types that a parameter may have: the members of its annotation's union."""
    return _annotations(kernel).get(name, (Any,))  # type: ignore[arg-type]


def _members(kind: Any) -> tuple[Any, ...]:
    """A type, or those of a union. A name such as NumPy's `NDArray` is what it stands for."""
    named = get_origin(kind) or kind
    if isinstance(named, TypeAliasType):
        given = get_args(kind)
        return _members(named.__value__[given] if given else named.__value__)
    if named in (Union, UnionType):
        return tuple(one for member in get_args(kind) for one in _members(member))
    return (kind,)


def _keyed(value: Mapping[Any, Any], kind: Any, labels: Labels | None) -> dict[int, Any]:
    """A mapping from nodes to numbers or nodes, with node ids for labels."""

    def ids(nodes: list[Any]) -> list[int]:
        return (
            [_cast(v, int, 63) for v in nodes] if labels is None else labels.nodes(nodes).tolist()
        )

    values = [*value.values()]
    found = ids(values) if _to_node(kind) else [_cast(v, float, 63) for v in values]
    return dict(zip(ids([*value]), found, strict=True))


def _by_node(kind: Any) -> bool:
    return get_origin(kind) is Mapping and get_args(kind)[0] == Node


def _to_node(kind: Any) -> bool:
    return get_args(kind)[1] == Node


def _of_nodes(kind: Any) -> bool:
    return _sequence(kind) and bool({Node, NodeOrNone}.intersection(get_args(kind)))


def _bare(kind: Any) -> Any:
    return get_args(kind)[0] if get_origin(kind) is Annotated else kind


@lru_cache
def _annotations(kernel: type[Kernel]) -> dict[str, tuple[Any, ...]]:
    """The same of all parameters."""
    try:
        hints = get_type_hints(kernel, include_extras=True)
    except (NameError, AttributeError, TypeError):  # names imported for type checkers only
        hints = get_type_hints(Kernel, include_extras=True)
    return {name: _members(kind) for name, kind in hints.items()}


def _cast(value: Any, kind: Any, bits: int) -> Any:
    """Convert a value to a type; integers are limited to `bits` bits. Raises TypeError if it does not fit."""
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
    elif _by_node(kind):
        if isinstance(value, Mapping):
            return value
    elif _sequence(kind):
        if isinstance(value, Sized) and not isinstance(value, str | Mapping):
            return value
    elif get_origin(kind) is Callable:
        if callable(value):
            return value
    elif kind not in PLAIN:
        return value
    raise TypeError


def _sequence(kind: Any) -> bool:
    origin = get_origin(kind)
    return isinstance(origin, type) and issubclass(origin, Sized) and origin is not Mapping


def _described(kind: Any) -> str:
    """A type in words, for messages."""
    if get_origin(kind) is Literal:
        return f"one of {', '.join(map(str, get_args(kind)))}"
    if _by_node(kind):
        return f"a mapping from nodes to {'nodes' if _to_node(kind) else 'numbers'}"
    if get_origin(kind) is Mapping:
        return "a mapping"
    if get_origin(kind) is Callable:
        return "a function"
    return "a sequence" if _sequence(kind) else PLAIN[_bare(kind)]
