"""Labels: names that the nodes of a graph have besides their numbers, and how JSON holds them."""

from __future__ import annotations

import json
import math
import uuid
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partition.errors import InputError, hint

LONGEST = 256
"""Characters of the longest label up to which text is an array of strings: all entries take that much."""

HINTED = 10_000
"""Labels among which an error looks for one that is like a wrong one."""


class Labels(Sequence[Any]):
    """Names of the nodes of a graph, in their order: distinct values of any hashable type.

    Parameters
    ----------
    values
        As many as nodes.
    n
        Number of nodes.
    ascending
        Whether they are known to be distinct and in ascending order.

    Attributes
    ----------
    array
        Shape (n,): of integers (64 bits) or strings where all labels are, else of objects.
    none
        What stands for no node where labels are expected: -1 where all labels are integers from 0 to
        2^63 - 1, "" where all are text and none is empty, otherwise None.

    Raises
    ------
    InputError
        There are more or fewer labels than nodes; a label is None, not hashable, or there twice.
    """

    def __init__(self, values: Iterable[Hashable], n: int, *, ascending: bool = False) -> None:
        self.array = plain(values)
        self._ascending = ascending
        if len(self.array) != n:
            raise InputError(f"{len(self.array)} labels for {n} nodes")
        if not ascending:
            self._check()
        self.none = self._none()

    def _none(self) -> int | str | None:
        kind = self.array.dtype.kind
        if kind == "U":
            return None if (self.array == "").any() else ""
        return -1 if kind in "iu" and self.array.min() >= 0 and self.array.max() < 2**63 else None

    def _check(self) -> None:
        if self.array.dtype == object:
            seen: set[Hashable] = set()
            for label in self.array:
                try:
                    known = label in seen
                except TypeError:
                    raise InputError(f"label {label!r} is not hashable") from None
                if label is None:
                    raise InputError("None cannot be a label: it stands for no node")
                if known:
                    raise InputError(f"two nodes have the same label {label!r}")
                seen.add(label)
        else:
            ordered = self.array[self._order]
            same = np.flatnonzero(ordered[1:] == ordered[:-1])
            if len(same):
                raise InputError(f"two nodes have the same label {ordered[same[0]].item()!r}")

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, node: Any) -> Any:
        found = self.array[node]
        return found.item() if isinstance(found, np.generic) else found

    def __iter__(self) -> Iterator[Any]:
        return iter(self.array.tolist())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence | np.ndarray) and list(self) == list(other)

    def __repr__(self) -> str:
        return f"Labels({self.array!r})"

    # ---- from labels to nodes

    @cached_property
    def _order(self) -> NDArray[np.int64]:
        return np.arange(len(self)) if self._ascending else np.argsort(self.array, kind="stable")

    @cached_property
    def _numbers(self) -> dict[Hashable, int]:
        return {label: i for i, label in enumerate(self.array.tolist())}

    def node(self, label: Any) -> int:
        """Number of the node with a label.

        Raises
        ------
        InputError
            There is none.
        """
        found = self._find(label)
        if found < 0:
            raise InputError(f"{label!r} is not a node; {self._near(label)}")
        return found

    def _find(self, label: Any) -> int:
        if getattr(label, "ndim", None) == 0 and hasattr(
            label, "item"
        ):  # a scalar of NumPy or xarray
            label = label.item()
        try:
            if self.array.dtype == object or "_numbers" in self.__dict__:
                return self._numbers.get(label, -1)
            hash(label)
        except TypeError:
            return -1
        if isinstance(label, float) and label.is_integer():
            label = int(label)
        if not isinstance(label, str if self.array.dtype.kind == "U" else int):
            return -1
        at = np.flatnonzero(self.array == label)
        return int(at[0]) if len(at) and self[at[0]] == label else -1

    def _near(self, label: Any) -> str:
        close = ""
        if isinstance(label, str) and len(self) <= HINTED:
            close = hint(label, [text for text in self if isinstance(text, str)])
        some = ", ".join(map(repr, self.array[:3].tolist()))
        return f"{close}Nodes have labels, such as {some}"

    def nodes(self, labels: Any, *, missing: bool = False) -> NDArray[np.int64]:
        """Numbers of the nodes with some labels.

        Parameters
        ----------
        labels
            An array of any shape, or a list, a tuple, a set.
        missing
            Whether what is no label stands for no node, and becomes -1; otherwise it is an error.

        Raises
        ------
        InputError
            A value is no label.
        """
        if not isinstance(labels, np.ndarray):
            labels = plain(labels)
        found = self._search(labels)
        if not missing and (found < 0).any():
            self.node(labels.flat[int(np.argmin(found))])
        return found

    def _search(self, labels: NDArray) -> NDArray[np.int64]:
        kind = self.array.dtype.kind
        if "O" in (kind, labels.dtype.kind):
            numbers = self._numbers
            each = [_get(numbers, label) for label in labels.ravel().tolist()]
            return np.array(each, np.int64).reshape(labels.shape)
        if (kind == "U") != (labels.dtype.kind == "U") or labels.dtype.kind not in "iuU":
            return np.full(labels.shape, -1)
        wanted = labels
        if kind == "u" and labels.dtype.kind == "i":
            wanted = np.maximum(labels, 0).astype(np.uint64)
        elif kind == "i" and labels.dtype == np.uint64:
            wanted = np.minimum(labels, 2**63 - 1).astype(np.int64)
        order = self._order
        at = np.searchsorted(self.array, wanted, sorter=order)
        found = order[np.minimum(at, len(order) - 1)]
        return np.where(self.array[found] == labels, found, -1)

    # ---- from nodes to labels

    @cached_property
    def _table(self) -> NDArray:
        """Labels with what stands for no node behind them, where the number -1 finds it."""
        if self.none is not None:
            return np.append(self.array, np.array([self.none]))
        table = np.empty(len(self) + 1, object)
        table[:-1] = self.array.tolist() if self.array.dtype != object else self.array
        return table

    def of(self, nodes: NDArray) -> NDArray:
        """Labels of some nodes (an array of any shape); what stands for no node where it says -1."""
        return self._table[nodes]


