"""Make kernels, and check and convert the values of their parameters. No heavy imports."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable, Iterable, Mapping, Sized
from contextlib import suppress
from functools import lru_cache
from numbers import Real
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    NamedTuple,
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
from dgsuite.base.masked import unmasked
from dgsuite.kernels import FORMS, KERNELS
from dgsuite.kernels.bsp import Kernel, Node, NodeOrNone, Pairs, no_node
from dgsuite.kernels.bsp.declared import check_declared
from dgsuite.kernels.own import is_own, named
from dgsuite.partition.construction import build
from dgsuite.partition.labels.columns import is_array, numpy_column
from dgsuite.partition.labels.labels import Labels, exact_array, to_json
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
    if isinstance(kernel, str) and is_own(kernel):
        kernel = named(kernel)
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
    _check_nodes(made, n)
    return made


class Type(NamedTuple):
    """One of the types that a parameter may have.

    Attributes
    ----------
    kind
        The type.
    names
        What values name: a "node", "nodes", "pairs" of nodes, or a mapping "by node"; "" for no nodes.
    optional
        Whether some of the nodes may be none.
    to_nodes
        Whether a mapping is to nodes.
    """

    kind: Any
    names: str = ""
    optional: bool = False
    to_nodes: bool = False

    @classmethod
    def of(cls, kind: Any) -> Type:
        """What the member of an annotation's union says."""
        args = get_args(kind)
        if kind == Node:
            return cls(int, "node")
        if kind == Pairs:
            return cls(kind, "pairs")
        if get_origin(kind) is Mapping and args[0] == Node:
            return cls(kind, "by node", to_nodes=args[1] == Node)
        if _is_sequence(kind) and (Node in args or NodeOrNone in args):
            return cls(kind, "nodes", NodeOrNone in args)
        return cls(get_args(kind)[0] if get_origin(kind) is Annotated else kind)

    def __str__(self) -> str:
        """The type in words, for messages."""
        if self.names == "by node":
            return f"a mapping from nodes to {'nodes' if self.to_nodes else 'numbers'}"
        if self.names:
            several = {"nodes": "a sequence of nodes", "pairs": "a table of pairs of nodes"}
            return several.get(self.names, "a node")
        origin = get_origin(self.kind)
        if origin is Literal:
            return f"one of {', '.join(map(str, get_args(self.kind)))}"
        if origin in (Mapping, Callable):
            return "a mapping" if origin is Mapping else "a function"
        return "a sequence" if _is_sequence(self.kind) else PLAIN[self.kind]


def _is_sequence(kind: Any) -> bool:
    origin = get_origin(kind)
    return isinstance(origin, type) and issubclass(origin, Sized) and origin is not Mapping


@lru_cache
def _types_of(kernel: Any) -> dict[str, tuple[Type, ...]]:
    try:
        hints = get_type_hints(kernel, include_extras=True)
    except (NameError, AttributeError, TypeError):  # names imported for type checkers only
        hints = get_type_hints(Kernel, include_extras=True)
    names = [field.name for field in dataclasses.fields(kernel)]
    return {name: tuple(map(Type.of, _members(hints.get(name, Any)))) for name in names}


def types_of(kernel: type[Kernel]) -> dict[str, tuple[Type, ...]]:
    """The types that each parameter of a kernel may have: the members of its annotation's union."""
    return _types_of(kernel)  # type: ignore[arg-type]


def _members(kind: Any) -> tuple[Any, ...]:
    """A type, or those of a union. A name such as NumPy's `NDArray` is what it stands for."""
    named = get_origin(kind) or kind
    if isinstance(named, TypeAliasType):
        given = get_args(kind)
        return _members(named.__value__[given] if given else named.__value__)
    if named in (Union, UnionType):
        return tuple(one for member in get_args(kind) for one in _members(member))
    return (kind,)


def described(kernel: type[Kernel], name: str) -> str:
    """What a parameter may be, in words."""
    return " or ".join(map(str, types_of(kernel)[name]))


def fitting(
    kernel: type[Kernel], name: str, value: Any, labels: Labels | None = None, n: int | None = None
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
    types = types_of(kernel)[name]
    if getattr(value, "ndim", None) == 0 and value.dtype.kind not in "mM":
        value = value.item()  # a scalar of NumPy or xarray
    column = is_array(value) and not hasattr(value, "dask")
    try:
        if column and any(one.names != "pairs" and _is_sequence(one.kind) for one in types):
            value = numpy_column(value, name, optional=any(one.optional for one in types))
        for one in types:
            with suppress(TypeError, OverflowError):
                return _converted(one, name, value, labels, n)
    except InputError as error:
        text = str(error) if str(error).startswith(name) else f"{name} {error}"
        raise InputError(f"kernel {kernel.name!r}: {text}") from None
    raise InputError(
        f"kernel {kernel.name!r}: {name} must be {described(kernel, name)}, got {shown(value)}"
    )


def _converted(one: Type, name: str, value: Any, labels: Labels | None, n: int | None) -> Any:
    """A value as one of the types of its parameter.

    Raises
    ------
    TypeError, OverflowError
        It does not fit the type.
    """
    if one.names == "pairs":
        return _pairs(value, labels)
    if one.names == "nodes" and not one.optional:
        if labels is None and isinstance(value, list | tuple):
            return value  # its items are checked as they are
        if not isinstance(value, Iterable) or isinstance(value, str | bytes | Mapping):
            raise TypeError
        return node_ids(value, n, labels, name)
    if one.names == "node" and labels is not None:
        return labels.node(value)
    value = _cast(value, one.kind, 64 if name == "seed" else 63)
    if one.names == "nodes" and labels is not None:
        return labels.nodes(value, missing=True)
    if one.names != "by node":
        return value

    def ids(nodes: Iterable[Any]) -> list[int]:
        if labels is None:
            return [_cast(node, int, 63) for node in nodes]
        return labels.nodes([*nodes]).tolist()

    values = value.values()
    found = ids(values) if one.to_nodes else [_cast(v, float, 63) for v in values]
    return dict(zip(ids(value), found, strict=True))


def _pairs(value: Any, labels: Labels | None) -> NDArray[np.int64]:
    """Node ids of pairs, shape (p, 2).

    They are in a dataframe of pandas or Dask, as columns ``source`` and ``target``, in an array of shape
    (p, 2), or in a sequence of pairs.

    Raises
    ------
    InputError
        It is none of them, or a value is not a node's.
    """
    if hasattr(value, "columns"):
        import dask

        from dgsuite.partition.sources.edges import pieces

        found = dask.compute(*pieces(value, None, None, ("source", "target", None)))
        ends: list[Any] = [np.concatenate(end) for end in [*zip(*found, strict=True)][:2]]
    elif hasattr(value, "__array__"):
        array = np.asarray(unmasked(value, "pairs"))
        if array.ndim != 2 or array.shape[1] != 2:
            raise InputError(f"must have shape (p, 2), got {array.shape}")
        ends = [*array.T]
    else:
        try:
            rows = [(source, target) for source, target in value]
        except (TypeError, ValueError):
            raise InputError(
                "must be a dataframe with columns 'source' and 'target', an array of shape (p, 2), or a "
                f"sequence of pairs, got {type(value).__name__}"
            ) from None
        ends = [[row[end] for row in rows] for end in (0, 1)]
    columns = [exact_array(end) for end in ends]
    for column in columns:
        if labels is None and len(column) and column.dtype.kind not in "iu":
            raise InputError(f"must be node ids, integers, but there are values of {column.dtype}")
    if labels is not None:
        return np.stack([labels.nodes(column) for column in columns], axis=1)
    return np.stack([column.astype(np.int64) for column in columns], axis=1)


def _check_nodes(kernel: Kernel, n: int) -> None:
    """See that the parameters that name nodes name some of a graph with n nodes, by their ids.

    Raises
    ------
    InputError
        They do not.
    """
    for name, types in types_of(type(kernel)).items():
        value, nodes = getattr(kernel, name), None
        for one in types:
            if one.names == "node" and isinstance(value, int):
                nodes = np.array([value])
            elif one.names == "nodes" and isinstance(value, Sized):
                nodes = None if isinstance(value, Mapping) else np.asarray(value)
            elif one.names == "pairs" and isinstance(value, np.ndarray):
                nodes = value.ravel()
            elif one.to_nodes and isinstance(value, Mapping):
                nodes = np.array([*value, *value.values()], np.int64)
            if nodes is not None:
                break
        if nodes is None or not nodes.size:
            continue
        if nodes.ndim != 1 or nodes.dtype.kind not in "iu":
            wanted = described(type(kernel), name)
            raise InputError(f"kernel {kernel.name!r}: {name} must be {wanted}, got {shown(value)}")
        outside = nodes[(nodes < (-1 if one.optional else 0)) | (nodes >= n)]
        if len(outside) and (wrong := no_node(name, outside[0], n)):
            raise InputError(f"kernel {kernel.name!r}: {wrong}")


def labelled(kernel: Kernel, name: str, labels: Labels | None) -> Any:
    """A parameter's value with node ids replaced by labels, if the graph has labels."""
    value = getattr(kernel, name)
    if labels is None or value is None:
        return int(value) if isinstance(value, int) and not isinstance(value, bool) else value
    for one in types_of(type(kernel))[name]:
        if one.names == "node":
            return labels[value]
        if one.names == "by node" and isinstance(value, Mapping):
            found = [labels[v] for v in value.values()] if one.to_nodes else value.values()
            return dict(zip(map(labels.__getitem__, value), found, strict=True))
        if one.names == "nodes" and isinstance(value, Sized):
            return labels.of(np.asarray(value, np.int64)).tolist()
    return value


def stated(kernel: Kernel, name: str, labels: Labels | None) -> Any:
    """A parameter's value for JSON. A node whose label JSON cannot hold becomes ``{"node": id}``; a mapping
    from nodes becomes pairs.
    """
    value = labelled(kernel, name, labels)
    if labels is None:
        return [list(pair) for pair in value.items()] if isinstance(value, Mapping) else value

    def plain(label: Any) -> Any:
        try:
            return to_json(label)
        except InputError:
            return {"node": labels.node(label)}

    types = types_of(type(kernel))[name]
    if isinstance(value, Mapping):
        named = 2 if any(one.to_nodes for one in types) else 1
        return [[*map(plain, pair[:named]), *pair[named:]] for pair in value.items()]
    if isinstance(value, np.ndarray) and any(one.names == "pairs" for one in types):
        # the dataset does not list more
        return value if value.size > LISTED else [[*map(plain, labels.of(p))] for p in value]
    if value is getattr(kernel, name):
        return value
    return [*map(plain, value)] if isinstance(value, list) else plain(value)


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
    elif get_origin(kind) is Mapping:
        if isinstance(value, Mapping):
            return value
    elif _is_sequence(kind):
        if isinstance(value, Sized) and not isinstance(value, str | Mapping):
            return value
    elif get_origin(kind) is Callable:
        if callable(value):
            return value
    elif kind not in PLAIN:
        return value
    raise TypeError