def _get(numbers: dict[Hashable, int], label: Any) -> int:
    try:
        return numbers.get(label, -1)
    except TypeError:
        return -1


def plain(values: Iterable[Any]) -> NDArray:
    """Values as an array that gives each back as it was; of integers or strings where all are."""
    if isinstance(values, np.ndarray) or hasattr(values, "__array__"):
        given = np.asarray(values)
        if given.ndim == 1 and given.dtype.kind in "iuU":
            return given.astype(np.int64) if given.dtype.kind == "i" else given
        values = list(given) if given.dtype.kind == "M" else given.tolist()
    values = list(values)
    kinds = set(map(type, values))
    if kinds and all(issubclass(kind, int | np.integer) and kind is not bool for kind in kinds):
        least, most = min(values), max(values)
        if least >= -(2**63) and most < 2**63:
            return np.array(values, np.int64)
        if least >= 0 and most < 2**64:
            return np.array(values, np.uint64)
    if kinds and kinds <= {str, np.str_} and max(map(len, values)) <= LONGEST:
        text = "".join(values)
        # arrays drop zeros at the end; files take no half of a pair
        if "\0" not in text and not any("\ud800" <= c <= "\udfff" for c in set(text)):
            return np.array(values, np.str_)
    objects = np.empty(len(values), object)
    for i, value in enumerate(values):
        objects[i] = value
    return objects


# ---- JSON


def to_json(label: Any) -> Any:
    """A label as JSON has it.

    Text, integers, finite floats, flags and None are themselves. The others are an object with a key
    that says what they are: "tuple", "frozenset", "float", "bytes" or "uuid".

    Raises
    ------
    InputError
        It is of another type.
    """
    value = label.item() if isinstance(label, np.generic) else label
    kind = type(value)
    if value is None or kind in (str, int, bool) or (kind is float and math.isfinite(value)):
        return value
    if kind is float:
        return {"float": repr(value)}
    if kind is tuple:
        return {"tuple": [to_json(item) for item in value]}
    if kind is frozenset:
        return {"frozenset": sorted((to_json(item) for item in value), key=json.dumps)}
    if kind is bytes:
        return {"bytes": value.hex()}
    if kind is uuid.UUID:
        return {"uuid": str(value)}
    raise InputError(
        f"label {label!r} is of type {kind.__name__}, which a file cannot hold; it can hold text, numbers, "
        f"bytes, UUIDs, and tuples and frozensets of these: relabel the nodes, or drop the labels by "
        f'ds.drop_vars("node")'
    )


_DECODERS: dict[str, Callable[[Any], Any]] = {
    "float": float,
    "tuple": lambda items: tuple(map(from_json, items)),
    "frozenset": lambda items: frozenset(map(from_json, items)),
    "bytes": bytes.fromhex,
    "uuid": uuid.UUID,
}


def from_json(value: Any) -> Any:
    """The label that `to_json` made a value of.

    Raises
    ------
    ValueError
        It made no such value.
    """
    if isinstance(value, list):
        raise ValueError(f"a list is no label: {value}")
    if not isinstance(value, dict):
        return value
    try:
        ((kind, content),) = value.items()
        return _DECODERS[kind](content)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"this is no label: {value}") from error
